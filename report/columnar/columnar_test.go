package columnar

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/parquet-go/parquet-go"

	"pingpost/internal/must"
)

// allColumns has a column of each kind, and optional ones. The names are not in alphabetical order.
var allColumns = []Column{
	{Name: "zeit", Kind: Instant},
	{Name: "count", Kind: Count},
	{Name: "paid", Kind: Money},
	{Name: "kept", Kind: Money, Optional: true},
	{Name: "rate", Kind: Share, Optional: true},
	{Name: "buyer", Kind: Name},
	{Name: "campaign", Kind: Name, Optional: true},
	{Name: "note", Kind: Text, Optional: true},
}

// testRow returns row n. Every third row lacks all optional cells.
func testRow(n int) []Cell {
	none := n%3 == 0
	return []Cell{
		{Number: 1_767_225_600_000_000_000 + int64(n)*1000},
		{Number: int64(-n)},
		{Number: int64(n) * 1_000_003},
		{None: none, Number: -int64(n)},
		{None: none, Share: float64(n) / 4},
		{Text: fmt.Appendf(nil, "buyer_%d", n%50)},
		{None: none, Text: []byte("=cmp")},
		{None: none, Text: fmt.Append(nil, n)},
	}
}

// encodeRows returns a file with the rows, and the length of its longest piece before the end.
func encodeRows(t *testing.T, rows int) (file []byte, piece int) {
	t.Helper()
	w := New(allColumns, map[string]string{"zone": "Asia/Kolkata"})
	for n := range rows {
		before := len(file)
		file = w.Row(file, testRow(n))
		piece = max(piece, len(file)-before)
	}
	file = must.Value(w.End(file))(t)
	return file, piece
}

