package adapter_test

import (
	"fmt"
	"strings"
	"testing"

	"pingpost/engine/market"
	"pingpost/engine/market/adapter"
	"pingpost/engine/market/leadtest"
)

// TestInvalidTemplates lists templates with the line and words of their error.
func TestInvalidTemplates(t *testing.T) {
	rows := []struct{ name, format, template, want string }{
		{"no format", "yaml", `a`, "1 json, form or xml"},
		{"empty", "json", " \n", "1 empty"},
		{"too long", "json", `["` + strings.Repeat("x", 16<<10) + `"]`, "1 16384 bytes"},
		{"too many parts", "json", "[" + strings.Repeat("{{1}},", 1100) + "1]", "1 2000 parts"},
		{"not UTF-8", "json", "[\"\xff\"]", "1 UTF-8"},
		{"no end", "json", "{\n\"a\": {{.state", "2 unclosed"},
		{"no function", "json", "{\n\"a\": {{.state | shout}}}", `2 "shout" not defined`},
		{"a function of text/template", "json", `{"a": {{printf "%s" .state}}}`, `1 "printf" not defined`},
		{"an escape by hand", "json", `{"a": {{.state | js}}}`, `1 "js" not defined`},
		{"html", "xml", `<a>{{.state | html}}</a>`, `1 "html" not defined`},
		{"a field without its dot", "json", "[\n{{state}}]", `2 write a dot before a field's name`},
		{"index", "json", `[{{index . "state"}}]`, `1 "index" not defined`},

		{"a loop", "json", "[\n\n{{range .state}}1,{{end}}1]", "3 range is not supported"},
		{"with", "json", `[{{with .state}}{{.}}{{end}}]`, "1 with is not supported"},
		{"a variable", "json", `{{$x := .state}}[1]`, "1 variables are not supported"},
		{"the dot alone", "json", `[{{.}}]`, "1 is not supported"},
		{"the root", "json", `[{{$}}]`, "1 is not supported"},
		{"nil", "json", `[{{eq .state nil}}]`, "1 is not supported"},
		{"a method", "json", `[{{.state.Text}}]`, "1 has no parts"},
		{"a chain", "json", `[{{(.state).Text}}]`, "1 is not supported"},
		{"a template inside", "json", `[1]{{define "x"}}{{end}}`, "1 define, block and template are not supported"},
		{"another template", "json", `[{{template "x"}}]`, "1 template is not supported"},
		{"a call of a value", "json", `[{{.state "x"}}]`, "1 is a value and has no arguments"},
		{"a pipe into a value", "json", `[{{.state | .cars}}]`, "1 is a value and has no arguments"},
		{"a definition of body", "json", `{{define "body"}}[1]{{end}}`, "1 define, block and template are not supported"},
		{"a block", "json", `[{{block "x" .state}}1{{end}}]`, "1 define, block and template are not supported"},
		{"an if without an end", "json", "[1\n{{if .cars}},2]", "2 unexpected EOF"},
		{"an end without an if", "json", "[1\n{{end}}]", "2 unexpected {{end}}"},
		{"an else without an if", "json", "[1\n{{else}}]", "2 unexpected {{else}}"},
		{"a break", "json", "[1{{if .cars}}{{break}}{{end}}]", "1 {{break}} outside {{range}}"},
		{"an empty action", "json", "[{{}}]", "1 missing value for command"},
		{"a comparison operator", "json", `[{{if .cars == 1}}2{{end}}]`, "1 unexpected"},
		{"a text in single quotes", "json", `[{{eq .state 'CA'}}]`, "1 malformed character constant"},
		{"an open quote", "json", `[{{eq .state "CA}}]`, "1 unterminated quoted string"},
		{"an undeclared variable", "json", `[{{$x}}]`, "1 undefined variable"},
		{"an assignment in an if", "json", `[{{if $x := .state}}1{{end}}]`, "1 variables are not supported"},

		{"a number of base 16", "json", `[{{0x10}}]`, "1 is not a decimal number"},
		{"a number of base 8", "json", `[{{007}}]`, "1 is not a decimal number"},
		{"a number of base 2", "json", `[{{0b1}}]`, "1 is not a decimal number"},
		{"a number with underscores", "json", `[{{1_000}}]`, "1 is not a decimal number"},
		{"a number with a plus", "json", `[{{+6}}]`, "1 is not a decimal number"},
		{"a number without a whole part", "json", `[{{-.5}}]`, "1 is not a decimal number"},
		{"a number without a fraction", "json", `[{{6.}}]`, "1 is not a decimal number"},
		{"a character constant", "json", `[{{'a'}}]`, "1 is not a decimal number"},
		{"an imaginary number", "json", `[{{1i}}]`, "1 is not a decimal number"},
		{"a number too large for a float", "json", `[{{1e999}}]`, "1 "},

		{"a field without a quoted name", "json", `[{{field .state}}]`, "1 name for buyers in quotes"},
		{"too few arguments", "json", `[{{.state | default}}]`, "1 default has 1 arguments here, but needs 2"},
		{"too many arguments", "json", `[{{upper .state .state}}]`, "1 upper has 2 arguments here, but needs 1"},
		{"an argument of auction", "json", `[{{auction 1}}]`, "1 auction takes no arguments"},
		{"a word of pings in a post", "json", `[{{expires_at}}]`, "1 expires_at is not available in a post template"},
		{"a count in quotes", "json", `[{{.state | first "x"}}]`, "1 a whole number of characters, at least 1"},
		{"a count of zero", "json", `[{{.state | last 0}}]`, "1 a whole number of characters, at least 1"},
		{"a negative count", "json", `[{{.state | first -1}}]`, "1 a whole number of characters, at least 1"},
		{"a fractional count", "json", `[{{.state | first 1.5}}]`, "1 a whole number of characters, at least 1"},
		{"a count that overflows", "json", `[{{.state | first 99999999999999999999}}]`, "1 integer overflow"},
		{"a count from a field", "json", `[{{first .cars .note}}]`, "1 a whole number of characters, at least 1"},
		{"a field's name from a field", "json", `[{{.note | field}}]`, "1 name for buyers in quotes"},
		{"a field by a number", "json", `[{{field 1}}]`, "1 name for buyers in quotes"},
		{"a map of fields", "json", `[{{.state | map .cars "x"}}]`, "1 pairs in quotes"},
		{"a date in Go's layout", "json", `[{{.born | date "2006-01-02"}}]`, "1 form of YYYY"},
		{"a date with words", "json", `[{{.born | date "DD Jan YYYY"}}]`, "1 form of YYYY"},
		{"a date without a part", "json", `[{{.born | date "--"}}]`, "1 form of YYYY"},
		{"a date by a field", "json", `[{{date .state .born}}]`, "1 form of YYYY"},

		{"JSON: after a backslash", "json", `["\{{.state}}"]`, "1 backslash"},
		{"JSON: as the rest of an escape", "json", `["\u00{{.cars}}"]`, "1 backslash"},
		{"JSON: as the digits of an escape", "json", `["\u{{.state}}"]`, "1 backslash"},
		{"JSON: an if inside an escape", "json", `["\u004{{if .cars}}1{{end}}"]`, "1 an if is not allowed"},
		{"JSON: an escape that an if begins", "json", `["{{if .cars}}\u00{{end}}41"]`, "1 the branches of this if end in different places"},
		{"JSON: after a number", "json", `[1{{.cars}}]`, "1 touches the text"},
		{"JSON: before a number", "json", `[{{.cars}}5]`, "1 touches the text"},
		{"JSON: two values in a row", "json", `[{{.cars}}{{.cars}}]`, "1 touches the text"},
		{"JSON: after a string", "json", `["a"{{.state}}]`, "1 touches the text"},
		{"JSON: after an if that may end with a value", "json", `[{{if .cars}}1{{end}}{{.cars}}]`, "1 touches the text"},
		{"JSON: an open string", "json", "[\n\"{{.state}}]", "2 ends inside"},
		{"JSON: branches end differently", "json", `[{{if .cars}}"{{else}}1{{end}}]`, "1 the branches of this if end in different places"},
		{"JSON: an if after a backslash", "json", `["\{{if .cars}}n{{end}}"]`, "1 an if is not allowed"},

		{"form: a space and an angle bracket", "form", "a=b c<", "1 a space as +"},
		{"form: half an escape", "form", `a=%2{{.state}}`, "1 a space as +"},
		{"form: as the digits of an escape", "form", `a=%{{.cars}}`, "1 a space as +"},
		{"form: an escape without digits", "form", `a=%zz`, "1 a space as +"},
		{"form: a letter beyond ASCII", "form", "a=1&\nb=é", "1 a space as +"},
		{"form: a question mark", "form", `?a={{.state}}`, "1 a space as +"},
		{"form: a fragment", "form", `a={{.state}}#b`, "1 a space as +"},

		{"XML: a tag's name", "xml", `<{{.state}}/>`, "1 must have a tag name"},
		{"XML: inside a tag", "xml", `<a {{.state}}/>`, "1 attribute's quotes"},
		{"XML: without quotes", "xml", `<a b={{.state}}/>`, "1 attribute's quotes"},
		{"XML: a comment", "xml", "<a>\n<!-- {{.state}} --></a>", "2 in a comment"},
		{"XML: CDATA", "xml", `<a><![CDATA[{{.state}}]]></a>`, "1 in CDATA"},
		{"XML: an instruction", "xml", `<?xml version="{{.state}}"?><a/>`, "1 in <? ?>"},
		{"XML: a document type", "xml", `<!DOCTYPE a [<!ENTITY b "c">]><a/>`, "1 declarations"},
		{"XML: half a reference", "xml", `<a>&{{.state}};</a>`, "1 & begins an unknown or incomplete"},
		{"XML: half a reference in an attribute", "xml", `<a b="&#{{.cars}};"/>`, "1 & begins an unknown or incomplete"},
		{"XML: an undeclared entity", "xml", `<a>&nbsp;</a>`, "1 & begins an unknown or incomplete"},
		{"XML: a tag in a tag", "xml", `<a <b/>`, "1 has no > before"},
		{"XML: a comment begun by an if", "xml", `<a><{{if .cars}}!--{{end}}b/></a>`, "1 must have a tag name"},
		{"XML: an end tag's name", "xml", `<a></{{.state}}>`, "1 must have a tag name"},
		{"XML: an open attribute", "xml", "<a b=\"{{.state}}/>", "1 ends inside"},
		{"XML: mixed quotes of an attribute", "xml", `<a b="{{.state}}'/>`, "1 ends inside"},
		{"XML: a reference without a number", "xml", `<a>&#x;{{.state}}</a>`, "1 & begins an unknown or incomplete"},
		{"XML: a bare &", "xml", "<a>\nb & c</a>", "1 & begins an unknown or incomplete"},
		{"XML: a reference with an if inside", "xml", `<a>&a{{if .cars}}mp;{{end}}</a>`, "1 & begins an unknown or incomplete"},
		{"XML: an open instruction", "xml", `<?xml version="1.0"`, "1 ends inside"},
		{"XML: an open CDATA section", "xml", `<a><![CDATA[x]></a>`, "1 ends inside"},
		{"XML: an if in a comment", "xml", `<a><!-- {{if .cars}}-{{end}} --></a>`, "1 an if is not allowed"},
		{"XML: an open comment", "xml", `<a/><!-- `, "1 ends inside"},
		{"XML: branches end differently", "xml", `<a{{if .cars}}>{{end}}/>`, "1 the branches of this if end in different places"},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			a, mistakes := adapter.NewPostTemplate(row.format, row.template, nil)
			checkTemplateErrors(t, mistakes, row.want)
			if a != nil {
				t.Error("an invalid template was compiled")
			}
		})
	}
}

