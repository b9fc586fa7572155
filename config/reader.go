package config

import (
	"bytes"
	"encoding/json"
	"errors"
	"regexp"
	"unicode/utf8"

	"pingpost/engine/market/escape"
)

// Limits of a document's text. They keep a mistaken or hostile upload from
// taking the process down: the YAML parser recurses by depth and by the keys of
// one mapping, and keeps some hundred bytes a mark.
const (
	maxDocument = 16 << 20
	maxMarks    = 4_000_000 // characters that may begin a token
	maxDepth    = 32
	maxKeys     = 256 // of one mapping; the form's largest has a tenth
)

// reader turns a text into nodes and collects what is wrong with it.
type reader struct {
	file     string
	env      func(string) (string, bool)
	sent     bool // the document came over the network: env has its sender's variables
	keeps    bool // a secret's variable may have no value: it may be sealed
	problems Problems
}

func (r *reader) fail(at position, path place, message string) {
	r.problems = append(r.problems, Problem{File: r.file, Line: at.line, Column: at.column, Path: string(path), Message: message})
}

// read is the document's root, or nil where it has no shape at all.
func (r *reader) read(data []byte) *node {
	start := position{1, 1}
	if message := oversize(data); message != "" {
		r.fail(start, "", "the document "+message)
		return nil
	}
	if !utf8.Valid(data) {
		r.fail(start, "", "the document is not UTF-8 text; save it as UTF-8")
		return nil
	}
	data = bytes.TrimPrefix(data, []byte("\uFEFF"))
	if trimmed := bytes.TrimSpace(data); len(trimmed) > 0 && trimmed[0] == '{' && json.Valid(data) {
		return r.readJSON(data)
	}
	return r.readYAML(data)
}

// oversize says which limit a text is over; empty: none.
func oversize(data []byte) string {
	switch {
	case len(data) > maxDocument:
		return "is over 16 MB; split it into several exchanges"
	case marks(data) > maxMarks:
		return "has over 4 million marks of punctuation; it is not a configuration"
	}
	return ""
}

func marks(data []byte) (n int) {
	for _, c := range data {
		switch c {
		case ',', ':', '[', ']', '{', '}', '-', '?', '&', '*', '!', '#':
			n++
		}
	}
	return n
}

// decimal is the grammar of a JSON number.
var decimal = regexp.MustCompile(`^-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?$`)

// text makes a text node, expanded. A plain YAML scalar that holds a reference
// stands for whatever the variable holds, so it may be read as a number too.
func (r *reader) text(at position, path place, raw string) *node {
	n := &node{position: at, kind: textKind, values: make(map[string]string)}
	text, expanded, err := expand(raw, func(name string) (string, bool) { return r.variable(n, name) })
	var missing missingVariable
	switch {
	case hasHidden(raw), hasHidden(text):
		err = errors.New("the text holds the characters U+FDD0 or U+FDD1, which no text may hold; remove them")
	case escape.HasPlaceholder(raw), escape.HasPlaceholder(text):
		err = errors.New("the text holds the control character U+001A, which no text may hold; remove it")
	case errors.As(err, &missing):
		n.missing, err = err.Error(), nil
	}
	if err != nil {
		r.fail(at, path, err.Error())
		return &node{position: at, kind: nullKind, expanded: true}
	}
	if n.text, n.expanded = text, expanded; expanded {
		n.raw = raw
	}
	return n
}

// variable finds a value and notes it in the node.
func (r *reader) variable(n *node, name string) (value string, ok bool) {
	if value, ok = r.env(name); ok {
		n.values[name] = value
	}
	return value, ok
}
