package exchange

import (
	"errors"
	"fmt"
	"io"
	"sync/atomic"
	"time"

	"pingpost/engine"
	"pingpost/engine/market"
	"pingpost/engine/state"
	"pingpost/server"
	"pingpost/wal"
)

// bookkeeper reads statements from the log.
type bookkeeper struct {
	log   *wal.Log
	state *state.State
	now   func() int64
	stops *atomic.Bool // once the exchange does
	piece int64        // bytes that are read between two rests
}

// Statement adds up a party's money in a period. Where From or To is zero it is
// the running month's beginning or end. The error is a *engine.PastHistory where
// the log does not go back so far.
func (x *Exchange) Statement(party engine.Party, period engine.Period) (*engine.Statement, error) {
	if err := x.Ready(); err != nil {
		return nil, err
	}
	return x.bookkeeper().statement(party, period)
}

// Entries lists a statement's entries, read from the log one after the other.
func (x *Exchange) Entries(s *engine.Statement) (server.Entries, error) {
	return x.bookkeeper().entries(s)
}

func (x *Exchange) bookkeeper() *bookkeeper {
	return &bookkeeper{log: x.log, state: x.state, now: x.clock.Now, stops: &x.draining, piece: usualPiece}
}

// statement looks at the live balance and reads all that came since the period
// began up to there, so a day of a month ago costs as much as the whole month.
// Nothing is held while it reads.
func (b *bookkeeper) statement(party engine.Party, period engine.Period) (*engine.Statement, error) {
	var buyer market.Ref // none, for a supplier: only the position counts
	if party.Buys() {
		buyer = party.Ref
	}
	period = runningMonth(period, b.now())
	live := b.state.Account(buyer)
	tally := engine.NewTally(party, period, live)
	read, err := b.read(period.From, live.Seq)
	if err != nil {
		return nil, err
	}
	defer read.close()
	for {
		seq, at, fact, err := read.next()
		if errors.Is(err, io.EOF) {
			return tally.Statement(), nil
		}
		if err != nil {
			return nil, fmt.Errorf("cannot add up a statement: %w", err)
		}
		tally.Add(seq, at, fact)
	}
}

func (b *bookkeeper) entries(s *engine.Statement) (*entries, error) {
	read, err := b.read(s.From, s.Seq)
	if err != nil {
		return nil, err
	}
	return &entries{read: read, lines: s.Lines(), until: s.To}, nil
}

// runningMonth fills in what a period leaves open with the running month. What ends at
// the beginning of a month begins with the month before.
func runningMonth(period engine.Period, now int64) engine.Period {
	if period.From == 0 {
		last := now
		if period.To != 0 {
			last = period.To - 1
		}
		period.From, _ = monthOf(last)
	}
	if period.To == 0 {
		_, period.To = monthOf(max(now, period.From))
	}
	return period
}

func monthOf(at int64) (from, to int64) {
	year, month, _ := time.Unix(0, at).UTC().Date()
	first := time.Date(year, month, 1, 0, 0, 0, 0, time.UTC)
	return first.UnixNano(), first.AddDate(0, 1, 0).UnixNano()
}

// entries are a statement's, and the part of one fact's that is still to be told.
type entries struct {
	read  *moneyReader
	lines *engine.Lines
	until int64
	of    []engine.Entry
}

// Next is the next entry, good until the call after it; io.EOF follows the last.
func (e *entries) Next() (*engine.Entry, error) {
	for len(e.of) == 0 {
		seq, at, fact, err := e.read.next()
		if err != nil {
			return nil, err
		}
		if at >= e.until {
			return nil, io.EOF
		}
		e.of = e.lines.Of(seq, at, fact)
	}
	next := &e.of[0]
	e.of = e.of[1:]
	return next, nil
}

// Close ends the reading.
func (e *entries) Close() { e.read.close() }
