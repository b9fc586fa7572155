package config

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
	"pingpost/config/canonical"
	"pingpost/config/schema"
	"pingpost/config/syntax"
	"pingpost/engine/market"
)

// adapting is a document that ends in a buyer's adapter, of which the lines are
// given.
func adapting(lines ...string) string {
	return `campaigns:
  - id: cmp
    vertical: auto
    method: ping_post
    fields: [{name: cars, to: vehicles, type: integer, ping: true}, {name: note, type: string}]
    buyers: [{buyer: buy_a}]
buyers:
  - id: buy_a
    ping_url: https://a.example/ping
    post_url: https://a.example/post
    auth: {api_key: k, header: X-Key}
    adapter:
` + indented(6, lines)
}

func indented(by int, lines []string) string {
	var b strings.Builder
	for _, line := range lines {
		b.WriteString(strings.Repeat(" ", by) + line + "\n")
	}
	return b.String()
}

// pinging and posting are dialects with more said of them in the last lines.
func pinging(lines ...string) string {
	return adapting(append([]string{"ping:"}, inside(lines, "format: json", "answer: {price: price}", `body: "[1]"`)...)...)
}

func posting(lines ...string) string {
	return adapting(append([]string{"post:"}, inside(lines, "format: json", "answer: {accepted: ok, yes: [true]}", `body: "[1]"`)...)...)
}

func inside(lines []string, before ...string) (all []string) {
	for _, key := range before {
		name, _, _ := strings.Cut(key, ":")
		if !slices.ContainsFunc(lines, func(line string) bool { return strings.HasPrefix(line, name+":") }) {
			all = append(all, "  "+key)
		}
	}
	for _, line := range lines {
		all = append(all, "  "+line)
	}
	return all
}

func TestAnAdapterIsCompiled(t *testing.T) {
	exchange := compiled(t, adapting(
		"idempotent: true",
		"ping:",
		"  format: form",
		`  headers: [{name: X-A, value: "1"}, {name: SOAPAction, value: urn:x}]`,
		`  body: "id={{auction}}&cars={{.vehicles}}"`,
		"  answer: {format: xml, accepted: A/B, yes: [1, OK], no: [false], price: A/@p, token: A/T, reason: A/R}",
		"post:",
		"  method: PUT",
		"  format: json",
		"  content_type: application/vnd.a+json; charset=UTF-8",
		"  key_header: Idempotency-Key",
		"  body: |",
		"    [{{.first_name}}]",
		"  answer: {accepted: ok, yes: [true], id: lead.0.id}",
	), nil)
	buyer := exchange.Catalog.Buyers["buy_a"]
	wantPing := market.Dialect{
		Method: "POST", ContentType: "application/x-www-form-urlencoded", Headers: "X-A: 1\nSOAPAction: urn:x\n", Idempotent: true,
		Answer: market.AnswerPaths{Format: "xml", Accepted: "A/B", Yes: "1\nOK\n", No: "false\n", Price: "A/@p", Token: "A/T", Reason: "A/R"},
	}
	wantPost := market.Dialect{
		Method: "PUT", ContentType: "application/vnd.a+json; charset=UTF-8", KeyHeader: "Idempotency-Key", Idempotent: true,
		Answer: market.AnswerPaths{Format: "json", Accepted: "ok", Yes: "true\n", ID: "lead.0.id"},
	}
	if *buyer.Ping.Dialect != wantPing || *buyer.Post.Dialect != wantPost {
		t.Errorf("%+v\n%+v", *buyer.Ping.Dialect, *buyer.Post.Dialect)
	}
	if buyer.Ping.Adapter == nil || buyer.Post.Adapter == nil || buyer.Ping.URL != "https://a.example/ping" || buyer.Post.Header != "X-Key" {
		t.Errorf("%+v %+v", buyer.Ping, buyer.Post)
	}
}

// What has no dialect speaks the contract.
func TestAnAdapterOfPostsAlone(t *testing.T) {
	buyer := compiled(t, posting(), nil).Catalog.Buyers["buy_a"]
	if buyer.Ping.Dialect != nil || buyer.Ping.Adapter != nil || !buyer.Ping.MayRepeatPost() || buyer.Post.MayRepeatPost() {
		t.Errorf("%+v %+v", buyer.Ping, buyer.Post)
	}
}

