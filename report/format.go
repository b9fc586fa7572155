package report

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"strings"
	"time"
	"unicode/utf8"

	"pingpost/report/columnar"
)

// RowFormat writes the rows of a report in one output format, as a stream.
type RowFormat interface {
	// ContentType returns the media type.
	ContentType() string
	// Begin appends the text before the rows.
	Begin(dst []byte) []byte
	Row(dst []byte, row *Row) []byte
	// End appends the text after the rows. After an error the output is incomplete, and
	// the caller must make that visible to the reader.
	End(dst []byte) ([]byte, error)
}

// NewCSV returns the CSV format (RFC 4180) with a first line of column names. A text that a
// spreadsheet would read as a formula gets an apostrophe in front.
func NewCSV(q *Question) RowFormat {
	f := &csvFormat{columns: columnsFor(q)}
	f.csv = csv.NewWriter(&f.text)
	f.csv.UseCRLF = true
	return f
}

// NewNDJSON returns the format with one JSON object per line. A missing number or time is null.
func NewNDJSON(q *Question) RowFormat { return &ndjsonFormat{columnsFor(q)} }

// NewParquet returns the Apache Parquet format. Each column has a type, and the metadata
// contains the question's time range and zone. A missing number or time is null.
func NewParquet(q *Question) RowFormat {
	f := &parquetFormat{columns: columnsFor(q)}
	of := make([]columnar.Column, len(f.columns))
	for i := range f.columns {
		of[i] = columnar.Column{Name: f.columns[i].name, Kind: f.columns[i].kind, Optional: f.columns[i].optional || f.columns[i].kind == columnar.Share}
	}
	f.file = columnar.New(of, map[string]string{
		"from": time.Unix(0, q.From).UTC().Format(time.RFC3339), "to": time.Unix(0, q.To).UTC().Format(time.RFC3339), "zone": q.Zone.String(),
	})
	f.cells = make([]columnar.Cell, len(of))
	return f
}

type csvFormat struct {
	columns []outputColumn
	text    bytes.Buffer
	csv     *csv.Writer
	cells   []string
}

func (*csvFormat) ContentType() string { return "text/csv; charset=utf-8" }

func (f *csvFormat) Begin(dst []byte) []byte {
	f.cells = f.cells[:0]
	for i := range f.columns {
		f.cells = append(f.cells, f.columns[i].name)
	}
	return f.appendCSVLine(dst)
}

func (f *csvFormat) Row(dst []byte, row *Row) []byte {
	f.cells = f.cells[:0]
	for i := range f.columns {
		text := string(f.columns[i].appendText(nil, row))
		if f.columns[i].kind == columnar.Name {
			text = EscapeFormula(text)
		}
		f.cells = append(f.cells, text)
	}
	return f.appendCSVLine(dst)
}

// EscapeFormula returns the text as a cell that no spreadsheet reads as a formula: if its first
// character can start one, it puts an apostrophe in front. Spreadsheets for East Asian
// languages treat full-width signs such as ＝ like the usual ones.
func EscapeFormula(cell string) string {
	first, _ := utf8.DecodeRuneInString(cell)
	if cell != "" && strings.ContainsRune("=+-@＝＋－＠\t\r\n", first) {
		return "'" + cell
	}
	return cell
}

// appendCSVLine appends the collected cells to dst as a line of CSV. It ignores errors, because
// writing to memory cannot fail.
func (f *csvFormat) appendCSVLine(dst []byte) []byte {
	f.text.Reset()
	_ = f.csv.Write(f.cells)
	f.csv.Flush()
	return append(dst, f.text.Bytes()...)
}

func (*csvFormat) End(dst []byte) ([]byte, error) { return dst, nil }

type ndjsonFormat struct{ columns []outputColumn }

func (*ndjsonFormat) ContentType() string { return "application/x-ndjson" }

func (*ndjsonFormat) Begin(dst []byte) []byte { return dst }

func (f *ndjsonFormat) Row(dst []byte, row *Row) []byte {
	for i := range f.columns {
		begin := byte(',')
		if i == 0 {
			begin = '{'
		}
		dst = append(append(append(dst, begin, '"'), f.columns[i].name...), '"', ':')
		value := f.columns[i].appendText(nil, row)
		switch {
		case f.columns[i].isJSONString() && !(f.columns[i].optional && len(value) == 0):
			quoted, _ := json.Marshal(string(value)) // cannot fail for a string
			dst = append(dst, quoted...)
		case len(value) == 0:
			dst = append(dst, "null"...)
		default:
			dst = append(dst, value...)
		}
	}
	return append(dst, '}', '\n')
}

func (*ndjsonFormat) End(dst []byte) ([]byte, error) { return dst, nil }

type parquetFormat struct {
	columns []outputColumn
	file    *columnar.Writer
	cells   []columnar.Cell
}

func (*parquetFormat) ContentType() string { return columnar.ContentType }

func (*parquetFormat) Begin(dst []byte) []byte { return dst }

func (f *parquetFormat) Row(dst []byte, row *Row) []byte {
	for i := range f.columns {
		c, cell := &f.columns[i], &f.cells[i]
		switch c.kind {
		case columnar.Name:
			cell.Text = append(cell.Text[:0], c.text(row)...)
			continue
		case columnar.Share:
			millionths, ok := c.number(row)
			cell.None, cell.Share = !ok, float64(millionths)/1e6
			continue
		}
		value, ok := c.number(row)
		cell.Number, cell.None = value, !ok
	}
	return f.file.Row(dst, f.cells)
}

func (f *parquetFormat) End(dst []byte) ([]byte, error) { return f.file.End(dst) }
