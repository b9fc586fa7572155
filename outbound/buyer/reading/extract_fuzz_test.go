package reading

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"pingpost/engine/market"
	"pingpost/internal/strictjson"
)

// jsonAt follows a path of names and indexes through decoded JSON.
func jsonAt(value any, steps []string) string {
	if len(steps) == 0 {
		switch value := value.(type) {
		case bool:
			return strconv.FormatBool(value)
		default:
			return textOf(value)
		}
	}
	switch outer := value.(type) {
	case map[string]any:
		return jsonAt(outer[steps[0]], steps[1:])
	case []any:
		if n, err := strconv.ParseUint(steps[0], 10, 16); err == nil && int(n) < len(outer) {
			return jsonAt(outer[n], steps[1:])
		}
	}
	return ""
}

// node is an XML element, decoded by encoding/xml into a tree.
type node struct {
	XMLName xml.Name
	Attrs   []xml.Attr `xml:",any,attr"`
	Text    string     `xml:",chardata"`
	Nodes   []node     `xml:",any"`
}

// xmlAt collects the texts at a path of the tree.
func (n *node) xmlAt(steps []string) (texts []string) {
	if len(steps) == 0 || n.XMLName.Local != steps[0] {
		return nil
	}
	if len(steps) == 1 {
		return []string{n.Text}
	}
	name, ok := strings.CutPrefix(steps[1], "@")
	for _, a := range n.Attrs {
		if ok && len(steps) == 2 && a.Name.Local == name {
			texts = append(texts, a.Value)
		}
	}
	for i := range n.Nodes {
		texts = append(texts, n.Nodes[i].xmlAt(steps[1:])...)
	}
	return texts
}

// FuzzExtract compares the extracted field of an answer with the standard library's
// decoders.
func FuzzExtract(f *testing.F) {
	for _, seed := range []struct{ format, place, body string }{
		{"json", "a.b", `{"a":{"b":"1"}}`},
		{"json", "a.0.1", `{"a":[[1,"x\"]",{"b":null}]]}`},
		{"json", "a.1", `{"a":["],{\"", 2.50 ,true]}`},
		{"json", "", `{"":1}`},
		{"json", ".", `{"":{"":false}}`},
		{"json", "a.2", `{"a":[[],{},[[1,2],"\\"]]}`},
		{"json", "a.99999", `{"a":[1]}`},
		{"json", "a.+0", `{"a":[1]}`},
		{"json", "a.0", `{"a":[ "\u0041\ud83d\ude00" ]}`},
		{"json", "a.item", `{"a":[1]}`},
		{"form", "a", "a=1&b=%20"},
		{"form", "a b", "a+b=%41"},
		{"form", "a", "a=1&a=2"},
		{"form", "a", "a=%ff"},
		{"form", "a", " a=1\n"},
		{"form", "a", "a;b=1"},
		{"xml", "a/b", `<a><b>1</b></a>`},
		{"xml", "a/@b", "<?xml version=\"1.0\" encoding=\"iso-8859-1\"?><a b='1'>\xe9</a>"},
		{"xml", "a", "<a>x<b/>y<![CDATA[<z>]]></a>"},
		{"xml", "a/b", `<a><b>1</b><b>2</b></a>`},
		{"xml", "a/b/@c", `<a><b c="1" d:c="2"/></a>`},
		{"xml", "a", "<!DOCTYPE a><a/>"},
		{"xml", "a", "<a>&#65;&lt;</a><a/>"},
		{"xml", "a", "\ufeff<a>1</a>\n"},
		{"xml", "a/b", "<a xmlns:x='y'><x:b>1</x:b></a>"},
	} {
		f.Add(seed.format, seed.place, []byte(seed.body))
	}
	f.Fuzz(func(t *testing.T, format, place string, body []byte) {
		r, ok := New(&market.BuyerAnswerValuePaths{Format: format, Price: place})
		if !ok || place == "" || len(body) > 8192 {
			return
		}
		found, err := r.ExtractFields(body)
		if want, readable := wantTextAt(format, place, body); (err == nil) != readable || found[Price] != strings.TrimSpace(want) {
			t.Fatalf("%s at %q of %q: %q, %v; want %q, %v", format, place, body, found[Price], err, want, readable)
		}
	})
}

// wantTextAt returns the text at a path, and whether the answer is readable and
// unambiguous.
func wantTextAt(format, place string, body []byte) (text string, readable bool) {
	switch format {
	case market.FormatJSON:
		object, ok := decodeObject(body)
		return jsonAt(any(object), strings.Split(place, ".")), ok
	case market.FormatForm:
		values, err := url.ParseQuery(strings.TrimSpace(string(body)))
		if err != nil || len(values[place]) > 1 || !utf8.ValidString(values.Get(place)) {
			return "", false
		}
		return values.Get(place), true
	}
	root, ok := decodeXML(bytes.TrimPrefix(body, []byte("\ufeff")))
	if !ok {
		return "", false
	}
	steps := strings.Split(place, "/")
	texts := root.xmlAt(steps)
	elements := texts
	if last := len(steps) - 1; last > 0 && strings.HasPrefix(steps[last], "@") {
		elements = root.xmlAt(steps[:last])
	}
	if len(texts) > 1 || len(elements) > 1 {
		return "", false
	}
	return strings.Join(texts, ""), true
}

// decodeXML decodes a document with one root element, at most 32 levels, no document type
// and no text around it.
func decodeXML(body []byte) (root node, ok bool) {
	depth, roots := 0, 0
	decoder := xml.NewDecoder(bytes.NewReader(body))
	decoder.CharsetReader = newUTF8Reader
	for {
		token, err := decoder.Token()
		if token == nil {
			if err.Error() != "EOF" || roots != 1 {
				return root, false
			}
			break
		}
		switch token := token.(type) {
		case xml.StartElement:
			if depth++; depth == 1 {
				roots++
			}
			if depth > 32 {
				return root, false
			}
		case xml.EndElement:
			depth--
		case xml.Directive:
			return root, false
		case xml.CharData:
			if depth == 0 && strings.Trim(string(token), " \t\r\n") != "" {
				return root, false
			}
		}
	}
	decoder = xml.NewDecoder(bytes.NewReader(body))
	decoder.CharsetReader = newUTF8Reader
	return root, decoder.Decode(&root) == nil
}

// decodeObject decodes a JSON object with the standard library if strictjson accepts it.
func decodeObject(body []byte) (object map[string]any, ok bool) {
	if new(strictjson.Object).Parse(body) != nil {
		return nil, false
	}
	decoder := json.NewDecoder(bytes.NewReader(body))
	decoder.UseNumber()
	return object, decoder.Decode(&object) == nil
}

// textOf returns the text of a string or a number.
func textOf(value any) string {
	switch value := value.(type) {
	case string:
		return value
	case json.Number:
		return value.String()
	}
	return ""
}
