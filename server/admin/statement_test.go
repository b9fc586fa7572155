package admin

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"pingpost/engine/event"
	"pingpost/engine/ledger"
	"pingpost/engine/market"
	"pingpost/engine/state"
	"pingpost/internal/must"
	"pingpost/server/servertest"
)

// entryList is an iterator over these entries that ends with an error.
type entryList struct {
	entries []ledger.Entry
	end     error
	closed  *atomic.Int64
}

func (l *entryList) Next() (*ledger.Entry, error) {
	if len(l.entries) == 0 {
		return nil, l.end
	}
	next := &l.entries[0]
	l.entries = l.entries[1:]
	return next, nil
}

func (l *entryList) Close() { l.closed.Add(1) }

var usd = market.Currency{'U', 'S', 'D'}

// The entries of buyer blue in one hour: an opening balance, a top-up, a sale and its return.
var (
	morning = time.Date(2026, 11, 3, 9, 0, 0, 0, time.UTC).UnixNano()
	bought  = ledger.Entry{Seq: 12, At: morning + 5e8, Kind: ledger.EntrySale, Lead: market.LeadID{1}, Campaign: 1, Currency: usd, Amount: -12_050_000}
	blues   = []ledger.Entry{
		bought,
		{Seq: 13, At: morning + 1e9, Kind: ledger.EntryOpening, Amount: 500_000_000, InAccount: true, Balance: 500_000_000},
		{Seq: 14, At: morning + 2e9, Kind: ledger.EntryTopUp, Amount: 1, Note: `wire "17", the second`, InAccount: true, Balance: 500_000_001},
		{Seq: 15, At: morning + 3e9, Kind: ledger.EntryReturn, Lead: market.LeadID{1}, Campaign: 1, Currency: usd, Amount: 12_050_000, InAccount: true, Balance: 512_050_001},
	}
	bluesSum = ledger.Statement{
		Period: ledger.Period{From: morning, To: morning + int64(time.Hour)}, Seq: 20, At: morning + 4e9, Account: true, Entries: 4,
		Closing: ledger.BalanceAndHeld{Balance: 512_050_001, Held: 7_000_000},
		Totals: []ledger.StatementTotal{
			{Kind: ledger.EntryOpening, InAccount: true, Count: 1, Amount: 500_000_000},
			{Kind: ledger.EntryTopUp, InAccount: true, Count: 1, Amount: 1},
			{Kind: ledger.EntrySale, Campaign: 1, Currency: usd, Count: 1, Amount: -12_050_000},
			{Kind: ledger.EntryReturn, Campaign: 1, Currency: usd, InAccount: true, Count: 1, Amount: 12_050_000},
		},
	}
)

// newStatementOperator returns an operator whose statements all have blue's entries, and
// the number of closed iterators.
func newStatementOperator(t *testing.T) (o *stubOperator, closed *atomic.Int64) {
	t.Helper()
	d := servertest.NewEngineFixture(t)
	name := &event.ConfigObjectNumbersAssigned{Names: []event.NameNumberAssignment{{Kind: event.ObjectCampaign, Ref: 1, ID: "cmp_auto"}}}
	seq, _ := d.Engine.State().Position()
	d.Engine.State().Apply(seq+1, 1, name)
	closed = new(atomic.Int64)
	o = &stubOperator{engine: d.Engine}
	o.sum = func(party ledger.Party, period ledger.Period) (*ledger.Statement, error) {
		sum := bluesSum
		sum.Party = party
		if !party.IsBuyer() {
			sum.Account = false
		}
		return &sum, nil
	}
	o.entries = func() StatementEntryIterator { return &entryList{blues, io.EOF, closed} }
	return o, closed
}

// requestStatement requests a statement. The caller reads the body.
func requestStatement(t *testing.T, address, query string, header ...string) (*http.Response, *servertest.RawClientConn) {
	t.Helper()
	conn := servertest.Dial(t, address)
	fmt.Fprintf(conn, "GET /admin/v1/statement?%s HTTP/1.1\r\nHost: x\r\n%s%s\r\n", query, asOperator, strings.Join(append(header, ""), "\r\n"))
	response, err := http.ReadResponse(conn.Answer, nil)
	if err != nil {
		t.Fatal(err)
	}
	return response, conn
}

func readStatement(t *testing.T, address, query string, header ...string) (status int, kind, body string) {
	t.Helper()
	response, _ := requestStatement(t, address, query, header...)
	defer response.Body.Close()
	text := must.Value(io.ReadAll(response.Body))(t)
	return response.StatusCode, response.Header.Get("Content-Type"), string(text)
}

