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

// documentWithAdapter returns a document that ends with a buyer's adapter of the given lines.
func documentWithAdapter(lines ...string) string {
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
` + indentLines(6, lines)
}

func indentLines(by int, lines []string) string {
	var b strings.Builder
	for _, line := range lines {
		b.WriteString(strings.Repeat(" ", by) + line + "\n")
	}
	return b.String()
}

// documentWithPingAdapter returns a document with a ping adapter of the lines and defaults.
func documentWithPingAdapter(lines ...string) string {
	return documentWithAdapter(append([]string{"ping:"}, addMissingKeys(lines, "format: json", "answer: {price: price}", `body: "[1]"`)...)...)
}

func documentWithPostAdapter(lines ...string) string {
	return documentWithAdapter(append([]string{"post:"}, addMissingKeys(lines, "format: json", "answer: {accepted: ok, yes: [true]}", `body: "[1]"`)...)...)
}

func addMissingKeys(lines []string, defaults ...string) (all []string) {
	for _, key := range defaults {
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

func TestCompileAdapter(t *testing.T) {
	exchange := compileText(t, documentWithAdapter(
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
	wantPing := market.AdapterProtocol{
		Method: "POST", ContentType: "application/x-www-form-urlencoded", Headers: "X-A: 1\nSOAPAction: urn:x\n", Idempotent: true,
		Answer: market.BuyerAnswerValuePaths{Format: "xml", Accepted: "A/B", Yes: "1\nOK\n", No: "false\n", Price: "A/@p", Token: "A/T", Reason: "A/R"},
	}
	wantPost := market.AdapterProtocol{
		Method: "PUT", ContentType: "application/vnd.a+json; charset=UTF-8", KeyHeader: "Idempotency-Key", Idempotent: true,
		Answer: market.BuyerAnswerValuePaths{Format: "json", Accepted: "ok", Yes: "true\n", ID: "lead.0.id"},
	}
	if *buyer.Ping.AdapterProtocol != wantPing || *buyer.Post.AdapterProtocol != wantPost {
		t.Errorf("%+v\n%+v", *buyer.Ping.AdapterProtocol, *buyer.Post.AdapterProtocol)
	}
	if buyer.Ping.Adapter == nil || buyer.Post.Adapter == nil || buyer.Ping.URL != "https://a.example/ping" || buyer.Post.Header != "X-Key" {
		t.Errorf("%+v %+v", buyer.Ping, buyer.Post)
	}
}

func TestAdapterOfPostsOnly(t *testing.T) {
	buyer := compileText(t, documentWithPostAdapter(), nil).Catalog.Buyers["buy_a"]
	if buyer.Ping.AdapterProtocol != nil || buyer.Ping.Adapter != nil || !buyer.Ping.MayRepeatPost() || buyer.Post.MayRepeatPost() {
		t.Errorf("%+v %+v", buyer.Ping, buyer.Post)
	}
}

func TestRepeatRefusalIsFinalOnlyIfConfigured(t *testing.T) {
	for text, want := range map[string][2]bool{ // repeatable, trusted
		baseWithBuyer("name: a"):           {true, false},
		baseWithBuyer("idempotent: true"):  {true, true},
		baseWithBuyer("idempotent: false"): {true, false},
		documentWithPostAdapter():          {false, false},
		strings.Replace(documentWithPostAdapter(), "adapter:\n", "adapter:\n      idempotent: true\n", 1): {true, true},
	} {
		post := compileText(t, text, nil).Catalog.Buyers["buy_a"].Post
		if got := [2]bool{post.MayRepeatPost(), post.CountsRefusalOfRepeatedPost()}; got != want {
			t.Errorf("repeatable, refusal final: got %v, want %v\n%s", got, want, text)
		}
	}
}

func TestInvalidAdapters(t *testing.T) {
	const ping, post = "buyers[0].adapter.ping", "buyers[0].adapter.post"
	checkProblems(t, []invalidDocument{
		{"neither ping nor post", strings.Replace(documentWithAdapter(), "adapter:\n", "adapter: {idempotent: true}\n", 1), "buyers[0].adapter", "give ping, post or both"},
		{"idempotent of the buyer", strings.Replace(documentWithPostAdapter(), "    adapter:\n", "    idempotent: true # here\n    adapter:\n", 1), "buyers[0].idempotent", "is only for posts in the contract's form, but an adapter writes this buyer's posts"},
		{"ping adapter without ping_url", strings.NewReplacer("    ping_url: https://a.example/ping\n", "", "post_url: https://a.example/post", "endpoint: https://a.example", "format: json", "format: json # here").Replace(documentWithPingAdapter()), ping, "give ping_url"},
		{"a variable", strings.Replace(documentWithPingAdapter(`content_type: "${LEAK}"`), "ping:\n", "ping: # here\n", 1), "buyers[0].adapter", "cannot use variables, because logs and pages show its text"},
		{"a method", documentWithPingAdapter("method: DELETE"), ping + ".method", "use POST, PUT, GET"},
		{"a body in a query", documentWithPingAdapter("method: GET"), ping + ".method", "GET sends the body as the query of the address, which works only for a form"},
		{"contact data in a query", documentWithPostAdapter("method: GET"), post + ".method", "GET would put personal data into the address, and so into logs on the way"},
		{"no format", strings.Replace(documentWithPostAdapter(), "format: json\n", "content_type: text/json # here\n", 1), post + ".format", "use json, form, xml"},
		{"an unknown format", documentWithPostAdapter("answer: {format: json, accepted: ok, yes: [true]}", "format: yaml"), post + ".format", "use json, form, xml"},
		{"an invalid content type", documentWithPostAdapter("content_type: json"), post + ".content_type", "is not a content type"},
		{"a content type of two lines", documentWithPostAdapter(`content_type: "a/b\r\nX: 1"`), post + ".content_type", "is not a content type"},
		{"another character set", documentWithPostAdapter("content_type: text/xml; charset=latin1"), post + ".content_type", "charset=utf-8"},

		{"a header of HTTP", documentWithPostAdapter(`headers: [{name: Content-Length, value: "1"}]`), post + ".headers[0].name", "is a header that the exchange sets"},
		{"the Host header", documentWithPostAdapter(`headers: [{name: HOST, value: a}]`), post + ".headers[0].name", "is a header that the exchange sets"},
		{"the Transfer-Encoding header", documentWithPostAdapter(`headers: [{name: Transfer-Encoding, value: chunked}]`), post + ".headers[0].name", "is a header that the exchange sets"},
		{"the Idempotency-Key header", documentWithPostAdapter(`headers: [{name: Idempotency-Key, value: a}]`), post + ".headers[0].name", "is a header that the exchange sets"},
		{"an invalid header name", documentWithPostAdapter(`headers: [{name: "X A", value: a}]`), post + ".headers[0].name", "is not a header's name"},
		{"the Authorization header", documentWithPostAdapter(`headers: [{name: Authorization, value: Basic x}]`), post + ".headers[0].name", "is for credentials"},
		{"the credential's own header", documentWithPostAdapter(`headers: [{name: x-key, value: a}]`), post + ".headers[0].name", "carries the credential"},
		{"a header twice", documentWithPostAdapter(`headers: [{name: X-A, value: a}, {name: x-a, value: b}]`), post + ".headers[1].name", "another value already"},
		{"a line break in a value", documentWithPostAdapter(`headers: [{name: X-A, value: "a\r\nX-B: 1"}]`), post + ".headers[0].value", "one line"},
		{"a trailing space in a value", documentWithPostAdapter(`headers: [{name: X-A, value: "a "}]`), post + ".headers[0].value", "one line"},
		{"no value", documentWithPostAdapter(`headers: [{name: X-A}]`), post + ".headers[0].value", "one line"},
		{"too many headers", documentWithPostAdapter(manyHeaders(17)), post + ".headers", "are more than 16"},
		{"the key in the credential's header", documentWithPostAdapter("key_header: X-KEY"), post + ".key_header", "carries the credential"},
		{"the key in a fixed header", documentWithPostAdapter(`headers: [{name: X-A, value: a}]`, "key_header: x-a"), post + ".key_header", "another value already"},
		{"the key in a header of HTTP", documentWithPostAdapter("key_header: Host"), post + ".key_header", "is a header that the exchange sets"},
	})
}

func manyHeaders(n int) string {
	var names []string
	for i := range n {
		names = append(names, "{name: X-"+strings.Repeat("a", i+1)+", value: a}")
	}
	return "headers: [" + strings.Join(names, ", ") + "]"
}

func TestInvalidAdapterAnswers(t *testing.T) {
	const ping, post = "buyers[0].adapter.ping.answer", "buyers[0].adapter.post.answer"
	checkProblems(t, []invalidDocument{
		{"no price", documentWithPingAdapter("answer: {accepted: a, yes: [1]}"), ping + ".price", "the place of the bid's price"},
		{"an id in a ping's answer", documentWithPingAdapter("answer: {price: p, id: i}"), ping + ".id", "answer to a post"},
		{"accepted is missing", documentWithPostAdapter("answer: {id: i}"), post + ".accepted", "is missing"},
		{"yes is missing", documentWithPostAdapter("answer: {accepted: a}"), post + ".yes", "list the values"},
		{"yes without accepted", documentWithPingAdapter("answer: {price: p, yes: [1]}"), ping + ".accepted", "the value that yes and no list"},
		{"a price in a post's answer", documentWithPostAdapter("answer: {accepted: a, yes: [1], price: p}"), post + ".price", "answer to a ping"},
		{"a token in a post's answer", documentWithPostAdapter("answer: {accepted: a, yes: [1], token: p}"), post + ".token", "answer to a ping"},
		{"a currency in a post's answer", documentWithPostAdapter("answer: {accepted: a, yes: [1], currency: p}"), post + ".currency", "answer to a ping"},
		{"a value in both yes and no", documentWithPostAdapter("answer: {accepted: a, yes: [Taken], no: [taken]}"), post + ".no[0]", "is the same as " + post + ".yes[0]"},
		{"an empty yes value", documentWithPostAdapter(`answer: {accepted: a, yes: [""]}`), post + ".yes[0]", "is not a valid value"},
		{"a yes value of two lines", documentWithPostAdapter(`answer: {accepted: a, yes: ["a\nb"]}`), post + ".yes[0]", "is not a valid value"},
		{"an unknown format", documentWithPostAdapter("answer: {format: yaml, accepted: a, yes: [1]}"), post + ".format", "use json, form, xml"},
		{"an empty path element", documentWithPostAdapter("answer: {accepted: a..b, yes: [1]}"), post + ".accepted", "such as data.offer.price"},
		{"a long path", documentWithPostAdapter("answer: {accepted: " + strings.Repeat("a", 65) + ", yes: [1]}"), post + ".accepted", "such as data.offer.price"},
		{"a deep path", documentWithPostAdapter("answer: {accepted: a.b.c.d.e.f.g.h.i, yes: [1]}"), post + ".accepted", "such as data.offer.price"},
		{"an attribute as the root", documentWithPostAdapter(`answer: {format: xml, accepted: "@a", yes: [1]}`), post + ".accepted", "such as Response/Bid/@price"},
		{"an attribute inside a path", documentWithPostAdapter(`answer: {format: xml, accepted: "a/@b/c", yes: [1]}`), post + ".accepted", "such as Response/Bid/@price"},
		{"a leading slash", documentWithPostAdapter(`answer: {format: xml, accepted: /a, yes: [1]}`), post + ".accepted", "such as Response/Bid/@price"},
		{"a non-ASCII parameter", documentWithPostAdapter(`answer: {format: form, accepted: é, yes: [1]}`), post + ".accepted", "is not the name of a parameter"},
	})
}

// TestInvalidAdapterTemplates checks that problems name the line of the template.
func TestInvalidAdapterTemplates(t *testing.T) {
	const ping, post = "buyers[0].adapter.ping.body", "buyers[0].adapter.post.body"
	checkProblems(t, []invalidDocument{
		{"no body", strings.Replace(documentWithPostAdapter(), `  body: "[1]"`, `  body: "" # here`, 1), post, "the template is empty"},
		{"an unknown function", documentWithPostAdapter("body: |", "  [", "  {{.state | shout}}"), post, `line 2: function "shout" not defined`},
		{"a contact field in a ping", documentWithPingAdapter("body: |", "  [1,", "", "  {{.phone}}"), ping, "line 3: phone identifies the person"},
		{"an unknown field", documentWithPostAdapter("body: |", "  [", "    {{.stat}}"), post, `in campaign "cmp": line 2: there is no field stat`},
		{"a field by its arrival name", documentWithPostAdapter("body: |-", "  [{{.vehicles}},", "    {{.cars}}"), post, `the field's name for buyers is vehicles`},
		{"a field not marked ping", documentWithPingAdapter("body: |", "  [{{.vehicles}},", "    {{.note}}"), ping, `in campaign "cmp": line 2: note is not marked ping`},
		{"a template in one document line", documentWithPostAdapter(`body: "[\n{{.stat}}]"`), post, `line 2: there is no field stat`},
		{"a folded template", documentWithPostAdapter("body: > # here", "  [", "  {{.stat}}]"), post, `there is no field stat`},
		{"malformed JSON", documentWithPostAdapter("body: |", `  {"a": 1{{if .note}}"b": 2{{end}}}`), post, "the body is not JSON"},
	})
}

