package exchange

import (
	"errors"
	"io"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"pingpost/engine"
	"pingpost/engine/event"
	"pingpost/wal"
)

var (
	buyerOne = engine.Party{Kind: event.NameBuyer, Ref: 1}
	supplier = engine.Party{Kind: event.NameSupplier, Ref: 1}
)

func (c *chronicle) books() *bookkeeper {
	return &bookkeeper{log: c.log, state: c.state, now: func() int64 { return c.now }, stops: new(atomic.Bool), piece: 1 << 10}
}

// listed is a statement, and its entries in a word each.
func (c *chronicle) listed(party engine.Party, from, to int64) (s *engine.Statement, words string, err error) {
	c.t.Helper()
	s, err = c.books().statement(party, engine.Period{From: from, To: to})
	if err != nil {
		return nil, "", err
	}
	list, err := c.books().entries(s)
	if err != nil {
		return nil, "", err
	}
	defer list.Close()
	var all []string
	for {
		e, err := list.Next()
		if errors.Is(err, io.EOF) {
			if len(all) != s.Entries {
				c.t.Errorf("%d entries are listed, %d counted", len(all), s.Entries)
			}
			return s, strings.Join(all, ", "), nil
		}
		if err != nil {
			return nil, "", err
		}
		all = append(all, e.Kind.String()+" "+e.Amount.String())
	}
}

// TestStatementOverSegments: the days of a month, in many segments and in the
// archive, each begin where the one before ended; what comes after a day is no part
// of it.
func TestStatementOverSegments(t *testing.T) {
	c := newChronicle(t)
	c.add(&event.FundsMoved{Buyer: 1, Amount: 1000_000_000, Opening: true})
	begin := c.now
	const days = 20
	for n := range byte(days) {
		c.later(12 * time.Hour)
		c.among(20)
		id := c.draw(n)
		c.posted(id)
		c.later(12 * time.Hour)
		c.settled(id, event.SettledDelivered, func(s *event.PostSettled) {
			if n%2 == 0 {
				s.Supplier = 1
			} // else as an earlier program wrote it
		})
	}
	check := func(from int64) {
		t.Helper()
		var last engine.Standing
		for day := range int64(days) {
			at := begin + 1 + day*int64(24*time.Hour)
			if at < from {
				continue
			}
			s, words, err := c.listed(buyerOne, at, at+int64(24*time.Hour))
			if err != nil || words != "sale -12.5" || s.Opening.Balance-s.Closing.Balance != 12_500_000 || s.Opening.Held != 0 || day > 0 && at > from+int64(24*time.Hour) && s.Opening != last {
				t.Fatalf("day %d: %s %+v %v", day, words, s, err)
			}
			last = s.Closing
			if _, words, err := c.listed(supplier, at, at+int64(24*time.Hour)); err != nil || words != "sale 10" {
				t.Fatalf("day %d of the supplier: %s %v", day, words, err)
			}
		}
		if live := c.state.Account(1); last != (engine.Standing{Balance: live.Balance}) {
			t.Errorf("the last day ends with %+v, and there is %+v", last, live)
		}
	}
	check(0)
	c.archived()
	check(0)
	// At noon of the third day a post is open.
	noon := begin + int64(2*24*time.Hour) + int64(18*time.Hour)
	if s, _, err := c.listed(buyerOne, begin, noon); err != nil || s.Closing != (engine.Standing{Balance: 975_000_000, Held: 12_500_000}) {
		t.Errorf("%+v %v", s, err)
	}
	keep := begin + int64(10*24*time.Hour)
	c.log.Archive(c.seq, keep)
	eventually(t, "history has gone", func() bool { _, err := c.log.At(2); return errors.Is(err, wal.ErrGone) })
	check(keep)
	for _, party := range []engine.Party{buyerOne, supplier} {
		_, _, err := c.listed(party, begin, noon)
		var past *engine.PastHistory
		if !errors.As(err, &past) || past.Begins <= begin || past.Begins > keep || !strings.Contains(err.Error(), "history begins at 20") {
			t.Errorf("of a time that history has not: %v", err)
		}
	}
}

// TestStatementEnds: at its end, in the middle where the exchange stops, and where
// nothing was ever logged.
func TestStatementEnds(t *testing.T) {
	c := newChronicle(t)
	books := c.books()
	c.among(40)
	books.stops.Store(true)
	if _, err := books.statement(buyerOne, engine.Period{}); !errors.Is(err, errStopped) {
		t.Errorf("while it stops: %v", err)
	}
	// A statement that was begun lists what was there then.
	c.add(&event.FundsMoved{Buyer: 1, Amount: 1, Opening: true})
	s, err := c.books().statement(buyerOne, engine.Period{})
	if err != nil {
		t.Fatal(err)
	}
	c.add(&event.FundsMoved{Buyer: 1, Amount: 2})
	list, err := c.books().entries(s)
	if err != nil {
		t.Fatal(err)
	}
	defer list.Close()
	if e, err := list.Next(); err != nil || e.Amount != 1 || e.Balance != 1 {
		t.Errorf("%+v %v", e, err)
	}
	if e, err := list.Next(); !errors.Is(err, io.EOF) {
		t.Errorf("%+v %v", e, err)
	}
}

// TestRunningMonth: what a period leaves open.
func TestRunningMonth(t *testing.T) {
	at := func(text string) int64 {
		if text == "" {
			return 0
		}
		when, err := time.Parse(time.DateTime, text)
		if err != nil {
			t.Fatal(err)
		}
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
		got := runningMonth(engine.Period{From: at(row[0]), To: at(row[1])}, at(now))
		if want := (engine.Period{From: at(row[2]), To: at(row[3])}); got != want {
			t.Errorf("%q: %+v, want %+v", row, got, want)
		}
	}
}
