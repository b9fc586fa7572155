package adapter_test

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"net/url"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"pingpost/engine/market"
	"pingpost/engine/market/adapter"
	"pingpost/engine/market/escape"
)

const fullKey = "buyer/old/secret/key"

var buyerSecrets = map[string]string{"key": fullKey}

// secretTemplates has one template for each place of a secret, with a field beside it, and the
// buyer's parser of both.
var secretTemplates = []struct {
	name, format, template string
	parse                  func(body []byte) (secret, note string, err error)
}{
	{"a JSON value", "json", `{"key": {{secret "key"}}, "note": {{.note}}}`, readJSONPair},
	{"a part of a JSON text", "json", `{"key": "{{secret "key"}}", "note": "{{.note}}"}`, readJSONPair},
	{"a form", "form", "key={{secret \"key\"}}&\nnote={{.note}}", func(body []byte) (string, string, error) {
		values, err := url.ParseQuery(string(body))
		return values.Get("key"), values.Get("note"), err
	}},
	{"an XML element", "xml", `<a><key>{{secret "key"}}</key><note>{{.note}}</note></a>`, readXMLPair},
	{"an XML attribute", "xml", `<a attribute="{{secret "key"}}"><note>{{.note}}</note></a>`, readXMLPair},
}

func readJSONPair(body []byte) (secret, note string, err error) {
	var decoded struct{ Key, Note string }
	err = json.Unmarshal(body, &decoded)
	return decoded.Key, decoded.Note, err
}

func readXMLPair(body []byte) (secret, note string, err error) {
	var decoded struct {
		Key       string `xml:"key"`
		Attribute string `xml:"attribute,attr"`
		Note      string `xml:"note"`
	}
	err = xml.Unmarshal(body, &decoded)
	return decoded.Key + decoded.Attribute, decoded.Note, err
}

// TestSecretsInBodies: for any secret and lead, the logged body lacks the secret, and the buyer
// parses the secret and the note from the sent body.
func TestSecretsInBodies(t *testing.T) {
	m := newMapping(t)
	slot, _ := m.SlotByNameForBuyers("note")
	for _, body := range secretTemplates {
		t.Run(body.name, func(t *testing.T) {
			a, mistakes := adapter.NewPostTemplate(body.format, body.template, buyerSecrets)
			if a == nil || a.Check(m) != nil {
				t.Fatal(mistakes, a.Check(m))
			}
			rapid.Check(t, func(t *rapid.T) {
				secret := "S3cr$t-" + rapid.StringMatching(`[ -~]{0,20}`).Draw(t, "secret")
				note := rapid.OneOf(rapid.String(), rapid.SampledFrom([]string{
					`{{secret "key"}}`, "\x1aj" + fullKey + "\x1a", "\x1a", `\u001aj` + fullKey + `\u001a`, "%1Af" + fullKey + "%1A", "${key}",
				})).Draw(t, "note")
				lead, failed := fill(m, append(person(), market.JSONMember{Name: []byte("note"), Kind: market.JSONString, Text: []byte(note)}))
				if failed != nil {
					return
				}
				logged, ok := a.AppendPost(nil, m, lead, postMetadata)
				if !ok || bytes.Contains(logged, []byte("S3cr$t")) || bytes.Count(logged, []byte(fullKey)) < 1 {
					t.Fatalf("logged %q", logged)
				}
				lookups := 0
				sent, ok := escape.AppendWithSecretsInserted(nil, logged, func(name string) (string, bool) {
					lookups++
					return secret, name == fullKey
				})
				if !ok || lookups != 1 {
					t.Fatalf("insertion: %t, %d secret lookups for %q", ok, lookups, logged)
				}
				gotSecret, gotNote, err := body.parse(sent)
				wantNote := string(lead.Values[slot].Text)
				if body.format == "xml" {
					wantNote = roundTripXML(wantNote)
				}
				if err != nil || gotSecret != secret || gotNote != wantNote {
					t.Fatalf("%q: secret %q, note %q instead of %q, %v", sent, gotSecret, gotNote, wantNote, err)
				}
			})
		})
	}
}

