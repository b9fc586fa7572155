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

// logEntry is one decoded record of the log.
type logEntry struct {
	seq   uint64
	at    int64 // when it became durable, Unix nanoseconds
	event event.Event
}

func (e *logEntry) mustBeLeadDecided() *event.LeadDecided {
	decided, ok := e.event.(*event.LeadDecided)
	if !ok {
		panic("BUG: explain expected a lead's decision in the log and found " + e.event.Kind().String())
	}
	return decided
}

func (e *logEntry) mustBePingAuction() *event.PingAuctionCompleted {
	auction, ok := e.event.(*event.PingAuctionCompleted)
	if !ok {
		panic("BUG: explain expected an auction in the log and found " + e.event.Kind().String())
	}
	return auction
}

// decodeCopyOfEntry decodes a log entry into an event that stays valid. It decodes a copy of the
// data, because the event refers to the data and the log's reader reuses its buffer.
func decodeCopyOfEntry(found *wal.Entry) (*logEntry, error) {
	ev, err := new(event.Decoder).Decode(bytes.Clone(found.Data))
	if err != nil {
		return nil, fmt.Errorf("explain: cannot decode entry %d of the log: %w", found.Seq, err)
	}
	return &logEntry{seq: found.Seq, at: found.At, event: ev}, nil
}

func isNotInLogError(err error) bool {
	return errors.Is(err, wal.ErrGone) || errors.Is(err, engine.ErrNotFound)
}

// readEntry reads the log entry with the sequence number seq. If the log has removed the entry
// because of its age, the error is engine.ErrNotFound.
func (e *Explainer) readEntry(seq uint64) (*logEntry, error) {
	found, err := e.Log.EntryAt(seq)
	if errors.Is(err, wal.ErrGone) {
		return nil, notFoundError("the log no longer has the entry of this lead or auction, because it is older than the kept history")
	}
	if err != nil {
		return nil, err
	}
	return decodeCopyOfEntry(&found)
}

// findEventByID searches the log, around the time that the id contains, for the first event for which
// matches returns true. If the log has no such event, the error is engine.ErrNotFound with the text
// notFoundText. If searchLimits end the search, the text says so instead.
func (e *Explainer) findEventByID(id [16]byte, notFoundText string, matches func(event.Event) bool) (found *logEntry, err error) {
	created := creationNanosOfID(id)
	truncated, err := e.scanEntriesContaining(id[:], nil, created-int64(e.limits.before), created+int64(e.limits.after), func(candidate *logEntry) bool {
		if matches(candidate.event) {
			found = candidate
		}
		return found == nil
	})
	switch {
	case err != nil:
		return nil, err
	case found != nil:
		return found, nil
	case truncated:
		return nil, notFoundError("the search of the log ended at its limit before it found the entry with this id; the entry may exist")
	}
	return nil, notFoundError(notFoundText)
}

// creationNanosOfID returns the time at which an id was generated, in Unix nanoseconds. Every id of the
// exchange begins with this time.
func creationNanosOfID(id [16]byte) int64 {
	var milliseconds int64
	for _, b := range id[:6] {
		milliseconds = milliseconds<<8 | int64(b)
	}
	return milliseconds * int64(time.Millisecond)
}

// noTimeLimit is the end time of a search that may read to the end of the log.
const noTimeLimit = math.MaxInt64

// scanEntriesContaining calls visit with every log entry between the times fromNanos and untilNanos
// that contains one of two byte patterns. It keeps the log's order and ends when visit returns
// false. An empty alternativePattern matches no entry. truncated reports that a limit ended the
// search early.
func (e *Explainer) scanEntriesContaining(pattern, alternativePattern []byte, fromNanos, untilNanos int64, visit func(*logEntry) (more bool)) (truncated bool, err error) {
	reader, err := e.Log.NewReaderFromSegmentBefore(fromNanos)
	if err != nil {
		return false, fmt.Errorf("explain: cannot search the log: %w", err)
	}
	defer reader.Close()
	end, err := e.scanReaderForPatterns(reader, entrySearchPatterns{pattern, alternativePattern}, fromNanos, func() int64 { return untilNanos }, visit)
	return end == endAtLimit, err
}

// scanEndReason is the reason why a search of the log ended.
type scanEndReason uint8

const (
	endOfLog   scanEndReason = iota
	endOfTime                // the next entries are later than the search's end time
	endAtLimit               // the search read as much as searchLimits allow
	endByVisit               // visit returned false
)

// scanReaderForPatterns calls visit with every entry from the reader's position on that contains
// one of the wanted patterns. Entries before the time fromNanos are skipped. It asks untilNanos for
// the end time before each entry, because visit may change it. The result says why it ended.
func (e *Explainer) scanReaderForPatterns(reader *wal.Reader, wanted entrySearchPatterns, fromNanos int64, untilNanos func() int64, visit func(*logEntry) bool) (scanEndReason, error) {
	for n := 0; ; n++ {
		next, err := reader.Next()
		switch {
		case errors.Is(err, io.EOF):
			return endOfLog, nil
		case err != nil:
			return endOfLog, fmt.Errorf("explain: cannot search the log: %w", err)
		case next.At > untilNanos():
			return endOfTime, nil
		case n >= e.limits.entries || reader.RecordBytesRead() > e.limits.bytes:
			return endAtLimit, nil
		case next.At < fromNanos || !wanted.anyContainedIn(next.Data):
			continue
		}
		found, err := decodeCopyOfEntry(&next)
		if err != nil {
			return endOfLog, err
		}
		if !visit(found) {
			return endByVisit, nil
		}
	}
}

// entrySearchPatterns are two byte strings. An entry matches if it contains at least one of them. An empty
// second string is ignored.
type entrySearchPatterns [2][]byte

// anyContainedIn reports whether data contains one of the patterns.
func (m *entrySearchPatterns) anyContainedIn(data []byte) bool {
	return bytes.Contains(data, m[0]) || len(m[1]) > 0 && bytes.Contains(data, m[1])
}
