package syntax

import (
	"errors"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/lexer"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"
)

// readYAML parses one YAML document and returns its root node. The library's errors quote the
// lines around a mistake, including secrets. The reader therefore uses only their message and
// position. It stops at the first syntax mistake, because the rest of the tree is unreliable.
func (r *Reader) readYAML(data []byte) (root *Node) {
	defer func() {
		if recover() != nil {
			r.AddMistake(Position{1, 1}, "", "the document cannot be read as YAML; check its indentation and brackets")
			root = nil
		}
	}()
	text := string(data)
	if hasEscapedBraces(text) {
		r.AddMistake(Position{1, 1}, "", "the document holds the characters U+FDD0 or U+FDD1, which no text may hold; remove them")
		return nil
	}
	tokens := lexer.Tokenize(escapeVariableBracesForYAML(text))
	if !r.checkTokens(tokens) {
		return nil
	}
	file, err := parser.Parse(tokens, 0, parser.AllowDuplicateMapKey())
	if err != nil {
		r.reportSyntaxError(err)
		return nil
	}
	if len(file.Docs) > 1 {
		r.AddMistake(documentPosition(file.Docs[1]), "", errManyDocuments)
		return nil
	}
	if len(file.Docs) == 0 || file.Docs[0].Body == nil {
		r.AddMistake(Position{1, 1}, "", "the document is empty")
		return nil
	}
	return r.convertYAMLNode(file.Docs[0].Body, "")
}

const errManyDocuments = "a second YAML document begins here; put the whole configuration into one document"

func documentPosition(doc *ast.DocumentNode) Position {
	switch {
	case doc.Start != nil:
		return positionOf(doc.Start)
	case doc.Body != nil:
		return positionOf(doc.Body.GetToken())
	}
	return Position{1, 1}
}

func (r *Reader) reportSyntaxError(err error) {
	var located yaml.Error
	if !errors.As(err, &located) {
		r.AddMistake(Position{1, 1}, "", "the document cannot be read as YAML")
		return
	}
	r.AddMistake(positionOf(located.GetToken()), "", "YAML: "+RestoreVariableBraces(located.GetMessage()))
}

func positionOf(t *token.Token) Position {
	if t == nil || t.Position == nil {
		return Position{1, 1}
	}
	return Position{t.Position.Line, t.Position.Column}
}

func (r *Reader) convertYAMLNode(n ast.Node, path KeyPath) *Node {
	switch n := n.(type) {
	case *ast.MappingNode:
		return r.convertYAMLMapping(n, path)
	case *ast.SequenceNode:
		list := &Node{Position: positionOf(n.Start), Kind: List}
		for _, item := range n.Values {
			list.Items = append(list.Items, r.convertYAMLNode(item, path.Index(len(list.Items))))
		}
		return list
	case *ast.LiteralNode:
		text := r.newExpandedTextNode(positionOf(n.Start), path, RestoreVariableBraces(n.Value.Value))
		text.Block = strings.HasPrefix(n.Start.Value, "|")
		return text
	case *ast.NullNode:
		return &Node{Position: positionOf(n.Token), Kind: Null}
	case *ast.BoolNode:
		return &Node{Position: positionOf(n.Token), Kind: Bool, Text: strings.ToLower(n.Token.Value)}
	case *ast.StringNode:
		at := positionOf(n.Token)
		if n.Token.Type == token.StringType && Decimal.MatchString(n.Value) {
			return &Node{Position: at, Kind: Number, Text: n.Value}
		}
		return r.newExpandedTextNode(at, path, RestoreVariableBraces(n.Value))
	case *ast.IntegerNode, *ast.FloatNode, *ast.InfinityNode, *ast.NanNode:
		return &Node{Position: positionOf(n.GetToken()), Kind: Number, Text: n.GetToken().Value}
	}
	var at Position
	if n != nil {
		at = positionOf(n.GetToken())
	}
	r.AddMistake(at, path, "this kind of YAML is not understood here; use plain mappings, lists and values")
	return &Node{Position: at, Kind: Null}
}

func (r *Reader) convertYAMLMapping(n *ast.MappingNode, path KeyPath) *Node {
	mapping := &Node{Position: positionOf(n.Start), Kind: Mapping}
	for _, pair := range n.Values {
		at := positionOf(pair.Key.GetToken())
		key, ok := yamlKeyText(pair.Key)
		if !ok {
			r.AddMistake(at, path, "a key must be plain text; write it as text, in quotes if needed")
			continue
		}
		mapping.Members = append(mapping.Members, Member{Position: at, Key: key, Value: r.convertYAMLNode(pair.Value, path.Key(key))})
	}
	if !n.IsFlowStyle && len(mapping.Members) > 0 {
		mapping.Position = mapping.Members[0].Position
	}
	return mapping
}

func yamlKeyText(n ast.MapKeyNode) (keyText string, isScalar bool) {
	switch n := n.(type) {
	case *ast.StringNode:
		return RestoreVariableBraces(n.Value), true
	case *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode, *ast.NullNode:
		return n.GetToken().Value, true
	}
	return "", false
}