// roundTripXML returns the text after XML encoding and decoding; invalid characters are U+FFFD.
func roundTripXML(text string) string {
	var out bytes.Buffer
	_ = xml.EscapeText(&out, []byte(text))
	var decoded struct {
		Text string `xml:",chardata"`
	}
	_ = xml.Unmarshal([]byte("<a>"+out.String()+"</a>"), &decoded)
	return decoded.Text
}

func TestInvalidSecretInsertions(t *testing.T) {
	for _, row := range []struct{ format, template, want string }{
		{"json", `{{secret "other"}}`, `1 there is no secret other`},
		{"json", `{{secret}}`, "1 secret needs the name"},
		{"json", `{{secret .note}}`, "1 secret needs the name"},
		{"json", `{{secret "key" "key"}}`, "1 secret needs the name"},
		{"json", `{{secret "key" | sha256}}`, "1 secret must be alone"},
		{"json", `{{if secret "key"}}1{{else}}2{{end}}`, "1 secret must be alone"},
		{"json", `{{default (secret "key") .note}}`, "1 secret must be alone"},
		{"json", `{"a": 1{{secret "key"}}}`, "1 a value touches"},
		{"json", "\"\x1aj" + fullKey + "\x1a\"", "1 the template contains the control character"},
		{"xml", `<a {{secret "key"}}/>`, "1 a value inside a tag"},
		{"xml", `<a><!-- {{secret "key"}} --></a>`, "1 a value is not allowed in a comment"},
	} {
		_, mistakes := adapter.NewPostTemplate(row.format, row.template, buyerSecrets)
		checkTemplateErrors(t, mistakes, row.want)
	}
}

func TestUnresolvedPlaceholders(t *testing.T) {
	secrets := func(name string) (string, bool) {
		return map[string]string{"two lines": "a\nb", "some": "value"}[name], name != "missing"
	}
	good := string(escape.AppendSecretPlaceholder(nil, escape.None, "some"))
	for _, text := range []string{
		string(escape.AppendSecretPlaceholder(nil, escape.JSON, "missing")),
		string(escape.AppendSecretPlaceholder(nil, escape.JSON, "empty")),
		string(escape.AppendSecretPlaceholder(nil, escape.None, "two lines")),
		string(escape.AppendSecretPlaceholder(nil, '?', "some")),
		"\x1arsome", "\x1a\x1a", "\x1ar\x1a", good + "\x1a",
	} {
		got, ok := escape.AppendWithSecretsInserted([]byte("before"), []byte(good+text), secrets)
		if ok || string(got) != "before" {
			t.Errorf("%q: %q, %v", text, got, ok)
		}
	}
	if got, ok := escape.AppendWithSecretsInserted(nil, []byte("a"+good+"b"), secrets); !ok || string(got) != "avalueb" {
		t.Errorf("%q, %v", got, ok)
	}
}

func TestPlaceholdersForDisplay(t *testing.T) {
	namedVariable := string(escape.AppendSecretPlaceholder(nil, escape.Form, "buyer/variable/secret/key"))
	if got := escape.RewritePlaceholdersForDisplay(namedVariable); got != `{{secret "key"}}` {
		t.Errorf("a secret of the buyer with the id variable is shown as %s", got)
	}
	address := "https://old.example/" +
		string(escape.AppendSecretPlaceholder(nil, escape.Form, fullKey)) + "?k=" +
		string(escape.AppendSecretPlaceholder(nil, escape.None, "buyer/old"+escape.VariablePart+"OLD_KEY"))
	if got := escape.RewritePlaceholdersForDisplay(address); got != `https://old.example/{{secret "key"}}?k=${OLD_KEY}` || strings.Contains(got, "\x1a") {
		t.Error(got)
	}
}
