package market_test

import (
	"fmt"
	"strings"
	"testing"

	"pingpost/engine/market"
)

// TestTemplatesThatAreRefused: by the line at fault and a word of why.
func TestTemplatesThatAreRefused(t *testing.T) {
	rows := []struct{ name, format, template, want string }{
		{"no format", "yaml", `a`, "1 json, form or xml"},
		{"nothing", "json", " \n", "1 empty"},
		{"too long", "json", `["` + strings.Repeat("x", 16<<10) + `"]`, "1 16384 bytes"},
		{"too many parts", "json", "[" + strings.Repeat("{{1}},", 1100) + "1]", "1 2000 parts"},
		{"not UTF-8", "json", "[\"\xff\"]", "1 UTF-8"},
		{"no end", "json", "{\n\"a\": {{.state", "2 unclosed"},
		{"no function", "json", "{\n\"a\": {{.state | shout}}}", `2 "shout" not defined`},
		{"a function of text/template", "json", `{"a": {{printf "%s" .state}}}`, `1 "printf" not defined`},
		{"an escape by hand", "json", `{"a": {{.state | js}}}`, `1 "js" not defined`},
		{"html", "xml", `<a>{{.state | html}}</a>`, `1 "html" not defined`},
		{"index", "json", `[{{index . "state"}}]`, `1 "index" not defined`},

		{"a loop", "json", "[\n\n{{range .state}}1,{{end}}1]", "3 range is not supported"},
		{"with", "json", `[{{with .state}}{{.}}{{end}}]`, "1 with is not supported"},
		{"a variable", "json", `{{$x := .state}}[1]`, "1 variables are not supported"},
		{"all there is", "json", `[{{.}}]`, "1 is not supported"},
		{"the root", "json", `[{{$}}]`, "1 is not supported"},
		{"nil", "json", `[{{eq .state nil}}]`, "1 is not supported"},
		{"a method", "json", `[{{.state.Text}}]`, "1 has no parts"},
		{"a chain", "json", `[{{(.state).Text}}]`, "1 is not supported"},
		{"a template inside", "json", `[1]{{define "x"}}{{end}}`, "1 templates inside templates"},
		{"another template", "json", `[{{template "x"}}]`, "1 template is not supported"},
		{"a call of a value", "json", `[{{.state "x"}}]`, "1 is a value and takes nothing"},
		{"a pipe into a value", "json", `[{{.state | .cars}}]`, "1 is a value and takes nothing"},
		{"an odd number", "json", `[{{0x10}}]`, "1 is not a decimal number"},

		{"a field by no name", "json", `[{{field .state}}]`, "1 name for buyers in quotes"},
		{"too few arguments", "json", `[{{.state | default}}]`, "1 default has 1 arguments, and takes 2"},
		{"too many", "json", `[{{upper .state .state}}]`, "1 upper has 2 arguments, and takes 1"},
		{"a head word with an argument", "json", `[{{auction 1}}]`, "1 auction takes nothing"},
		{"a word of pings", "json", `[{{expires_at}}]`, "1 expires_at is not known in a post"},
		{"a count that is none", "json", `[{{.state | first "x"}}]`, "1 how many characters"},
		{"a count of nothing", "json", `[{{.state | last 0}}]`, "1 how many characters"},
		{"a map of fields", "json", `[{{.state | map .cars "x"}}]`, "1 pairs in quotes"},
		{"a date in Go's form", "json", `[{{.born | date "2006-01-02"}}]`, "1 form of YYYY"},
		{"a date with words", "json", `[{{.born | date "DD Jan YYYY"}}]`, "1 form of YYYY"},
		{"a date without a part", "json", `[{{.born | date "--"}}]`, "1 form of YYYY"},
		{"a date by a field", "json", `[{{date .state .born}}]`, "1 form of YYYY"},

		{"JSON: behind a backslash", "json", `["\{{.state}}"]`, "1 backslash"},
		{"JSON: runs into a number", "json", `[1{{.cars}}]`, "1 runs into"},
		{"JSON: runs on", "json", `[{{.cars}}5]`, "1 runs into"},
		{"JSON: two in a row", "json", `[{{.cars}}{{.cars}}]`, "1 runs into"},
		{"JSON: behind a text", "json", `["a"{{.state}}]`, "1 runs into"},
		{"JSON: behind an if that may end with a value", "json", `[{{if .cars}}1{{end}}{{.cars}}]`, "1 runs into"},
		{"JSON: an open text", "json", "[\n\"{{.state}}]", "2 ends inside"},
		{"JSON: branches end differently", "json", `[{{if .cars}}"{{else}}1{{end}}]`, "1 end in different places"},
		{"JSON: an if behind a backslash", "json", `["\{{if .cars}}n{{end}}"]`, "1 an if cannot stand"},

		{"form: an ampersand", "form", "a=b c<", "1 a space as +"},
		{"form: half an escape", "form", `a=%2{{.state}}`, "1 a space as +"},

		{"XML: a tag's name", "xml", `<{{.state}}/>`, "1 name stands behind its <"},
		{"XML: inside a tag", "xml", `<a {{.state}}/>`, "1 attribute's quotes"},
		{"XML: without quotes", "xml", `<a b={{.state}}/>`, "1 attribute's quotes"},
		{"XML: a comment", "xml", "<a>\n<!-- {{.state}} --></a>", "2 in a comment"},
		{"XML: CDATA", "xml", `<a><![CDATA[{{.state}}]]></a>`, "1 in CDATA"},
		{"XML: an instruction", "xml", `<?xml version="{{.state}}"?><a/>`, "1 in <? ?>"},
		{"XML: a document type", "xml", `<!DOCTYPE a [<!ENTITY b "c">]><a/>`, "1 declarations"},
		{"XML: half a reference", "xml", `<a>&{{.state}};</a>`, "1 & begins a reference"},
		{"XML: half a reference in an attribute", "xml", `<a b="&#{{.cars}};"/>`, "1 & begins a reference"},
		{"XML: an entity that nobody declared", "xml", `<a>&nbsp;</a>`, "1 & begins a reference"},
		{"XML: a tag in a tag", "xml", `<a <b/>`, "1 not closed before"},
		{"XML: a tag cut in two", "xml", `<a><{{if .cars}}!--{{end}}b/></a>`, "1 name stands behind its <"},
		{"XML: an if in a comment", "xml", `<a><!-- {{if .cars}}-{{end}} --></a>`, "1 an if cannot stand"},
		{"XML: an open comment", "xml", `<a/><!-- `, "1 ends inside"},
		{"XML: branches end differently", "xml", `<a{{if .cars}}>{{end}}/>`, "1 end in different places"},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			a, mistakes := market.NewPostAdapter(row.format, row.template)
			checkTemplateErrors(t, mistakes, row.want)
			if a != nil {
				t.Error("there is an adapter")
			}
		})
	}
}

