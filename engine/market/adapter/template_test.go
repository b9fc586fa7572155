package adapter_test

import (
	"strings"
	"testing"

	"pingpost/engine/market"
	"pingpost/engine/market/adapter"
	"pingpost/engine/market/leadtest"
)

// adapted is a campaign whose buyers have templates.
func adapted(t testing.TB) *market.FieldMapping {
	return leadtest.Mapping(
		t, market.UnknownDrop,
		market.FieldSpec{Name: "homeowner", BuyerName: "owns_home", Type: market.TypeBoolean, Ping: true},
		market.FieldSpec{Name: "cars", Type: market.TypeInteger, Ping: true, Coerce: true},
		market.FieldSpec{Name: "band", BuyerName: "age band", Type: market.TypeEnum, Values: []string{"18-24", "25+"}, Ping: true},
		market.FieldSpec{Name: "note", Type: market.TypeString},
		market.FieldSpec{Name: "born", Type: market.TypeDate, Contact: true},
		market.FieldSpec{Name: "nick", Type: market.TypeString, Contact: true},
	)
}

type newTemplate = func(format, template string, secrets map[string]string) (*adapter.Template, []market.TemplateError)

// adapterOf compiles a template and passes it by the campaign.
func adapterOf(t testing.TB, m *market.FieldMapping, compile newTemplate, format, template string) *adapter.Template {
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

var adapterPost = market.PostMetadata{
	Auction: pingHead.Auction, Lead: market.LeadID(market.ComposeID(1, [10]byte{2})), Token: `tok"<&>`,
	Vertical: "auto_insurance", SubVertical: "new & used", Price: 12_500_000, Currency: market.Currency{'U', 'S', 'D'},
}

// posted is what a template makes of a person with more said of it.
func posted(t testing.TB, format, template string, lines ...string) string {
	t.Helper()
	m := adapted(t)
	a := adapterOf(t, m, adapter.NewPostTemplate, format, template)
	l, failed := fill(m, person(lines...))
	if failed != nil {
		t.Fatal(failed)
	}
	body, ok := a.AppendPost([]byte("> "), m, l, adapterPost)
	if !ok {
		t.Fatal("no body")
	}
	return strings.TrimPrefix(string(body), "> ")
}

// nasty is what a lead may say to break out of its place.
const nasty = "note=\"a\"b'\\c<d>&amp;{{.x}}]]>--\té=1&z=2\""

// TestBodies: templates and what comes of them, format by format.
func TestBodies(t *testing.T) {
	rows := []struct {
		name, format, template string
		lines                  []string
		want                   string
	}{
		{"values", "json", `{"n": {{.first_name}}, "c": {{.cars}}, "h": {{.owns_home}}}`, []string{`cars=2`, `homeowner=false`}, `{"n": "Ann", "c": 2, "h": false}`},
		{"nothing known", "json", `{"c": {{.cars}}, "h": "{{.owns_home}}"}`, nil, `{"c": null, "h": ""}`},
		{"inside a text", "json", `{"who": "{{.last_name}}, {{.first_name}} ({{.cars}})"}`, []string{`cars=2`}, `{"who": "O'Neil, Ann (2)"}`},
		{"what could break out", "json", `{"a": {{.note}}, "b": "<{{.note}}>"}`, []string{nasty}, `{"a": "a\"b'\\c<d>&amp;{{.x}}]]>--\té=1&z=2", "b": "<a\"b'\\c<d>&amp;{{.x}}]]>--\té=1&z=2>"}`},
		{"a name beyond identifiers", "json", `[{{field "age band"}}]`, []string{`band="25+"`}, `["25+"]`},
		{"if, known", "json", `{"a": 1{{if .cars}}, "c": {{.cars}}{{end}}}`, []string{`cars=0`}, `{"a": 1, "c": 0}`},
		{"if, not known", "json", `{"a": 1{{if .cars}}, "c": {{.cars}}{{else}}, "d": 0{{end}}}`, nil, `{"a": 1, "d": 0}`},
		{"else if", "json", `{"a": {{if .owns_home}}"own"{{else if .cars}}"drive"{{else}}null{{end}}}`, []string{`cars=1`, `homeowner=false`}, `{"a": "drive"}`},
		{"trimmed", "json", "{\n  {{- if .cars -}} \"c\": {{.cars}} {{- end -}}\n}", []string{`cars=1`}, `{"c": 1}`},
		{"a comment", "json", `{{/* of ours */}}{"a": 1}`, nil, `{"a": 1}`},
		{
			"the head", "json", `[{{auction}}, {{lead_id}}, {{token}}, {{price}}, "{{price}}", {{currency}}, {{vertical}}, {{sub_vertical}}]`, nil,
			`["` + adapterPost.Auction.String() + `", "` + adapterPost.Lead.String() + `", "tok\"<&>", 12.5, "12.5", "USD", "auto_insurance", "new & used"]`,
		},
		{"an escape of the author's beside a value", "json", `["\u0041{{.zip3}}\\u{{.zip3}}"]`, []string{`zip="94107"`}, `["\u0041941\\u941"]`},
		{"numbers as they are written", "json", `[{{.cars}}, {{.ai_quality_score}}, "{{.ai_quality_score}}", {{1.50}}, {{-7}}, {{1e2}}]`, []string{`cars=-0`, `ai_quality_score=0.50`}, `[0, 0.50, "0.50", 1.50, -7, 1e2]`},
		{"true and false", "json", `[{{true}}, {{false}}, {{.owns_home}}, "{{.owns_home}}"]`, []string{`homeowner=true`}, `[true, false, true, "true"]`},
		{"ifs inside one another", "json", `[{{if .cars}}{{if .owns_home}}1{{else}}2{{end}}{{else}}{{if known .owns_home}}3{{else}}4{{end}}{{end}}]`, []string{`homeowner=false`}, `[3]`},
		{"an if inside a text", "json", `["a{{if .cars}}b{{.cars}}{{else}}c{{end}}d"]`, []string{`cars=5`}, `["ab5d"]`},
		{"an empty branch", "json", `[1{{if .cars}}{{end}}{{if not .cars}}{{else}}, 2{{end}}]`, []string{`cars=5`}, `[1, 2]`},
		{"values in brackets", "json", `[{{(.first_name | upper) | lower}}, {{default (.cars | default 3) .line1}}]`, nil, `["ann", 3]`},
		{"dates as they come", "json", `[{{.born}}, {{.consent_timestamp}}]`, []string{`born="1980-02-29"`, `consent_timestamp="2026-01-31T09:30:00Z"`}, `["1980-02-29", "2026-01-31T09:30:00Z"]`},

		{"a form", "form", "a={{.first_name}}&b={{.cars}}&c={{.note}}", []string{nasty, `cars=2`}, `a=Ann&b=2&c=a%22b%27%5Cc%3Cd%3E%26amp%3B%7B%7B.x%7D%7D%5D%5D%3E--%09%C3%A9%3D1%26z%3D2`},
		{"a form in lines", "form", "a=1&\n  b={{.last_name}}&\n  c[0]=%20+*", nil, `a=1&b=O%27Neil&c[0]=%20+*`},
		{"a form's value as a name", "form", "{{.first_name}}=1", nil, `Ann=1`},
		{"an absent parameter", "form", "{{if .cars}}cars={{.cars}}&{{end}}a={{.cars}}", nil, `a=`},
		{"a space", "form", "a={{.line1}}", []string{`line1="1 Main St~"`}, `a=1+Main+St~`},

		{"what a form is made of", "form", "a={{.note}}&b={{.note | first 1}}", []string{`note="& =+%#?;é"`}, `a=%26+%3D%2B%25%23%3F%3B%C3%A9&b=%26`},
		{"a line of a form's own", "form", "a=1\n&b = {{.cars}}", []string{`cars=5`}, `a=1&b=5`},
		{"ends of lines in attributes", "xml", `<L a="{{.note}}">{{.note}}</L>`, []string{"note=\"a\r\nb\tc\""}, "<L a=\"a&#xD;&#xA;b&#x9;c\">a&#xD;&#xA;b&#x9;c</L>"},
		{"characters that XML has not", "xml", `<L>{{.note}}</L>`, []string{"note=\"a\ufffeb\uffffc\""}, "<L>a\uFFFDb\uFFFDc</L>"},
		{"elements", "xml", `<L><A>{{.first_name}}</A><C/><D>{{.cars}}</D></L>`, []string{`cars=2`}, `<L><A>Ann</A><C/><D>2</D></L>`},
		{"attributes", "xml", `<L a="{{.note}}" b='{{.note}}'/>`, []string{`note="x\"y'z&<>"`}, `<L a="x\&#34;y&#39;z&amp;&lt;&gt;" b='x\&#34;y&#39;z&amp;&lt;&gt;'/>`},
		{"what could break out of an element", "xml", `<L>{{.note}}</L>`, []string{nasty}, "<L>a&#34;b&#39;\\c&lt;d&gt;&amp;amp;{{.x}}]]&gt;--&#x9;é=1&amp;z=2</L>"},
		{"what stands around", "xml", "<?xml version=\"1.0\"?>\n<!-- <a \" -->\n<s:L xmlns:s=\"urn:x\"><![CDATA[<b>\"]]>&amp;{{.cars}}</s:L>", []string{`cars=2`}, "<?xml version=\"1.0\"?>\n<!-- <a \" -->\n<s:L xmlns:s=\"urn:x\"><![CDATA[<b>\"]]>&amp;2</s:L>"},
		{"an attribute by an if", "xml", `<L{{if .owns_home}} own="1"{{end}}>{{if .cars}}<C>{{.cars}}</C>{{end}}</L>`, []string{`homeowner=true`}, `<L own="1"></L>`},
	}
	for _, row := range rows {
		t.Run(row.format+" "+row.name, func(t *testing.T) {
			if got := posted(t, row.format, row.template, row.lines...); got != row.want {
				t.Errorf("\n%s\nwant\n%s", got, row.want)
			}
		})
	}
}

func TestAPingByATemplate(t *testing.T) {
	m := adapted(t)
	a := adapterOf(t, m, adapter.NewPingTemplate, "json",
		`[{{auction}}, {{vertical}}, {{expires_at}}, {{expires_at | epoch}}, {{.state}}, {{.zip3}}, {{.tcpa_consent}}, {{.owns_home}}]`)
	lead, failed := fill(m, person(`state="CA"`, `zip="94107-1234"`, `homeowner=true`))
	if failed != nil {
		t.Fatal(failed)
	}
	body, ok := a.AppendPing(nil, m, lead, pingHead)
	want := `["` + pingHead.Auction.String() + `", "auto_insurance", "2026-03-02T12:00:04.987Z", 1772452804, "CA", "941", false, true]`
	if !ok || string(body) != want {
		t.Errorf("%s\nwant\n%s", body, want)
	}
}

// A lead without an auction is posted under its own id, as by the contract.
func TestAPostWithoutAnAuction(t *testing.T) {
	m := adapted(t)
	a := adapterOf(t, m, adapter.NewPostTemplate, "json", `[{{auction}}, {{token}}]`)
	lead, _ := fill(m, person())
	body, _ := a.AppendPost(nil, m, lead, market.PostMetadata{Lead: adapterPost.Lead})
	if want := `["` + adapterPost.Lead.String() + `", null]`; string(body) != want {
		t.Errorf("%s, want %s", body, want)
	}
}

// TestABodyHasALimit: what is over it is not sent, and what stood before stays.
func TestABodyHasALimit(t *testing.T) {
	m := adapted(t)
	a := adapterOf(t, m, adapter.NewPostTemplate, "json", "["+strings.Repeat("{{.note}},", 100)+"1]")
	lead, _ := fill(m, person(`note="`+strings.Repeat("x", 4000)+`"`))
	if body, ok := a.AppendPost([]byte("before"), m, lead, adapterPost); ok || string(body) != "before" {
		t.Errorf("%d bytes", len(body))
	}
	lead, _ = fill(m, person(`note="x"`))
	if _, ok := a.AppendPost(nil, m, lead, adapterPost); !ok {
		t.Error("a short one is refused, too")
	}
}

func TestATemplateIsForOnePurpose(t *testing.T) {
	m := adapted(t)
	lead, _ := fill(m, person())
	ping := adapterOf(t, m, adapter.NewPingTemplate, "json", `[1]`)
	post := adapterOf(t, m, adapter.NewPostTemplate, "json", `[1]`)
	for name, misuse := range map[string]func(){
		"a ping's for a post": func() { ping.AppendPost(nil, m, lead, adapterPost) },
		"a post's for a ping": func() { post.AppendPing(nil, m, lead, pingHead) },
	} {
		t.Run(name, func(t *testing.T) {
			defer func() {
				if said, _ := recover().(string); !strings.HasPrefix(said, "BUG: ") {
					t.Errorf("%q", said)
				}
			}()
			misuse()
		})
	}
}

// TestNoPersonIsEverInAPingByTemplate is the second door: a template that Check
// would have refused finds nothing.
func TestNoPersonIsEverInAPingByTemplate(t *testing.T) {
	m := adapted(t)
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
			t.Errorf("%s passes", template)
		}
		lead, failed := fill(m, person(`nick="Annie"`, `born="1980-02-29"`, `note="Ann"`, `zip="94107"`, `city="Reno"`, `ip_address="203.0.113.7"`))
		if failed != nil {
			t.Fatal(failed)
		}
		if body, ok := a.AppendPing(nil, m, lead, pingHead); !ok || string(body) != want {
			t.Errorf("%s: %s", template, body)
		}
	}
}

func BenchmarkAppendPingByTemplate(b *testing.B) {
	m := adapted(b)
	a := adapterOf(b, m, adapter.NewPingTemplate, "json",
		`{"id": {{auction}}, "region": "US-{{.state}}", {{if .zip3}}"area": "{{.zip3}}xx",{{end}} "cars": {{.cars | default 1}}, "opt_in": {{.tcpa_consent | map "true" "Y" "N"}}, "by": {{expires_at | epoch_ms}}}`)
	lead, failed := fill(m, person(`state="CA"`, `zip="94107-1234"`, `homeowner=true`))
	if failed != nil {
		b.Fatal(failed)
	}
	var body []byte
	b.ReportAllocs()
	for b.Loop() {
		body, _ = a.AppendPing(body[:0], m, lead, pingHead)
	}
}
