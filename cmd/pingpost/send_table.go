package main

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"pingpost/engine/market"
)

// table is text in columns, two spaces apart. Columns of numbers stand at the
// right, others at the left.
type table struct {
	rows   [][]string
	indent string
}

func (t *table) row(cells ...string) { t.rows = append(t.rows, cells) }

func (t *table) String() string {
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
			if t.atRight(i) {
				text.WriteString(gap + cell)
			} else {
				text.WriteString(cell + gap)
			}
		}
		out.WriteString(t.indent + strings.TrimRight(text.String(), " ") + "\n")
	}
	return out.String()
}

// atRight holds for a column in which every cell is a number, below a headline
// if there is one.
func (t *table) atRight(column int) bool {
	numbers := 0
	for _, row := range t.rows {
		if column >= len(row) || row[column] == "" {
			continue
		}
		if strings.Trim(row[column], "0123456789,.-") == "" {
			numbers++
		} else if numbers > 0 {
			return false
		}
	}
	return numbers > 0
}

// grouped writes 1234567 as 1,234,567.
func grouped(n int) string {
	text := strconv.Itoa(n)
	for at := len(text) - 3; at > 0 && text[at-1] != '-'; at -= 3 {
		text = text[:at] + "," + text[at:]
	}
	return text
}

// amount writes money with two decimals at least, and grouped.
func amount(m market.Money) string { return amountOf(m.String()) }

// amountOf does so with an amount's digits.
func amountOf(digits string) string {
	whole, fraction, _ := strings.Cut(digits, ".")
	for len(fraction) < 2 {
		fraction += "0"
	}
	n, err := strconv.Atoi(whole)
	if err != nil {
		return digits
	}
	text := grouped(n)
	if n == 0 && strings.HasPrefix(whole, "-") {
		text = "-0"
	}
	return text + "." + fraction
}