// checkTemplateErrors wants one mistake, given as its line and words of it.
func checkTemplateErrors(t *testing.T, mistakes []market.TemplateError, want string) {
	t.Helper()
	line, words, _ := strings.Cut(want, " ")
	if len(mistakes) != 1 || fmt.Sprint(mistakes[0].Line) != line || !strings.Contains(mistakes[0].Message, words) {
		t.Errorf("%v, want %s", mistakes, want)
		return
	}
	if said := mistakes[0].Error(); !strings.HasPrefix(said, "line "+line+": ") || strings.ContainsAny(said, "\n") || strings.Contains(said, "%!") {
		t.Errorf("badly worded: %q", said)
	}
}

// TestContactFieldsStayOutOfPings: those that every campaign has are refused
// before there is a campaign.
func TestContactFieldsStayOutOfPings(t *testing.T) {
	for _, name := range []string{"first_name", "last_name", "phone", "email", "line1"} {
		for _, template := range []string{
			"[\n{{.NAME}}]", "[1\n{{if .NAME}}{{end}}]", "[\n{{.state | default .NAME}}]", "[\n{{.NAME | sha256}}]",
			"[\n{{(and .state (eq .NAME \"x\"))}}]", "[\n{{field \"NAME\"}}]",
		} {
			_, mistakes := market.NewPingAdapter("json", strings.ReplaceAll(template, "NAME", name))
			checkTemplateErrors(t, mistakes, "2 "+name+" says who the person is")
		}
	}
	if _, mistakes := market.NewPingAdapter("json", "[{{lead_id}}]"); len(mistakes) != 1 || !strings.Contains(mistakes[0].Message, "not known in a ping") {
		t.Errorf("%v", mistakes)
	}
}

