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

// booked is a list of entries that ends with an error.
type booked struct {
	entries []ledger.Entry
	end     error
	closed  *atomic.Int64
}

func (l *booked) Next() (*ledger.Entry, error) {
	if len(l.entries) == 0 {
		return nil, l.end
	}
	next := &l.entries[0]
	l.entries = l.entries[1:]
	return next, nil
}

func (l *booked) Close() { l.closed.Add(1) }

var usd = market.Currency{'U', 'S', 'D'}

// A morning of blue's: it pays in, buys, and gives back.
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
		Closing: ledger.BalanceAndReserved{Balance: 512_050_001, Held: 7_000_000},
		Totals: []ledger.EntryTotal{
			{Kind: ledger.EntryOpening, InAccount: true, Count: 1, Amount: 500_000_000},
			{Kind: ledger.EntryTopUp, InAccount: true, Count: 1, Amount: 1},
			{Kind: ledger.EntrySale, Campaign: 1, Currency: usd, Count: 1, Amount: -12_050_000},
			{Kind: ledger.EntryReturn, Campaign: 1, Currency: usd, InAccount: true, Count: 1, Amount: 12_050_000},
		},
	}
)

// newOffice has the books of that morning, in which everyone's are blue's.
func newOffice(t *testing.T) (o *stubOperator, closed *atomic.Int64) {
	t.Helper()
	d := servertest.OpenEngine(t)
	name := &event.ConfigNumbersAssigned{Names: []event.NameNumberAssignment{{Kind: event.ObjectCampaign, Ref: 1, ID: "cmp_auto"}}}
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
	o.entries = func() StatementEntryIterator { return &booked{blues, io.EOF, closed} }
	return o, closed
}

// ask requests a statement; the body is the caller's to read.
func askStatement(t *testing.T, address, query string, header ...string) (*http.Response, *servertest.Conn) {
	t.Helper()
	conn := servertest.Dial(t, address)
	fmt.Fprintf(conn, "GET /admin/v1/statement?%s HTTP/1.1\r\nHost: x\r\n%s%s\r\n", query, asOperator, strings.Join(append(header, ""), "\r\n"))
	response, err := http.ReadResponse(conn.Answer, nil)
	if err != nil {
		t.Fatal(err)
	}
	return response, conn
}

func statementOf(t *testing.T, address, query string, header ...string) (status int, kind, body string) {
	t.Helper()
	response, _ := askStatement(t, address, query, header...)
	defer response.Body.Close()
	text := must.Value(io.ReadAll(response.Body))(t)
	return response.StatusCode, response.Header.Get("Content-Type"), string(text)
}

const bluesJSON = `{"buyer_id":"buy_blue","from":"2026-11-03T09:00:00Z","to":"2026-11-03T10:00:00Z","as_of":{"entry":20,"at":"2026-11-03T09:00:04Z"},` +
	`"currency":"USD","opening":{"balance":0,"held":0},"closing":{"balance":512.050001,"held":7},"totals":[` +
	`{"kind":"opening","currency":"USD","in_account":true,"count":1,"amount":500},{"kind":"top_up","currency":"USD","in_account":true,"count":1,"amount":0.000001},` +
	`{"kind":"sale","campaign_id":"cmp_auto","currency":"USD","in_account":false,"count":1,"amount":-12.05},{"kind":"return","campaign_id":"cmp_auto","currency":"USD","in_account":true,"count":1,"amount":12.05}],` +
	`"count":4,"entries":[` + "\n" + bluesFirst + ",\n" + bluesRest + "]}\n"

const bluesFirst = `{"at":"2026-11-03T09:00:00.5Z","entry":12,"kind":"sale","lead_id":"lead_01000000000000000000000000","campaign_id":"cmp_auto","currency":"USD","amount":-12.05,"balance":null}`

const bluesRest = `{"at":"2026-11-03T09:00:01Z","entry":13,"kind":"opening","currency":"USD","amount":500,"balance":500}` + ",\n" +
	`{"at":"2026-11-03T09:00:02Z","entry":14,"kind":"top_up","currency":"USD","amount":0.000001,"balance":500.000001,"note":"wire \"17\", the second"}` + ",\n" +
	`{"at":"2026-11-03T09:00:03Z","entry":15,"kind":"return","lead_id":"lead_01000000000000000000000000","campaign_id":"cmp_auto","currency":"USD","amount":12.05,"balance":512.050001}`

