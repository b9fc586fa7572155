package adapter_test

import (
	"strings"
	"testing"

	"pingpost/engine/market"
	"pingpost/engine/market/adapter"
	"pingpost/engine/market/leadtest"
)

// newMapping returns a mapping with custom fields of several types.
func newMapping(t testing.TB) *market.FieldMapping {
	return leadtest.NewMapping(
		t, market.UnknownDrop,
		market.FieldSpec{Name: "homeowner", NameForBuyers: "owns_home", Type: market.TypeBoolean, Ping: true},
		market.FieldSpec{Name: "cars", Type: market.TypeInteger, Ping: true, Coerce: true},
		market.FieldSpec{Name: "band", NameForBuyers: "age band", Type: market.TypeEnum, Values: []string{"18-24", "25+"}, Ping: true},
		market.FieldSpec{Name: "note", Type: market.TypeString},
		market.FieldSpec{Name: "born", Type: market.TypeDate, Contact: true},
		market.FieldSpec{Name: "nick", Type: market.TypeString, Contact: true},
	)
}

type compileFunc = func(format, template string, secrets map[string]string) (*adapter.Template, []market.TemplateError)

// compileChecked compiles a template and checks it against the mapping.
func compileChecked(t testing.TB, m *market.FieldMapping, compile compileFunc, format, template string) *adapter.Template {
	t.Helper()
	a, mistakes := compile(format, template, nil)
	if a == nil {
		t.Fatalf("%s: %v", template, mistakes)
	}
	if mistakes := a.Check(m); mistakes != nil {
		t.Fatalf("%s: %v", template, mistakes)
	}
	return a
}

var postMetadata = market.BuyerPostMetadata{
	Auction: pingMetadata.Auction, Lead: market.LeadID(market.ComposeID(1, [10]byte{2})), Token: `tok"<&>`,
	Vertical: "auto_insurance", SubVertical: "new & used", Price: 12_500_000, Currency: market.Currency{'U', 'S', 'D'},
}

// renderPost renders a template for a person with more members.
func renderPost(t testing.TB, format, template string, lines ...string) string {
	t.Helper()
	m := newMapping(t)
	a := compileChecked(t, m, adapter.NewPostTemplate, format, template)
	l, failed := fill(m, person(lines...))
	if failed != nil {
		t.Fatal(failed)
	}
	body, ok := a.AppendPost([]byte("> "), m, l, postMetadata)
	if !ok {
		t.Fatal("no body")
	}
	return strings.TrimPrefix(string(body), "> ")
}

// hostileNote contains delimiters of all formats.
const hostileNote = "note=\"a\"b'\\c<d>&amp;{{.x}}]]>--\té=1&z=2\""

