package instructions

import (
	"strings"
)

// AppendMarkdown appends the document as Markdown.
func (d *Document) AppendMarkdown(dst []byte) []byte {
	var b strings.Builder
	b.WriteString("# " + escapeMarkdown(d.Title()) + "\n")
	for _, s := range d.Sections() {
		b.WriteString("\n## " + s.Title + "\n")
		for i := range s.Blocks {
			s.Blocks[i].writeMarkdown(&b)
		}
	}
	return append(dst, b.String()...)
}

func (x *Block) writeMarkdown(b *strings.Builder) {
	b.WriteByte('\n')
	switch {
	case x.Table != nil:
		x.Table.writeMarkdown(b)
	case x.Code != nil:
		b.WriteString(escapeMarkdown(x.Code.Caption) + ":\n\n```" + x.Code.Language + "\n" + x.Code.Text + "\n```\n")
	case x.List != nil:
		for _, item := range x.List {
			b.WriteString("- " + escapeMarkdown(item) + "\n")
		}
	default:
		b.WriteString(escapeMarkdown(x.Text) + "\n")
	}
}

func (t *Table) writeMarkdown(b *strings.Builder) {
	b.WriteString("| " + strings.Join(t.Head, " | ") + " |\n" + strings.Repeat("|---", len(t.Head)) + "|\n")
	for _, row := range t.Rows {
		for i, cell := range row {
			b.WriteString("| ")
			if t.Mono[i] && cell != "" {
				b.WriteString(quoteMarkdownCode(cell) + " ")
				continue
			}
			b.WriteString(escapeMarkdown(cell) + " ")
		}
		b.WriteString("|\n")
	}
}

// markdownEscapes makes texts of the configuration, such as names and patterns, plain text.
var markdownEscapes = strings.NewReplacer(
	`\`, `\\`, "`", "\\`", "*", `\*`, "_", `\_`, "[", `\[`, "]", `\]`, "<", "&lt;", "&", "&amp;", "|", `\|`, "#", `\#`, "~", `\~`, "\n", " ", "\r", " ",
)

func escapeMarkdown(text string) string { return markdownEscapes.Replace(text) }

// quoteMarkdownCode returns the text as code in a cell of a table. Its fence is longer than each
// run of backticks in the text.
func quoteMarkdownCode(text string) string {
	fence := "`"
	for strings.Contains(text, fence) {
		fence += "`"
	}
	space := ""
	if strings.HasPrefix(text, "`") || strings.HasSuffix(text, "`") {
		space = " "
	}
	return fence + space + strings.NewReplacer("|", `\|`, "\n", " ", "\r", " ").Replace(text) + space + fence
}
