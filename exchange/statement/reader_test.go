package statement

import (
	"errors"
	"io"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"pingpost/engine/event"
	"pingpost/engine/ledger"
	"pingpost/exchange/logtest"
	"pingpost/internal/must"
	"pingpost/internal/throttle"
	"pingpost/wal"
)

var (
	buyer1   = ledger.Party{Kind: event.ObjectBuyer, Ref: 1}
	supplier = ledger.Party{Kind: event.ObjectSupplier, Ref: 1}
)

// newReader returns a reader with chunks of 1 KiB, so that it pauses often.
func newReader(log *logtest.Log) *Reader {
	r := NewReader(Options{Log: log.Log, State: log.State, Now: func() int64 { return log.Now }, Stop: new(atomic.Bool)})
	r.chunk = 1 << 10
	return r
}

// readStatement returns a statement, and its entries as one line.
func readStatement(t *testing.T, log *logtest.Log, party ledger.Party, from, to int64) (s *ledger.Statement, words string, err error) {
	t.Helper()
	s, err = newReader(log).Statement(party, ledger.Period{From: from, To: to})
	if err != nil {
		return nil, "", err
	}
	list, err := newReader(log).IterateEntries(s)
	if err != nil {
		return nil, "", err
	}
	defer list.Close()
	var all []string
	for {
		e, err := list.Next()
		if errors.Is(err, io.EOF) {
			if len(all) != s.Entries {
				t.Errorf("%d entries are listed, %d counted", len(all), s.Entries)
			}
			return s, strings.Join(all, ", "), nil
		}
		if err != nil {
			return nil, "", err
		}
		all = append(all, e.Kind.String()+" "+e.Amount.String())
	}
}

// TestStatementOverSegments: each day's opening balance is the closing balance of the day
// before, over many segments and in the archive. Later events do not count.
func TestStatementOverSegments(t *testing.T) {
	log := logtest.New(t)
	log.Add(&event.BuyerFundsAdjusted{Buyer: 1, Amount: 1000_000_000, Opening: true})
	begin := log.Now
	const days = 20
	for n := range byte(days) {
		log.AdvanceClock(12 * time.Hour)
		log.AddUnsoldLeads(20)
		id := log.NewLeadID(n)
		log.AddLeadPostedToBuyer1(id)
		log.AdvanceClock(12 * time.Hour)
		log.AddPostResult(id, event.SettledDelivered, func(s *event.PostSettled) {
			if n%2 == 0 {
				s.Supplier = 1
			} // otherwise as in an early log version
		})
	}
	check := func(from int64) {
		t.Helper()
		var last ledger.BalanceAndHeld
		for day := range int64(days) {
			at := begin + 1 + day*int64(24*time.Hour)
			if at < from {
				continue
			}
			s, words, err := readStatement(t, log, buyer1, at, at+int64(24*time.Hour))
			if err != nil || words != "sale -12.5" || s.Opening.Balance-s.Closing.Balance != 12_500_000 || s.Opening.Held != 0 || day > 0 && at > from+int64(24*time.Hour) && s.Opening != last {
				t.Fatalf("day %d: %s %+v %v", day, words, s, err)
			}
			last = s.Closing
			if _, words, err := readStatement(t, log, supplier, at, at+int64(24*time.Hour)); err != nil || words != "sale 10" {
				t.Fatalf("day %d of the supplier: %s %v", day, words, err)
			}
		}
		if live := log.State.AppliedBuyerFunds(1); last != (ledger.BalanceAndHeld{Balance: live.Balance}) {
			t.Errorf("last closing balance is %+v, the account has %+v", last, live)
		}
	}
	check(0)
	log.ArchiveSegmentsAndWait()
	check(0)
	// At noon of the third day a post is open.
	noon := begin + int64(2*24*time.Hour) + int64(18*time.Hour)
	if s, _, err := readStatement(t, log, buyer1, begin, noon); err != nil || s.Closing != (ledger.BalanceAndHeld{Balance: 975_000_000, Held: 12_500_000}) {
		t.Errorf("%+v %v", s, err)
	}
	keep := begin + int64(10*24*time.Hour)
	log.RaiseArchiveAndDeletionLimits(log.Seq, keep)
	logtest.WaitUntil(t, "the history has been removed", func() bool { _, err := log.EntryAt(2); return errors.Is(err, wal.ErrGone) })
	check(keep)
	for _, party := range []ledger.Party{buyer1, supplier} {
		_, _, err := readStatement(t, log, party, begin, noon)
		var past *ledger.HistoryTooShortError
		if !errors.As(err, &past) || past.HistoryBegins <= begin || past.HistoryBegins > keep || !strings.Contains(err.Error(), "history begins at 20") {
			t.Errorf("period before the history: %v", err)
		}
	}
}

