package syntax

import (
	"github.com/goccy/go-yaml/token"
)

// unsafeYAMLGuard rejects hostile YAML before the parser reads it. The parser recurses once for
// each level and once for each key of a block mapping. It also shifts a whole flow mapping
// for each key without a value. A document could therefore exhaust its time or its stack, and
// recover cannot catch a stack overflow.
//
// The guard also rejects anchors, aliases, merges and tags, because they let a short text
// expand to a huge document.
type unsafeYAMLGuard struct {
	blocks  []yamlBlockLevel
	flows   []yamlFlowBracket
	last    *token.Token // the last token that is not a comment
	started bool         // the document has begun
}

// yamlBlockLevel is a level of indentation that is open at the current token: a mapping with its number
// of keys so far, or a list.
type yamlBlockLevel struct {
	column int
	list   bool
	keys   int
}

// yamlFlowBracket is one open bracket and the state of its current entry.
type yamlFlowBracket struct {
	mapping      bool
	value, colon bool
}

// checkTokens reports the first token that the YAML parser must not see, and then returns
// false.
func (r *Reader) checkTokens(tokens token.Tokens) (allowed bool) {
	var g unsafeYAMLGuard
	for _, t := range tokens {
		if t.Type == token.CommentType {
			continue
		}
		if message := g.checkToken(t); message != "" {
			r.AddMistake(positionOf(t), "", message)
			return false
		}
		g.last = t
	}
	return true
}

func (g *unsafeYAMLGuard) checkToken(t *token.Token) (problem string) {
	switch t.Type {
	case token.AnchorType, token.AliasType, token.MergeKeyType:
		return "anchors, aliases and merges are not supported; write the value out, or quote the text"
	case token.TagType:
		return "tags are not supported; quote the text if it begins with !"
	case token.DirectiveType:
		return "directives are not supported; quote the text if it begins with %"
	case token.MappingKeyType:
		return "keys with ? are not supported; write key: value"
	case token.DocumentHeaderType:
		if g.started {
			return errManyDocuments
		}
		g.started = true
		return ""
	}
	g.started = true
	if len(g.flows) > 0 || t.Type == token.MappingStartType || t.Type == token.SequenceStartType {
		return g.checkFlowToken(t)
	}
	return g.checkBlockToken(t)
}

// checkBlockToken updates the levels of indentation by a token outside brackets. It returns
// a message if a mapping has too many keys or the nesting is too deep, else "".
func (g *unsafeYAMLGuard) checkBlockToken(t *token.Token) (problem string) {
	switch t.Type {
	case token.SequenceEntryType:
		g.closeBlocks(t.Position.Column)
		if top := len(g.blocks) - 1; top < 0 || g.blocks[top].column < t.Position.Column || !g.blocks[top].list {
			g.blocks = append(g.blocks, yamlBlockLevel{column: t.Position.Column, list: true})
		}
	case token.MappingValueType:
		column := t.Position.Column
		if g.last != nil && g.last.Position.Line == t.Position.Line {
			column = g.last.Position.Column
		}
		g.closeBlocks(column)
		if top := len(g.blocks) - 1; top >= 0 && g.blocks[top].column == column && g.blocks[top].list {
			g.blocks = g.blocks[:top]
		}
		top := len(g.blocks) - 1
		if top < 0 || g.blocks[top].column < column {
			g.blocks = append(g.blocks, yamlBlockLevel{column: column})
			top++
		}
		g.blocks[top].keys++
		if g.blocks[top].keys > maxKeys {
			return "more than 256 keys in one mapping"
		}
	}
	return g.checkDepth()
}

// closeBlocks ends the levels of indentation that are deeper than the column of the next
// token.
func (g *unsafeYAMLGuard) closeBlocks(column int) {
	for len(g.blocks) > 0 && g.blocks[len(g.blocks)-1].column > column {
		g.blocks = g.blocks[:len(g.blocks)-1]
	}
}

func (g *unsafeYAMLGuard) checkDepth() (problem string) {
	if len(g.blocks)+len(g.flows) > maxDepth {
		return "nested deeper than 32 levels"
	}
	return ""
}

func (g *unsafeYAMLGuard) checkFlowToken(t *token.Token) (problem string) {
	top := len(g.flows) - 1
	switch t.Type {
	case token.MappingStartType, token.SequenceStartType:
		if top >= 0 {
			g.flows[top].value = true
		}
		g.flows = append(g.flows, yamlFlowBracket{mapping: t.Type == token.MappingStartType})
		return g.checkDepth()
	case token.MappingEndType, token.SequenceEndType:
		message := g.checkFlowKeyHasValue()
		g.flows = g.flows[:top]
		return message
	case token.CollectEntryType:
		message := g.checkFlowKeyHasValue()
		g.flows[top] = yamlFlowBracket{mapping: g.flows[top].mapping}
		return message
	case token.MappingValueType:
		g.flows[top].colon = true
	default:
		g.flows[top].value = true
	}
	return ""
}

// checkFlowKeyHasValue returns a message if the entry of a flow mapping or list ({…} or […]) that
// ends here is a key without a value, else "".
func (g *unsafeYAMLGuard) checkFlowKeyHasValue() (problem string) {
	top := g.flows[len(g.flows)-1]
	if g.last.Type == token.MappingValueType || top.mapping && top.value && !top.colon {
		return "a key without a value; write key: value, or leave the key out"
	}
	return ""
}
