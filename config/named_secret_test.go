package config

import (
	"strings"
	"testing"

	"pingpost/config/canonical"
	"pingpost/engine/market/escape"
)

// oldBuyer is a document with a secret in each place that takes one.
const oldBuyer = `{"buyers":[{"id":"old","ping_url":"https://a.example/{{secret \"key\"}}/ping?k=${TOK}","post_url":"${BASE}/post",
"secrets":[{"name":"key","value":"${KEY}"}],
"adapter":{"ping":{"format":"form","body":"k={{secret \"key\"}}","headers":[{"name":"X-Key","value":"k={{secret \"key\"}}"}],"answer":{"price":"p"}}}}]}`

var oldEnv = map[string]string{"TOK": "value-tok", "BASE": "https://b.example/value-base", "KEY": "value-key"}

func TestSecretsOfABuyer(t *testing.T) {
	built := compiled(t, oldBuyer, oldEnv)
	firsts := map[string]string{}
	for _, first := range built.Initial.Secrets {
		firsts[first.Name] = first.Value.Reveal()
		if first.Follows != IsAddressVariable(first.Name) {
			t.Errorf("%s follows: %v", first.Name, first.Follows)
		}
	}
	if got := built.OutboundSecretNamesOf(canonical.EntryRef{Kind: canonical.Buyers, ID: "old"}); len(got) != 1 || got[0] != "buyer/old/secret/key" {
		t.Errorf("outbound secrets are %q", got)
	}
	buyer := built.Catalog.Buyers["old"]
	secrets := func(name string) (string, bool) { value, ok := firsts[name]; return value, ok }
	for text, want := range map[string]string{
		buyer.Ping.URL: "https://a.example/value-key/ping?k=value-tok", buyer.Post.URL: "https://b.example/value-base/post",
		buyer.Ping.Dialect.Headers: "X-Key: k=value-key\n",
	} {
		if got, ok := escape.AppendWithSecretsInserted(nil, []byte(text), secrets); !ok || string(got) != want || strings.Contains(text, "value-") {
			t.Errorf("%q is sent as %q, want %q", text, got, want)
		}
	}
	for _, told := range []string{string(built.Canonical), string(built.ExportYAML())} {
		if strings.Contains(told, "value-") || !strings.Contains(told, "?k=${TOK}") || !strings.Contains(told, "${BASE}/post") {
			t.Error(told)
		}
	}
}

// TestUnknownSecrets are mistakes wherever they stand.
func TestUnknownSecrets(t *testing.T) {
	for _, row := range []struct{ old, changed, want string }{
		{`{{secret \"key\"}}/ping`, `{{secret \"kex\"}}/ping`, `buyers[0].ping_url: there is no secret "kex"`},
		{`value":"k={{secret \"key\"}}`, `value":"k={{secret \"kex\"}}`, `headers[0].value: there is no secret "kex"`},
		{`body":"k={{secret \"key\"}}`, `body":"k={{secret \"kex\"}}`, `ping.body: line 1: there is no secret kex`},
		{`{{secret \"key\"}}/ping`, `{{secret \"key\" | upper}}/ping`, `buyers[0].ping_url: uses secret in another form`},
		{`https://a.example/{{secret \"key\"}}`, `https://{{secret \"key\"}}.example`, `buyers[0].ping_url: has {{secret "…"}} in its host`},
		{`"name":"key"`, `"name":"a/b"`, `secrets[0].name: is not an id`},
		{`"value":"${KEY}"`, `"value":"a\nb"`, `secrets[0].value: is not one line`},
		{`,"value":"${KEY}"`, ``, `secrets[0].value: is missing`},
		{`{"name":"key","value":"${KEY}"}`, `{"name":"key","value":"x"},{"name":"key","value":"y"}`, `secrets[1].name: is the same as buyers[0].secrets[0].name`},
		{`?k=${TOK}`, `?k=${NONE}`, `ping_url: the environment has no variable NONE`},
	} {
		text := strings.Replace(oldBuyer, row.old, row.changed, 1)
		source, err := Parse("x", []byte(text), lookup(oldEnv))
		if err == nil {
			_, err = source.Compile()
		}
		if err == nil || strings.Count(err.Error(), "ping_url: ") > 1 || !strings.Contains(err.Error(), row.want) || strings.Contains(err.Error(), "value-") {
			t.Errorf("%s: %v, want %s", row.changed, err, row.want)
		}
	}
}

// TestVariablesOfASender are the only ones that a sent document has.
func TestVariablesOfASender(t *testing.T) {
	built := mustCompile(t)(ParseSentDocument("sent", []byte(oldBuyer), map[string]string{"TOK": "value-tok"}))
	for _, first := range built.Initial.Secrets {
		if value := first.Value.Reveal(); IsAddressVariable(first.Name) && (!strings.HasSuffix(first.Name, "/TOK") || value != "value-tok") {
			t.Errorf("%s is %s", first.Name, value)
		}
	}
	if len(built.Unset) != 2 || built.Unset[0].Secret != "buyer/old/secret/key" || built.Unset[1].Secret != "buyer/old/variable/BASE" {
		t.Errorf("%+v", built.Unset)
	}
}

// TestHiddenCharactersAreRefused: a document, a variable or an escape cannot bring the
// characters that stand for a variable of an address.
func TestHiddenCharactersAreRefused(t *testing.T) {
	for name, text := range map[string]string{
		"an escape":  `{"tenant":"$\uFDD0KEY\uFDD1"}`,
		"a variable": `{"tenant":"${BAD}"}`,
		"an address": `{"buyers":[{"id":"a","endpoint":"https://a.example/$\uFDD0KEY\uFDD1"}]}`,
	} {
		_, err := Parse("x", []byte(text), lookup(map[string]string{"BAD": "$\uFDD0KEY\uFDD1", "KEY": "value-key"}))
		if err == nil || !strings.Contains(err.Error(), "U+FDD0") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestRedactNamedSecrets(t *testing.T) {
	got := string(canonical.RedactSecretsInJSON([]byte(`{"secrets":[{"name":"key","value":"value-key"},{"name":"b","value":{"set":true}}],"adapter":{"headers":[{"value":"x"}]}}`)))
	if strings.Contains(got, "value-key") || strings.Count(got, `{"set":true}`) != 2 || !strings.Contains(got, `"value":"x"`) {
		t.Error(got)
	}
}
