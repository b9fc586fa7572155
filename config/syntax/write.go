package syntax

import (
	"fmt"
	"strings"
)

// writeJSON writes the node as compact JSON.
func (n *Node) writeJSON(b *strings.Builder) {
	n.WriteOneLine(b, ",", ":", QuoteForJSONAndYAML, QuoteForJSONAndYAML)
}

// WriteOneLine writes the node in one line, with braces and brackets around mappings and lists. comma
// and colon are the separators; formatKey and formatText format the keys and the texts.
func (n *Node) WriteOneLine(b *strings.Builder, comma, colon string, formatKey, formatText func(string) string) {
	switch n.Kind {
	case Mapping:
		b.WriteByte('{')
		for i, m := range n.Members {
			if i > 0 {
				b.WriteString(comma)
			}
			b.WriteString(formatKey(m.Key))
			b.WriteString(colon)
			m.Value.WriteOneLine(b, comma, colon, formatKey, formatText)
		}
		b.WriteByte('}')
	case List:
		b.WriteByte('[')
		for i, item := range n.Items {
			if i > 0 {
				b.WriteString(comma)
			}
			item.WriteOneLine(b, comma, colon, formatKey, formatText)
		}
		b.WriteByte(']')
	case Text:
		b.WriteString(formatText(n.Text))
	case Null:
		b.WriteString("null")
	default:
		b.WriteString(n.Text)
	}
}

// QuoteForJSONAndYAML returns the text in double quotes, with the escapes that JSON and YAML share.
func QuoteForJSONAndYAML(text string) string {
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

// JSON returns the node as compact JSON, or "" for nil.
func (n *Node) JSON() string {
	if n == nil {
		return ""
	}
	var b strings.Builder
	n.writeJSON(&b)
	return b.String()
}
