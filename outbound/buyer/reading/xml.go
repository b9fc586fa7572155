package reading

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"strings"
)

// maxXMLDepth limits nested elements, like strictjson.MaxDepth for JSON.
const maxXMLDepth = 32

var (
	errDirective = errors.New("the buyer's answer declares a document type")
	errDeep      = errors.New("the buyer's answer nests elements too deeply")
	errRoot      = errors.New("the buyer's answer has no single root element")
)

// extractXML reads the fields from an XML answer. paths has, for each field, a path such as
// Response/Bid/@price, or "". It ignores namespaces.
//
// It rejects document types, so an answer cannot refer to other documents or define entities.
// It reads the answer to its end, because a truncated answer is invalid.
func (f *AnswerFields) extractXML(body []byte, paths *[fieldCount]string) error {
	body = bytes.TrimPrefix(body, []byte("\ufeff")) // the byte order mark of UTF-8
	decoder := xml.NewDecoder(bytes.NewReader(body))
	decoder.CharsetReader = newUTF8Reader
	walk := xmlFieldCollector{fields: f, paths: paths}
	for {
		token, err := decoder.Token()
		switch {
		case errors.Is(err, io.EOF) && walk.roots == 1:
			return nil
		case errors.Is(err, io.EOF):
			return errRoot
		case err != nil:
			return err
		}
		if err := walk.visitToken(token); err != nil {
			return err
		}
	}
}

// xmlFieldCollector follows the elements of one XML answer and collects the fields at the configured
// paths.
type xmlFieldCollector struct {
	fields *AnswerFields
	paths  *[fieldCount]string
	seen   [fieldCount]bool
	path   []string // names of the open elements, from the root
	roots  int
}

func (w *xmlFieldCollector) visitToken(token xml.Token) error {
	switch token := token.(type) {
	case xml.StartElement:
		if len(w.path) == 0 {
			w.roots++
		}
		if len(w.path) == maxXMLDepth {
			return errDeep
		}
		w.path = append(w.path, token.Name.Local)
		return w.markSeenAndTakeAttributes(token.Attr)
	case xml.EndElement:
		w.path = w.path[:len(w.path)-1]
	case xml.CharData:
		if len(w.path) == 0 && len(bytes.TrimLeft(token, " \t\r\n")) > 0 {
			return errRoot
		}
		for i, place := range w.paths {
			if place != "" && w.isAtPath(place) {
				w.fields[i] += string(token)
			}
		}
	case xml.Directive:
		return errDirective
	}
	return nil
}

// markSeenAndTakeAttributes is called for each element start. If a field has the path of this element, it
// marks the field as found, or takes the value of an attribute. It returns errAmbiguous if the
// field was found before.
func (w *xmlFieldCollector) markSeenAndTakeAttributes(attributes []xml.Attr) error {
	for i, place := range w.paths {
		outer, name, isAttribute := strings.Cut(place, "/@")
		if place == "" || !w.isAtPath(outer) {
			continue
		}
		if w.seen[i] {
			return errAmbiguous
		}
		w.seen[i] = true
		if !isAttribute {
			continue
		}
		found := false
		for _, a := range attributes {
			if a.Name.Local != name {
				continue
			}
			if found {
				return errAmbiguous
			}
			w.fields[i], found = a.Value, true
		}
	}
	return nil
}

// isAtPath reports whether the elements that are open now, from the root down, have exactly the
// names in the path.
func (w *xmlFieldCollector) isAtPath(path string) bool {
	rest, more := path, true
	for _, name := range w.path {
		if !more {
			return false
		}
		var step string
		if step, rest, more = strings.Cut(rest, "/"); step != name {
			return false
		}
	}
	return !more
}

// newUTF8Reader converts an answer in ISO-8859-1 or US-ASCII to UTF-8. Old endpoints declare
// these character sets. It rejects all others. The XML decoder does not call it for UTF-8.
func newUTF8Reader(charset string, in io.Reader) (io.Reader, error) {
	switch strings.ToLower(charset) {
	case "iso-8859-1", "us-ascii":
		text, err := io.ReadAll(in)
		if err != nil {
			return nil, err
		}
		var out strings.Builder
		for _, b := range text {
			out.WriteRune(rune(b))
		}
		return strings.NewReader(out.String()), nil
	}
	return nil, fmt.Errorf("the XML declaration of the buyer's answer names the unsupported encoding %q; use UTF-8, ISO-8859-1 or US-ASCII", charset)
}
