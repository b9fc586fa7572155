package canonical

import (
	"errors"
	"regexp"
	"strconv"
	"strings"

	"pingpost/config/syntax"
)

// ExportYAML writes a canonical document as YAML, with the keys in the order of the example
// configuration. It writes a secret as a reference to an environment variable. This is the
// variable that gave the value, or else one named after the secret's path, such as
// ${SUP_ACME_API_KEY}. If these variables are set, loading the text gives the same document
// again.
func ExportYAML(canonical []byte) (yaml []byte, err error) {
	r := &syntax.Reader{Env: func(string) (string, bool) { return "", false }}
	root := r.Read(canonical)
	if root == nil || root.Kind != syntax.Mapping || len(r.Problems) > 0 {
		return nil, errors.New("cannot export the configuration as YAML: it is not a canonical document")
	}
	e := yamlExporter{names: make(map[string]bool)}
	e.collectVariablesAndRestoreText(root)
	e.replaceSecretsByVariables(root, nil)
	e.writeMapping(root, 0)
	return []byte(e.out.String()), nil
}

type yamlExporter struct {
	out   strings.Builder
	names map[string]bool // variable names in use
}

// collectVariablesAndRestoreText collects the names of the document's variables, so that
// reserveVariableName does not use one of them for another secret. It also restores the
// written form of addresses with variables.
func (e *yamlExporter) collectVariablesAndRestoreText(n *syntax.Node) {
	if name, is := n.ParseSecretSetElsewhere(); is && name != "" {
		e.names[name] = true
	}
	if n.Expanded {
		for _, found := range syntax.VariableReference.FindAllString(n.Raw, -1) {
			e.names[syntax.SoleVariableName(found)] = true
		}
		if n.Text = n.Raw; syntax.SoleVariableName(n.Raw) == "" {
			n.Text = syntax.QuoteForJSONAndYAML(n.Raw)
		}
	}
	for _, m := range n.Members {
		e.collectVariablesAndRestoreText(m.Value)
	}
	for _, item := range n.Items {
		e.collectVariablesAndRestoreText(item)
	}
}

// replaceSecretsByVariables replaces each {"set":true}, the mark of a secret, by a reference to an
// environment variable. idsAndKeys has the ids and keys that lead to n.
func (e *yamlExporter) replaceSecretsByVariables(n *syntax.Node, idsAndKeys []string) {
	for i := range n.Members {
		m := &n.Members[i]
		here := append(idsAndKeys[:len(idsAndKeys):len(idsAndKeys)], m.Key)
		if name, is := m.Value.ParseSecretSetElsewhere(); is {
			if name == "" {
				name = e.reserveVariableName(here)
			}
			m.Value = &syntax.Node{Kind: syntax.Text, Text: "${" + name + "}", Expanded: true}
			continue
		}
		e.replaceSecretsByVariables(m.Value, here)
	}
	if n.Kind != syntax.List || len(n.Items) == 0 || n.Items[0].Kind != syntax.Mapping {
		return
	}
	names, _ := entryNamesOrIndexes(n)
	if len(idsAndKeys) == 1 {
		idsAndKeys = nil // the name of the collection adds nothing
	}
	for i, item := range n.Items {
		e.replaceSecretsByVariables(item, append(idsAndKeys[:len(idsAndKeys):len(idsAndKeys)], names[i]))
	}
}

var notInVariableName = regexp.MustCompile(`[^A-Z0-9]+`)

// reserveVariableName returns a name for an environment variable, made from the path of a
// secret, that no other secret has.
func (e *yamlExporter) reserveVariableName(idsAndKeys []string) string {
	name := notInVariableName.ReplaceAllString(strings.ToUpper(strings.Join(idsAndKeys, "_")), "_")
	if !syntax.IsVariableName(name) {
		name = "_" + name
	}
	unique := name
	for i := 2; e.names[unique]; i++ {
		unique = name + "_" + strconv.Itoa(i)
	}
	e.names[unique] = true
	return unique
}

