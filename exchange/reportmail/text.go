package reportmail

import (
	"fmt"
	"html/template"
	"strings"
	"unicode/utf8"
)

// maxCell is the number of characters of a cell in the text. The file has all of it.
const maxCell = 40

// footerLines returns the sentences below the table.
func (c *mailContent) footerLines() (lines []string) {
	if c.count > len(c.rows) {
		lines = append(lines, fmt.Sprintf("These are the first %d of %d rows. The totals count all of them.", len(c.rows), c.count))
	}
	if c.isFileTooLarge() {
		lines = append(lines, "The CSV file is larger than 1 MB, so it is not attached. Export the report in the console, or choose fewer columns or a shorter period.")
	}
	if c.tenant != "" {
		lines = append(lines, "Exchange "+c.tenant+".")
	}
	if c.consoleURL != "" {
		lines = append(lines, "Console: "+c.consoleURL+"/#/reports/saved")
	}
	return lines
}

// firstLine returns the first line of the e-mail.
func (c *mailContent) firstLine() string {
	if c.filters == "" {
		return c.name + ", " + c.period
	}
	return c.name + ", " + c.period + ", only " + c.filters
}

const noRows = "No lead in this period."

// tableLines returns the lines of the table: the names of the columns, the rows and the totals.
func (c *mailContent) tableLines() (lines [][]string) {
	heads := make([]string, len(c.columns))
	for i, name := range c.columns {
		heads[i] = headOf(name)
	}
	lines = append(append(lines, heads), c.rows...)
	for _, total := range c.totals {
		if isText(c.columns[0]) && total[0] == "" {
			total[0] = "Total"
		}
		lines = append(lines, total)
	}
	for _, line := range lines {
		for i := range line {
			line[i] = shorten(line[i])
		}
	}
	return lines
}

// headOf returns the heading of a column, such as Buyer for buyer_id.
func headOf(column string) string {
	words := strings.ReplaceAll(strings.TrimSuffix(column, "_id"), "_", " ")
	return strings.ToUpper(words[:1]) + words[1:]
}

func shorten(cell string) string {
	if utf8.RuneCountInString(cell) <= maxCell {
		return cell
	}
	return string([]rune(cell)[:maxCell-1]) + "…"
}

// text returns the e-mail in plain text, with numbers at the right of their columns.
func (c *mailContent) text() string {
	var out strings.Builder
	out.WriteString(c.firstLine() + "\n\n")
	if c.count == 0 {
		out.WriteString(noRows + "\n")
	} else {
		c.writePlainTextTable(&out)
	}
	for _, line := range c.footerLines() {
		out.WriteString("\n" + line + "\n")
	}
	return out.String()
}

func (c *mailContent) writePlainTextTable(out *strings.Builder) {
	lines := c.tableLines()
	widths := make([]int, len(c.columns))
	for _, line := range lines {
		for i, cell := range line {
			widths[i] = max(widths[i], utf8.RuneCountInString(cell))
		}
	}
	for _, line := range lines {
		text := ""
		for i, cell := range line {
			space := strings.Repeat(" ", widths[i]-utf8.RuneCountInString(cell))
			if c.isNumber[i] {
				text += space + cell + "  "
			} else {
				text += cell + space + "  "
			}
		}
		out.WriteString(strings.TrimRight(text, " ") + "\n")
	}
}

// page is the e-mail in HTML. It has no links, pictures or styles from elsewhere.
var page = template.Must(template.New("report").Parse(`<!doctype html>
<html><body style="font-family: sans-serif; color: #222">
<h2 style="font-size: 1.1em">{{.Head}}</h2>
{{if .Empty}}<p>{{.Empty}}</p>{{else}}<table style="border-collapse: collapse; font-size: .9em">
{{range .Lines}}<tr{{if .Strong}} style="font-weight: bold"{{end}}>{{range .Cells}}<td style="padding: 4px 10px; border-bottom: 1px solid #ddd{{if .Number}}; text-align: right{{end}}">{{.Text}}</td>{{end}}</tr>
{{end}}</table>{{end}}
{{range .Notes}}<p style="font-size: .9em">{{.}}</p>
{{end}}</body></html>
`))

type pageCell struct {
	Text   string
	Number bool
}

type pageLine struct {
	Strong bool // the heading, or a total
	Cells  []pageCell
}

// html returns the e-mail in HTML.
func (c *mailContent) html() string {
	view := struct {
		Head, Empty string
		Lines       []pageLine
		Notes       []string
	}{Head: c.firstLine(), Notes: c.footerLines()}
	if c.count == 0 {
		view.Empty = noRows
	}
	for i, line := range c.tableLines() {
		shown := pageLine{Strong: i == 0 || i > len(c.rows)}
		for k, cell := range line {
			shown.Cells = append(shown.Cells, pageCell{cell, c.isNumber[k]})
		}
		view.Lines = append(view.Lines, shown)
	}
	var out strings.Builder
	if err := page.Execute(&out, view); err != nil {
		panic("BUG: cannot write a report in HTML: " + err.Error())
	}
	return out.String()
}