// checkTemplateErrors checks that there is one error, given as its line and words.
func checkTemplateErrors(t *testing.T, mistakes []market.TemplateError, want string) {
	t.Helper()
	line, words, _ := strings.Cut(want, " ")
	if len(mistakes) != 1 || fmt.Sprint(mistakes[0].Line) != line || !strings.Contains(mistakes[0].Message, words) {
		t.Errorf("errors %v, want %s", mistakes, want)
		return
	}
	if text := mistakes[0].Error(); !strings.HasPrefix(text, "line "+line+": ") || strings.ContainsAny(text, "\n") || strings.Contains(text, "%!") {
		t.Errorf("badly formatted error: %q", text)
	}
}

// TestPingTemplateRejectsContactFields: compiling rejects the known contact fields; custom ones
// need Check.
func TestPingTemplateRejectsContactFields(t *testing.T) {
	for _, name := range []string{"first_name", "last_name", "phone", "email", "line1"} {
		for _, template := range []string{
			"[\n{{.NAME}}]", "[1\n{{if .NAME}}{{end}}]", "[\n{{.state | default .NAME}}]", "[\n{{.NAME | sha256}}]",
			"[\n{{(and .state (eq .NAME \"x\"))}}]", "[\n{{field \"NAME\"}}]",
		} {
			_, mistakes := adapter.NewPingTemplate("json", strings.ReplaceAll(template, "NAME", name), nil)
			checkTemplateErrors(t, mistakes, "2 "+name+" identifies the person")
		}
	}
	if _, mistakes := adapter.NewPingTemplate("json", "[{{lead_id}}]", nil); len(mistakes) != 1 || !strings.Contains(mistakes[0].Message, "not available in a ping") {
		t.Errorf("%v", mistakes)
	}
}

