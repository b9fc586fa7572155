package buyer

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"strings"
)

// maxXMLDepth bounds elements inside one another, as strictjson.MaxDepth does
// JSON's.
const maxXMLDepth = 32

var (
	errDirective = errors.New("the answer declares a document type")
	errDeep      = errors.New("elements inside one another without end")
	errRoot      = errors.New("not one element that holds all others")
)

// readXML finds what stands at places such as Response/Bid/@price. Namespaces
// do not count. Nothing is looked up outside: a document type is refused, so
// there are no entities but the five of XML itself. The answer is read to its
// end, since half of one was not meant to be believed.
func (f *found) readXML(body []byte, places *[findings]string) error {
	body = bytes.TrimPrefix(body, []byte("\ufeff")) // of UTF-8: it is no text
	decoder := xml.NewDecoder(bytes.NewReader(body))
	decoder.CharsetReader = latin
	walk := xmlWalk{found: f, places: places}
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
		if err := walk.take(token); err != nil {
			return err
		}
	}
}

// xmlWalk is how far an answer has been read.
type xmlWalk struct {
	found  *found
	places *[findings]string
	seen   [findings]bool
	path   []string // of names, from the root to where the reading is
	roots  int
}

func (w *xmlWalk) take(token xml.Token) error {
	switch token := token.(type) {
	case xml.StartElement:
		if len(w.path) == 0 {
			w.roots++
		}
		if len(w.path) == maxXMLDepth {
			return errDeep
		}
		w.path = append(w.path, token.Name.Local)
		return w.enter(token.Attr)
	case xml.EndElement:
		w.path = w.path[:len(w.path)-1]
	case xml.CharData:
		if len(w.path) == 0 && len(bytes.TrimLeft(token, " \t\r\n")) > 0 {
			return errRoot
		}
		for i, place := range w.places {
			if place != "" && w.stands(place) {
				w.found[i] += string(token)
			}
		}
	case xml.Directive:
		return errDirective
	}
	return nil
}

// enter notes what an element is and what its attributes hold.
func (w *xmlWalk) enter(attributes []xml.Attr) error {
	for i, place := range w.places {
		outer, name, isAttribute := strings.Cut(place, "/@")
		if place == "" || !w.stands(outer) {
			continue
		}
		if w.seen[i] {
			return errAmbiguous
		}
		w.seen[i] = true
		if !isAttribute {
			continue
		}
		there := false
		for _, a := range attributes {
			if a.Name.Local != name {
				continue
			}
			if there {
				return errAmbiguous
			}
			w.found[i], there = a.Value, true
		}
	}
	return nil
}

// stands tells whether the walk is at a place: its names, from the root on.
func (w *xmlWalk) stands(place string) bool {
	rest, more := place, true
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

// latin reads the two character sets, beside UTF-8, that old endpoints declare.
func latin(name string, in io.Reader) (io.Reader, error) {
	switch strings.ToLower(name) {
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
	return nil, fmt.Errorf("character set %q", name)
}
