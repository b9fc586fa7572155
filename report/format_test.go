package report

import (
	"encoding/csv"
	"encoding/json"
	"errors"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/parquet-go/parquet-go"

	"pingpost/engine/market"
	"pingpost/report/columnar"
	"pingpost/report/histogram"
	"pingpost/report/projection"

	"pingpost/internal/must"
)

// format asks a question and encodes the rows.
func (r *testReport) format(q Question, form func(*Question) RowFormat) string {
	r.t.Helper()
	f := form(&q)
	text := f.Begin(nil)
	for _, row := range r.rowsOf(q) {
		text = f.Row(text, &row)
	}
	text = must.Value(f.End(text))(r.t)
	return string(text)
}

// TestCSVAndNDJSON: both formats have the same rows, with exact money and without rates of zero.
func TestCSVAndNDJSON(t *testing.T) {
	r := newTradeReport(t)
	q := wholeTime(ByBuyer)
	text := r.format(q, NewCSV)
	const want = "buyer_id,currency,revenue,payout,margin,credit,reversal,leads,unmatched,auctions,pings,bids,bid_rate,wins,win_rate,timeouts,ping_p50_ms,ping_p99_ms," +
		"posts,post_rejects,post_timeouts,post_p50_ms,post_p99_ms,sales,returns\r\n" +
		",,0,0,0,0,0,4,1,2,0,0,,0,,0,,,0,0,0,,,0,0\r\n" +
		"buy_a,USD,12.050001,9.64,0,12.050001,9.64,0,0,0,1,1,1,0,0,0,9.984,9.984,0,0,0,,,1,1\r\n" +
		"buy_b,USD,5,4,1,0,0,0,0,0,2,2,1,2,1,0,19.968,19.968,2,1,1,30.208,71.68,1,0\r\n" +
		"buy_c,USD,8,6.4,1.6,0,0,0,0,0,1,1,1,0,0,0,39.936,39.936,1,0,0,50.176,50.176,1,0\r\n" +
		"buy_d,,0,0,0,0,0,0,0,0,1,0,0,0,,1,,,0,0,0,,,0,0\r\n"
	if text != want {
		t.Errorf("got CSV\n%s\nwant\n%s", text, want)
	}
	cells := must.Value(csv.NewReader(strings.NewReader(text)).ReadAll())(t)
	lines := strings.Split(strings.TrimSpace(r.format(q, NewNDJSON)), "\n")
	if len(lines) != len(cells)-1 {
		t.Fatalf("%d lines of NDJSON, %d rows of CSV", len(lines), len(cells)-1)
	}
	for i, line := range lines {
		object := map[string]any{}
		decoder := json.NewDecoder(strings.NewReader(line))
		decoder.UseNumber()
		must.Succeed(t, decoder.Decode(&object))
		for j, name := range cells[0] {
			got := ""
			switch value := object[name].(type) {
			case string:
				got = value
			case json.Number:
				got = value.String()
			}
			if got != cells[i+1][j] || len(object) != len(cells[0]) {
				t.Errorf("row %d, %s: %q in NDJSON, %q in CSV", i, name, got, cells[i+1][j])
			}
		}
	}
}

// TestTotalsAndColumns: the totals are the sums of the rows, and the columns those of the question.
func TestTotalsAndColumns(t *testing.T) {
	r := newTradeReport(t)
	q := wholeTime(ByBuyer)
	q.Totals, q.Columns = true, []string{"row", "sales", "buyer_id", "revenue", "currency", "leads"}
	const want = "row,sales,buyer_id,revenue,currency,leads\r\n" +
		"row,0,,0,,4\r\nrow,1,buy_a,12.050001,USD,0\r\nrow,1,buy_b,5,USD,0\r\nrow,1,buy_c,8,USD,0\r\nrow,0,buy_d,0,,0\r\n" +
		"total,3,,25.050001,USD,4\r\n"
	if text := r.format(q, NewCSV); text != want {
		t.Errorf("got\n%s\nwant\n%s", text, want)
	}
	byHour := wholeTime(ByHour)
	byHour.Totals, byHour.Columns = true, []string{"hour", "row", "revenue"}
	lines := strings.Split(strings.TrimSpace(r.format(byHour, NewNDJSON)), "\n")
	if last := lines[len(lines)-1]; last != `{"hour":null,"row":"total","revenue":25.050001}` {
		t.Errorf("the total is %s", last)
	}
	data := r.format(byHour, NewParquet)
	if file := must.Value(parquet.OpenFile(strings.NewReader(data), int64(len(data))))(t); file.NumRows() != int64(len(lines)) {
		t.Errorf("%d rows of Parquet, %d lines of NDJSON", file.NumRows(), len(lines))
	}
	for _, columns := range [][]string{{"phone"}, {"sales", "sales"}, {"row"}, {"hour"}} {
		q := wholeTime(ByBuyer)
		q.Columns = columns
		var wrong *InvalidQuestionError
		if _, err := r.Ask(t.Context(), q); !errors.As(err, &wrong) || wrong.Field != "columns" {
			t.Errorf("columns %q: %v", columns, err)
		}
	}
}