func TestPostBodies(t *testing.T) {
	rows := []struct {
		name, format, template string
		lines                  []string
		want                   string
	}{
		{"values", "json", `{"n": {{.first_name}}, "c": {{.cars}}, "h": {{.owns_home}}}`, []string{`cars=2`, `homeowner=false`}, `{"n": "Ann", "c": 2, "h": false}`},
		{"absent values", "json", `{"c": {{.cars}}, "h": "{{.owns_home}}"}`, nil, `{"c": null, "h": ""}`},
		{"inside a string", "json", `{"who": "{{.last_name}}, {{.first_name}} ({{.cars}})"}`, []string{`cars=2`}, `{"who": "O'Neil, Ann (2)"}`},
		{"delimiters in a value", "json", `{"a": {{.note}}, "b": "<{{.note}}>"}`, []string{hostileNote}, `{"a": "a\"b'\\c<d>&amp;{{.x}}]]>--\té=1&z=2", "b": "<a\"b'\\c<d>&amp;{{.x}}]]>--\té=1&z=2>"}`},
		{"a name with a space", "json", `[{{field "age band"}}]`, []string{`band="25+"`}, `["25+"]`},
		{"if, present", "json", `{"a": 1{{if .cars}}, "c": {{.cars}}{{end}}}`, []string{`cars=0`}, `{"a": 1, "c": 0}`},
		{"if, absent", "json", `{"a": 1{{if .cars}}, "c": {{.cars}}{{else}}, "d": 0{{end}}}`, nil, `{"a": 1, "d": 0}`},
		{"else if", "json", `{"a": {{if .owns_home}}"own"{{else if .cars}}"drive"{{else}}null{{end}}}`, []string{`cars=1`, `homeowner=false`}, `{"a": "drive"}`},
		{"trimmed", "json", "{\n  {{- if .cars -}} \"c\": {{.cars}} {{- end -}}\n}", []string{`cars=1`}, `{"c": 1}`},
		{"a comment", "json", `{{/* of ours */}}{"a": 1}`, nil, `{"a": 1}`},
		{
			"metadata", "json", `[{{auction}}, {{lead_id}}, {{token}}, {{price}}, "{{price}}", {{currency}}, {{vertical}}, {{sub_vertical}}]`, nil,
			`["` + postMetadata.Auction.String() + `", "` + postMetadata.Lead.String() + `", "tok\"<&>", 12.5, "12.5", "USD", "auto_insurance", "new & used"]`,
		},
		{"an escape in the template beside a value", "json", `["\u0041{{.zip3}}\\u{{.zip3}}"]`, []string{`zip="94107"`}, `["\u0041941\\u941"]`},
		{"number notations", "json", `[{{.cars}}, {{.ai_quality_score}}, "{{.ai_quality_score}}", {{1.50}}, {{-7}}, {{1e2}}]`, []string{`cars=-0`, `ai_quality_score=0.50`}, `[0, 0.50, "0.50", 1.50, -7, 1e2]`},
		{"true and false", "json", `[{{true}}, {{false}}, {{.owns_home}}, "{{.owns_home}}"]`, []string{`homeowner=true`}, `[true, false, true, "true"]`},
		{"nested ifs", "json", `[{{if .cars}}{{if .owns_home}}1{{else}}2{{end}}{{else}}{{if known .owns_home}}3{{else}}4{{end}}{{end}}]`, []string{`homeowner=false`}, `[3]`},
		{"an if inside a string", "json", `["a{{if .cars}}b{{.cars}}{{else}}c{{end}}d"]`, []string{`cars=5`}, `["ab5d"]`},
		{"an empty branch", "json", `[1{{if .cars}}{{end}}{{if not .cars}}{{else}}, 2{{end}}]`, []string{`cars=5`}, `[1, 2]`},
		{"values in parentheses", "json", `[{{(.first_name | upper) | lower}}, {{default (.cars | default 3) .line1}}]`, nil, `["ann", 3]`},
		{"dates", "json", `[{{.born}}, {{.consent_timestamp}}]`, []string{`born="1980-02-29"`, `consent_timestamp="2026-01-31T09:30:00Z"`}, `["1980-02-29", "2026-01-31T09:30:00Z"]`},

		{"a form", "form", "a={{.first_name}}&b={{.cars}}&c={{.note}}", []string{hostileNote, `cars=2`}, `a=Ann&b=2&c=a%22b%27%5Cc%3Cd%3E%26amp%3B%7B%7B.x%7D%7D%5D%5D%3E--%09%C3%A9%3D1%26z%3D2`},
		{"a form in lines", "form", "a=1&\n  b={{.last_name}}&\n  c[0]=%20+*", nil, `a=1&b=O%27Neil&c[0]=%20+*`},
		{"a form's value as a name", "form", "{{.first_name}}=1", nil, `Ann=1`},
		{"an absent parameter", "form", "{{if .cars}}cars={{.cars}}&{{end}}a={{.cars}}", nil, `a=`},
		{"a space", "form", "a={{.line1}}", []string{`line1="1 Main St~"`}, `a=1+Main+St~`},

		{"delimiters in a form", "form", "a={{.note}}&b={{.note | first 1}}", []string{`note="& =+%#?;é"`}, `a=%26+%3D%2B%25%23%3F%3B%C3%A9&b=%26`},
		{"a form's spaces around =", "form", "a=1\n&b = {{.cars}}", []string{`cars=5`}, `a=1&b=5`},
		{"line ends in attributes", "xml", `<L a="{{.note}}">{{.note}}</L>`, []string{"note=\"a\r\nb\tc\""}, "<L a=\"a&#xD;&#xA;b&#x9;c\">a&#xD;&#xA;b&#x9;c</L>"},
		{"characters invalid in XML", "xml", `<L>{{.note}}</L>`, []string{"note=\"a\ufffeb\uffffc\""}, "<L>a\uFFFDb\uFFFDc</L>"},
		{"elements", "xml", `<L><A>{{.first_name}}</A><C/><D>{{.cars}}</D></L>`, []string{`cars=2`}, `<L><A>Ann</A><C/><D>2</D></L>`},
		{"attributes", "xml", `<L a="{{.note}}" b='{{.note}}'/>`, []string{`note="x\"y'z&<>"`}, `<L a="x\&#34;y&#39;z&amp;&lt;&gt;" b='x\&#34;y&#39;z&amp;&lt;&gt;'/>`},
		{"delimiters in an element", "xml", `<L>{{.note}}</L>`, []string{hostileNote}, "<L>a&#34;b&#39;\\c&lt;d&gt;&amp;amp;{{.x}}]]&gt;--&#x9;é=1&amp;z=2</L>"},
		{"declaration, comment and CDATA", "xml", "<?xml version=\"1.0\"?>\n<!-- <a \" -->\n<s:L xmlns:s=\"urn:x\"><![CDATA[<b>\"]]>&amp;{{.cars}}</s:L>", []string{`cars=2`}, "<?xml version=\"1.0\"?>\n<!-- <a \" -->\n<s:L xmlns:s=\"urn:x\"><![CDATA[<b>\"]]>&amp;2</s:L>"},
		{"an attribute in an if", "xml", `<L{{if .owns_home}} own="1"{{end}}>{{if .cars}}<C>{{.cars}}</C>{{end}}</L>`, []string{`homeowner=true`}, `<L own="1"></L>`},
	}
	for _, row := range rows {
		t.Run(row.format+" "+row.name, func(t *testing.T) {
			if got := renderPost(t, row.format, row.template, row.lines...); got != row.want {
				t.Errorf("\n%s\nwant\n%s", got, row.want)
			}
		})
	}
}

