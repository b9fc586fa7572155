// Package columnar writes rows down as an Apache Parquet file, while they are read:
// of a file of any length it holds one group of rows and, of each group that is written,
// some hundred bytes a column.
//
// What it writes is what the oldest readers understand: pages of version 1, texts and
// numbers plain or by a dictionary, compressed with Snappy. Money is DECIMAL(18,6) in 64
// bits, which is what it is here, so that sums are exact.
package columnar

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/compress/snappy"
)

// ContentType is what a file is by the names of HTTP.
const ContentType = "application/vnd.apache.parquet"

// groupRows is how many rows are held before they are written: in a report of 30 columns
// some 2 MB.
const groupRows = 8192

// pageBytes is what a column sets aside before it writes a page: that of a group of
// numbers is one page.
const pageBytes = 72 << 10

// mostMoney is what a DECIMAL(18,6) ends before, in millionths.
const mostMoney = 1_000_000_000_000_000_000

// Kind is what a column's cells are.
type Kind uint8

const (
	Instant Kind = iota // nanoseconds since 1970; in the file microseconds, UTC
	Count               // a whole number
	Money               // millionths; in the file DECIMAL(18,6)
	Share               // a number that nobody adds up; in the file DOUBLE
	Name                // a text that comes again and again
	Text                // a text that does not
)

// Column is one of the file's.
type Column struct {
	Name     string
	Kind     Kind
	Optional bool // a cell may have None
}

// Cell is a row's value in a column; what it holds is the column's to know.
type Cell struct {
	None   bool
	Number int64   // of an Instant, a Count, or Money
	Share  float64 // of a Share
	Text   []byte  // of a Name or a Text; good until the row is written
}

// Writer writes one file. One goroutine uses it. What is left unfinished is for the
// collector.
type Writer struct {
	columns []Column
	file    *parquet.GenericWriter[any]
	text    bytes.Buffer
	row     parquet.Row
	rows    int
	err     error // the first; nothing is written after it
}

// New begins a file, and notes in it what it is of.
func New(columns []Column, notes map[string]string) *Writer {
	w := &Writer{columns: columns, row: make(parquet.Row, len(columns))}
	w.file = parquet.NewGenericWriter[any](
		&w.text, parquet.NewSchema("pingpost", newTable(columns)), parquet.Compression(&snappy.Codec{}), parquet.DataPageVersion(1),
		parquet.PageBufferSize(pageBytes), parquet.WriteBufferSize(0), parquet.CreatedBy("pingpost", "", ""),
	)
	for name, value := range notes {
		w.file.SetKeyValueMetadata(name, value)
	}
	return w
}

// Row adds a row, a cell for each column, and appends to dst what is finished of the
// file, which is nothing most of the time.
func (w *Writer) Row(dst []byte, cells []Cell) []byte {
	if w.err != nil {
		return dst
	}
	for i := range cells {
		if w.row[i], w.err = w.value(i, &cells[i]); w.err != nil {
			return dst
		}
	}
	if _, w.err = w.file.WriteRows([]parquet.Row{w.row}); w.err != nil {
		return dst
	}
	if w.rows++; w.rows%groupRows == 0 {
		w.err = w.file.Flush()
	}
	return w.take(dst)
}

// End appends the rest. The error is the first that there was: what is written is no
// whole file then, and no reader takes it for one.
func (w *Writer) End(dst []byte) ([]byte, error) {
	if w.err == nil {
		w.err = w.file.Close()
	}
	if w.err != nil {
		return dst, fmt.Errorf("cannot write row %d of a Parquet file: %w", w.rows+1, w.err)
	}
	return w.take(dst), nil
}

func (w *Writer) take(dst []byte) []byte {
	dst = append(dst, w.text.Bytes()...)
	w.text.Reset()
	return dst
}

// value is a cell as the library has it.
func (w *Writer) value(i int, c *Cell) (v parquet.Value, err error) {
	column := &w.columns[i]
	if c.None {
		if !column.Optional {
			return v, errors.New("BUG: there is nothing in " + column.Name)
		}
		return parquet.NullValue().Level(0, 0, i), nil
	}
	switch column.Kind {
	case Instant:
		v = parquet.Int64Value(c.Number / 1000)
	case Money:
		if c.Number <= -mostMoney || c.Number >= mostMoney {
			return v, fmt.Errorf("%s: %d millionths are more than a DECIMAL(18,6) holds", column.Name, c.Number)
		}
		v = parquet.Int64Value(c.Number)
	case Count:
		v = parquet.Int64Value(c.Number)
	case Share:
		v = parquet.DoubleValue(c.Share)
	default:
		v = parquet.ByteArrayValue(bytes.ToValidUTF8(c.Text, []byte("\uFFFD")))
	}
	defined := 0
	if column.Optional {
		defined = 1
	}
	return v.Level(0, defined, i), nil
}
