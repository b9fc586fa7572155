package statement

import (
	"fmt"
	"io"

	"pingpost/engine/event"
	"pingpost/engine/ledger"
	"pingpost/internal/throttle"
	"pingpost/wal"
)

// eventScan reads the log's events from a point in time on. It pauses regularly, so that the
// scan does not slow leads down.
type eventScan struct {
	reader   *Reader
	log      *wal.Reader
	decoder  event.Decoder
	from     int64  // Unix nanoseconds
	last     uint64 // the last entry to read
	begun    bool
	throttle throttle.ScanThrottle
}

func (r *Reader) newEventScan(fromNanos int64, lastSeq uint64) (*eventScan, error) {
	log, err := r.Log.NewReaderFromSegmentBefore(fromNanos)
	if err != nil {
		return nil, fmt.Errorf("cannot read the log: %w", err)
	}
	return &eventScan{
		reader: r, log: log, decoder: event.Decoder{ForReplay: true}, from: fromNanos, last: lastSeq,
		throttle: throttle.NewScanThrottle(r.chunk, r.Stop),
	}, nil
}

func (s *eventScan) close() { s.log.Close() }

// next returns the next event with its entry number and time. The event is valid until the following
// call. After the last event the error is io.EOF. It is a *ledger.HistoryTooShortError if the log
// begins too late, and throttle.ErrStopped if the exchange stops.
func (s *eventScan) next() (seq uint64, atNanos int64, ev event.Event, err error) {
	for {
		if err := s.throttle.PauseIfChunkWasRead(s.log.RecordBytesRead()); err != nil {
			return 0, 0, nil, err
		}
		entry, err := s.log.Next()
		if err != nil {
			return 0, 0, nil, err // io.EOF if the log is empty
		}
		if !s.begun && entry.Seq > 1 && entry.At >= s.from {
			return 0, 0, nil, &ledger.HistoryTooShortError{HistoryBegins: entry.At}
		}
		s.begun = true
		if entry.Seq > s.last {
			return 0, 0, nil, io.EOF
		}
		if entry.At < s.from {
			continue
		}
		ev, err := s.decoder.Decode(entry.Data)
		if err != nil {
			return 0, 0, nil, fmt.Errorf("cannot decode entry %d of the log: %w", entry.Seq, err)
		}
		if err := s.fillSettlementSupplierFromState(ev); err != nil {
			return 0, 0, nil, err
		}
		return entry.Seq, entry.At, ev, nil
	}
}

// fillSettlementSupplierFromState fills in the supplier of a settlement event that an early version
// wrote, which did not record it. It takes the supplier from the lead in the state, and changes nothing if
// the lead is no longer there.
func (s *eventScan) fillSettlementSupplierFromState(ev event.Event) error {
	settled, ok := ev.(*event.PostSettled)
	if !ok || settled.Supplier != 0 {
		return nil
	}
	lead, known, err := s.reader.State.Lead(settled.Lead)
	if known {
		settled.Supplier = lead.Supplier
	}
	return err
}