const blueJSON = `{"buyer_id":"buy_blue","from":"2026-11-03T09:00:00Z","to":"2026-11-03T10:00:00Z","as_of":{"entry":20,"at":"2026-11-03T09:00:04Z"},` +
	`"currency":"USD","opening":{"balance":0,"held":0},"closing":{"balance":512.050001,"held":7},"totals":[` +
	`{"kind":"opening","currency":"USD","in_account":true,"count":1,"amount":500},{"kind":"top_up","currency":"USD","in_account":true,"count":1,"amount":0.000001},` +
	`{"kind":"sale","campaign_id":"cmp_auto","currency":"USD","in_account":false,"count":1,"amount":-12.05},{"kind":"return","campaign_id":"cmp_auto","currency":"USD","in_account":true,"count":1,"amount":12.05}],` +
	`"count":4,"entries":[` + "\n" + blueFirstEntry + ",\n" + blueOtherEntries + "]}\n"

const blueFirstEntry = `{"at":"2026-11-03T09:00:00.5Z","entry":12,"kind":"sale","lead_id":"lead_01000000000000000000000000","campaign_id":"cmp_auto","currency":"USD","amount":-12.05,"balance":null}`

const blueOtherEntries = `{"at":"2026-11-03T09:00:01Z","entry":13,"kind":"opening","currency":"USD","amount":500,"balance":500}` + ",\n" +
	`{"at":"2026-11-03T09:00:02Z","entry":14,"kind":"top_up","currency":"USD","amount":0.000001,"balance":500.000001,"note":"wire \"17\", the second"}` + ",\n" +
	`{"at":"2026-11-03T09:00:03Z","entry":15,"kind":"return","lead_id":"lead_01000000000000000000000000","campaign_id":"cmp_auto","currency":"USD","amount":12.05,"balance":512.050001}`

const blueCSV = "at,entry,kind,lead_id,campaign_id,currency,amount,balance,note\r\n" +
	"2026-11-03T09:00:00.5Z,12,sale,lead_01000000000000000000000000,cmp_auto,USD,-12.05,,\r\n" +
	"2026-11-03T09:00:01Z,13,opening,,,USD,500,500,\r\n" +
	"2026-11-03T09:00:02Z,14,top_up,,,USD,0.000001,500.000001,\"wire \"\"17\"\", the second\"\r\n" +
	"2026-11-03T09:00:03Z,15,return,lead_01000000000000000000000000,cmp_auto,USD,12.05,512.050001,\r\n"

// A statement has several formats, which the query or the Accept header selects.
func TestStatementFormats(t *testing.T) {
	o, closed := newStatementOperator(t)
	address := serveAdmin(t, o)
	lines := blueFirstEntry + "\n" + strings.ReplaceAll(blueOtherEntries, "},\n", "}\n") + "\n"
	rows := []struct{ query, accept, kind, body string }{
		{"buyer=buy_blue", "", "application/json", blueJSON},
		{"buyer=buy_blue", "*/*", "application/json", blueJSON},
		{"buyer=buy_blue&format=json", "text/csv", "application/json", blueJSON},
		{"buyer=buy_blue&format=ndjson", "", "application/x-ndjson", lines},
		{"buyer=buy_blue", "text/html, application/x-ndjson;q=0.9", "application/x-ndjson", lines},
		{"buyer=buy_blue&format=csv", "", "text/csv; charset=utf-8", blueCSV},
		{"buyer=buy_blue", "Text/CSV", "text/csv; charset=utf-8", blueCSV},
	}
	for _, row := range rows {
		status, kind, body := readStatement(t, address, row.query, "Accept: "+row.accept)
		if status != 200 || kind != row.kind || body != row.body {
			t.Errorf("%s (%s): %d %s\n%s\nwant %s\n%s", row.query, row.accept, status, kind, body, row.kind, row.body)
		}
	}
	if n := closed.Load(); n != int64(len(rows)) {
		t.Errorf("%d of %d statements were closed", n, len(rows))
	}
	if !json.Valid([]byte(blueJSON)) {
		t.Error("the expected body is not valid JSON")
	}
}