// A repeat's refusal is trusted where the configuration says so, and nowhere else.
func TestWhoseRefusalOfARepeatIsTrusted(t *testing.T) {
	for text, want := range map[string][2]bool{ // repeatable, trusted
		buyerWith("name: a"):           {true, false},
		buyerWith("idempotent: true"):  {true, true},
		buyerWith("idempotent: false"): {true, false},
		posting():                      {false, false},
		strings.Replace(posting(), "adapter:\n", "adapter:\n      idempotent: true\n", 1): {true, true},
	} {
		post := compiled(t, text, nil).Catalog.Buyers["buy_a"].Post
		if got := [2]bool{post.MayRepeatPost(), post.IsRepeatRefusalFinal()}; got != want {
			t.Errorf("%v, want %v, of\n%s", got, want, text)
		}
	}
}

func TestMistakesInAdapters(t *testing.T) {
	const ping, post = "buyers[0].adapter.ping", "buyers[0].adapter.post"
	checkMistakes(t, []mistake{
		{"nothing", strings.Replace(adapting(), "adapter:\n", "adapter: {idempotent: true}\n", 1), "buyers[0].adapter", "give ping, post or both"},
		{"beside the buyer's own", strings.Replace(posting(), "    adapter:\n", "    idempotent: true # here\n    adapter:\n", 1), "buyers[0].idempotent", "is only for posts in the contract's form, but an adapter writes this buyer's posts"},
		{"no address of its own", strings.NewReplacer("    ping_url: https://a.example/ping\n", "", "post_url: https://a.example/post", "endpoint: https://a.example", "format: json", "format: json # here").Replace(pinging()), ping, "give ping_url"},
		{"from the environment", strings.Replace(pinging(`content_type: "${LEAK}"`), "ping:\n", "ping: # here\n", 1), "buyers[0].adapter", "cannot use variables, because logs and pages show its text"},
		{"a method", pinging("method: DELETE"), ping + ".method", "use POST, PUT, GET"},
		{"a body in a query", pinging("method: GET"), ping + ".method", "GET sends the body as the query of the address, which works only for a form"},
		{"a person in a query", posting("method: GET"), post + ".method", "GET would put personal data into the address, and so into logs on the way"},
		{"no format", strings.Replace(posting(), "format: json\n", "content_type: text/json # here\n", 1), post + ".format", "use json, form, xml"},
		{"a format", posting("answer: {format: json, accepted: ok, yes: [true]}", "format: yaml"), post + ".format", "use json, form, xml"},
		{"a content type", posting("content_type: json"), post + ".content_type", "is not a content type"},
		{"a content type of two lines", posting(`content_type: "a/b\r\nX: 1"`), post + ".content_type", "is not a content type"},
		{"another character set", posting("content_type: text/xml; charset=latin1"), post + ".content_type", "charset=utf-8"},

		{"a header of HTTP", posting(`headers: [{name: Content-Length, value: "1"}]`), post + ".headers[0].name", "is a header that the exchange sets"},
		{"a host", posting(`headers: [{name: HOST, value: a}]`), post + ".headers[0].name", "is a header that the exchange sets"},
		{"chunks", posting(`headers: [{name: Transfer-Encoding, value: chunked}]`), post + ".headers[0].name", "is a header that the exchange sets"},
		{"a fixed key", posting(`headers: [{name: Idempotency-Key, value: a}]`), post + ".headers[0].name", "is a header that the exchange sets"},
		{"a header's name", posting(`headers: [{name: "X A", value: a}]`), post + ".headers[0].name", "is not a header's name"},
		{"a secret in the clear", posting(`headers: [{name: Authorization, value: Basic x}]`), post + ".headers[0].name", "is for credentials"},
		{"the credential's own header", posting(`headers: [{name: x-key, value: a}]`), post + ".headers[0].name", "carries the credential"},
		{"a header twice", posting(`headers: [{name: X-A, value: a}, {name: x-a, value: b}]`), post + ".headers[1].name", "another value already"},
		{"an end of line", posting(`headers: [{name: X-A, value: "a\r\nX-B: 1"}]`), post + ".headers[0].value", "one line"},
		{"a space at the end", posting(`headers: [{name: X-A, value: "a "}]`), post + ".headers[0].value", "one line"},
		{"no value", posting(`headers: [{name: X-A}]`), post + ".headers[0].value", "one line"},
		{"too many headers", posting(manyHeaders(17)), post + ".headers", "are more than 16"},
		{"the key in the credential's header", posting("key_header: X-KEY"), post + ".key_header", "carries the credential"},
		{"the key in a fixed header", posting(`headers: [{name: X-A, value: a}]`, "key_header: x-a"), post + ".key_header", "another value already"},
		{"the key in a header of HTTP", posting("key_header: Host"), post + ".key_header", "is a header that the exchange sets"},
	})
}

func manyHeaders(n int) string {
	var names []string
	for i := range n {
		names = append(names, "{name: X-"+strings.Repeat("a", i+1)+", value: a}")
	}
	return "headers: [" + strings.Join(names, ", ") + "]"
}

