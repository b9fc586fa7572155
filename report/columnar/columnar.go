// Package columnar writes rows to an Apache Parquet file as a stream. For a file of any
// length it holds in memory one group of rows, and some hundred bytes per column for each
// written group.
//
// It writes the forms that the oldest readers understand: pages of version 1, plain or
// dictionary encoding, Snappy compression. Money is DECIMAL(18,6) in 64 bits, the same as
// market.Money, so that sums are exact.
package columnar

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/compress/snappy"
)

// ContentType is the media type of Parquet files.
const ContentType = "application/vnd.apache.parquet"

// groupRows is the number of rows per group: about 2 MB for a report of 30 columns.
const groupRows = 8192

// pageBytes is the buffer of a column before it writes a page. A group of numbers fits one
// page.
const pageBytes = 72 << 10

// maxMoney is the first amount above a DECIMAL(18,6), in millionths.
const maxMoney = 1_000_000_000_000_000_000

// ColumnKind is the type of a Parquet column: time, count, money, share, name or text.
type ColumnKind uint8

const (
	Instant ColumnKind = iota // nanoseconds since 1970; in the file microseconds, UTC
	Count                     // a whole number
	Money                     // millionths; in the file DECIMAL(18,6)
	Share                     // a ratio; in the file DOUBLE
	Name                      // a text with many repetitions
	Text                      // a text without repetitions
)

// Column describes one column of the Parquet file.
type Column struct {
	Name     string
	Kind     ColumnKind
	Optional bool // cells may have None set
}

// Cell is the value of one column in one row. The column's kind decides which field has it.
type Cell struct {
	None   bool
	Number int64   // of an Instant, a Count, or Money
	Share  float64 // of a Share
	Text   []byte  // of a Name or a Text; valid until the row is written
}

// Writer writes one Parquet file, for one goroutine. A Writer that is not finished needs no
// cleanup.
type Writer struct {
	columns []Column
	file    *parquet.GenericWriter[any]
	text    bytes.Buffer
	row     parquet.Row
	rows    int
	err     error // the first error; the writer stops at it
}

// New begins a Parquet file with these columns. notes become the file's metadata.
func New(columns []Column, notes map[string]string) *Writer {
	w := &Writer{columns: columns, row: make(parquet.Row, len(columns))}
	w.file = parquet.NewGenericWriter[any](
		&w.text, parquet.NewSchema("pingpost", newSchemaRoot(columns)), parquet.Compression(&snappy.Codec{}), parquet.DataPageVersion(1),
		parquet.PageBufferSize(pageBytes), parquet.WriteBufferSize(0), parquet.CreatedBy("pingpost", "", ""),
	)
	for name, value := range notes {
		w.file.SetKeyValueMetadata(name, value)
	}
	return w
}

// Row adds a row with a cell for each column. It appends the finished part of the file to
// dst, which has no bytes most of the time.
func (w *Writer) Row(dst []byte, cells []Cell) []byte {
	if w.err != nil {
		return dst
	}
	for i := range cells {
		if w.row[i], w.err = w.parquetValueOf(i, &cells[i]); w.err != nil {
			return dst
		}
	}
	if _, w.err = w.file.WriteRows([]parquet.Row{w.row}); w.err != nil {
		return dst
	}
	if w.rows++; w.rows%groupRows == 0 {
		w.err = w.file.Flush()
	}
	return w.appendAndClearBuffer(dst)
}

// End finishes the file and appends its rest to dst. It returns the first error of the file.
// The output is then incomplete, and every reader rejects it.
func (w *Writer) End(dst []byte) ([]byte, error) {
	if w.err == nil {
		w.err = w.file.Close()
	}
	if w.err != nil {
		return dst, fmt.Errorf("cannot write row %d of a Parquet file: %w", w.rows+1, w.err)
	}
	return w.appendAndClearBuffer(dst), nil
}

func (w *Writer) appendAndClearBuffer(dst []byte) []byte {
	dst = append(dst, w.text.Bytes()...)
	w.text.Reset()
	return dst
}

// parquetValueOf converts the cell in column number columnIndex to the library's type. It returns an
// error for a missing value in a required column, and for money that a DECIMAL(18,6) cannot hold.
func (w *Writer) parquetValueOf(columnIndex int, cell *Cell) (v parquet.Value, err error) {
	column := &w.columns[columnIndex]
	if cell.None {
		if !column.Optional {
			return v, errors.New("BUG: a row of the Parquet file has no value in the required column " + column.Name)
		}
		return parquet.NullValue().Level(0, 0, columnIndex), nil
	}
	switch column.Kind {
	case Instant:
		v = parquet.Int64Value(cell.Number / 1000)
	case Money:
		if cell.Number <= -maxMoney || cell.Number >= maxMoney {
			return v, fmt.Errorf("%s: %d millionths are more than a DECIMAL(18,6) holds", column.Name, cell.Number)
		}
		v = parquet.Int64Value(cell.Number)
	case Count:
		v = parquet.Int64Value(cell.Number)
	case Share:
		v = parquet.DoubleValue(cell.Share)
	default:
		v = parquet.ByteArrayValue(bytes.ToValidUTF8(cell.Text, []byte("\uFFFD")))
	}
	defined := 0
	if column.Optional {
		defined = 1
	}
	return v.Level(0, defined, columnIndex), nil
}
