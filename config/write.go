package config

import (
	"fmt"
	"strings"
)

// writeJSON writes the node as compact JSON.
func (n *node) writeJSON(b *strings.Builder) {
	n.writeFlow(b, ",", ":", quoteText, quoteText)
}

// writeFlow writes the node in one line, in brackets.
func (n *node) writeFlow(b *strings.Builder, comma, colon string, key, text func(string) string) {
	switch n.kind {
	case mapKind:
		b.WriteByte('{')
		for i, m := range n.members {
			if i > 0 {
				b.WriteString(comma)
			}
			b.WriteString(key(m.key))
			b.WriteString(colon)
			m.value.writeFlow(b, comma, colon, key, text)
		}
		b.WriteByte('}')
	case listKind:
		b.WriteByte('[')
		for i, item := range n.items {
			if i > 0 {
				b.WriteString(comma)
			}
			item.writeFlow(b, comma, colon, key, text)
		}
		b.WriteByte(']')
	case textKind:
		b.WriteString(text(n.text))
	case nullKind:
		b.WriteString("null")
	default:
		b.WriteString(n.text)
	}
}

// quoteText writes text in double quotes, in the escapes that JSON and YAML
// have in common.
func quoteText(text string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range text {
		switch {
		case r == '"' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case r < ' ' || r == 0x7f || r == 0x85 || r == 0x2028 || r == 0x2029 || r == 0xfeff:
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			b.WriteRune(r)
		}
	}
	b.WriteByte('"')
	return b.String()
}
