// Package statement reads account statements of buyers and suppliers from the log.
//
// ledger.StatementBuilder adds up the entries; this package finds them, reads them at a throttled
// rate, and stops when the exchange stops.
package statement

import (
	"errors"
	"fmt"
	"io"
	"sync/atomic"
	"time"

	"pingpost/engine/ledger"
	"pingpost/engine/market"
	"pingpost/engine/market/calendar"
	"pingpost/engine/state"
	"pingpost/internal/throttle"
	"pingpost/wal"
)

// Reader computes account statements of buyers and suppliers from one exchange's log.
type Reader struct {
	Options
	chunk int64 // bytes between two pauses
}

// Options are the parts of an exchange from which a Reader computes statements.
type Options struct {
	Log   *wal.Log
	State *state.State
	Now   func() int64   // Unix nanoseconds
	Zone  *time.Location // of months; nil: UTC
	Stop  *atomic.Bool   // set when the exchange stops; ends a read
}

// NewReader returns a reader of the statements of one log. It reads nothing yet.
func NewReader(opt Options) *Reader {
	if opt.Zone == nil {
		opt.Zone = time.UTC
	}
	return &Reader{opt, throttle.ScanChunk}
}

// Statement adds up a buyer's or supplier's money in a period. A zero From or To means the bounds of a
// month: without both, of the current one (see fillOpenEndsWithMonth). The error is a
// *ledger.HistoryTooShortError if the log does not go back to the period's start.
//
// It takes the current balance and reads the log from the period's start to the entry at which
// that balance is valid. So one day of last month costs as much as everything since. It holds
// no lock while it reads.
func (r *Reader) Statement(party ledger.Party, period ledger.Period) (*ledger.Statement, error) {
	var buyer market.PermanentNumber // zero for a supplier: only the position counts
	if party.IsBuyer() {
		buyer = party.Ref
	}
	period = fillOpenEndsWithMonth(period, r.Now(), r.Zone)
	live := r.State.AppliedBuyerFunds(buyer)
	tally := ledger.NewStatementBuilder(party, period, live)
	events, err := r.newEventScan(period.From, live.Seq)
	if err != nil {
		return nil, err
	}
	defer events.close()
	for {
		seq, at, ev, err := events.next()
		if errors.Is(err, io.EOF) {
			return tally.BuildStatement(), nil
		}
		if err != nil {
			return nil, fmt.Errorf("cannot add up a statement: %w", err)
		}
		tally.AddEvent(seq, at, ev)
	}
}

// IterateEntries returns an iterator over the single entries of a statement, which it reads from the
// log again. The caller closes it.
func (r *Reader) IterateEntries(s *ledger.Statement) (*EntryIterator, error) {
	events, err := r.newEventScan(s.From, s.Seq)
	if err != nil {
		return nil, err
	}
	return &EntryIterator{events: events, lines: s.NewEntryBuilder(), until: s.To}, nil
}

// fillOpenEndsWithMonth replaces a zero From by the beginning of To's month, or of the current month if
// To is zero too. A To at a month's beginning belongs to the month before. It replaces a zero To by the
// end of the current month, or of From's month if From is later. nowNanos is the current time; months
// are those of the zone.
func fillOpenEndsWithMonth(period ledger.Period, nowNanos int64, zone *time.Location) ledger.Period {
	if period.From == 0 {
		last := nowNanos
		if period.To != 0 {
			last = period.To - 1
		}
		period.From, _ = calendar.Month.WindowContaining(last, zone)
	}
	if period.To == 0 {
		_, period.To = calendar.Month.WindowContaining(max(nowNanos, period.From), zone)
	}
	return period
}

// EntryIterator iterates over the entries of a statement while it reads the log.
type EntryIterator struct {
	events  *eventScan
	lines   *ledger.StatementEntryBuilder
	until   int64
	pending []ledger.Entry // of the last event, not yet returned
}

// Next returns the next entry of the statement. It is valid until the following call. After the last
// entry the error is io.EOF. It is a *ledger.HistoryTooShortError if the log begins too late, and
// throttle.ErrStopped if the exchange stops.
func (e *EntryIterator) Next() (*ledger.Entry, error) {
	for len(e.pending) == 0 {
		seq, at, ev, err := e.events.next()
		if err != nil {
			return nil, err
		}
		if at >= e.until {
			return nil, io.EOF
		}
		e.pending = e.lines.AddEventAndListEntries(seq, at, ev)
	}
	next := &e.pending[0]
	e.pending = e.pending[1:]
	return next, nil
}

// Close closes the log files that the iterator reads.
func (e *EntryIterator) Close() { e.events.close() }
