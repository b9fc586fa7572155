package adapter_test

import (
	"encoding/json"
	"encoding/xml"
	"net/url"
	"strings"
	"sync"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"pingpost/engine/market"
	"pingpost/engine/market/adapter"
)

// leadWithNote returns a lead with the note, the note as mapped, and whether the mapping
// accepts it.
func leadWithNote(m *market.FieldMapping, note string) (lead *market.Lead, mapped string, ok bool) {
	lead, failed := fill(m, append(person(), market.JSONMember{Name: []byte("note"), Kind: market.JSONString, Text: []byte(note)}))
	slot, _ := m.SlotByNameForBuyers("note")
	return lead, string(lead.Values[slot].Text), failed == nil
}

// hostileText generates texts of characters with a meaning in JSON, XML or forms.
func hostileText() *rapid.Generator[string] {
	tokens := rapid.SampledFrom([]string{
		"<", ">", "&", "\"", "'", "/", "=", "%", "+", ";", "]]>", "-->", "<!--", "<![CDATA[", "&amp;", "&#0;", "?>", "\\", "\\u0022",
		"{{", "}}", "{{.phone}}", "\n", "\t", "\u2028", "\u0085", "\ufffe", "é", "\U0001F600", " ", "a", "0", "null",
	})
	return rapid.Custom(func(t *rapid.T) string {
		return strings.Join(rapid.SliceOfN(tokens, 0, 12).Draw(t, "tokens"), "")
	})
}

// TestEscapedBodyDecodesToLeadText covers JSON, XML elements and attributes in either quotes, and
// names and values of forms. Characters that XML cannot contain become U+FFFD; line ends in
// attributes stay.
func TestEscapedBodyDecodesToLeadText(t *testing.T) {
	m := newMapping(t)
	for format, row := range map[string]struct {
		template string
		isRight  func(body []byte, note string) bool
	}{
		"json": {`{"whole": {{.note}}, "part": "<{{.note}}>", "end": true}`, func(body []byte, note string) bool {
			var decoded map[string]any
			err := json.Unmarshal(body, &decoded)
			whole, _ := decoded["whole"].(string) // null for an empty note
			return err == nil && len(decoded) == 3 && decoded["end"] == true && whole == note && decoded["part"] == "<"+note+">"
		}},
		"xml": {`<L a="[{{.note}}]" b='[{{.note}}]'><T>[{{.note}}]</T><End>1</End></L>`, func(body []byte, note string) bool {
			var decoded struct {
				A    string `xml:"a,attr"`
				B    string `xml:"b,attr"`
				T    string
				End  string
				More []struct {
					XMLName xml.Name
				} `xml:",any"`
			}
			want := "[" + strings.Map(replaceInvalidXML, note) + "]"
			return xml.Unmarshal(body, &decoded) == nil && decoded.A == want && decoded.B == want && decoded.T == want && decoded.End == "1" && len(decoded.More) == 0
		}},
		"form": {"first=[{{.note}}]&\nn{{.note}}=name&\nlast=1", func(body []byte, note string) bool {
			values, err := url.ParseQuery(string(body))
			return err == nil && len(values) == 3 && values.Get("first") == "["+note+"]" && values.Get("n"+note) == "name" && values.Get("last") == "1"
		}},
	} {
		a := compileChecked(t, m, adapter.NewPostTemplate, format, row.template)
		t.Run(format, rapid.MakeCheck(func(t *rapid.T) {
			lead, note, ok := leadWithNote(m, rapid.OneOf(hostileText(), rapid.String()).Draw(t, "note"))
			if !ok {
				return
			}
			if body, _ := a.AppendPost(nil, m, lead, postMetadata); !row.isRight(body, note) {
				t.Fatalf("note %q is rendered as %s", note, body)
			}
		}))
	}
}

// replaceInvalidXML returns the character, or U+FFFD if XML cannot contain it.
func replaceInvalidXML(r rune) rune {
	if r == '\ufffe' || r == '\uffff' || r < ' ' && r != '\t' && r != '\n' && r != '\r' {
		return utf8.RuneError
	}
	return r
}

// TestTemplateRendersConcurrently: all goroutines of an auction share a template.
func TestTemplateRendersConcurrently(t *testing.T) {
	m := newMapping(t)
	a := compileChecked(t, m, adapter.NewPostTemplate, "json", `[{{.note | upper}}, {{.note | title | first 3}}, {{.cars | epoch | default .note}}]`)
	var renders sync.WaitGroup
	for _, note := range []string{"one", "two", "three", "four"} {
		renders.Go(func() {
			lead, _, _ := leadWithNote(m, note)
			want := `["` + strings.ToUpper(note) + `", "` + strings.ToUpper(note[:1]) + note[1:3] + `", "` + note + `"]`
			for range 200 {
				if body, ok := a.AppendPost(nil, m, lead, postMetadata); !ok || string(body) != want {
					t.Errorf("%s, want %s", body, want)
					return
				}
			}
		})
	}
	renders.Wait()
}
