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

// malformedBodyError describes why a body that a template has written is not well formed.
type malformedBodyError struct {
	reason     string
	near       string // the body before the mistake; empty: unknown
	sampleCase string // the sample for which the body is malformed
}

func (m *malformedBodyError) String() string {
	text := m.reason + m.sampleCase
	if m.near != "" {
		text += "; the mistake is after " + strconv.Quote(m.near)
	}
	return text
}

// nearBytes is the maximum number of bytes of a body that malformedBodyError.near shows.
const nearBytes = 32

// lastBytesBefore returns the last bytes of the body before the offset, to show where a mistake is.
func lastBytesBefore(body []byte, offset int) string {
	offset = min(max(offset, 0), len(body))
	return strings.ToValidUTF8(string(body[max(0, offset-nearBytes):offset]), "")
}

// checkBodyWellFormed parses a body in its format as a buyer would. It returns nil if the body is well
// formed.
func checkBodyWellFormed(format string, body []byte) *malformedBodyError {
	var bad *malformedBodyError
	switch format {
	case market.FormatJSON:
		bad = checkJSON(body)
	case market.FormatXML:
		bad = checkXML(body)
	default:
		bad = checkFormPairs(body)
	}
	if bad != nil {
		bad.reason = "the body is not " + strings.ToUpper(format) + ": " + bad.reason
	}
	return bad
}

// checkJSON returns an error unless the body is one JSON value.
func checkJSON(body []byte) *malformedBodyError {
	if json.Valid(body) {
		return nil
	}
	bad := &malformedBodyError{reason: "check its commas, quotes and brackets"}
	var syntax *json.SyntaxError
	if errors.As(json.Unmarshal(body, new(json.RawMessage)), &syntax) {
		bad.near = lastBytesBefore(body, int(syntax.Offset))
	}
	return bad
}

// checkFormPairs returns an error unless the body of a form is name=value pairs with one &
// between them.
func checkFormPairs(body []byte) *malformedBodyError {
	at := 0
	for pair := range bytes.SplitSeq(body, []byte("&")) {
		at += len(pair)
		if name, _, ok := bytes.Cut(pair, []byte("=")); !ok || len(name) == 0 {
			return &malformedBodyError{reason: "a form is name=value pairs with one & between", near: lastBytesBefore(body, at)}
		}
		at++
	}
	return nil
}

// checkXML returns an error unless the body is one well-formed XML element. Prefixes must be
// declared, attributes must not repeat, and the XML declaration must be at the start.
// encoding/xml alone accepts some of these mistakes.
func checkXML(body []byte) *malformedBodyError {
	decoder := xml.NewDecoder(bytes.NewReader(body))
	decoder.CharsetReader = func(string, io.Reader) (io.Reader, error) { return nil, errCharset }
	checker := xmlChecker{}
	for {
		offset := decoder.InputOffset()
		token, err := decoder.Token()
		switch {
		case errors.Is(err, io.EOF) && checker.roots != 1:
			return &malformedBodyError{reason: fmt.Sprintf("it has %d root elements, but must have one", checker.roots)}
		case errors.Is(err, io.EOF):
			return nil
		case errors.Is(err, errCharset):
			err = errCharset
		case err != nil:
			err = errors.New(strings.TrimPrefix(err.Error(), "XML syntax error on "))
		default:
			err = checker.checkNextToken(token, offset)
		}
		if err != nil {
			return &malformedBodyError{reason: err.Error(), near: lastBytesBefore(body, int(decoder.InputOffset()))}
		}
	}
}

var errCharset = errors.New("the XML declaration names an encoding other than UTF-8, but the text is UTF-8; remove encoding= from the declaration")

// xmlChecker checks the tokens of an XML body one after the other. It tracks the elements that
// are open and the namespaces that they declare.
type xmlChecker struct {
	depth, roots int
	namespaces   [][]string // declared by each open element
}

// checkNextToken checks the next token, which begins at offset in the body.
func (x *xmlChecker) checkNextToken(token xml.Token, offset int64) error {
	switch token := token.(type) {
	case xml.ProcInst:
		if token.Target == "xml" && offset != 0 {
			return errors.New("<?xml …?> must be at the start, before any space or comment; move it or remove it")
		}
	case xml.StartElement:
		if x.depth == 0 {
			x.roots++
		}
		x.depth++
		return x.checkAttributesAndPrefixes(&token)
	case xml.EndElement:
		x.depth--
		x.namespaces = x.namespaces[:x.depth]
	case xml.CharData:
		if x.depth == 0 && len(bytes.TrimSpace(token)) > 0 {
			return errors.New("there is text outside of the root element; move it into the element or remove it")
		}
	}
	return nil
}

// checkAttributesAndPrefixes checks that the element repeats no attribute, and that all prefixes in it are
// declared.
func (x *xmlChecker) checkAttributesAndPrefixes(element *xml.StartElement) error {
	var declared []string
	for _, a := range element.Attr {
		if a.Name.Space == "xmlns" || a.Name.Space == "" && a.Name.Local == "xmlns" {
			declared = append(declared, a.Value)
		}
	}
	x.namespaces = append(x.namespaces, declared)
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
		if !x.isNamespaceURIDeclared(name.Space) {
			return fmt.Errorf("the prefix of %s:%s is not declared; add xmlns:%[1]s=\"…\"", name.Space, name.Local)
		}
	}
	return nil
}

// xmlNamespace is the namespace of the prefix xml, which needs no declaration.
const xmlNamespace = "http://www.w3.org/XML/1998/namespace"

// isNamespaceURIDeclared reports whether an open element declares the namespace. For an undeclared prefix
// encoding/xml returns the prefix as the namespace, so the result is then false.
func (x *xmlChecker) isNamespaceURIDeclared(namespace string) bool {
	if namespace == "" || namespace == xmlNamespace {
		return true
	}
	for _, declared := range x.namespaces {
		for _, s := range declared {
			if s == namespace {
				return true
			}
		}
	}
	return false
}