// TestStatementStopsAndEndsAtItsPosition: a read ends with ErrStopped when the exchange stops, and
// the entries end at the position of the statement.
func TestStatementStopsAndEndsAtItsPosition(t *testing.T) {
	log := logtest.New(t)
	reader := newReader(log)
	log.AddUnsoldLeads(40)
	reader.Stop.Store(true)
	if _, err := reader.Statement(buyer1, ledger.Period{}); !errors.Is(err, throttle.ErrStopped) {
		t.Errorf("during a stop: got %v, want ErrStopped", err)
	}
	// The entries end where the statement was read.
	log.Add(&event.BuyerFundsAdjusted{Buyer: 1, Amount: 1, Opening: true})
	s := must.Value(newReader(log).Statement(buyer1, ledger.Period{}))(t)
	log.Add(&event.BuyerFundsAdjusted{Buyer: 1, Amount: 2})
	list := must.Value(newReader(log).IterateEntries(s))(t)
	defer list.Close()
	if e, err := list.Next(); err != nil || e.Amount != 1 || e.Balance != 1 {
		t.Errorf("%+v %v", e, err)
	}
	if e, err := list.Next(); !errors.Is(err, io.EOF) {
		t.Errorf("%+v %v", e, err)
	}
}

// TestOpenPeriodIsFilledWithMonth: the open ends of a period.
func TestOpenPeriodIsFilledWithMonth(t *testing.T) {
	at := func(text string) int64 {
		if text == "" {
			return 0
		}
		when := must.Value(time.Parse(time.DateTime, text))(t)
		return when.UnixNano()
	}
	const now = "2026-12-31 23:59:59"
	for _, row := range [][4]string{
		{"", "", "2026-12-01 00:00:00", "2027-01-01 00:00:00"},
		{"2026-11-03 10:00:00", "", "2026-11-03 10:00:00", "2027-01-01 00:00:00"},
		{"", "2026-11-03 10:00:00", "2026-11-01 00:00:00", "2026-11-03 10:00:00"},
		{"", "2026-11-01 00:00:00", "2026-10-01 00:00:00", "2026-11-01 00:00:00"},
		{"2026-01-02 00:00:00", "2026-11-03 10:00:00", "2026-01-02 00:00:00", "2026-11-03 10:00:00"},
		{"2028-02-29 10:00:00", "", "2028-02-29 10:00:00", "2028-03-01 00:00:00"},
	} {
		got := fillOpenEndsWithMonth(ledger.Period{From: at(row[0]), To: at(row[1])}, at(now), time.UTC)
		if want := (ledger.Period{From: at(row[2]), To: at(row[3])}); got != want {
			t.Errorf("%q: %+v, want %+v", row, got, want)
		}
	}
	newYork := must.Value(time.LoadLocation("America/New_York"))(t)
	if got, want := fillOpenEndsWithMonth(ledger.Period{}, at("2026-12-01 03:00:00"), newYork), (ledger.Period{From: at("2026-11-01 04:00:00"), To: at("2026-12-01 05:00:00")}); got != want {
		t.Errorf("in New York: %+v, want %+v", got, want)
	}
}
