package admin

import (
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/parquet-go/parquet-go"

	"pingpost/engine/ledger"
	"pingpost/internal/must"
	"pingpost/report/columnar"
	"pingpost/server/servertest"
)

// csvCells formats a row of a Parquet file like a CSV line of a statement;
// null is empty.
func csvCells(row parquet.Row) string {
	cells := make([]string, len(row))
	for i, v := range row {
		switch {
		case v.IsNull():
		case i == entryAt:
			cells[i] = time.UnixMicro(v.Int64()).UTC().Format(time.RFC3339Nano)
		default:
			cells[i] = v.String()
		}
	}
	return strings.Join(cells, ",")
}

// The test reads a statement's Parquet file with another library. Amounts have a decimal
// type in millionths, and missing values are null.
func TestStatementInParquet(t *testing.T) {
	o, _ := newStatementOperator(t)
	address := serveAdmin(t, o)
	want := []string{
		"2026-11-03T09:00:00.5Z,12,sale,lead_01000000000000000000000000,cmp_auto,USD,-12050000,,",
		"2026-11-03T09:00:01Z,13,opening,,,USD,500000000,500000000,",
		`2026-11-03T09:00:02Z,14,top_up,,,USD,1,500000001,wire "17", the second`,
		"2026-11-03T09:00:03Z,15,return,lead_01000000000000000000000000,cmp_auto,USD,12050000,512050001,",
	}
	for _, request := range []struct{ query, accept string }{
		{"buyer=buy_blue&format=parquet", "text/csv"}, {"buyer=buy_blue", "text/html, Application/vnd.apache.parquet;q=0.9"},
	} {
		status, kind, body := readStatement(t, address, request.query, "Accept: "+request.accept)
		if status != 200 || kind != columnar.ContentType {
			t.Fatalf("%+v: %d %s\n%s", request, status, kind, body)
		}
		file := must.Value(parquet.OpenFile(strings.NewReader(body), int64(len(body))))(t)
		rows := make([]parquet.Row, file.NumRows())
		if n, err := parquet.NewReader(file).ReadRows(rows); n != len(want) {
			t.Fatalf("%+v: %d rows: %v", request, n, err)
		}
		var got []string
		for _, row := range rows {
			got = append(got, csvCells(row))
		}
		if !slices.Equal(got, want) {
			t.Errorf("%+v: got\n%s\nwant\n%s", request, strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
		from, _ := file.Lookup("from")
		if buyer, _ := file.Lookup("buyer_id"); buyer != "buy_blue" || from != "2026-11-03T09:00:00Z" {
			t.Errorf("the file's metadata: buyer %q, from %q", buyer, from)
		}
	}
}

// If the log cannot be read or an amount exceeds its type, the connection ends without the
// end of the file.
func TestTruncatedStatementInParquet(t *testing.T) {
	tooLarge := []ledger.Entry{bought, {Kind: ledger.EntryTopUp, Amount: 1e18}, bought}
	for name, list := range map[string]entryList{"amount too large": {entries: tooLarge, end: io.EOF}, "log error": {entries: blues, end: errors.New("the log is gone")}} {
		t.Run(name, func(t *testing.T) {
			o, closed := newStatementOperator(t)
			o.entries = func() StatementEntryIterator { return &entryList{list.entries, list.end, closed} }
			k := servertest.Dial(t, serveAdmin(t, o))
			must.Value(io.WriteString(k, "GET /admin/v1/statement?buyer=buy_blue&format=parquet HTTP/1.1\r\nHost: x\r\n"+servertest.BasicAuth+"\r\n"))(t)
			text, _ := io.ReadAll(k.Answer) // the connection ends before the head or in the body
			if strings.Contains(string(text), "\r\n0\r\n") || strings.Contains(string(text), "PAR1\r\n") {
				t.Errorf("the truncated file ends without an error: %q", text)
			}
			if n := closed.Load(); n != 1 {
				t.Errorf("%d statements were closed, want 1", n)
			}
		})
	}
}
