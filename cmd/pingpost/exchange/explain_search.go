package exchange

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"time"

	"pingpost/engine"
	"pingpost/engine/event"
	"pingpost/wal"
)

// entry is one fact out of the log, with what it refers to.
type entry struct {
	seq  uint64
	at   int64 // when it was durable, Unix nanoseconds
	fact event.Event
}

func (f *entry) lead() *event.LeadDecided {
	decided, ok := f.fact.(*event.LeadDecided)
	if !ok {
		panic("BUG: an entry was taken for a lead's, and is " + f.fact.Kind().String())
	}
	return decided
}

func (f *entry) held() *event.AuctionHeld {
	held, ok := f.fact.(*event.AuctionHeld)
	if !ok {
		panic("BUG: an entry was taken for an auction's, and is " + f.fact.Kind().String())
	}
	return held
}

// factOf reads an entry into memory of its own.
func factOf(found *wal.Entry) (*entry, error) {
	fact, err := new(event.Decoder).Decode(bytes.Clone(found.Data))
	if err != nil {
		return nil, fmt.Errorf("cannot read entry %d of the log: %w", found.Seq, err)
	}
	return &entry{seq: found.Seq, at: found.At, fact: fact}, nil
}

func isGone(err error) bool {
	return errors.Is(err, wal.ErrGone) || errors.Is(err, engine.ErrNotFound)
}

// at reads one entry.
func (e *explainer) at(seq uint64) (*entry, error) {
	found, err := e.log.At(seq)
	if errors.Is(err, wal.ErrGone) {
		return nil, notFound("the log's history no longer holds it")
	}
	if err != nil {
		return nil, err
	}
	return factOf(&found)
}

// search finds the fact that an identifier was drawn for; else the error says what
// is not there.
func (e *explainer) search(id [16]byte, none string, is func(event.Event) bool) (found *entry, err error) {
	drawn := drawnAt(id)
	truncated, err := e.each(id[:], nil, drawn-int64(e.reach.before), drawn+int64(e.reach.after), func(has *entry) bool {
		if is(has.fact) {
			found = has
		}
		return found == nil
	})
	switch {
	case err != nil:
		return nil, err
	case found != nil:
		return found, nil
	case truncated:
		return nil, notFound("it is not among what the log holds first of its time, and the search ends there")
	}
	return nil, notFound(none)
}

// drawnAt is an identifier's time in Unix nanoseconds.
func drawnAt(id [16]byte) int64 {
	var milliseconds int64
	for _, b := range id[:6] {
		milliseconds = milliseconds<<8 | int64(b)
	}
	return milliseconds * int64(time.Millisecond)
}

// forEver is the end of a search that goes on to the log's.
const forEver = math.MaxInt64

// each takes every entry of a time that has these bytes somewhere, or the other ones
// where there are any, in the log's order, until take has enough. truncated says that
// it ended before the time did.
func (e *explainer) each(mark, or []byte, from, until int64, take func(*entry) bool) (truncated bool, err error) {
	reader, err := e.log.ReadSince(from)
	if err != nil {
		return false, fmt.Errorf("cannot search the log: %w", err)
	}
	defer reader.Close()
	end, err := e.read(reader, marks{mark, or}, from, func() int64 { return until }, take)
	return end == endOfReach, err
}

// end is why a search ended.
type end uint8

const (
	endOfLog   end = iota
	endOfTime      // what follows is later
	endOfReach     // more was not to be read
	endEnough      // what was wanted is found
)

func (e *explainer) read(reader *wal.Reader, of marks, from int64, until func() int64, take func(*entry) bool) (end, error) {
	for n := 0; ; n++ {
		next, err := reader.Next()
		switch {
		case errors.Is(err, io.EOF):
			return endOfLog, nil
		case err != nil:
			return endOfLog, fmt.Errorf("cannot search the log: %w", err)
		case next.At > until():
			return endOfTime, nil
		case n >= e.reach.entries || reader.Bytes() > e.reach.bytes:
			return endOfReach, nil
		case next.At < from || !of.in(next.Data):
			continue
		}
		found, err := factOf(&next)
		if err != nil {
			return endOfLog, err
		}
		if !take(found) {
			return endEnough, nil
		}
	}
}

// marks are bytes of which an entry has one or the other; the second may be none.
type marks [2][]byte

func (m *marks) in(data []byte) bool {
	return bytes.Contains(data, m[0]) || len(m[1]) > 0 && bytes.Contains(data, m[1])
}
