package adapter_test

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"errors"
	"io"
	"net/url"
	"strings"
	"testing"

	"pingpost/engine/market"
	"pingpost/engine/market/adapter"
)

// FuzzTemplate checks that templates do not panic and that bodies keep the size limit. The body
// of a template that Check accepts is well formed, unless an if or map selects its parts.
func FuzzTemplate(f *testing.F) {
	for _, seed := range []struct{ format, template string }{
		{"json", `{"a": {{.note}}, "b": "x{{.note | upper}}", "c": {{if .cars}}{{.cars}}{{else}}null{{end}}}`},
		{"json", `[{{auction}}, {{token}}, {{.note | default 5}}, {{.born | date "YYYY-MM-DD"}}]`},
		{"xml", `<?xml version="1.0"?><a b="{{.note}}">{{.note}}<!-- x --><![CDATA[y]]></a>`},
		{"xml", `<a{{if .note}} b='{{.note | first 3}}'{{end}}/>`},
		{"form", "a={{.note}}&\nb={{.note | digits}}"},
	} {
		f.Add(seed.format, seed.template, "a\"'\\<>&={{x}}\n")
	}
	m := newMapping(f)
	f.Fuzz(func(t *testing.T, format, template, note string) {
		lead, failed := fill(m, append(person(`cars=2`, `born="1980-02-29"`), market.JSONMember{Name: []byte("note"), Kind: market.JSONString, Text: []byte(note)}))
		if failed != nil {
			return
		}
		if ping, _ := adapter.NewPingTemplate(format, template, nil); ping != nil {
			body, _ := ping.AppendPing(nil, m, lead, pingMetadata)
			if len(body) > adapter.MaxBody || !strings.Contains(template, "O'Neil") && bytes.Contains(body, []byte("O'Neil")) {
				t.Fatalf("%s", body)
			}
		}
		a, mistakes := adapter.NewPostTemplate(format, template, nil)
		if a == nil {
			if len(mistakes) == 0 {
				t.Fatal("rejected without an error")
			}
			return
		}
		isChecked := a.Check(m) == nil
		body, ok := a.AppendPost(nil, m, lead, postMetadata)
		switch {
		case !ok && body != nil, len(body) > adapter.MaxBody:
			t.Fatalf("body of %d bytes, rendered: %t", len(body), ok)
		case !ok, !isChecked, strings.Contains(template, "if"), strings.Contains(template, "map"):
		case format == "json" && !json.Valid(body), format == "xml" && !isXML(body), format == "form" && !isForm(body):
			t.Fatalf("template %s renders the malformed body %s", template, body)
		}
	})
}

// isForm reports whether the body is a form without characters that need escapes.
func isForm(body []byte) bool {
	_, err := url.ParseQuery(string(body))
	return err == nil && !bytes.ContainsFunc(body, func(r rune) bool { return r <= ' ' || r > '~' })
}

func isXML(body []byte) bool {
	decoder := xml.NewDecoder(bytes.NewReader(body))
	for {
		if _, err := decoder.Token(); err != nil {
			return errors.Is(err, io.EOF)
		}
	}
}
