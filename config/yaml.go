package config

import (
	"errors"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/lexer"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"
)

// readYAML parses one YAML document. The library's own errors quote the lines
// around a mistake, secrets and all, so only their message and position are
// used; a mistake in the syntax is the last one reported, as nothing after it
// can be trusted.
func (r *reader) readYAML(data []byte) (root *node) {
	defer func() {
		if recover() != nil {
			r.fail(position{1, 1}, "", "the document cannot be read as YAML; check its indentation and brackets")
			root = nil
		}
	}()
	text := string(data)
	if hasHidden(text) {
		r.fail(position{1, 1}, "", "the document holds the characters U+FDD0 or U+FDD1, which no text may hold; remove them")
		return nil
	}
	tokens := lexer.Tokenize(hideReferences(text))
	if !r.guard(tokens) {
		return nil
	}
	file, err := parser.Parse(tokens, 0, parser.AllowDuplicateMapKey())
	if err != nil {
		r.syntax(err)
		return nil
	}
	if len(file.Docs) > 1 {
		r.fail(startOf(file.Docs[1]), "", errManyDocuments)
		return nil
	}
	if len(file.Docs) == 0 || file.Docs[0].Body == nil {
		r.fail(position{1, 1}, "", "the document is empty")
		return nil
	}
	return r.yamlNode(file.Docs[0].Body, "")
}

const errManyDocuments = "a second document begins here; an exchange is one document"

func startOf(doc *ast.DocumentNode) position {
	switch {
	case doc.Start != nil:
		return positionOf(doc.Start)
	case doc.Body != nil:
		return positionOf(doc.Body.GetToken())
	}
	return position{1, 1}
}

func (r *reader) syntax(err error) {
	var located yaml.Error
	if !errors.As(err, &located) {
		r.fail(position{1, 1}, "", "the document cannot be read as YAML")
		return
	}
	r.fail(positionOf(located.GetToken()), "", "YAML: "+showReferences(located.GetMessage()))
}

func positionOf(t *token.Token) position {
	if t == nil || t.Position == nil {
		return position{1, 1}
	}
	return position{t.Position.Line, t.Position.Column}
}

func (r *reader) yamlNode(n ast.Node, path place) *node {
	switch n := n.(type) {
	case *ast.MappingNode:
		return r.yamlMapping(n, path)
	case *ast.SequenceNode:
		list := &node{position: positionOf(n.Start), kind: listKind}
		for _, item := range n.Values {
			list.items = append(list.items, r.yamlNode(item, path.at(len(list.items))))
		}
		return list
	case *ast.LiteralNode:
		text := r.text(positionOf(n.Start), path, showReferences(n.Value.Value))
		text.block = strings.HasPrefix(n.Start.Value, "|")
		return text
	case *ast.NullNode:
		return &node{position: positionOf(n.Token), kind: nullKind}
	case *ast.BoolNode:
		return &node{position: positionOf(n.Token), kind: boolKind, text: strings.ToLower(n.Token.Value)}
	case *ast.StringNode:
		at := positionOf(n.Token)
		if n.Token.Type == token.StringType && decimal.MatchString(n.Value) {
			return &node{position: at, kind: numberKind, text: n.Value}
		}
		return r.text(at, path, showReferences(n.Value))
	case *ast.IntegerNode, *ast.FloatNode, *ast.InfinityNode, *ast.NanNode:
		return &node{position: positionOf(n.GetToken()), kind: numberKind, text: n.GetToken().Value}
	}
	var at position
	if n != nil {
		at = positionOf(n.GetToken())
	}
	r.fail(at, path, "this kind of YAML is not understood here; use plain mappings, lists and values")
	return &node{position: at, kind: nullKind}
}

func (r *reader) yamlMapping(n *ast.MappingNode, path place) *node {
	mapping := &node{position: positionOf(n.Start), kind: mapKind}
	for _, pair := range n.Values {
		at := positionOf(pair.Key.GetToken())
		key, ok := yamlKey(pair.Key)
		if !ok {
			r.fail(at, path, "a key is plain text")
			continue
		}
		mapping.members = append(mapping.members, member{position: at, key: key, value: r.yamlNode(pair.Value, path.key(key))})
	}
	if !n.IsFlowStyle && len(mapping.members) > 0 {
		mapping.position = mapping.members[0].position
	}
	return mapping
}

func yamlKey(n ast.MapKeyNode) (string, bool) {
	switch n := n.(type) {
	case *ast.StringNode:
		return showReferences(n.Value), true
	case *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode, *ast.NullNode:
		return n.GetToken().Value, true
	}
	return "", false
}