// TestTemplatesThatDoNotFitACampaign: fields that are not there or not for
// pings, and bodies that come out broken for some lead.
func TestTemplatesThatDoNotFitACampaign(t *testing.T) {
	m := adapted(t)
	ping, post := market.NewPingAdapter, market.NewPostAdapter
	rows := []struct {
		name             string
		compile          newAdapter
		format, template string
		want             string
	}{
		{"no such field", post, "json", "[\n{{.stat}}]", "2 there is no field stat"},
		{"twice in a line, once told", post, "json", "[{{.stat}}, {{.stat}}]", "1 there is no field stat"},
		{"by its arriving name", post, "json", "[{{.homeowner}}]", "1 towards buyers it is called owns_home"},
		{"a field of the interface that is no field", post, "json", "[{{.lead_uuid}}]", "1 there is no field lead_uuid"},
		{"not marked ping", ping, "json", "[1,\n\n{{.note}}]", "3 note is not marked ping"},
		{"a contact field of its own", ping, "json", "[{{.nick}}]", "1 nick says who the person is"},
		{"the whole zip", ping, "json", "[{{.zip}}]", "1 write .zip3"},

		{"no JSON at all", post, "json", `hello {{if .cars}}{{end}}`, "1 the body is not JSON"},
		{"a comma too many", post, "json", `{"a": 1,{{if .cars}}"c": {{.cars}}{{end}}}`, "1 the body is not JSON: check its commas, quotes and brackets, where cars is not known"},
		{"a comma too few", post, "json", `{"a": 1{{if .owns_home}}"b": 2{{end}}}`, "1 the body is not JSON"},
		{"only where it is false", post, "json", `{"a": 1{{if .owns_home}}{{else if known .owns_home}}{{else}},{{end}}}`, "1 where owns_home is not known"},
		{"one value of an enum", post, "json", `[1{{if eq (field "age band") "25+"}},{{end}}]`, "1 the body is not JSON"},
		{"a text that it is compared with", post, "json", `[1{{if eq .note "x"}},{{end}}]`, `1 where note is "x"`},
		{"a key that is not known", post, "json", `{ {{.note}}: 1}`, "1 where note is not known"},
		{"elements crossed", post, "xml", `<a><b></a></b>`, "1 the body is not XML"},
		{"two roots", post, "xml", `<a/><b/>`, "1 it has 2 elements"},
		{"no root", post, "xml", `{{.state}}`, "1 the body is not XML"},
		{"an attribute twice closed", post, "xml", `<a {{if .cars}}b="1"{{else}}b=1{{end}}/>`, "1 the body is not XML"},
		{"no pairs", post, "form", `{{.state}}`, "1 the body is not FORM: it is name=value"},
		{"an & too many", post, "form", `a=1&{{if .cars}}c={{.cars}}{{end}}`, "1 where cars is not known"},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			a, mistakes := row.compile(row.format, row.template)
			if a == nil {
				t.Fatal(mistakes)
			}
			checkTemplateErrors(t, a.Check(m), row.want)
		})
	}
}

// TestARequiredFieldNeedNotBeGuarded: no lead lacks it.
func TestARequiredFieldNeedNotBeGuarded(t *testing.T) {
	required := mapping(t, market.FieldSpec{Name: "key", Type: market.TypeString, Required: true})
	optional := mapping(t, market.FieldSpec{Name: "key", Type: market.TypeString})
	a, mistakes := market.NewPostAdapter("json", `{ {{.key}}: 1}`)
	if a == nil {
		t.Fatal(mistakes)
	}
	if mistakes := a.Check(required); mistakes != nil {
		t.Errorf("%v", mistakes)
	}
	if a.Check(optional) == nil {
		t.Error("a key that may be null passes")
	}
}