// A supplier's statement has no balances. A buyer without an account has null balances.
func TestStatementWithoutAccount(t *testing.T) {
	o, closed := newStatementOperator(t)
	o.sum = func(party ledger.Party, _ ledger.Period) (*ledger.Statement, error) {
		return &ledger.Statement{Party: party, Period: bluesSum.Period, Entries: 1, Totals: bluesSum.Totals[2:3]}, nil
	}
	o.entries = func() StatementEntryIterator { return &entryList{blues[:1], io.EOF, closed} }
	address := serveAdmin(t, o)
	_, _, buyers := readStatement(t, address, "buyer=buy_blue")
	_, _, suppliers := readStatement(t, address, "supplier=sup_acme")
	for _, row := range []struct{ body, want, not string }{
		{buyers, `"opening":null,"closing":null,"totals":[{"kind":"sale","campaign_id":"cmp_auto","currency":"USD","in_account":false,`, `"held"`},
		{buyers, `"amount":-12.05,"balance":null}`, `"supplier_id"`},
		{suppliers, `{"supplier_id":"sup_acme",`, `"opening"`},
		{suppliers, `"totals":[{"kind":"sale","campaign_id":"cmp_auto","currency":"USD","count":1,"amount":-12.05}]`, `in_account`},
		{suppliers, `"currency":"USD","amount":-12.05}`, `"balance"`},
	} {
		if !strings.Contains(row.body, row.want) || strings.Contains(row.body, row.not) {
			t.Errorf("want %s, and no %s, in\n%s", row.want, row.not, row.body)
		}
	}
}

// The test has valid and invalid queries.
func TestStatementQueries(t *testing.T) {
	o, _ := newStatementOperator(t)
	var requested ledger.Period
	sum := o.sum
	o.sum = func(party ledger.Party, period ledger.Period) (*ledger.Statement, error) {
		requested = period
		return sum(party, period)
	}
	address := serveAdmin(t, o)
	day := func(d int) int64 { return time.Date(2026, 11, d, 0, 0, 0, 0, time.UTC).UnixNano() }
	for query, want := range map[string]ledger.Period{
		"buyer=buy_blue": {},
		"supplier=sup_acme&from=2026-11-01&to=2026-11-02": {From: day(1), To: day(2)},
		"buyer=buy_blue&to=2026-11-02":                    {To: day(2)},
		"buyer=buy_blue&from=2026-11-01T09:30:00.25Z":     {From: day(1) + int64(9*time.Hour+30*time.Minute+250*time.Millisecond)},
		"buyer=buy_blue&from=2026-11-01T00:00:00%2B02:00": {From: day(1) - int64(2*time.Hour)},
	} {
		if status, _, body := readStatement(t, address, query); status != 200 || requested != want {
			t.Errorf("%s: %d, period %+v, want %+v: %s", query, status, requested, want, body)
		}
	}
	for query, want := range map[string]string{
		"":                                             `"field":"buyer"`,
		"buyer=&supplier=":                             `"field":"buyer"`,
		"buyer=buy_blue&supplier=sup_acme":             `"field":"buyer"`,
		"buyer=buy_blue&from=yesterday":                `"field":"from"`,
		"buyer=buy_blue&from=2026-02-30":               `"field":"from"`,
		"buyer=buy_blue&from=0001-01-01":               `"field":"from"`,
		"buyer=buy_blue&to=9999-12-31":                 `"field":"to"`,
		"buyer=buy_blue&to=2026-11-01T00:00:00":        `"field":"to"`,
		"buyer=buy_blue&from=2026-11-02&to=2026-11-02": `"field":"to"`,
		"buyer=buy_blue&from=2026-11-02&to=2026-11-01": `"field":"to"`,
		"buyer=buy_blue&format=xml":                    `"field":"format"`,
	} {
		if status, _, body := readStatement(t, address, query); status != 422 || !strings.Contains(body, want) || !strings.Contains(body, `"error":"invalid_payload"`) {
			t.Errorf("%s: %d %s, want 422 with %s", query, status, body, want)
		}
	}
	for _, query := range []string{"buyer=none", "supplier=none", "buyer=sup_acme", "supplier=buy_blue"} {
		if status, _, body := readStatement(t, address, query); status != 404 || !strings.Contains(body, `"error":"not_found"`) {
			t.Errorf("%s: %d %s", query, status, body)
		}
	}
	o.sum = func(ledger.Party, ledger.Period) (*ledger.Statement, error) {
		return nil, fmt.Errorf("cannot add up: %w", &ledger.HistoryTooShortError{HistoryBegins: day(9)})
	}
	if status, _, body := readStatement(t, address, "buyer=buy_blue"); status != 422 || !strings.Contains(body, `"field":"from"`) || !strings.Contains(body, "2026-11-09T00:00:00Z") {
		t.Errorf("period before the history: got %d %s, want 422", status, body)
	}
	o.sum = func(ledger.Party, ledger.Period) (*ledger.Statement, error) {
		return nil, errors.New("disk error")
	}
	if status, _, body := readStatement(t, address, "buyer=buy_blue"); status != 503 || !strings.Contains(body, "disk error") {
		t.Errorf("log error: got %d %s, want 503", status, body)
	}
	o.sum = sum
	if status, _, body := readStatement(t, address, "buyer=buy_blue"); status != 200 {
		t.Errorf("after failures: got %d %s, want 200 because failures release their slots", status, body)
	}
	o.engine = nil
	if status, _, _ := readStatement(t, address, "buyer=buy_blue"); status != 503 {
		t.Errorf("without an engine: got %d, want 503", status)
	}
}

