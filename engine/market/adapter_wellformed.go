package market

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// malformed is what is wrong with a body that a template wrote.
type malformed struct {
	why   string
	near  string // the body up to where it shows; empty: not known
	where string // for which sample
}

func (m *malformed) String() string {
	text := m.why + m.where
	if m.near != "" {
		text += "; it goes wrong behind " + strconv.Quote(m.near)
	}
	return text
}

// nearBytes is how much of a body is shown.
const nearBytes = 32

// upTo is the body's last bytes before a place.
func upTo(body []byte, at int) string {
	at = min(max(at, 0), len(body))
	return strings.ToValidUTF8(string(body[max(0, at-nearBytes):at]), "")
}

// judgeBody reads a body as whoever gets it does; nil: it is well formed.
func judgeBody(format string, body []byte) *malformed {
	var bad *malformed
	switch format {
	case FormatJSON:
		bad = judgeJSON(body)
	case FormatXML:
		bad = judgeXML(body)
	default:
		bad = judgePairs(body)
	}
	if bad != nil {
		bad.why = "the body is not " + strings.ToUpper(format) + ": " + bad.why
	}
	return bad
}

func judgeJSON(body []byte) *malformed {
	if json.Valid(body) {
		return nil
	}
	bad := &malformed{why: "check its commas, quotes and brackets"}
	var syntax *json.SyntaxError
	if errors.As(json.Unmarshal(body, new(json.RawMessage)), &syntax) {
		bad.near = upTo(body, int(syntax.Offset))
	}
	return bad
}

// judgePairs wants a name before each = and no stray & between.
func judgePairs(body []byte) *malformed {
	at := 0
	for pair := range bytes.SplitSeq(body, []byte("&")) {
		at += len(pair)
		if name, _, ok := bytes.Cut(pair, []byte("=")); !ok || len(name) == 0 {
			return &malformed{why: "it is name=value with one & between", near: upTo(body, at)}
		}
		at++
	}
	return nil
}

// judgeXML reads to the end: one element, each name's prefix declared, no
// attribute twice, and nothing that has to be looked up elsewhere. The library
// lets some of that pass, and a declaration that does not stand first.
func judgeXML(body []byte) *malformed {
	decoder := xml.NewDecoder(bytes.NewReader(body))
	decoder.CharsetReader = func(string, io.Reader) (io.Reader, error) { return nil, errCharset }
	walk := xmlJudge{}
	for {
		begins := decoder.InputOffset()
		token, err := decoder.Token()
		switch {
		case errors.Is(err, io.EOF) && walk.roots != 1:
			return &malformed{why: fmt.Sprintf("it has %d elements where one holds all others", walk.roots)}
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
			return &malformed{why: err.Error(), near: upTo(body, int(decoder.InputOffset()))}
		}
	}
}

var errCharset = errors.New("it declares another character set than UTF-8, which it is written in; leave encoding out")

// xmlJudge is how far a body has been read.
type xmlJudge struct {
	depth, roots int
	spaces       [][]string // that each open element declares
}

func (x *xmlJudge) take(token xml.Token, begins int64) error {
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

func (x *xmlJudge) enter(element *xml.StartElement) error {
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
func (x *xmlJudge) knows(space string) bool {
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
