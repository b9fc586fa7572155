package terminal

import (
	"strings"
	"unicode/utf8"
)

// Table formats rows of text in columns, two spaces apart. Columns of numbers are
// right-aligned, others left-aligned.
type Table struct {
	rows   [][]string
	Indent string
}

// Row adds a row with these cells to the table.
func (t *Table) Row(cells ...string) { t.rows = append(t.rows, cells) }

// String returns the table as text, one line per row.
func (t *Table) String() string {
	var widths []int
	for _, row := range t.rows {
		for i, cell := range row {
			if i == len(widths) {
				widths = append(widths, 0)
			}
			widths[i] = max(widths[i], utf8.RuneCountInString(cell))
		}
	}
	var out strings.Builder
	for _, row := range t.rows {
		var text strings.Builder
		for i, cell := range row {
			gap := strings.Repeat(" ", widths[i]-utf8.RuneCountInString(cell))
			if i > 0 {
				text.WriteString("  ")
			}
			if t.isNumericColumn(i) {
				text.WriteString(gap + cell)
			} else {
				text.WriteString(cell + gap)
			}
		}
		out.WriteString(t.Indent + strings.TrimRight(text.String(), " ") + "\n")
	}
	return out.String()
}

// isNumericColumn reports whether every cell of a column is a number, except for a headline. Such a
// column is right-aligned.
func (t *Table) isNumericColumn(columnIndex int) bool {
	numbers := 0
	for _, row := range t.rows {
		if columnIndex >= len(row) || row[columnIndex] == "" {
			continue
		}
		if strings.Trim(row[columnIndex], "0123456789,.-") == "" {
			numbers++
		} else if numbers > 0 {
			return false
		}
	}
	return numbers > 0
}