// writeMapping writes a mapping with one key in each line. A small value is written in the
// line of its key.
func (e *yamlExporter) writeMapping(n *syntax.Node, indent int) {
	for i, m := range n.Members {
		if i > 0 || e.isAtLineStart() {
			e.writeIndent(indent)
		}
		e.out.WriteString(m.Key + ":")
		switch {
		case needsSeveralLines(m.Value):
			e.out.WriteByte('\n')
			e.writeBlockValue(m.Value, indent+2)
		case fitsBlockText(m.Value):
			e.writeBlockText(m.Value.Text, indent+2)
		default:
			e.out.WriteByte(' ')
			e.writeFlowValue(m.Value)
			e.out.WriteByte('\n')
		}
	}
}

// writeBlockText writes a text as a YAML block (|), line by line, as an author would.
func (e *yamlExporter) writeBlockText(text string, indent int) {
	e.out.WriteString(" |\n")
	for line := range strings.Lines(strings.ReplaceAll(text, "${", "$${")) {
		if line != "\n" {
			e.writeIndent(indent)
		}
		e.out.WriteString(line)
	}
}

// fitsBlockText reports whether a text reads back unchanged from a YAML block. It must have at
// least two lines, end with a newline, and have no character that needs an escape. The first and
// last lines must not be empty. The text must not begin with a space, and no line may end with one.
func fitsBlockText(n *syntax.Node) bool {
	if n.Kind != syntax.Text || n.Expanded || strings.Count(n.Text, "\n") < 2 ||
		!strings.HasSuffix(n.Text, "\n") || strings.HasSuffix(n.Text, "\n\n") || strings.ContainsAny(n.Text[:1], " \n") {
		return false
	}
	for line := range strings.Lines(n.Text) {
		line = strings.TrimSuffix(line, "\n")
		if strings.TrimRight(line, " ") != line || strings.Contains(strings.Trim(syntax.QuoteForJSONAndYAML(line), `"`), `\u`) {
			return false
		}
	}
	return true
}

// writeBlockValue writes a mapping, or a list with one item in each line.
func (e *yamlExporter) writeBlockValue(n *syntax.Node, indent int) {
	if n.Kind == syntax.Mapping {
		e.writeMapping(n, indent)
		return
	}
	for _, item := range n.Items {
		e.writeIndent(indent)
		e.out.WriteString("- ")
		if needsSeveralLines(item) {
			e.writeMapping(item, indent+2)
			continue
		}
		e.writeFlowValue(item)
		e.out.WriteByte('\n')
	}
}

func (e *yamlExporter) writeIndent(spaces int) {
	for range spaces {
		e.out.WriteByte(' ')
	}
}

func (e *yamlExporter) isAtLineStart() bool {
	text := e.out.String()
	return text == "" || text[len(text)-1] == '\n'
}

// writeFlowValue writes a value in one line.
func (e *yamlExporter) writeFlowValue(n *syntax.Node) {
	if n.Expanded {
		e.out.WriteString(n.Text)
		return
	}
	n.WriteOneLine(&e.out, ", ", ": ", func(key string) string { return key }, quoteIfNeeded)
}

// needsSeveralLines reports whether a node cannot be written in one line. That is a mapping
// with a variable, a block text or more than eight keys, a list of mappings, or a mapping that
// contains such a node.
func needsSeveralLines(n *syntax.Node) bool {
	switch n.Kind {
	case syntax.Mapping:
		if len(n.Members) > 8 {
			return true
		}
		for _, m := range n.Members {
			if m.Value.Expanded || needsSeveralLines(m.Value) || fitsBlockText(m.Value) {
				return true
			}
		}
	case syntax.List:
		return n.IsListBeginningWithMapping()
	}
	return false
}

// plainScalar matches text that every version of YAML reads as text without quotes.
var plainScalar = regexp.MustCompile(`^((\./)?[A-Za-z_][A-Za-z0-9_./@-]*|[0-9]+(d|h|m|s|ms|KiB|MiB))$`)

// quoteIfNeeded returns text as a YAML scalar, in quotes unless every version of YAML reads it
// as text without them.
func quoteIfNeeded(text string) string {
	switch strings.ToLower(text) {
	case "true", "false", "null", "yes", "no", "on", "off", "y", "n":
		return syntax.QuoteForJSONAndYAML(text)
	}
	if plainScalar.MatchString(text) {
		return text
	}
	return strings.ReplaceAll(syntax.QuoteForJSONAndYAML(text), "${", "$${")
}
