package adapter

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"pingpost/engine/market"
)

// bodyError is the mistake in a body that a template wrote.
type bodyError struct {
	why   string
	near  string // the body up to where it shows; empty: not known
	where string // for which sample
}

func (m *bodyError) String() string {
	text := m.why + m.where
	if m.near != "" {
		text += "; it goes wrong behind " + strconv.Quote(m.near)
	}
	return text
}

// nearBytes is how much of a body is shown.
const nearBytes = 32

// upTo is the body's last bytes before a place.
func lastBytes(body []byte, at int) string {
	at = min(max(at, 0), len(body))
	return strings.ToValidUTF8(string(body[max(0, at-nearBytes):at]), "")
}

// checkBody reads a body as its receiver does; nil means that it is well formed.
func checkBody(format string, body []byte) *bodyError {
	var bad *bodyError
	switch format {
	case market.FormatJSON:
		bad = checkJSON(body)
	case market.FormatXML:
		bad = checkXML(body)
	default:
		bad = checkPairs(body)
	}
	if bad != nil {
		bad.why = "the body is not " + strings.ToUpper(format) + ": " + bad.why
	}
	return bad
}

func checkJSON(body []byte) *bodyError {
	if json.Valid(body) {
		return nil
	}
	bad := &bodyError{why: "check its commas, quotes and brackets"}
	var syntax *json.SyntaxError
	if errors.As(json.Unmarshal(body, new(json.RawMessage)), &syntax) {
		bad.near = lastBytes(body, int(syntax.Offset))
	}
	return bad
}

// judgePairs wants a name before each = and no stray & between.
func checkPairs(body []byte) *bodyError {
	at := 0
	for pair := range bytes.SplitSeq(body, []byte("&")) {
		at += len(pair)
		if name, _, ok := bytes.Cut(pair, []byte("=")); !ok || len(name) == 0 {
			return &bodyError{why: "it is name=value with one & between", near: lastBytes(body, at)}
		}
		at++
	}
	return nil
}

// judgeXML reads to the end: one element, each name's prefix declared, no
// attribute twice, and nothing that has to be looked up elsewhere. The library
// lets some of that pass, and a declaration that does not stand first.
func checkXML(body []byte) *bodyError {
	decoder := xml.NewDecoder(bytes.NewReader(body))
	decoder.CharsetReader = func(string, io.Reader) (io.Reader, error) { return nil, errCharset }
	walk := xmlChecker{}
	for {
		begins := decoder.InputOffset()
		token, err := decoder.Token()
		switch {
		case errors.Is(err, io.EOF) && walk.roots != 1:
			return &bodyError{why: fmt.Sprintf("it has %d elements where one holds all others", walk.roots)}
		case errors.Is(err, io.EOF):
			return nil
		case errors.Is(err, errCharset):
			err = errCharset
		case err != nil:
			err = errors.New(strings.TrimPrefix(err.Error(), "XML syntax error on "))
		default:
			err = walk.take(token, begins)
		}
		if err != nil {
			return &bodyError{why: err.Error(), near: lastBytes(body, int(decoder.InputOffset()))}
		}
	}
}

var errCharset = errors.New("it declares another character set than UTF-8, which it is written in; leave encoding out")

// xmlJudge is how far a body has been read.
type xmlChecker struct {
	depth, roots int
	spaces       [][]string // that each open element declares
}

func (x *xmlChecker) take(token xml.Token, begins int64) error {
	switch token := token.(type) {
	case xml.ProcInst:
		if token.Target == "xml" && begins != 0 {
			return errors.New("<?xml …?> stands first, before any space or comment, or not at all")
		}
	case xml.StartElement:
		if x.depth == 0 {
			x.roots++
		}
		x.depth++
		return x.enter(&token)
	case xml.EndElement:
		x.depth--
		x.spaces = x.spaces[:x.depth]
	case xml.CharData:
		if x.depth == 0 && len(bytes.TrimSpace(token)) > 0 {
			return errors.New("text stands outside of the element that holds all others")
		}
	}
	return nil
}

func (x *xmlChecker) enter(element *xml.StartElement) error {
	var declared []string
	for _, a := range element.Attr {
		if a.Name.Space == "xmlns" || a.Name.Space == "" && a.Name.Local == "xmlns" {
			declared = append(declared, a.Value)
		}
	}
	x.spaces = append(x.spaces, declared)
	names := []xml.Name{element.Name}
	for i, a := range element.Attr {
		for _, other := range element.Attr[:i] {
			if other.Name == a.Name {
				return fmt.Errorf("%s has the attribute %s twice", element.Name.Local, a.Name.Local)
			}
		}
		if a.Name.Space != "xmlns" {
			names = append(names, a.Name)
		}
	}
	for _, name := range names {
		if !x.knows(name.Space) {
			return fmt.Errorf("the prefix of %s:%s is not declared; say xmlns:%[1]s=\"…\"", name.Space, name.Local)
		}
	}
	return nil
}

// xmlSpace is what the prefix xml stands for, declared or not.
const xmlSpace = "http://www.w3.org/XML/1998/namespace"

// knows tells whether a name's space is declared here. Of a prefix that is not,
// the library gives the prefix itself.
func (x *xmlChecker) knows(space string) bool {
	if space == "" || space == xmlSpace {
		return true
	}
	for _, declared := range x.spaces {
		for _, s := range declared {
			if s == space {
				return true
			}
		}
	}
	return false
}