func TestPingBody(t *testing.T) {
	m := newMapping(t)
	a := compileChecked(t, m, adapter.NewPingTemplate, "json",
		`[{{auction}}, {{vertical}}, {{expires_at}}, {{expires_at | epoch}}, {{.state}}, {{.zip3}}, {{.tcpa_consent}}, {{.owns_home}}]`)
	lead, failed := fill(m, person(`state="CA"`, `zip="94107-1234"`, `homeowner=true`))
	if failed != nil {
		t.Fatal(failed)
	}
	body, ok := a.AppendPing(nil, m, lead, pingMetadata)
	want := `["` + pingMetadata.Auction.String() + `", "auto_insurance", "2026-03-02T12:00:04.987Z", 1772452804, "CA", "941", false, true]`
	if !ok || string(body) != want {
		t.Errorf("%s\nwant\n%s", body, want)
	}
}

func TestPostWithoutAuctionUsesLeadID(t *testing.T) {
	m := newMapping(t)
	a := compileChecked(t, m, adapter.NewPostTemplate, "json", `[{{auction}}, {{token}}]`)
	lead, _ := fill(m, person())
	body, _ := a.AppendPost(nil, m, lead, market.BuyerPostMetadata{Lead: postMetadata.Lead})
	if want := `["` + postMetadata.Lead.String() + `", null]`; string(body) != want {
		t.Errorf("%s, want %s", body, want)
	}
}