// TestCheckRejectsTemplates lists missing fields, fields that pings must not have, and bodies
// that are malformed for some lead.
func TestCheckRejectsTemplates(t *testing.T) {
	m := newMapping(t)
	ping, post := adapter.NewPingTemplate, adapter.NewPostTemplate
	rows := []struct {
		name             string
		compile          compileFunc
		format, template string
		want             string
	}{
		{"an unknown field", post, "json", "[\n{{.stat}}]", "2 there is no field stat"},
		{"an unknown field twice in a line", post, "json", "[{{.stat}}, {{.stat}}]", "1 there is no field stat"},
		{"a field in another case", post, "json", "[\n{{.State}}]", "2 there is no field State; capitals matter, write state"},
		{"a word used as a field", post, "json", "[{{.token}}]", "1 there is no field token"},
		{"a field by its arrival name", post, "json", "[{{.homeowner}}]", "1 the field's name for buyers is owns_home"},
		{"a reserved name", post, "json", "[{{.lead_uuid}}]", "1 there is no field lead_uuid"},
		{"a field not marked ping", ping, "json", "[1,\n\n{{.note}}]", "3 note is not marked ping"},
		{"a custom contact field", ping, "json", "[{{.nick}}]", "1 nick identifies the person"},
		{"the whole zip", ping, "json", "[{{.zip}}]", "1 write .zip3"},

		{"not JSON", post, "json", `hello {{if .cars}}{{end}}`, "1 the body is not JSON"},
		{"a comma too many", post, "json", `{"a": 1,{{if .cars}}"c": {{.cars}}{{end}}}`, "1 the body is not JSON: check its commas, quotes and brackets, for a lead whose cars is absent"},
		{"a comma too few", post, "json", `{"a": 1{{if .owns_home}}"b": 2{{end}}}`, "1 the body is not JSON"},
		{"wrong only if absent", post, "json", `{"a": 1{{if .owns_home}}{{else if known .owns_home}}{{else}},{{end}}}`, "1 for a lead whose owns_home is absent"},
		{"one value of an enum", post, "json", `[1{{if eq (field "age band") "25+"}},{{end}}]`, "1 the body is not JSON"},
		{"a text equal to a constant", post, "json", `[1{{if eq .note "x"}},{{end}}]`, `1 for a lead whose note is "x"`},
		{"the position in the message", post, "json", "{\"abc\": 1,\n\"def\": 2,}", `1 the mistake is after "{\"abc\": 1,\n\"def\": 2,}"`},
		{"a text after lower", post, "json", `[1{{if eq (.note | lower) "x"}},{{end}}]`, `1 for a lead whose note is "x"`},
		{"a text after two functions", post, "json", `[1{{if ne (.note | upper | first 3) "ABC"}}{{else}},{{end}}]`, `1 for a lead whose note is "ABC"`},
		{"a text that map lists", post, "json", `[1{{if .note | trim | map "x" true}},{{end}}]`, `1 for a lead whose note is "x"`},
		{"an integer equal to a constant", post, "json", `[1{{if eq .cars 7}},{{end}}]`, "1 for a lead whose cars is 7"},
		{"one field of two", post, "json", `[1{{if or (eq .note "x") (eq .cars 3)}},{{end}}]`, `1 for a lead whose note is "x"`},
		{"an integer, compared with a text", post, "json", `[1{{if eq .cars "7"}},{{end}}]`, "1 for a lead whose cars is 7"},
		{"a text without a digit", post, "json", `[1{{if not (.note | digits | default "1")}},{{else if known .note}}{{if not (.note | digits)}},{{end}}{{end}}]`, `1 for a lead whose note is "a"`},
		{"a text that is a number", post, "json", `[1{{if .note | number}},{{end}}]`, `1 for a lead whose note is "12"`},
		{"a text that is a date", post, "json", `[1{{if .note | epoch}},{{end}}]`, `1 for a lead whose note is "1980-02-29"`},
		{"an integer without a minus", post, "json", `[1{{if .cars | first 1 | digits}},{{end}}]`, "1 for a lead whose cars is 12"},
		{"a short zip", post, "json", `[1{{if .zip | number}},{{end}}]`, `1 for a lead whose zip is "94107"`},
		{"no auction", post, "json", `[1{{if token}}{{else}},{{end}}]`, "1 quotes and brackets, for a lead without auction"},
		{"no auction, in a key", post, "json", `{ {{token}}: 1}`, "1 for a lead without auction"},
		{"no sub-vertical", ping, "json", `[1{{if not sub_vertical}},{{end}}]`, "1 for a lead without auction or a campaign without vertical or sub_vertical"},
		{"no sub-vertical, as a form's name", ping, "form", `a=1&{{sub_vertical}}=2`, `1 sub_vertical; the mistake is after "a=1&=2"`},
		{"a key that may be absent", post, "json", `{ {{.note}}: 1}`, "1 for a lead whose note is absent"},
		{"an attribute twice", post, "xml", `<a b="1" c="2" b="{{.state}}"/>`, "1 a has the attribute b twice"},
		{"an attribute twice, by an if", post, "xml", `<a b="1"{{if .cars}} b="2"{{end}}/>`, "1 a has the attribute b twice"},
		{"an attribute twice, by two prefixes", post, "xml", `<a xmlns:x="u" xmlns:y="u" x:b="1" y:b="2"/>`, "1 a has the attribute b twice"},
		{"an undeclared prefix", post, "xml", `<a><s:b/></a>`, "1 the prefix of s:b is not declared"},
		{"an undeclared prefix of an attribute", post, "xml", `<a s:b="1"/>`, "1 the prefix of s:b is not declared"},
		{"a prefix declared in a sibling", post, "xml", `<a><b xmlns:s="urn:s"/><s:c/></a>`, "1 the prefix of s:c is not declared"},
		{"a declaration in the second line", post, "xml", "{{/* of ours */}}\n<?xml version=\"1.0\"?><a/>", "1 must be at the start"},
		{"a declaration after a comment", post, "xml", `<!-- a --><?xml version="1.0"?><a/>`, "1 must be at the start"},
		{"another character set", post, "xml", `<?xml version="1.0" encoding="ISO-8859-1"?><a/>`, "1 the XML declaration names an encoding"},
		{"another XML version", post, "xml", `<?xml version="1.1"?><a/>`, "1 only version 1.0"},
		{"text before the root", post, "xml", `x<a/>`, "1 there is text outside"},
		{"text after the root", post, "xml", `<a/>{{.note}}`, "1 there is text outside"},
		{"a < in an attribute", post, "xml", `<a b="<"/>`, "1 the body is not XML"},
		{"two hyphens in a comment", post, "xml", `<a><!-- b -- c --></a>`, "1 the body is not XML"},
		{"elements crossed", post, "xml", `<a><b></a></b>`, "1 the body is not XML"},
		{"two roots", post, "xml", `<a/><b/>`, "1 it has 2 root elements"},
		{"no root", post, "xml", `{{.state}}`, "1 the body is not XML"},
		{"an attribute without quotes in a branch", post, "xml", `<a {{if .cars}}b="1"{{else}}b=1{{end}}/>`, "1 the body is not XML"},
		{"no pairs", post, "form", `{{.state}}`, "1 the body is not FORM: a form is name=value"},
		{"an & too many", post, "form", `a=1&{{if .cars}}c={{.cars}}{{end}}`, "1 for a lead whose cars is absent"},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			a, mistakes := row.compile(row.format, row.template, nil)
			if a == nil {
				t.Fatal(mistakes)
			}
			checkTemplateErrors(t, a.Check(m), row.want)
		})
	}
}