// TestColumnTypesAndEncodings compares the file's schema with the documentation.
func TestColumnTypesAndEncodings(t *testing.T) {
	data, _ := encodeRows(t, 1)
	file := must.Value(parquet.OpenFile(bytes.NewReader(data), int64(len(data))))(t)
	want := []string{
		"required int64 zeit (TIMESTAMP(isAdjustedToUTC=true,unit=MICROS))", "required int64 count (INT(64,true))",
		"required int64 paid (DECIMAL(18,6))", "optional int64 kept (DECIMAL(18,6))", "optional double rate",
		"required binary buyer (STRING)", "optional binary campaign (STRING)", "optional binary note (STRING)",
	}
	var got []string
	for line := range strings.SplitSeq(file.Schema().String(), "\n") {
		if strings.HasPrefix(line, "\t") {
			got = append(got, strings.TrimSuffix(strings.TrimSpace(line), ";"))
		}
	}
	if !slices.Equal(got, want) {
		t.Errorf("got columns\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if zone, _ := file.Lookup("zone"); zone != "Asia/Kolkata" {
		t.Errorf("zone %q, want Asia/Kolkata", zone)
	}
	for i, chunk := range file.Metadata().RowGroups[0].Columns {
		if codec := chunk.MetaData.Codec.String(); codec != "SNAPPY" {
			t.Errorf("column %s has the codec %s, want SNAPPY", allColumns[i].Name, codec)
		}
		if dictionary := chunk.MetaData.DictionaryPageOffset > 0; dictionary != (allColumns[i].Kind == Name) {
			t.Errorf("column %s has a dictionary: %t", allColumns[i].Name, dictionary)
		}
	}
}

// TestRowsRoundTrip covers files of several groups, a full group, and no row.
func TestRowsRoundTrip(t *testing.T) {
	for _, rows := range []int{0, 1, groupRows, 2*groupRows + 17} {
		data, _ := encodeRows(t, rows)
		file := must.Value(parquet.OpenFile(bytes.NewReader(data), int64(len(data))))(t)
		if groups := len(file.RowGroups()); groups != (rows+groupRows-1)/groupRows {
			t.Errorf("%d rows are in %d groups", rows, groups)
		}
		reader := parquet.NewReader(file)
		for n := range rows {
			got := make([]parquet.Row, 1)
			if _, err := reader.ReadRows(got); err != nil && !errors.Is(err, io.EOF) {
				t.Fatalf("row %d of %d: %v", n, rows, err)
			}
			for i, cell := range testRow(n) {
				if text := formatValue(allColumns[i].Kind, got[0][i]); text != formatCell(allColumns[i].Kind, &cell) {
					t.Fatalf("row %d of %d, %s: got %s, want %s", n, rows, allColumns[i].Name, text, formatCell(allColumns[i].Kind, &cell))
				}
			}
		}
		if n, err := reader.ReadRows(make([]parquet.Row, 1)); n != 0 || !errors.Is(err, io.EOF) {
			t.Errorf("after %d rows the reader returns %d more: %v", rows, n, err)
		}
	}
}

func formatValue(kind ColumnKind, v parquet.Value) string {
	switch {
	case v.IsNull():
		return "none"
	case kind == Instant:
		return time.UnixMicro(v.Int64()).UTC().String()
	}
	return v.String()
}

func formatCell(kind ColumnKind, c *Cell) string {
	switch {
	case c.None:
		return "none"
	case kind == Instant:
		return time.Unix(0, c.Number).UTC().String()
	case kind == Share:
		return parquet.DoubleValue(c.Share).String()
	case kind == Name || kind == Text:
		return string(c.Text)
	}
	return fmt.Sprint(c.Number)
}

// TestInvalidCells has amounts above the type's limit and a missing required value.
func TestInvalidCells(t *testing.T) {
	for _, c := range []struct {
		cell Cell
		want string
	}{
		{Cell{Number: maxMoney - 1}, ""},
		{Cell{Number: 1 - maxMoney}, ""},
		{Cell{Number: maxMoney}, "DECIMAL(18,6)"},
		{Cell{Number: -maxMoney}, "DECIMAL(18,6)"},
		{Cell{None: true}, "no value in the required column paid"},
	} {
		w := New([]Column{{Name: "paid", Kind: Money}}, nil)
		text := w.Row(nil, []Cell{{Number: 1}})
		text = w.Row(text, []Cell{c.cell})
		text = w.Row(text, []Cell{{Number: 2}})
		text, err := w.End(text)
		_, openErr := parquet.OpenFile(bytes.NewReader(text), int64(len(text)))
		if (err == nil) != (c.want == "") || (openErr == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), "row 2 of a Parquet file: ") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: End returns %v, the reader %v", c.cell, err, openErr)
		}
	}
}

// TestInvalidUTF8IsReplaced: readers reject files with invalid UTF-8.
func TestInvalidUTF8IsReplaced(t *testing.T) {
	w := New([]Column{{Name: "note", Kind: Text}}, nil)
	file, err := w.End(w.Row(nil, []Cell{{Text: []byte("a\xffb")}}))
	if err != nil || !bytes.Contains(file, []byte("a\uFFFDb")) || bytes.Contains(file, []byte("a\xffb")) {
		t.Errorf("%q: %v", file, err)
	}
}

// TestWriterMemoryPerGroup: the writer holds one group and some bytes for each earlier group.
func TestWriterMemoryPerGroup(t *testing.T) {
	heapAfter := func(groups int) int64 {
		w := New(allColumns, nil)
		buf := make([]byte, 0, 1<<20)
		for n := range groups * groupRows {
			buf = w.Row(buf[:0], testRow(n))
		}
		runtime.GC()
		runtime.GC()
		var now runtime.MemStats
		runtime.ReadMemStats(&now)
		runtime.KeepAlive(w)
		return int64(now.HeapAlloc)
	}
	heapAfter(2) // allocates reused memory
	few, many := heapAfter(2), heapAfter(42)
	if perGroup := (many - few) / 40; perGroup > int64(len(allColumns))<<11 {
		t.Errorf("each group keeps %d bytes for %d columns; heap with 2 groups %d, with 42 groups %d", perGroup, len(allColumns), few, many)
	}
}
