package config

import (
	"bytes"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"pgregory.net/rapid"
	"pingpost/config/canonical"
	"pingpost/config/syntax"
)

// TestCanonicalIsAFixedPoint: reading the canonical bytes, in which no secret
// has its value, gives the same bytes; and so does the exported YAML.
func TestCanonicalIsAFixedPoint(t *testing.T) {
	check := func(t failer, first *Compiled) {
		again := compiled(t, string(first.Canonical), nil)
		if !bytes.Equal(again.Canonical, first.Canonical) {
			t.Fatalf("canonical changed:\n%s\n%s", first.Canonical, again.Canonical)
		}
		if len(again.Initial.Credentials)+len(again.Initial.Secrets) > 0 {
			t.Fatal("secrets came out of a document that has none")
		}
		exported := string(first.Export())
		source, err := Parse("export.yaml", []byte(exported), func(string) (string, bool) { return "whsec_aGk=" + fmt.Sprint(len(exported)), true })
		if err != nil {
			t.Fatalf("the export does not load: %v\n%s", err, exported)
		}
		if got := canonical.Encode(source.Document); !bytes.Equal(unnamed(got), unnamed(first.Canonical)) || len(canonical.Diff(first.Canonical, got)) > 0 {
			t.Fatalf("canonical changed by export:\n%s\n%s\n%s", first.Canonical, got, exported)
		}
	}
	check(t, example(t))
	rapid.Check(t, func(rt *rapid.T) {
		check(rt, compiled(rt, drawDocument(rt), exampleEnv))
	})
}

// unnamed is a canonical document without the names of its secrets' variables: an export
// names one for each secret that has none.
func unnamed(canonical []byte) []byte { return variableMember.ReplaceAll(canonical, nil) }

var variableMember = regexp.MustCompile(`,"variable":"\w+"`)

// label is text that is hard to write: quotes, references, what looks like
// another type.
func drawLabel(t *rapid.T, name string) string {
	return rapid.OneOf(
		rapid.SampledFrom([]string{"true", "null", "~", "12", "1e3", "0x1", "no", "- a", "a: b", "#x", "$${A}", "$$${A}", "{a}", "[a]", "'", "\"", "\\", "%a", "@a", "a #b", "é ü", "2026-01-01", "12:30", "=", "<<", "*a", "&a", "!a", "|", ">", "?", "-", "--- a", " a", "a ", "😀"}),
		rapid.StringMatching(`[ -#%-~éß]{1,12}`),
	).Draw(t, name)
}

func drawDocument(t *rapid.T) string {
	var b strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	maybe := func(name, text string) {
		if rapid.Bool().Draw(t, name) {
			line("%s", text)
		}
	}
	maybe("history", "history: 31d")
	maybe("sandbox", "sandbox: true")
	maybe("networks", "trusted_networks: [10.0.0.0/8, 127.0.0.1]")
	maybe("admin", "admin: {password: \"${PINGPOST_ADMIN_PASSWORD}\"}")
	suppliers := rapid.Permutation([]string{"s1", "s.2", "s-2"}).Draw(t, "suppliers")
	line("suppliers:")
	for _, id := range suppliers {
		line("  - id: %s", id)
		line("    name: %s", syntax.Quote(drawLabel(t, "name")))
		maybe("clients", "    oauth_clients: [{client_id: x"+id+", client_secret: s, scopes: [post, ping]}, {client_id: a"+id+", client_secret: s}]")
		maybe("webhook", "    webhook: {url: \"https://a.example/?x=1\", secret: whsec_aGk=}")
	}
	line("buyers:")
	for _, id := range rapid.Permutation([]string{"b1", "b2"}).Draw(t, "buyers") {
		line("  - id: %s", id)
		line("    endpoint: https://%s.example/", id)
		maybe("paused", "    paused: true")
		maybe("states", "    states: [NV, CA]")
		maybe("funds", "    funds: {credit: 0.5}")
		line("    %s", rapid.SampledFrom([]string{
			"auth: {bearer: x}", "auth: {api_key: x}", "auth: {api_key: x, header: X-Key}",
			"auth: {oauth: {token_url: https://t.example, client_id: \"a: b\", client_secret: s}}", "caps:",
		}).Draw(t, "auth"))
		line("    filters: [{field: source, in: [%s, 2, true]}]", syntax.Quote(drawLabel(t, "in")))
	}
	line("campaigns:")
	for i, id := range rapid.Permutation([]string{"c1", "c2"}).Draw(t, "campaigns") {
		line("  - id: %s", id)
		line("    vertical: v%d", i)
		line("    method: %s", rapid.SampledFrom([]string{"waterfall", "round_robin", "weighted", "ping_post"}).Draw(t, "method"))
		maybe("fixed", "    payout: {fixed: 0.50}")
		maybe("taken", "    suppliers: [s1, s-2]")
		maybe("duplicates", "    duplicates: {match: all, window: 0}")
		maybe("returns", "    returns: {window: 1d12h, reasons: [z, a], reverse_payout: false}")
		line("    fields: [{name: x, type: enum, values: [%s, 1], ping: true}, {name: y, type: number, min: -1.50, default: 2}]", syntax.Quote(drawLabel(t, "value")+"."))
		line("    buyers:")
		line("      - {buyer: b2, weight: 2, price: %d.%02d}", rapid.IntRange(1, 99).Draw(t, "price"), rapid.IntRange(0, 99).Draw(t, "cents"))
		maybe("seat", "      - {buyer: b1, priority: 0, price: 4, caps: [{per: week, money: 1000, time_zone: Asia/Kolkata}], schedule: {open: [\"Sat 10:00-24:00\"]}}")
	}
	return b.String()
}