func TestRequiredFieldAsJSONKeyPassesCheck(t *testing.T) {
	required := leadtest.NewMapping(t, market.UnknownDrop, market.FieldSpec{Name: "key", Type: market.TypeString, Required: true})
	optional := leadtest.NewMapping(t, market.UnknownDrop, market.FieldSpec{Name: "key", Type: market.TypeString})
	a, mistakes := adapter.NewPostTemplate("json", `{ {{.key}}: 1}`, nil)
	if a == nil {
		t.Fatal(mistakes)
	}
	if mistakes := a.Check(required); mistakes != nil {
		t.Errorf("%v", mistakes)
	}
	if a.Check(optional) == nil {
		t.Error("Check accepts a key that may be null")
	}
}

// TestCheckAcceptsUnusualTemplates lists templates that are well formed for every possible lead.
func TestCheckAcceptsUnusualTemplates(t *testing.T) {
	m := leadtest.NewMapping(
		t, market.UnknownDrop,
		market.FieldSpec{Name: "key", Type: market.TypeString, Required: true},
		market.FieldSpec{Name: "cars", Type: market.TypeInteger},
		market.FieldSpec{Name: "band", Type: market.TypeEnum, Values: []string{"18-24", "25+"}},
		market.FieldSpec{Name: "owner", Type: market.TypeBoolean},
	)
	for _, row := range []struct{ name, format, template string }{
		{"a key, cut", "json", `{ {{.key}}: "{{.key | first 2}}"}`},
		{"a key, compared with a number", "json", `{ {{.key}}: 1, "n": {{if eq .key 6}}6{{else}}0{{end}} }`},
		{"a number compared with a word", "json", `[1{{if eq .cars "many"}},{{end}}]`},
		{"an enum compared with another value", "json", `[1{{if eq .band "99+"}},{{end}}]`},
		{"a boolean compared with a word", "json", `[1{{if eq .owner "yes"}},{{end}}]`},
		{"a required field tested for absence", "json", `[1{{if not .key}},{{end}}]`},
		{"an escape in the template", "json", `["\u0041{{.key}}\n{{.key}}"]`},
		{"a backslash in the template", "json", `["\\u{{.key}}\\{{.key}}"]`},
		{"an escape at the end", "json", `["{{.key}}\u00e9"]`},
		{"a token, with and without an auction", "json", `{"a": 1{{if token}}, "t": {{token}}{{end}}}`},
		{"namespaces", "xml", `<?xml version="1.0" encoding="utf-8" standalone="yes"?><s:E xmlns:s="urn:s" xmlns="urn:d" xml:lang="en" s:b="1" b="2"><B a="{{.key}}"><s:C xmlns:t="urn:t" t:d="1"/></B></s:E>`},
		{"a processing instruction", "xml", `<a><?php x?></a>`},
		{"an attribute in one branch each", "xml", `<a {{if .cars}}b="1"{{else}}b="2"{{end}}/>`},
		{"names in brackets", "form", `lead[0][key]={{.key}}&lead[0][cars]={{.cars}}`},
		{"an empty value", "form", `a=&b={{.cars}}`},
	} {
		a, mistakes := adapter.NewPostTemplate(row.format, row.template, nil)
		if a != nil {
			mistakes = a.Check(m)
		}
		if mistakes != nil {
			t.Errorf("%s: %v", row.name, mistakes)
		}
	}
}