func TestMistakesInAnswers(t *testing.T) {
	const ping, post = "buyers[0].adapter.ping.answer", "buyers[0].adapter.post.answer"
	checkMistakes(t, []mistake{
		{"no price", pinging("answer: {accepted: a, yes: [1]}"), ping + ".price", "the place of the bid's price"},
		{"an id of a ping", pinging("answer: {price: p, id: i}"), ping + ".id", "answer to a post"},
		{"no word of yes", posting("answer: {id: i}"), post + ".accepted", "is missing"},
		{"nothing means yes", posting("answer: {accepted: a}"), post + ".yes", "list the values"},
		{"yes of what", pinging("answer: {price: p, yes: [1]}"), ping + ".accepted", "the value that yes and no list"},
		{"a price of a post", posting("answer: {accepted: a, yes: [1], price: p}"), post + ".price", "answer to a ping"},
		{"a token of a post", posting("answer: {accepted: a, yes: [1], token: p}"), post + ".token", "answer to a ping"},
		{"a currency of a post", posting("answer: {accepted: a, yes: [1], currency: p}"), post + ".currency", "answer to a ping"},
		{"yes and no", posting("answer: {accepted: a, yes: [Taken], no: [taken]}"), post + ".no[0]", "is the same as " + post + ".yes[0]"},
		{"an empty yes", posting(`answer: {accepted: a, yes: [""]}`), post + ".yes[0]", "is not a valid value"},
		{"a yes of two lines", posting(`answer: {accepted: a, yes: ["a\nb"]}`), post + ".yes[0]", "is not a valid value"},
		{"a format", posting("answer: {format: yaml, accepted: a, yes: [1]}"), post + ".format", "use json, form, xml"},
		{"an empty step", posting("answer: {accepted: a..b, yes: [1]}"), post + ".accepted", "such as data.offer.price"},
		{"a long place", posting("answer: {accepted: " + strings.Repeat("a", 65) + ", yes: [1]}"), post + ".accepted", "such as data.offer.price"},
		{"a deep place", posting("answer: {accepted: a.b.c.d.e.f.g.h.i, yes: [1]}"), post + ".accepted", "such as data.offer.price"},
		{"a root that is an attribute", posting(`answer: {format: xml, accepted: "@a", yes: [1]}`), post + ".accepted", "such as Response/Bid/@price"},
		{"an attribute's attribute", posting(`answer: {format: xml, accepted: "a/@b/c", yes: [1]}`), post + ".accepted", "such as Response/Bid/@price"},
		{"a slash at the front", posting(`answer: {format: xml, accepted: /a, yes: [1]}`), post + ".accepted", "such as Response/Bid/@price"},
		{"a parameter beyond ASCII", posting(`answer: {format: form, accepted: é, yes: [1]}`), post + ".accepted", "is not the name of a parameter"},
	})
}

// TestMistakesInTemplates are told at the line of the template where they stand.
func TestMistakesInTemplates(t *testing.T) {
	const ping, post = "buyers[0].adapter.ping.body", "buyers[0].adapter.post.body"
	checkMistakes(t, []mistake{
		{"no body", strings.Replace(posting(), `  body: "[1]"`, `  body: "" # here`, 1), post, "the template is empty"},
		{"no function", posting("body: |", "  [", "  {{.state | shout}}"), post, `line 2: function "shout" not defined`},
		{"a contact field in a ping", pinging("body: |", "  [1,", "", "  {{.phone}}"), ping, "line 3: phone identifies the person"},
		{"no such field", posting("body: |", "  [", "    {{.stat}}"), post, `in campaign "cmp": line 2: there is no field stat`},
		{"by its arriving name", posting("body: |-", "  [{{.vehicles}},", "    {{.cars}}"), post, `the field's name for buyers is vehicles`},
		{"not for pings", pinging("body: |", "  [{{.vehicles}},", "    {{.note}}"), ping, `in campaign "cmp": line 2: note is not marked ping`},
		{"on one line of the document", posting(`body: "[\n{{.stat}}]"`), post, `line 2: there is no field stat`},
		{"folded", posting("body: > # here", "  [", "  {{.stat}}]"), post, `there is no field stat`},
		{"not well formed", posting("body: |", `  {"a": 1{{if .note}}"b": 2{{end}}}`), post, "the body is not JSON"},
	})
}

