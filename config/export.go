package config

import (
	"errors"
	"regexp"
	"strconv"
	"strings"
)

// Export writes a canonical document as YAML, in the order of keys that the
// example has. A secret is shown as a reference to the environment: to the variable that
// gave it, or else to one that is named after its place, such as ${SUP_ACME_API_KEY}. With
// those variables set the text loads again, to a document that differs in nothing.
func Export(canonical []byte) ([]byte, error) {
	r := &reader{env: func(string) (string, bool) { return "", false }}
	root := r.read(canonical)
	if root == nil || root.kind != mapKind || len(r.problems) > 0 {
		return nil, errors.New("cannot export: this is not a canonical document")
	}
	e := exporter{names: make(map[string]bool)}
	e.keepVariables(root)
	e.replaceSecrets(root, nil)
	e.block(root, 0)
	return []byte(e.out.String()), nil
}

// Export writes the exchange as YAML.
func (x *Exchange) Export() []byte {
	out, err := Export(x.Canonical)
	if err != nil {
		panic("BUG: " + err.Error())
	}
	return out
}

type exporter struct {
	out   strings.Builder
	names map[string]bool // variables given out
}

// keepVariables collects the names of variables that the document has, so that no other
// secret gets one of them, and writes the variables of addresses back.
func (e *exporter) keepVariables(n *node) {
	if name, is := n.saysSet(); is && name != "" {
		e.names[name] = true
	}
	if n.expanded {
		for _, found := range reference.FindAllString(n.raw, -1) {
			e.names[onlyVariable(found)] = true
		}
		if n.text = n.raw; onlyVariable(n.raw) == "" {
			n.text = quoteText(n.raw)
		}
	}
	for _, m := range n.members {
		e.keepVariables(m.value)
	}
	for _, item := range n.items {
		e.keepVariables(item)
	}
}

// replaceSecrets turns each {"set":true} into a reference. The way is made of
// ids and keys, from the outermost id on.
func (e *exporter) replaceSecrets(n *node, way []string) {
	for i := range n.members {
		m := &n.members[i]
		here := append(way[:len(way):len(way)], m.key)
		if name, is := m.value.saysSet(); is {
			if name == "" {
				name = e.variable(here)
			}
			m.value = &node{kind: textKind, text: "${" + name + "}", expanded: true}
			continue
		}
		e.replaceSecrets(m.value, here)
	}
	if n.kind != listKind || len(n.items) == 0 || n.items[0].kind != mapKind {
		return
	}
	names, _ := named(n)
	if len(way) == 1 {
		way = nil // the collection itself says nothing
	}
	for i, item := range n.items {
		e.replaceSecrets(item, append(way[:len(way):len(way)], names[i]))
	}
}

var notInVariable = regexp.MustCompile(`[^A-Z0-9]+`)

// variable is a name that no other place has.
func (e *exporter) variable(way []string) string {
	name := notInVariable.ReplaceAllString(strings.ToUpper(strings.Join(way, "_")), "_")
	if !variableName(name) {
		name = "_" + name
	}
	unique := name
	for i := 2; e.names[unique]; i++ {
		unique = name + "_" + strconv.Itoa(i)
	}
	e.names[unique] = true
	return unique
}

// block writes a mapping, one key a line. What is small stands in one line.
func (e *exporter) block(n *node, indent int) {
	for i, m := range n.members {
		if i > 0 || e.atLineStart() {
			e.indent(indent)
		}
		e.out.WriteString(m.key + ":")
		switch {
		case m.value.isBlock():
			e.out.WriteByte('\n')
			e.nested(m.value, indent+2)
		case m.value.isLines():
			e.lines(m.value.text, indent+2)
		default:
			e.out.WriteByte(' ')
			e.flow(m.value)
			e.out.WriteByte('\n')
		}
	}
}

// lines writes a text line by line, as it was most likely written.
func (e *exporter) lines(text string, indent int) {
	e.out.WriteString(" |\n")
	for line := range strings.Lines(strings.ReplaceAll(text, "${", "$${")) {
		if line != "\n" {
			e.indent(indent)
		}
		e.out.WriteString(line)
	}
}

// isLines tells whether the node is a text that reads back the same from lines
// of its own: it has several, the last one ended and none empty at either end,
// and nothing in it needs an escape.
func (n *node) isLines() bool {
	if n.kind != textKind || n.expanded || strings.Count(n.text, "\n") < 2 ||
		!strings.HasSuffix(n.text, "\n") || strings.HasSuffix(n.text, "\n\n") || strings.ContainsAny(n.text[:1], " \n") {
		return false
	}
	for line := range strings.Lines(n.text) {
		line = strings.TrimSuffix(line, "\n")
		if strings.TrimRight(line, " ") != line || strings.Contains(strings.Trim(quoteText(line), `"`), `\u`) {
			return false
		}
	}
	return true
}

func (e *exporter) nested(n *node, indent int) {
	if n.kind == mapKind {
		e.block(n, indent)
		return
	}
	for _, item := range n.items {
		e.indent(indent)
		e.out.WriteString("- ")
		if item.isBlock() {
			e.block(item, indent+2)
			continue
		}
		e.flow(item)
		e.out.WriteByte('\n')
	}
}

func (e *exporter) indent(spaces int) {
	for range spaces {
		e.out.WriteByte(' ')
	}
}

func (e *exporter) atLineStart() bool {
	text := e.out.String()
	return text == "" || text[len(text)-1] == '\n'
}

func (e *exporter) flow(n *node) {
	if n.expanded {
		e.out.WriteString(n.text)
		return
	}
	n.writeFlow(&e.out, ", ", ": ", func(key string) string { return key }, plainOrQuoted)
}

// isBlock tells whether the node gets lines of its own: a mapping with a secret
// or more than eight keys, a list of mappings, and whatever holds such.
func (n *node) isBlock() bool {
	switch n.kind {
	case mapKind:
		if len(n.members) > 8 {
			return true
		}
		for _, m := range n.members {
			if m.value.expanded || m.value.isBlock() || m.value.isLines() {
				return true
			}
		}
	case listKind:
		return n.entries()
	}
	return false
}

// plain is text that YAML takes for nothing but text, whatever its version.
var plain = regexp.MustCompile(`^((\./)?[A-Za-z_][A-Za-z0-9_./@-]*|[0-9]+(d|h|m|s|ms|KiB|MiB))$`)

func plainOrQuoted(text string) string {
	switch strings.ToLower(text) {
	case "true", "false", "null", "yes", "no", "on", "off", "y", "n":
		return quoteText(text)
	}
	if plain.MatchString(text) {
		return text
	}
	return strings.ReplaceAll(quoteText(text), "${", "$${")
}
