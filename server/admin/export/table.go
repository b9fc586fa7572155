package export

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"pingpost/engine/market"
	"pingpost/report"
	"pingpost/report/columnar"
)

// column is a column of a table of values of type T. fill sets the column's cell of a row.
type column[T any] struct {
	columnar.Column
	isFlag bool // the texts true and false, in NDJSON without quotes
	fill   func(row *T, cell *columnar.Cell)
}

// pickColumns returns the columns with these names, in this order. names is a list with commas; an
// empty one picks all columns. expected is empty if all names exist and none is repeated; otherwise
// it lists the possible names.
func pickColumns[T any](all []column[T], names string) (picked []column[T], expected string) {
	if names == "" {
		return all, ""
	}
	for name := range strings.SplitSeq(names, ",") {
		name = strings.TrimSpace(name)
		at := slices.IndexFunc(all, func(c column[T]) bool { return c.Name == name })
		if at < 0 || slices.ContainsFunc(picked, func(c column[T]) bool { return c.Name == name }) {
			return nil, "some of " + strings.Join(columnNames(all), ", ") + ", each once, with commas between them"
		}
		picked = append(picked, all[at])
	}
	return picked, ""
}

func columnNames[T any](columns []column[T]) []string {
	names := make([]string, len(columns))
	for i := range columns {
		names[i] = columns[i].Name
	}
	return names
}

// Format is the name of a file format.
type Format string

// The formats.
const (
	CSV     Format = "csv"
	NDJSON  Format = "ndjson"
	Parquet Format = "parquet"
)

// tableWriter encodes rows of type T in one format.
type tableWriter[T any] struct {
	format  Format
	columns []column[T]
	cells   []columnar.Cell
	file    *columnar.Writer // for Parquet
	text    bytes.Buffer     // for CSV
	csv     *csv.Writer
	line    []string
}

func newTableWriter[T any](format Format, columns []column[T], notes map[string]string) *tableWriter[T] {
	w := &tableWriter[T]{format: format, columns: columns, cells: make([]columnar.Cell, len(columns))}
	switch format {
	case Parquet:
		plain := make([]columnar.Column, len(columns))
		for i := range columns {
			plain[i] = columns[i].Column
		}
		w.file = columnar.New(plain, notes)
	case CSV:
		w.csv = csv.NewWriter(&w.text)
		w.csv.UseCRLF = true
	}
	return w
}

func (w *tableWriter[T]) contentType() string {
	switch w.format {
	case Parquet:
		return columnar.ContentType
	case CSV:
		return "text/csv; charset=utf-8"
	}
	return "application/x-ndjson"
}

// appendHeadIfCSV appends the bytes before the first row.
func (w *tableWriter[T]) appendHeadIfCSV(dst []byte) []byte {
	if w.format != CSV {
		return dst
	}
	w.line = append(w.line[:0], columnNames(w.columns)...)
	return w.appendCSVLine(dst)
}

// appendRow appends a row. The texts of its cells are valid until the next call.
func (w *tableWriter[T]) appendRow(dst []byte, row *T) []byte {
	for i := range w.columns {
		w.cells[i] = columnar.Cell{Text: w.cells[i].Text[:0]}
		w.columns[i].fill(row, &w.cells[i])
	}
	switch w.format {
	case Parquet:
		return w.file.Row(dst, w.cells)
	case CSV:
		w.line = w.line[:0]
		for i := range w.columns {
			text := string(w.columns[i].appendTextWithMillisecondTimes(nil, &w.cells[i]))
			if w.columns[i].isText() {
				text = report.EscapeFormula(text)
			}
			w.line = append(w.line, text)
		}
		return w.appendCSVLine(dst)
	}
	return w.appendJSONLine(dst)
}

// appendEnd appends the bytes after the last row.
func (w *tableWriter[T]) appendEnd(dst []byte) ([]byte, error) {
	if w.format != Parquet {
		return dst, nil
	}
	dst, err := w.file.End(dst)
	if err != nil {
		return dst, fmt.Errorf("the Parquet file of an export is incomplete, because a row cannot be encoded; export as CSV or JSON: %w", err)
	}
	return dst, nil
}

// appendCSVLine appends w.line. Writing to memory cannot fail.
func (w *tableWriter[T]) appendCSVLine(dst []byte) []byte {
	w.text.Reset()
	_ = w.csv.Write(w.line)
	w.csv.Flush()
	return append(dst, w.text.Bytes()...)
}

func (w *tableWriter[T]) appendJSONLine(dst []byte) []byte {
	for i := range w.columns {
		c, cell := &w.columns[i], &w.cells[i]
		begin := byte(',')
		if i == 0 {
			begin = '{'
		}
		dst = append(append(append(dst, begin, '"'), c.Name...), '"', ':')
		switch {
		case cell.None:
			dst = append(dst, "null"...)
		case c.isFlag, !c.isText() && c.Kind != columnar.Instant:
			dst = c.appendText(dst, cell)
		default:
			quoted, _ := json.Marshal(string(c.appendText(nil, cell))) // cannot fail for a string
			dst = append(dst, quoted...)
		}
	}
	return append(dst, '}', '\n')
}

func (c *column[T]) isText() bool { return c.Kind == columnar.Name || c.Kind == columnar.Text }

// csvTime is RFC 3339 in UTC, to the millisecond: spreadsheets do not read more decimals as a time.
const csvTime = "2006-01-02T15:04:05.000Z"

// appendTextWithMillisecondTimes appends the cell as appendText does, except that times end at the millisecond.
func (c *column[T]) appendTextWithMillisecondTimes(dst []byte, cell *columnar.Cell) []byte {
	if c.Kind == columnar.Instant && !cell.None {
		return time.Unix(0, cell.Number).UTC().AppendFormat(dst, csvTime)
	}
	return c.appendText(dst, cell)
}

// appendText appends the cell as text, or no bytes if it has no value. Times are RFC 3339 in UTC.
func (c *column[T]) appendText(dst []byte, cell *columnar.Cell) []byte {
	switch {
	case cell.None:
		return dst
	case c.isText():
		return append(dst, cell.Text...)
	case c.Kind == columnar.Instant:
		return time.Unix(0, cell.Number).UTC().AppendFormat(dst, time.RFC3339Nano)
	case c.Kind == columnar.Money:
		return market.Money(cell.Number).AppendJSON(dst)
	}
	return strconv.AppendInt(dst, cell.Number, 10)
}
