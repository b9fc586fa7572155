package adapter_test

import (
	"encoding/json"
	"encoding/xml"
	"fmt"
	"net/url"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"pingpost/engine/market"
	"pingpost/engine/market/adapter"
)

// sampleTexts generates texts for templates and leads.
var sampleTexts = rapid.SampledFrom([]string{"x", "X", "ab", "AB", "Ab", "12", "a1", "true", "25+", " x", `"`, "<&>", ","})

// drawField draws a field in a template's notation.
func drawField(t *rapid.T) string {
	return rapid.SampledFrom([]string{".note", ".cars", ".owns_home", `(field "age band")`, ".city", ".zip3"}).Draw(t, "field")
}

// drawValue draws up to two functions of a field.
func drawValue(t *rapid.T, field string) string {
	for range rapid.IntRange(0, 2).Draw(t, "functions") {
		word := fmt.Sprintf("%q", sampleTexts.Draw(t, "word"))
		field = "(" + field + " | " + rapid.SampledFrom([]string{
			"upper", "lower", "trim", "digits", "text", "first 1", "last 2", "default " + word, "map " + word + ` "y" "n"`, "map " + word + ` "y"`,
		}).Draw(t, "function") + ")"
	}
	return field
}

// drawCondition draws a condition on one field.
func drawCondition(t *rapid.T, field string) string {
	value := drawValue(t, field)
	word := fmt.Sprintf("%q", sampleTexts.Draw(t, "word"))
	return rapid.SampledFrom([]string{
		value, "known " + value, "not " + value, "eq " + value + " " + word, "ne " + value + " " + word, "eq " + value + " 12 " + word,
		"and " + field + " (eq " + value + " " + word + ")", "or (not " + field + ") (ne " + value + " " + word + ")",
	}).Draw(t, "condition")
}

// drawTemplate draws a template with values in all allowed places and an if, whose branches may
// be malformed.
func drawTemplate(t *rapid.T, format string) string {
	value := func() string { return "{{" + drawValue(t, drawField(t)) + "}}" }
	branch := func() string {
		return rapid.SampledFrom(map[string][]string{
			"json": {"", "", `, "c": 1`, ", ", ` "d"`, `, "e": ` + value()},
			"xml":  {"", "", "<c/>", `<d e="` + value() + `"/>`, "<e>", "</a>", "text", value()},
			"form": {"", "", "&c=1", "&", "d", "&e=" + value(), "&" + value() + "f=2"},
		}[format]).Draw(t, "branch")
	}
	conditional := "{{if " + drawCondition(t, drawField(t)) + "}}" + branch() + "{{else}}" + branch() + "{{end}}"
	switch format {
	case "json":
		return `{"a": ` + value() + `, "b": "<` + value() + `>"` + conditional + `}`
	case "xml":
		return `<a b="` + value() + `" c='` + value() + `'><b>` + value() + "</b>" + conditional + "</a>"
	}
	return "a=" + value() + "&b=" + value() + conditional
}

// drawLead draws a lead that may lack any field.
func drawLead(t *rapid.T) []string {
	var lines []string
	addMaybe := func(name string, values ...string) {
		if rapid.Bool().Draw(t, name) {
			lines = append(lines, name+"="+rapid.SampledFrom(values).Draw(t, name))
		}
	}
	text := func(name string) string { return `"` + sampleTexts.Draw(t, name) + `"` }
	addMaybe("note", text("note"), text("note"))
	addMaybe("city", text("city"))
	addMaybe("cars", "0", "1", "12", "-3")
	addMaybe("homeowner", "true", "false")
	addMaybe("band", `"18-24"`, `"25+"`)
	addMaybe("zip", `"94107"`, `"94107-1234"`)
	return lines
}

// TestCheckedTemplateGivesWellFormedBody draws leads and templates with one if. Check does not
// cover combinations of several.
func TestCheckedTemplateGivesWellFormedBody(t *testing.T) {
	m := newMapping(t)
	accepted := map[string]int{}
	rapid.Check(t, func(t *rapid.T) { checkWellFormed(t, m, accepted) })
	for _, format := range []string{"json", "xml", "form"} {
		if accepted[format] == 0 && !testing.Short() { // a short test draws too few
			t.Errorf("Check accepted no template of %s", format)
		}
	}
}

// FuzzWellFormed is the same test with fuzz input.
func FuzzWellFormed(f *testing.F) {
	m := newMapping(f)
	f.Add([]byte("a long enough seed for a template of each kind, and for a few leads as well"))
	f.Fuzz(rapid.MakeFuzz(func(t *rapid.T) { checkWellFormed(t, m, map[string]int{}) }))
}

func checkWellFormed(t *rapid.T, m *market.FieldMapping, accepted map[string]int) {
	format := rapid.SampledFrom([]string{"json", "xml", "form"}).Draw(t, "format")
	template := drawTemplate(t, format)
	a, mistakes := adapter.NewPostTemplate(format, template, nil)
	if a == nil && len(mistakes) == 0 {
		t.Fatal("rejected without an error")
	}
	if a == nil || a.Check(m) != nil {
		return
	}
	accepted[format]++
	for range 4 {
		lead, failed := fill(m, person(drawLead(t)...))
		if failed != nil {
			continue
		}
		body, ok := a.AppendPost(nil, m, lead, postMetadata)
		if !ok || !isReadable(format, body) {
			t.Fatalf("template\n%s\nrenders the malformed body\n%s", template, body)
		}
	}
}

// isReadable reports whether standard parsers accept the body.
func isReadable(format string, body []byte) bool {
	switch format {
	case "json":
		return json.Valid(body)
	case "xml":
		var whole struct {
			Inner string `xml:",innerxml"`
		}
		return xml.Unmarshal(body, &whole) == nil && isXML(body)
	}
	values, err := url.ParseQuery(string(body))
	return err == nil && values.Has("a") && !values.Has("") && !strings.HasSuffix(string(body), "&")
}