// Documents that mean the same have the same bytes.
func TestCanonicalForgetsWhatMeansNothing(t *testing.T) {
	one := compiled(t, base+"    suppliers: [sup_a, sup_b]\n    floor: 8\n", nil)
	for name, other := range map[string]string{
		"the order of suppliers":   strings.Replace(base, "{id: sup_a}\n  - {id: sup_b}", "{id: sup_b}\n  - {id: sup_a}", 1) + "    suppliers: [sup_b, sup_a]\n    floor: 8\n",
		"how an amount is written": base + "    suppliers: [sup_a, sup_b]\n    floor: 8.00\n",
		"defaults":                 "history: 1080h\n" + base + "    suppliers: [sup_a, sup_b]\n    floor: 8e0\n    bid_timeout: 2000ms\n    caps: []\n    payout: {share: 1.0}\n",
		"JSON":                     string(one.Canonical),
		"quotes and comments":      "tenant: 'production' # ours\n" + base + "    suppliers: [sup_a, sup_b]\n    floor: 8\n",
	} {
		if got := compiled(t, other, nil).Canonical; !bytes.Equal(got, one.Canonical) {
			t.Errorf("%s: canonical differs\n%s\n%s", name, got, one.Canonical)
		}
	}
}

func TestCanonicalHasNoSecret(t *testing.T) {
	exchange := example(t)
	exported := exchange.Export()
	for name, value := range exampleEnv {
		if bytes.Contains(exchange.Canonical, []byte(value)) || bytes.Contains(exported, []byte(value)) {
			t.Errorf("%s is told", name)
		}
	}
	literal := compiled(t, "admin: {password: hunter2}\nsandbox: true\nsuppliers:\n  - {id: a, api_key: hunter2a, bearer_tokens: [{token: hunter2b}]}\n", nil)
	if text := string(literal.Canonical) + string(literal.Export()); strings.Contains(text, "hunter2") {
		t.Errorf("a literal secret is told: %s", text)
	}
	without := compiled(t, "admin: {}\n", nil)
	if strings.Contains(string(without.Canonical), "password") {
		t.Error("a secret that is not there seems to be")
	}
}

// Two places never share a variable, however alike their ids.
func TestExportedVariablesAreUnique(t *testing.T) {
	exported := string(compiled(t, "suppliers:\n  - {id: a.b, api_key: x}\n  - {id: a-b, api_key: y}\n  - {id: \"9\", api_key: w}\n", nil).Export())
	for _, want := range []string{"${A_B_API_KEY}", "${A_B_API_KEY_2}", "${_9_API_KEY}"} {
		if strings.Count(exported, want) != 1 {
			t.Errorf("%s is not there once:\n%s", want, exported)
		}
	}
	if _, err := canonical.Export([]byte("[]")); err == nil {
		t.Error("a list was exported")
	}
}
