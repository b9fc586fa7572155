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

// words are what templates compare with and what leads say.
var words = rapid.SampledFrom([]string{"x", "X", "ab", "AB", "Ab", "12", "a1", "true", "25+", " x", `"`, "<&>", ","})

// drawnField is a field, by the way a template names it.
func drawnField(t *rapid.T) string {
	return rapid.SampledFrom([]string{".note", ".cars", ".owns_home", `(field "age band")`, ".city", ".zip3"}).Draw(t, "field")
}

// drawnValue is a field, or what functions make of it.
func drawnValue(t *rapid.T, field string) string {
	for range rapid.IntRange(0, 2).Draw(t, "functions") {
		word := fmt.Sprintf("%q", words.Draw(t, "word"))
		field = "(" + field + " | " + rapid.SampledFrom([]string{
			"upper", "lower", "trim", "digits", "text", "first 1", "last 2", "default " + word, "map " + word + ` "y" "n"`, "map " + word + ` "y"`,
		}).Draw(t, "function") + ")"
	}
	return field
}

// drawnCondition asks for one field alone.
func drawnCondition(t *rapid.T, field string) string {
	value := drawnValue(t, field)
	word := fmt.Sprintf("%q", words.Draw(t, "word"))
	return rapid.SampledFrom([]string{
		value, "known " + value, "not " + value, "eq " + value + " " + word, "ne " + value + " " + word, "eq " + value + " 12 " + word,
		"and " + field + " (eq " + value + " " + word + ")", "or (not " + field + ") (ne " + value + " " + word + ")",
	}).Draw(t, "condition")
}

// drawnTemplate has values in every place that takes one, and an if, whose branches
// may leave something to be desired.
func drawnTemplate(t *rapid.T, format string) string {
	value := func() string { return "{{" + drawnValue(t, drawnField(t)) + "}}" }
	loose := func() string {
		return rapid.SampledFrom(map[string][]string{
			"json": {"", "", `, "c": 1`, ", ", ` "d"`, `, "e": ` + value()},
			"xml":  {"", "", "<c/>", `<d e="` + value() + `"/>`, "<e>", "</a>", "text", value()},
			"form": {"", "", "&c=1", "&", "d", "&e=" + value(), "&" + value() + "f=2"},
		}[format]).Draw(t, "branch")
	}
	choice := "{{if " + drawnCondition(t, drawnField(t)) + "}}" + loose() + "{{else}}" + loose() + "{{end}}"
	switch format {
	case "json":
		return `{"a": ` + value() + `, "b": "<` + value() + `>"` + choice + `}`
	case "xml":
		return `<a b="` + value() + `" c='` + value() + `'><b>` + value() + "</b>" + choice + "</a>"
	}
	return "a=" + value() + "&b=" + value() + choice
}

// drawnLead says something or nothing in each field.
func drawnLead(t *rapid.T) []string {
	var lines []string
	say := func(name string, values ...string) {
		if rapid.Bool().Draw(t, name) {
			lines = append(lines, name+"="+rapid.SampledFrom(values).Draw(t, name))
		}
	}
	text := func(name string) string { return `"` + words.Draw(t, name) + `"` }
	say("note", text("note"), text("note"))
	say("city", text("city"))
	say("cars", "0", "1", "12", "-3")
	say("homeowner", "true", "false")
	say("band", `"18-24"`, `"25+"`)
	say("zip", `"94107"`, `"94107-1234"`)
	return lines
}

// TestWhatCheckPassesIsWellFormed: for whatever lead there is, with one if at a
// time; several at once are more than Check promises.
func TestWhatCheckPassesIsWellFormed(t *testing.T) {
	m := adapted(t)
	passed := map[string]int{}
	rapid.Check(t, func(t *rapid.T) { checkWellFormed(t, m, passed) })
	for _, format := range []string{"json", "xml", "form"} {
		if passed[format] == 0 {
			t.Errorf("no template of %s passed", format)
		}
	}
}

// FuzzWellFormed is the same, with templates and leads that a fuzzer draws.
func FuzzWellFormed(f *testing.F) {
	m := adapted(f)
	f.Add([]byte("a long enough seed for a template of each kind, and for a few leads as well"))
	f.Fuzz(rapid.MakeFuzz(func(t *rapid.T) { checkWellFormed(t, m, map[string]int{}) }))
}

func checkWellFormed(t *rapid.T, m *market.FieldMapping, passed map[string]int) {
	format := rapid.SampledFrom([]string{"json", "xml", "form"}).Draw(t, "format")
	template := drawnTemplate(t, format)
	a, mistakes := adapter.NewPostTemplate(format, template, nil)
	if a == nil && len(mistakes) == 0 {
		t.Fatal("refused without a reason")
	}
	if a == nil || a.Check(m) != nil {
		return
	}
	passed[format]++
	for range 4 {
		lead, failed := fill(m, person(drawnLead(t)...))
		if failed != nil {
			continue
		}
		body, ok := a.AppendPost(nil, m, lead, adapterPost)
		if !ok || !reads(format, body) {
			t.Fatalf("%s\ngave\n%s", template, body)
		}
	}
}

// reads tells whether others read the body.
func reads(format string, body []byte) bool {
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