const bluesCSV = "at,entry,kind,lead_id,campaign_id,currency,amount,balance,note\r\n" +
	"2026-11-03T09:00:00.5Z,12,sale,lead_01000000000000000000000000,cmp_auto,USD,-12.05,,\r\n" +
	"2026-11-03T09:00:01Z,13,opening,,,USD,500,500,\r\n" +
	"2026-11-03T09:00:02Z,14,top_up,,,USD,0.000001,500.000001,\"wire \"\"17\"\", the second\"\r\n" +
	"2026-11-03T09:00:03Z,15,return,lead_01000000000000000000000000,cmp_auto,USD,12.05,512.050001,\r\n"

// TestStatementForms: one statement in all its forms, by the query's word and by
// the Accept header.
func TestStatementForms(t *testing.T) {
	o, closed := newOffice(t)
	address := serveAdmin(t, o)
	lines := bluesFirst + "\n" + strings.ReplaceAll(bluesRest, "},\n", "}\n") + "\n"
	rows := []struct{ query, accept, kind, body string }{
		{"buyer=buy_blue", "", "application/json", bluesJSON},
		{"buyer=buy_blue", "*/*", "application/json", bluesJSON},
		{"buyer=buy_blue&format=json", "text/csv", "application/json", bluesJSON},
		{"buyer=buy_blue&format=ndjson", "", "application/x-ndjson", lines},
		{"buyer=buy_blue", "text/html, application/x-ndjson;q=0.9", "application/x-ndjson", lines},
		{"buyer=buy_blue&format=csv", "", "text/csv; charset=utf-8", bluesCSV},
		{"buyer=buy_blue", "Text/CSV", "text/csv; charset=utf-8", bluesCSV},
	}
	for _, row := range rows {
		status, kind, body := statementOf(t, address, row.query, "Accept: "+row.accept)
		if status != 200 || kind != row.kind || body != row.body {
			t.Errorf("%s (%s): %d %s\n%s\nwant %s\n%s", row.query, row.accept, status, kind, body, row.kind, row.body)
		}
	}
	if n := closed.Load(); n != int64(len(rows)) {
		t.Errorf("%d of %d readings were closed", n, len(rows))
	}
	if !json.Valid([]byte(bluesJSON)) {
		t.Error("that is no JSON")
	}
}

// TestStatementWithoutAnAccount checks that a supplier has no balances, and that a buyer
// without an account has null balances.
func TestStatementWithoutAnAccount(t *testing.T) {
	o, closed := newOffice(t)
	o.sum = func(party ledger.Party, _ ledger.Period) (*ledger.Statement, error) {
		return &ledger.Statement{Party: party, Period: bluesSum.Period, Entries: 1, Totals: bluesSum.Totals[2:3]}, nil
	}
	o.entries = func() StatementEntryIterator { return &booked{blues[:1], io.EOF, closed} }
	address := serveAdmin(t, o)
	_, _, buyers := statementOf(t, address, "buyer=buy_blue")
	_, _, suppliers := statementOf(t, address, "supplier=sup_acme")
	for _, row := range []struct{ body, want, not string }{
		{buyers, `"opening":null,"closing":null,"totals":[{"kind":"sale","campaign_id":"cmp_auto","currency":"USD","in_account":false,`, `"held"`},
		{buyers, `"amount":-12.05,"balance":null}`, `"supplier_id"`},
		{suppliers, `{"supplier_id":"sup_acme",`, `"opening"`},
		{suppliers, `"totals":[{"kind":"sale","campaign_id":"cmp_auto","currency":"USD","count":1,"amount":-12.05}]`, `in_account`},
		{suppliers, `"currency":"USD","amount":-12.05}`, `"balance"`},
	} {
		if !strings.Contains(row.body, row.want) || strings.Contains(row.body, row.not) {
			t.Errorf("no %s, or %s, in\n%s", row.want, row.not, row.body)
		}
	}
}