// TestParquet: the Parquet file has the rows of NDJSON with the columns' types and exact money.
func TestParquet(t *testing.T) {
	r := newTradeReport(t)
	q := wholeTime(ByHour, ByBuyer, BySource)
	q.Zone = time.FixedZone("Asia/Kolkata", 5*3600+1800)
	lines := strings.Split(strings.TrimSpace(r.format(q, NewNDJSON)), "\n")
	data := r.format(q, NewParquet)
	file := must.Value(parquet.OpenFile(strings.NewReader(data), int64(len(data))))(t)
	if zone, _ := file.Lookup("zone"); zone != "Asia/Kolkata" {
		t.Errorf("zone %q, want Asia/Kolkata", zone)
	}
	if file.NumRows() != int64(len(lines)) || len(lines) < 5 {
		t.Fatalf("%d rows of Parquet, %d lines of NDJSON", file.NumRows(), len(lines))
	}
	rows := make([]parquet.Row, len(lines))
	if n, err := parquet.NewReader(file).ReadRows(rows); n != len(lines) {
		t.Fatalf("ReadRows returns %d rows: %v", n, err)
	}
	columns := columnsFor(&q)
	for i, line := range lines {
		object := map[string]any{}
		decoder := json.NewDecoder(strings.NewReader(line))
		decoder.UseNumber()
		must.Succeed(t, decoder.Decode(&object))
		for j, c := range columns {
			if got, want := cellAsNDJSON(t, c.kind, rows[i][j]), object[c.name]; got != want {
				t.Errorf("row %d, %s: %v in Parquet, %v in NDJSON", i, c.name, got, want)
			}
		}
	}
}

// cellAsNDJSON returns a Parquet cell as the decoded value of NDJSON.
func cellAsNDJSON(t *testing.T, kind columnar.ColumnKind, v parquet.Value) any {
	t.Helper()
	switch {
	case v.IsNull():
		return nil
	case kind == columnar.Name:
		return string(v.ByteArray())
	case kind == columnar.Instant:
		return time.UnixMicro(v.Int64()).In(time.FixedZone("", 5*3600+1800)).Format(time.RFC3339)
	case kind == columnar.Money:
		return json.Number(market.Money(v.Int64()).AppendJSON(nil))
	case kind == columnar.Count:
		return json.Number(strconv.FormatInt(v.Int64(), 10))
	}
	return json.Number(strconv.FormatFloat(v.Double(), 'f', -1, 64))
}

// TestCSVFormulas: CSV escapes texts that a spreadsheet would read as formulas; NDJSON and Parquet
// keep them.
func TestCSVFormulas(t *testing.T) {
	q := wholeTime(BySupplier, BySource)
	for _, name := range []string{"=1+1", "+1", "-1", "@x", "\tx", "\rx", "\nx", "＝1+1", "＋1", "－1", "＠x"} {
		row := &Row{}
		row.Names[BySupplier], row.Names[BySource] = name, "plain"
		cells, err := csv.NewReader(strings.NewReader(string(NewCSV(&q).Row(nil, row)))).Read()
		if err != nil || cells[0] != "'"+strings.ReplaceAll(name, "\r", "") || cells[1] != "plain" {
			t.Errorf("CSV of %q is %q: %v", name, cells, err)
		}
		object := map[string]any{}
		if file := encodeParquet(t, &q, row); !strings.Contains(file, name) || strings.Contains(file, "'"+name) {
			t.Errorf("Parquet does not contain %q unchanged", name)
		}
		if err := json.Unmarshal(NewNDJSON(&q).Row(nil, row), &object); err != nil || object["supplier_id"] != name {
			t.Errorf("NDJSON of %q is %q: %v", name, object["supplier_id"], err)
		}
	}
	row := &Row{Measures: projection.Measures{projection.SumPayout: 5}}
	if text := string(NewCSV(&q).Row(nil, row)); !strings.Contains(text, ",-0.000005,") {
		t.Errorf("a negative amount is escaped in CSV: %q", text)
	}
}

func encodeParquet(t *testing.T, q *Question, row *Row) string {
	t.Helper()
	f := NewParquet(q)
	file := must.Value(f.End(f.Row(nil, row)))(t)
	return string(file)
}

// TestTotalsHaveLatenciesOfAllRows: a total has the latencies of the rows with and without its currency.
func TestTotalsHaveLatenciesOfAllRows(t *testing.T) {
	row := func(currency string, pings ...time.Duration) *Row {
		r := &Row{Currency: currency}
		for _, latency := range pings {
			r.pings.Record(int64(latency))
			r.posts.Record(int64(latency))
		}
		return r
	}
	var sums totalsByCurrency
	var all histogram.Histogram
	for _, r := range []*Row{row("", 300*time.Millisecond), row("USD", 5*time.Millisecond, 6*time.Millisecond), row("", 400*time.Millisecond), row("USD", 7*time.Millisecond)} {
		all.Add(r.pings)
		sums.add(r)
	}
	got := sums.markTakenAndListRows()
	if len(got) != 1 || !slices.Equal(got[0].pings, all) || !slices.Equal(got[0].posts, all) {
		t.Errorf("got %+v, want one row with the latencies %v", got, all)
	}
}
