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

// noted is a person with a note, whatever it says; not ok where the campaign
// would not take it.
func noted(m *market.FieldMapping, note string) (lead *market.Lead, said string, ok bool) {
	lead, failed := fill(m, append(person(), market.JSONMember{Name: []byte("note"), Kind: market.JSONString, Text: []byte(note)}))
	slot, _ := m.SlotByBuyerName("note")
	return lead, string(lead.Values[slot].Text), failed == nil
}

// hostile draws text that is made of what formats are made of.
func hostile() *rapid.Generator[string] {
	marks := rapid.SampledFrom([]string{
		"<", ">", "&", "\"", "'", "/", "=", "%", "+", ";", "]]>", "-->", "<!--", "<![CDATA[", "&amp;", "&#0;", "?>", "\\", "\\u0022",
		"{{", "}}", "{{.phone}}", "\n", "\t", "\u2028", "\u0085", "\ufffe", "é", "\U0001F600", " ", "a", "0", "null",
	})
	return rapid.Custom(func(t *rapid.T) string {
		return strings.Join(rapid.SliceOfN(marks, 0, 12).Draw(t, "marks"), "")
	})
}

// TestABodySaysWhatTheLeadSays, and nothing else: in JSON, in elements and in attributes of
// either quote of XML, in values and in names of forms. What XML has no character for is told
// as U+FFFD; ends of lines in attributes stay.
func TestABodySaysWhatTheLeadSays(t *testing.T) {
	m := adapted(t)
	for format, row := range map[string]struct {
		template string
		isRight  func(body []byte, said string) bool
	}{
		"json": {`{"whole": {{.note}}, "part": "<{{.note}}>", "end": true}`, func(body []byte, said string) bool {
			var read map[string]any
			err := json.Unmarshal(body, &read)
			whole, _ := read["whole"].(string) // null for an empty note
			return err == nil && len(read) == 3 && read["end"] == true && whole == said && read["part"] == "<"+said+">"
		}},
		"xml": {`<L a="[{{.note}}]" b='[{{.note}}]'><T>[{{.note}}]</T><End>1</End></L>`, func(body []byte, said string) bool {
			var read struct {
				A    string `xml:"a,attr"`
				B    string `xml:"b,attr"`
				T    string
				End  string
				More []struct {
					XMLName xml.Name
				} `xml:",any"`
			}
			want := "[" + strings.Map(inXML, said) + "]"
			return xml.Unmarshal(body, &read) == nil && read.A == want && read.B == want && read.T == want && read.End == "1" && len(read.More) == 0
		}},
		"form": {"first=[{{.note}}]&\nn{{.note}}=name&\nlast=1", func(body []byte, said string) bool {
			read, err := url.ParseQuery(string(body))
			return err == nil && len(read) == 3 && read.Get("first") == "["+said+"]" && read.Get("n"+said) == "name" && read.Get("last") == "1"
		}},
	} {
		a := adapterOf(t, m, adapter.NewPostTemplate, format, row.template)
		t.Run(format, rapid.MakeCheck(func(t *rapid.T) {
			lead, said, ok := noted(m, rapid.OneOf(hostile(), rapid.String()).Draw(t, "note"))
			if !ok {
				return
			}
			if body, _ := a.AppendPost(nil, m, lead, adapterPost); !row.isRight(body, said) {
				t.Fatalf("%q became %s", said, body)
			}
		}))
	}
}

// inXML is the character, or what stands for one that XML does not have.
func inXML(r rune) rune {
	if r == '\ufffe' || r == '\uffff' || r < ' ' && r != '\t' && r != '\n' && r != '\r' {
		return utf8.RuneError
	}
	return r
}

// TestManyWriteAtOnce: an adapter is shared by all goroutines of an auction.
func TestManyWriteAtOnce(t *testing.T) {
	m := adapted(t)
	a := adapterOf(t, m, adapter.NewPostTemplate, "json", `[{{.note | upper}}, {{.note | title | first 3}}, {{.cars | epoch | default .note}}]`)
	var writing sync.WaitGroup
	for _, note := range []string{"one", "two", "three", "four"} {
		writing.Go(func() {
			lead, _, _ := noted(m, note)
			want := `["` + strings.ToUpper(note) + `", "` + strings.ToUpper(note[:1]) + note[1:3] + `", "` + note + `"]`
			for range 200 {
				if body, ok := a.AppendPost(nil, m, lead, adapterPost); !ok || string(body) != want {
					t.Errorf("%s, want %s", body, want)
					return
				}
			}
		})
	}
	writing.Wait()
}