// TestStatementQueries checks valid and invalid queries.
func TestStatementQueries(t *testing.T) {
	o, _ := newOffice(t)
	var asked ledger.Period
	of := o.sum
	o.sum = func(party ledger.Party, period ledger.Period) (*ledger.Statement, error) {
		asked = period
		return of(party, period)
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
		if status, _, body := statementOf(t, address, query); status != 200 || asked != want {
			t.Errorf("%s: %d, asked for %+v, want %+v: %s", query, status, asked, want, body)
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
		if status, _, body := statementOf(t, address, query); status != 422 || !strings.Contains(body, want) || !strings.Contains(body, `"error":"invalid_payload"`) {
			t.Errorf("%s: %d %s, want 422 with %s", query, status, body, want)
		}
	}
	for _, query := range []string{"buyer=none", "supplier=none", "buyer=sup_acme", "supplier=buy_blue"} {
		if status, _, body := statementOf(t, address, query); status != 404 || !strings.Contains(body, `"error":"not_found"`) {
			t.Errorf("%s: %d %s", query, status, body)
		}
	}
	o.sum = func(ledger.Party, ledger.Period) (*ledger.Statement, error) {
		return nil, fmt.Errorf("cannot add up: %w", &ledger.HistoryTooShortError{HistoryBegins: day(9)})
	}
	if status, _, body := statementOf(t, address, "buyer=buy_blue"); status != 422 || !strings.Contains(body, `"field":"from"`) || !strings.Contains(body, "2026-11-09T00:00:00Z") {
		t.Errorf("past history: %d %s", status, body)
	}
	o.sum = func(ledger.Party, ledger.Period) (*ledger.Statement, error) {
		return nil, errors.New("the disk says no")
	}
	if status, _, body := statementOf(t, address, "buyer=buy_blue"); status != 503 || !strings.Contains(body, "the disk says no") {
		t.Errorf("a log that cannot be read: %d %s", status, body)
	}
	o.sum = of
	if status, _, body := statementOf(t, address, "buyer=buy_blue"); status != 200 {
		t.Errorf("after as many that failed as may be read at once: %d %s", status, body)
	}
	o.engine = nil
	if status, _, _ := statementOf(t, address, "buyer=buy_blue"); status != 503 {
		t.Errorf("without an engine: %d", status)
	}
}

// endless are entries without an end, or until they fail.
type endless struct {
	left   int
	end    error
	closed chan struct{}
}

func (e *endless) Next() (*ledger.Entry, error) {
	if e.left--; e.left < 0 {
		return nil, e.end
	}
	return &bought, nil
}

func (e *endless) Close() { e.closed <- struct{}{} }

// TestStatementBreaksOff: where the log cannot be read on, the connection ends
// without the answer's end, in every form.
func TestStatementBreaksOff(t *testing.T) {
	o, _ := newOffice(t)
	closed := make(chan struct{}, 10)
	o.entries = func() StatementEntryIterator { return &endless{1000, errors.New("the disk says no"), closed} }
	address := serveAdmin(t, o)
	for _, form := range []string{"json", "ndjson", "csv"} {
		response, _ := askStatement(t, address, "buyer=buy_blue&format="+form)
		text, err := io.ReadAll(response.Body)
		response.Body.Close()
		if !errors.Is(err, io.ErrUnexpectedEOF) || len(text) == 0 {
			t.Errorf("%s: %v after %d bytes", form, err, len(text))
		}
		<-closed
	}
	o.entries = func() StatementEntryIterator { return &endless{0, io.EOF, closed} }
	if status, _, _ := statementOf(t, address, "buyer=buy_blue"); status != 200 {
		t.Errorf("after those: %d", status)
	}
}

// TestStatementGoesAsItIsRead checks that an endless statement is sent while it is read,
// that reading stops when the client leaves, and the limit of concurrent statements.
func TestStatementGoesAsItIsRead(t *testing.T) {
	o, _ := newOffice(t)
	closed := make(chan struct{}, 10)
	o.entries = func() StatementEntryIterator { return &endless{1 << 40, io.EOF, closed} }
	address := serveAdmin(t, o)
	var open []*servertest.Conn
	for range maxStatements {
		_, conn := askStatement(t, address, "buyer=buy_blue") //nolint:bodyclose // it has no end; its connection is closed
		must.Value(io.CopyN(io.Discard, conn.Answer, 4<<20))(t)
		open = append(open, conn)
	}
	status, _, body := statementOf(t, address, "buyer=buy_blue")
	if status != 503 || !strings.Contains(body, `"error":"unavailable"`) {
		t.Errorf("one too many: %d %s", status, body)
	}
	if status, _, _ := statementOf(t, address, "buyer=none"); status != 404 {
		t.Errorf("what is nobody's while others are read: %d", status)
	}
	for _, conn := range open {
		conn.Close()
		<-closed
	}
	o.entries = func() StatementEntryIterator { return &endless{1, io.EOF, closed} }
	if status, _, body := statementOf(t, address, "buyer=buy_blue"); status != 200 {
		t.Errorf("after them: %d %s", status, body)
	}
}

// slow is a connection that takes a little at a time.
type slow struct {
	net.Conn
	deadlines int
}

func (s *slow) SetWriteDeadline(at time.Time) error {
	if time.Until(at) > slowest {
		s.deadlines++
	}
	return nil
}

// TestStatementTakesItsTime: as long as it moves, a statement may take longer than
// any other answer.
func TestStatementTakesItsTime(t *testing.T) {
	conn := new(slow)
	list := &booked{blues, io.EOF, new(atomic.Int64)}
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
		t.Errorf("%d pieces, and %d times more time", reads, conn.deadlines)
	}
}
