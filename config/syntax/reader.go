package syntax

import (
	"bytes"
	"encoding/json"
	"errors"
	"regexp"
	"unicode/utf8"

	"pingpost/engine/market/escape"
)

// Limits of a document's text. They protect the process against a hostile upload: the
// YAML parser recurses by depth and by the keys of one mapping, and allocates some
// hundred bytes for each mark.
const (
	MaxDocument = 16 << 20
	MaxMarks    = 4_000_000 // characters that may begin a token
	maxDepth    = 32
	maxKeys     = 256 // in one mapping; the largest mapping of the schema has a tenth of it
)

// Reader parses the text of a document into nodes and collects the mistakes. Env looks up
// environment variables.
type Reader struct {
	File     string
	Env      func(string) (string, bool)
	Problems Problems
}

// AddMistake adds a mistake to r.Problems.
func (r *Reader) AddMistake(at Position, path KeyPath, message string) {
	r.Problems = append(r.Problems, Problem{File: r.File, Line: at.Line, Column: at.Column, Path: string(path), Message: message})
}

// Read returns the root node of a YAML or JSON document, or nil if the document cannot be parsed.
// The mistakes are in r.Problems. A document that can be parsed may have some too.
func (r *Reader) Read(data []byte) (rootOrNilIfUnparsable *Node) {
	start := Position{1, 1}
	if message := DescribeExceededLimit(data); message != "" {
		r.AddMistake(start, "", "the document "+message)
		return nil
	}
	if !utf8.Valid(data) {
		r.AddMistake(start, "", "the document is not UTF-8 text; save it as UTF-8")
		return nil
	}
	data = bytes.TrimPrefix(data, []byte("\uFEFF"))
	if trimmed := bytes.TrimSpace(data); len(trimmed) > 0 && trimmed[0] == '{' && json.Valid(data) {
		return r.readValidJSON(data)
	}
	return r.readYAML(data)
}

// DescribeExceededLimit returns a message if the document is too large for parsing, otherwise
// "".
func DescribeExceededLimit(data []byte) string {
	switch {
	case len(data) > MaxDocument:
		return "is over 16 MB; split it into several exchanges"
	case countTokenMarks(data) > MaxMarks:
		return "has over 4 million marks of punctuation; it is not a configuration"
	}
	return ""
}

// countTokenMarks counts the punctuation characters that may be YAML tokens, such as a comma or a colon.
func countTokenMarks(data []byte) (n int) {
	for _, c := range data {
		switch c {
		case ',', ':', '[', ']', '{', '}', '-', '?', '&', '*', '!', '#':
			n++
		}
	}
	return n
}

// Decimal is the grammar of a JSON number.
var Decimal = regexp.MustCompile(`^-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?$`)

// newExpandedTextNode returns a node for the text raw, with its ${NAME} variables replaced by their
// values. For an invalid text it adds a mistake and returns a Null node. It does not report an unset
// variable, but stores that error in the node's Missing.
func (r *Reader) newExpandedTextNode(at Position, path KeyPath, raw string) *Node {
	n := &Node{Position: at, Kind: Text, Variables: make(map[string]string)}
	text, expanded, err := ExpandVariables(raw, func(name string) (string, bool) { return r.lookUpAndRecordVariable(n, name) })
	var missing UnsetVariableError
	switch {
	case hasEscapedBraces(raw), hasEscapedBraces(text):
		err = errors.New("the text holds the characters U+FDD0 or U+FDD1, which no text may hold; remove them")
	case escape.HasSecretPlaceholder(raw), escape.HasSecretPlaceholder(text):
		err = errors.New("the text holds the control character U+001A, which no text may hold; remove it")
	case errors.As(err, &missing):
		n.Missing, err = err.Error(), nil
	}
	if err != nil {
		r.AddMistake(at, path, err.Error())
		return &Node{Position: at, Kind: Null, Expanded: true}
	}
	if n.Text, n.Expanded = text, expanded; expanded {
		n.Raw = raw
	}
	return n
}

// lookUpAndRecordVariable returns the value of an environment variable and records it in the node. ok
// is false if the variable is not set.
func (r *Reader) lookUpAndRecordVariable(n *Node, name string) (value string, ok bool) {
	if value, ok = r.Env(name); ok {
		n.Variables[name] = value
	}
	return value, ok
}