// TestATemplateFitsEveryCampaign: it is judged where the buyer sits, and only
// there; a ping's only where there are pings.
func TestATemplateFitsEveryCampaign(t *testing.T) {
	second := func(method, fields, seats string) string {
		return strings.Replace(pinging(`body: "[{{.vehicles}}]"`), "buyers:\n  - id", "  - {id: two, vertical: home, method: "+method+", fields: ["+fields+"], buyers: ["+seats+"]}\nbuyers:\n  - id", 1)
	}
	const field = "{name: vehicles, type: integer, ping: true}"
	for text, want := range map[string]int{
		second("ping_post", field, "{buyer: buy_a}"): 0,
		second("ping_post", "", "{buyer: buy_a}"):    1,
		second("ping_post", "", ""):                  0,
		second("waterfall", "", "{buyer: buy_a}"):    0,
	} {
		got := problemsOf(t, text)
		if len(got) != want || want == 1 && !strings.Contains(got[0].Error(), `in campaign "two": line 1: there is no field vehicles`) {
			t.Errorf("%d problems, want %d: %v\n%s", len(got), want, got, text)
		}
	}
}

func TestConsentHostsAndPingKeys(t *testing.T) {
	campaign := func(hosts string) string { return base + "    consent_hosts: " + hosts + "\n" }
	checkMistakes(t, []mistake{
		{"an address", campaign(`["https://cert.example"]`), "campaigns[0].consent_hosts[0]", "is not a host name"},
		{"capitals", campaign(`[Cert.example]`), "campaigns[0].consent_hosts[0]", "is not a host name"},
		{"every host", campaign(`["*"]`), "campaigns[0].consent_hosts[0]", "is not a host name"},
		{"every host of a country", campaign(`["*.com"]`), "campaigns[0].consent_hosts[0]", "is not a host name"},
		{"a star inside", campaign(`[a.*.example]`), "campaigns[0].consent_hosts[0]", "is not a host name"},
		{"a port", campaign(`["cert.example:443"]`), "campaigns[0].consent_hosts[0]", "is not a host name"},
		{"twice", campaign(`[cert.example, cert.example]`), "campaigns[0].consent_hosts[1]", "remove one of them"},
		{"too short", "ping_idempotency: 59s\n", "ping_idempotency", "1m to 3650d"},
		{"longer than history", "ping_idempotency: 46d\nhistory: 45d\n", "history", "shorter than ping_idempotency (46d)"},
	})
	exchange := compiled(t, campaign(`["*.proof.example", a.cert.example]`), nil)
	if got := strings.Join(exchange.Catalog.Campaigns["cmp"].ConsentHosts, " "); got != "*.proof.example a.cert.example" {
		t.Error(got)
	}
	for text, want := range map[string]schema.Duration{
		base:                                    schema.Duration(30 * schema.Day),
		"history: 3d\nidempotency: 2d\n" + base: schema.Duration(3 * schema.Day),
		"ping_idempotency: 5m\n" + base:         schema.Duration(5 * 60_000_000_000),
	} {
		if got := compiled(t, text, nil).Settings.PingIdempotency; schema.Duration(got) != want {
			t.Errorf("%s: %v, want %v", text, got, want)
		}
	}
}

// TestAnExportReadsBack whatever lines a template has.
func TestAnExportReadsBack(t *testing.T) {
	readsBack := func(t failer, text string) {
		document := []byte(`{"buyers":[{"id":"a","adapter":{"post":{"body":` + strings.ReplaceAll(syntax.Quote(text), "${", "$${") + `,"format":"json"}}}]}`)
		exported, err := canonical.ExportYAML(document)
		if err != nil {
			t.Fatal(err)
		}
		r := &syntax.Reader{Env: func(string) (string, bool) { return "", false }}
		root := r.Read(exported)
		if root == nil || len(r.Problems) > 0 {
			t.Fatalf("%q: %v\n%s", text, r.Problems, exported)
		}
		if found, exact := root.FindDeepest("buyers[0].adapter.post.body"); !exact || found.Text != text {
			t.Fatalf("%q came back as %q:\n%s", text, found.Text, exported)
		}
	}
	for _, text := range []string{"a\n${A}\n", "{\n  \"a\": $${\n}\n", "a\n\n\nb\n", "# a\n- b: c\n", "---\n...\n", "a\n{{.b}}\n\tc\n"} {
		readsBack(t, text)
	}
	letters := rapid.SampledFrom([]string{"a", " ", "\n", "\t", "#", ": ", "- ", "${A}", "$", "{", "|", "\\", "\"", "'", "é", "\r", "\u2028", "%", "\x7f"})
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Join(rapid.SliceOfN(letters, 0, 12).Draw(t, "text"), "") + rapid.SampledFrom([]string{"", "\n", "\n\n"}).Draw(t, "end")
		readsBack(t, text)
	})
}