// endlessEntries is an iterator over many equal entries that ends with an error.
type endlessEntries struct {
	left   int
	end    error
	closed chan struct{}
}

func (e *endlessEntries) Next() (*ledger.Entry, error) {
	if e.left--; e.left < 0 {
		return nil, e.end
	}
	return &bought, nil
}

func (e *endlessEntries) Close() { e.closed <- struct{}{} }

// If the log cannot be read to the end, the connection ends without the end of the answer,
// in each format.
func TestTruncatedStatementClosesConn(t *testing.T) {
	o, _ := newStatementOperator(t)
	closed := make(chan struct{}, 10)
	o.entries = func() StatementEntryIterator { return &endlessEntries{1000, errors.New("disk error"), closed} }
	address := serveAdmin(t, o)
	for _, form := range []string{"json", "ndjson", "csv"} {
		response, _ := requestStatement(t, address, "buyer=buy_blue&format="+form)
		text, err := io.ReadAll(response.Body)
		response.Body.Close()
		if !errors.Is(err, io.ErrUnexpectedEOF) || len(text) == 0 {
			t.Errorf("%s: %v after %d bytes", form, err, len(text))
		}
		<-closed
	}
	o.entries = func() StatementEntryIterator { return &endlessEntries{0, io.EOF, closed} }
	if status, _, _ := readStatement(t, address, "buyer=buy_blue"); status != 200 {
		t.Errorf("after the errors: got %d, want 200", status)
	}
}

// An endless statement is sent while it is read, and reading stops when the client leaves.
// The number of concurrent statements is limited.
func TestStatementIsStreamed(t *testing.T) {
	o, _ := newStatementOperator(t)
	closed := make(chan struct{}, 10)
	o.entries = func() StatementEntryIterator { return &endlessEntries{1 << 40, io.EOF, closed} }
	address := serveAdmin(t, o)
	var open []*servertest.RawClientConn
	for range maxStatements {
		_, conn := requestStatement(t, address, "buyer=buy_blue") //nolint:bodyclose // the body is endless; closing the connection ends it
		must.Value(io.CopyN(io.Discard, conn.Answer, 4<<20))(t)
		open = append(open, conn)
	}
	status, _, body := readStatement(t, address, "buyer=buy_blue")
	if status != 503 || !strings.Contains(body, `"error":"unavailable"`) {
		t.Errorf("over the limit: got %d %s, want 503", status, body)
	}
	if status, _, _ := readStatement(t, address, "buyer=none"); status != 404 {
		t.Errorf("unknown buyer at the limit: got %d, want 404", status)
	}
	for _, conn := range open {
		conn.Close()
		<-closed
	}
	o.entries = func() StatementEntryIterator { return &endlessEntries{1, io.EOF, closed} }
	if status, _, body := readStatement(t, address, "buyer=buy_blue"); status != 200 {
		t.Errorf("after the others: got %d %s, want 200", status, body)
	}
}

// slowConn counts the extensions of its write deadline.
type slowConn struct {
	net.Conn
	deadlines int
}

func (s *slowConn) SetWriteDeadline(at time.Time) error {
	if time.Until(at) > operatorRequestTimeout {
		s.deadlines++
	}
	return nil
}

// Each part of a statement that is sent extends the write deadline.
func TestStatementExtendsWriteDeadline(t *testing.T) {
	conn := new(slowConn)
	list := &entryList{blues, io.EOF, new(atomic.Int64)}
	b := newStatementBody(conn, formCSV, statementContext{names: state.New(), currency: usd}, &bluesSum, list, slog.New(slog.DiscardHandler))
	reads, p := 0, make([]byte, 64)
	for {
		n, err := b.Read(p)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil || n == 0 {
			t.Fatalf("%d bytes, %v", n, err)
		}
		reads++
	}
	if reads < 4 || conn.deadlines != reads {
		t.Errorf("%d parts, but %d extensions of the deadline", reads, conn.deadlines)
	}
}
