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

// every has a column of each kind, and a second of those that may be none. The names are
// not in the order of the alphabet.
var every = []Column{
	{Name: "zeit", Kind: Instant},
	{Name: "count", Kind: Count},
	{Name: "paid", Kind: Money},
	{Name: "kept", Kind: Money, Optional: true},
	{Name: "rate", Kind: Share, Optional: true},
	{Name: "buyer", Kind: Name},
	{Name: "campaign", Kind: Name, Optional: true},
	{Name: "note", Kind: Text, Optional: true},
}

// row is the nth of a file; each third has none of what may be none.
func row(n int) []Cell {
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

// written is a file of so many rows, and the longest piece of it that came at once
// before its end.
func written(t *testing.T, rows int) (file []byte, piece int) {
	t.Helper()
	w := New(every, map[string]string{"zone": "Asia/Kolkata"})
	for n := range rows {
		before := len(file)
		file = w.Row(file, row(n))
		piece = max(piece, len(file)-before)
	}
	file = must.Value(w.End(file))(t)
	return file, piece
}

// The file has the documented type and encoding for each kind, in the columns' order.
func TestTypes(t *testing.T) {
	data, _ := written(t, 1)
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
		t.Errorf("it has the columns\n%s\nand not\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if zone, _ := file.Lookup("zone"); zone != "Asia/Kolkata" {
		t.Errorf("it notes the zone %q", zone)
	}
	for i, chunk := range file.Metadata().RowGroups[0].Columns {
		if codec := chunk.MetaData.Codec.String(); codec != "SNAPPY" {
			t.Errorf("%s is packed by %s", every[i].Name, codec)
		}
		if dictionary := chunk.MetaData.DictionaryPageOffset > 0; dictionary != (every[i].Kind == Name) {
			t.Errorf("%s has a dictionary: %t", every[i].Name, dictionary)
		}
	}
}

// A reader gets back the written rows: several groups, a full group, or no row.
func TestRows(t *testing.T) {
	for _, rows := range []int{0, 1, groupRows, 2*groupRows + 17} {
		data, _ := written(t, rows)
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
			for i, cell := range row(n) {
				if text := shown(every[i].Kind, got[0][i]); text != wanted(every[i].Kind, &cell) {
					t.Fatalf("row %d of %d, %s: %s and not %s", n, rows, every[i].Name, text, wanted(every[i].Kind, &cell))
				}
			}
		}
		if n, err := reader.ReadRows(make([]parquet.Row, 1)); n != 0 || !errors.Is(err, io.EOF) {
			t.Errorf("after %d rows come %d more: %v", rows, n, err)
		}
	}
}

func shown(kind ColumnKind, v parquet.Value) string {
	switch {
	case v.IsNull():
		return "none"
	case kind == Instant:
		return time.UnixMicro(v.Int64()).UTC().String()
	}
	return v.String()
}

func wanted(kind ColumnKind, c *Cell) string {
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

// An amount above the type's limit, or a missing value of a required column, is an error.
func TestTooMuch(t *testing.T) {
	for _, c := range []struct {
		cell Cell
		says string
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
		_, bad := parquet.OpenFile(bytes.NewReader(text), int64(len(text)))
		if (err == nil) != (c.says == "") || (bad == nil) != (c.says == "") || err != nil && !strings.Contains(err.Error(), "row 2 of a Parquet file: ") || err != nil && !strings.Contains(err.Error(), c.says) {
			t.Errorf("%+v: %v, and it is read with %v", c.cell, err, bad)
		}
	}
}

// TestBrokenText: a text that is no text would make the file one that others refuse.
func TestBrokenText(t *testing.T) {
	w := New([]Column{{Name: "note", Kind: Text}}, nil)
	file, err := w.End(w.Row(nil, []Cell{{Text: []byte("a\xffb")}}))
	if err != nil || !bytes.Contains(file, []byte("a\uFFFDb")) || bytes.Contains(file, []byte("a\xffb")) {
		t.Errorf("%q: %v", file, err)
	}
}

// For a file of any length the writer holds one group and some bytes per group.
func TestMemory(t *testing.T) {
	held := func(groups int) int64 {
		w := New(every, nil)
		buf := make([]byte, 0, 1<<20)
		for n := range groups * groupRows {
			buf = w.Row(buf[:0], row(n))
		}
		runtime.GC()
		runtime.GC()
		var now runtime.MemStats
		runtime.ReadMemStats(&now)
		runtime.KeepAlive(w)
		return int64(now.HeapAlloc)
	}
	held(2) // what is set aside once
	few, many := held(2), held(42)
	if perGroup := (many - few) / 40; perGroup > int64(len(every))<<11 {
		t.Errorf("each group leaves %d bytes behind, of %d columns; 2 groups %d, 42 groups %d", perGroup, len(every), few, many)
	}
}