// TestBodySizeLimit: AppendPost fails for a longer body and returns the buffer unchanged.
func TestBodySizeLimit(t *testing.T) {
	m := newMapping(t)
	a := compileChecked(t, m, adapter.NewPostTemplate, "json", "["+strings.Repeat("{{.note}},", 100)+"1]")
	lead, _ := fill(m, person(`note="`+strings.Repeat("x", 4000)+`"`))
	if body, ok := a.AppendPost([]byte("before"), m, lead, postMetadata); ok || string(body) != "before" {
		t.Errorf("%d bytes", len(body))
	}
	lead, _ = fill(m, person(`note="x"`))
	if _, ok := a.AppendPost(nil, m, lead, postMetadata); !ok {
		t.Error("a short body is rejected, too")
	}
}

func TestTemplateOfOtherRequestPanics(t *testing.T) {
	m := newMapping(t)
	lead, _ := fill(m, person())
	ping := compileChecked(t, m, adapter.NewPingTemplate, "json", `[1]`)
	post := compileChecked(t, m, adapter.NewPostTemplate, "json", `[1]`)
	for name, misuse := range map[string]func(){
		"ping template for a post": func() { ping.AppendPost(nil, m, lead, postMetadata) },
		"post template for a ping": func() { post.AppendPing(nil, m, lead, pingMetadata) },
	} {
		t.Run(name, func(t *testing.T) {
			defer func() {
				if message, _ := recover().(string); !strings.HasPrefix(message, "BUG: ") {
					t.Errorf("panic message %q", message)
				}
			}()
			misuse()
		})
	}
}

// TestPingRendersContactFieldsAsAbsent: pings contain no contact data even if a template skips
// Check.
func TestPingRendersContactFieldsAsAbsent(t *testing.T) {
	m := newMapping(t)
	for template, want := range map[string]string{
		`[{{.nick}}, {{.born}}, {{.note}}, {{.zip}}, {{.city}}]`:                                 `[null, null, null, null, null]`,
		`{{if .nick}}["known"]{{else}}["not"]{{end}}`:                                            `["not"]`,
		`[{{.nick | default "none"}}, {{.nick | sha256}}, {{.nick | first 1}}, {{.ip_address}}]`: `["none", null, null, null]`,
	} {
		a, mistakes := adapter.NewPingTemplate("json", template, nil)
		if a == nil {
			t.Fatal(mistakes)
		}
		if a.Check(m) == nil {
			t.Errorf("Check accepts %s", template)
		}
		lead, failed := fill(m, person(`nick="Annie"`, `born="1980-02-29"`, `note="Ann"`, `zip="94107"`, `city="Reno"`, `ip_address="203.0.113.7"`))
		if failed != nil {
			t.Fatal(failed)
		}
		if body, ok := a.AppendPing(nil, m, lead, pingMetadata); !ok || string(body) != want {
			t.Errorf("%s: %s", template, body)
		}
	}
}

func BenchmarkAppendPingByTemplate(b *testing.B) {
	m := newMapping(b)
	a := compileChecked(b, m, adapter.NewPingTemplate, "json",
		`{"id": {{auction}}, "region": "US-{{.state}}", {{if .zip3}}"area": "{{.zip3}}xx",{{end}} "cars": {{.cars | default 1}}, "opt_in": {{.tcpa_consent | map "true" "Y" "N"}}, "by": {{expires_at | epoch_ms}}}`)
	lead, failed := fill(m, person(`state="CA"`, `zip="94107-1234"`, `homeowner=true`))
	if failed != nil {
		b.Fatal(failed)
	}
	var body []byte
	b.ReportAllocs()
	for b.Loop() {
		body, _ = a.AppendPing(body[:0], m, lead, pingMetadata)
	}
}