// TestTemplateErrorsAreReportedTogether: independent errors are reported in the order of lines,
// without errors that follow from others.
func TestTemplateErrorsAreReportedTogether(t *testing.T) {
	for name, row := range map[string]struct{ template, want string }{
		"values":                 {"[{{.a.b}},\n{{default 1}},\n{{.state | first 0}},\n{{expires_at}}]", "1 2 3 4"},
		"in one line":            {"[{{.a.b}}, {{.c.d}}]", "1 1"},
		"in both branches":       {"[{{if .a.b}}\n{{.c.d}}{{else}}\n{{.e.f}}{{end}}]", "1 2 3"},
		"arguments":              {"[{{eq .a.b 0x1\n$.state}}]", "1 1 2"},
		"after an unknown value": {"[{{.a.b}},\n1{{.state}},\n{{.c.d}}]", "1 2"},
		"also at the end":        {"[{{.a.b}}, \n\"", "1"},
	} {
		_, mistakes := adapter.NewPostTemplate("json", row.template, nil)
		var lines []string
		for _, m := range mistakes {
			lines = append(lines, fmt.Sprint(m.Line))
		}
		if got := strings.Join(lines, " "); got != row.want {
			t.Errorf("%s: lines %s, want %s: %v", name, got, row.want, mistakes)
		}
	}
}