// TestTemplateIsCheckedInEachCampaign: a ping template is checked in the buyer's ping_post
// campaigns only.
func TestTemplateIsCheckedInEachCampaign(t *testing.T) {
	second := func(method, fields, buyers string) string {
		return strings.Replace(documentWithPingAdapter(`body: "[{{.vehicles}}]"`), "buyers:\n  - id", "  - {id: two, vertical: home, method: "+method+", fields: ["+fields+"], buyers: ["+buyers+"]}\nbuyers:\n  - id", 1)
	}
	const field = "{name: vehicles, type: integer, ping: true}"
	for text, want := range map[string]int{
		second("ping_post", field, "{buyer: buy_a}"): 0,
		second("ping_post", "", "{buyer: buy_a}"):    1,
		second("ping_post", "", ""):                  0,
		second("waterfall", "", "{buyer: buy_a}"):    0,
	} {
		got := compileProblems(t, text)
		if len(got) != want || want == 1 && !strings.Contains(got[0].Error(), `in campaign "two": line 1: there is no field vehicles`) {
			t.Errorf("%d problems, want %d: %v\n%s", len(got), want, got, text)
		}
	}
}

func TestConsentHostsAndPingKeys(t *testing.T) {
	campaign := func(hosts string) string { return base + "    consent_hosts: " + hosts + "\n" }
	checkProblems(t, []invalidDocument{
		{"an address", campaign(`["https://cert.example"]`), "campaigns[0].consent_hosts[0]", "is not a host name"},
		{"capitals", campaign(`[Cert.example]`), "campaigns[0].consent_hosts[0]", "is not a host name"},
		{"a star for all hosts", campaign(`["*"]`), "campaigns[0].consent_hosts[0]", "is not a host name"},
		{"a star for a top-level domain", campaign(`["*.com"]`), "campaigns[0].consent_hosts[0]", "is not a host name"},
		{"a star inside", campaign(`[a.*.example]`), "campaigns[0].consent_hosts[0]", "is not a host name"},
		{"a port", campaign(`["cert.example:443"]`), "campaigns[0].consent_hosts[0]", "is not a host name"},
		{"a host twice", campaign(`[cert.example, cert.example]`), "campaigns[0].consent_hosts[1]", "remove one of them"},
		{"ping_idempotency too short", "ping_idempotency: 59s\n", "ping_idempotency", "1m to 3650d"},
		{"ping_idempotency longer than history", "ping_idempotency: 46d\nhistory: 45d\n", "history", "shorter than ping_idempotency (46d)"},
	})
	exchange := compileText(t, campaign(`["*.proof.example", a.cert.example]`), nil)
	if got := strings.Join(exchange.Catalog.Campaigns["cmp"].ConsentHosts, " "); got != "*.proof.example a.cert.example" {
		t.Error(got)
	}
	for text, want := range map[string]schema.Duration{
		base:                                    schema.Duration(30 * schema.Day),
		"history: 3d\nidempotency: 2d\n" + base: schema.Duration(3 * schema.Day),
		"ping_idempotency: 5m\n" + base:         schema.Duration(5 * 60_000_000_000),
	} {
		if got := compileText(t, text, nil).Settings.PingIdempotency; schema.Duration(got) != want {
			t.Errorf("%s: %v, want %v", text, got, want)
		}
	}
}

func TestExportKeepsTemplateText(t *testing.T) {
	checkExport := func(t fatalT, text string) {
		document := []byte(`{"buyers":[{"id":"a","adapter":{"post":{"body":` + strings.ReplaceAll(syntax.QuoteForJSONAndYAML(text), "${", "$${") + `,"format":"json"}}}]}`)
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
			t.Fatalf("template %q is %q in the export:\n%s", text, found.Text, exported)
		}
	}
	for _, text := range []string{"a\n${A}\n", "{\n  \"a\": $${\n}\n", "a\n\n\nb\n", "# a\n- b: c\n", "---\n...\n", "a\n{{.b}}\n\tc\n"} {
		checkExport(t, text)
	}
	tokens := rapid.SampledFrom([]string{"a", " ", "\n", "\t", "#", ": ", "- ", "${A}", "$", "{", "|", "\\", "\"", "'", "é", "\r", "\u2028", "%", "\x7f"})
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Join(rapid.SliceOfN(tokens, 0, 12).Draw(t, "text"), "") + rapid.SampledFrom([]string{"", "\n", "\n\n"}).Draw(t, "end")
		checkExport(t, text)
	})
}
