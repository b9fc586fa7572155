package explain

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
	seq   uint64
	at    int64 // when it was durable, Unix nanoseconds
	event event.Event
}

func (e *entry) lead() *event.LeadDecided {
	decided, ok := e.event.(*event.LeadDecided)
	if !ok {
		panic("BUG: an entry was taken for a lead's, and is " + e.event.Kind().String())
	}
	return decided
}

func (e *entry) held() *event.AuctionHeld {
	held, ok := e.event.(*event.AuctionHeld)
	if !ok {
		panic("BUG: an entry was taken for an auction's, and is " + e.event.Kind().String())
	}
	return held
}

// factOf reads an entry into memory of its own.
func decodeEntry(found *wal.Entry) (*entry, error) {
	ev, err := new(event.Decoder).Decode(bytes.Clone(found.Data))
	if err != nil {
		return nil, fmt.Errorf("cannot read entry %d of the log: %w", found.Seq, err)
	}
	return &entry{seq: found.Seq, at: found.At, event: ev}, nil
}

func isMissing(err error) bool {
	return errors.Is(err, wal.ErrGone) || errors.Is(err, engine.ErrNotFound)
}

// at reads one entry.
func (e *Explainer) readEntry(seq uint64) (*entry, error) {
	found, err := e.log.EntryAt(seq)
	if errors.Is(err, wal.ErrGone) {
		return nil, notFound("the log's history no longer holds it")
	}
	if err != nil {
		return nil, err
	}
	return decodeEntry(&found)
}

// search finds the fact that an identifier was drawn for; else the error says what
// is not there.
func (e *Explainer) findByID(id [16]byte, none string, is func(event.Event) bool) (found *entry, err error) {
	drawn := idTime(id)
	truncated, err := e.scan(id[:], nil, drawn-int64(e.limits.before), drawn+int64(e.limits.after), func(has *entry) bool {
		if is(has.event) {
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
func idTime(id [16]byte) int64 {
	var milliseconds int64
	for _, b := range id[:6] {
		milliseconds = milliseconds<<8 | int64(b)
	}
	return milliseconds * int64(time.Millisecond)
}

// forEver is the end of a search that goes on to the log's.
const noTimeLimit = math.MaxInt64

// each takes every entry of a time that has these bytes somewhere, or the other ones
// where there are any, in the log's order, until take has enough. truncated says that
// it ended before the time did.
func (e *Explainer) scan(mark, or []byte, from, until int64, take func(*entry) bool) (truncated bool, err error) {
	reader, err := e.log.NewReaderSince(from)
	if err != nil {
		return false, fmt.Errorf("cannot search the log: %w", err)
	}
	defer reader.Close()
	end, err := e.scanFrom(reader, patterns{mark, or}, from, func() int64 { return until }, take)
	return end == endOfLimits, err
}

// end is why a search ended.
type end uint8

const (
	endOfLog    end = iota
	endOfTime       // what follows is later
	endOfLimits     // more was not to be read
	endFound        // what was wanted is found
)

func (e *Explainer) scanFrom(reader *wal.Reader, of patterns, from int64, until func() int64, take func(*entry) bool) (end, error) {
	for n := 0; ; n++ {
		next, err := reader.Next()
		switch {
		case errors.Is(err, io.EOF):
			return endOfLog, nil
		case err != nil:
			return endOfLog, fmt.Errorf("cannot search the log: %w", err)
		case next.At > until():
			return endOfTime, nil
		case n >= e.limits.entries || reader.Bytes() > e.limits.bytes:
			return endOfLimits, nil
		case next.At < from || !of.in(next.Data):
			continue
		}
		found, err := decodeEntry(&next)
		if err != nil {
			return endOfLog, err
		}
		if !take(found) {
			return endFound, nil
		}
	}
}

// marks are bytes of which an entry has one or the other; the second may be none.
type patterns [2][]byte

func (m *patterns) in(data []byte) bool {
	return bytes.Contains(data, m[0]) || len(m[1]) > 0 && bytes.Contains(data, m[1])
}
