package engine

import (
	"errors"
	"fmt"
	"time"

	"pingpost/engine/event"
	"pingpost/engine/market"
	"pingpost/engine/pastauction"
	"pingpost/engine/state"
)

// maxLogReads limits the simultaneous reads of records from the log. Each one also reads and
// checks a part of a log segment.
const maxLogReads = 4

// logReader reads records back from the log. At most maxLogReads reads run at once; a method
// waits for a free slot until deadlineNanos, in Unix nanoseconds. A failure is reported to the
// observer, and the caller gets ErrUnavailable, unless the method's comment says otherwise.
type logReader struct {
	opt   *Options
	slots chan struct{}
	stop  chan struct{} // closed when the exchange stops
}

func newLogReader(opt *Options, stop chan struct{}) logReader {
	return logReader{opt: opt, slots: make(chan struct{}, maxLogReads), stop: stop}
}

// readRequiredRecord reads and decodes the record at logPosition. The log's history must still have
// it: a missing record is a reported failure.
func (r *logReader) readRequiredRecord(logPosition uint64, deadlineNanos int64) (event.Event, error) {
	data, err := r.readEncoded(logPosition, deadlineNanos)
	if errors.Is(err, ErrGone) {
		err = r.reportAndReturnUnavailable(logPosition, err)
	}
	if err != nil {
		return nil, err
	}
	return r.decodeRecord(logPosition, data)
}

// ReadIfKept reads and decodes the record at logPosition. It returns nil without an error if the
// log's history no longer has the record, which is normal for old leads.
func (r *logReader) ReadIfKept(logPosition uint64, deadlineNanos int64) (event.Event, error) {
	data, err := r.readEncoded(logPosition, deadlineNanos)
	switch {
	case errors.Is(err, ErrGone):
		return nil, nil
	case err != nil:
		return nil, err
	}
	return r.decodeRecord(logPosition, data)
}

// ReadDecisionIfKept reads the lead's first record, which has its fields, outcomes and sale. It returns
// nil without an error if the log's history no longer has the record.
func (r *logReader) ReadDecisionIfKept(lead *state.Lead, deadlineNanos int64) (*event.LeadDecided, error) {
	record, err := r.ReadIfKept(lead.Seq, deadlineNanos)
	if record == nil {
		return nil, err
	}
	decided, ok := record.(*event.LeadDecided)
	if !ok || decided.Lead != lead.ID {
		panic("BUG: the record at a lead's log position is not its decision")
	}
	return decided, nil
}

// readEncoded returns the encoded record at logPosition. It returns ErrGone, unreported, if the
// log's history no longer has the record, because some callers expect that. Other failures are
// reported and become ErrUnavailable. Without a free slot it returns ErrUnavailable, unreported.
func (r *logReader) readEncoded(logPosition uint64, deadlineNanos int64) ([]byte, error) {
	if !r.waitForReadSlot(deadlineNanos) {
		return nil, ErrUnavailable
	}
	defer func() { <-r.slots }()
	data, err := r.opt.History.At(logPosition)
	switch {
	case errors.Is(err, ErrGone):
		return nil, ErrGone
	case err != nil:
		return nil, r.reportAndReturnUnavailable(logPosition, err)
	}
	return data, nil
}

// decodeRecord decodes an encoded record that was read at logPosition. The result refers to the
// memory of encoded.
func (r *logReader) decodeRecord(logPosition uint64, encoded []byte) (event.Event, error) {
	record, err := new(event.Decoder).Decode(encoded)
	if err != nil {
		return nil, r.reportAndReturnUnavailable(logPosition, err)
	}
	return record, nil
}

// reportAndReturnUnavailable reports to the observer that a record cannot be read, and returns
// ErrUnavailable. It does not report ErrUnavailable itself, which means that no slot was free.
func (r *logReader) reportAndReturnUnavailable(logPosition uint64, err error) error {
	if errors.Is(err, ErrUnavailable) {
		return ErrUnavailable
	}
	r.opt.Observer.ReportFault("cannot read a record back from the log; the caller may repeat the request", fmt.Errorf("log record %d: %w", logPosition, err))
	return ErrUnavailable
}

// findLead returns a lead's row in the state. Like the methods of logReader, it reports a failed read of a file
// and then returns ErrUnavailable.
func (e *Engine) findLead(id market.LeadID) (lead state.Lead, found bool, err error) {
	lead, found, err = e.state.Lead(id)
	return lead, found, e.reportIfColdRowUnreadable(err)
}

// loadLeadIntoMemory keeps a lead in memory for the next minute, in which the caller changes it. The caller has
// locked the lead. The error is ErrUnavailable.
func (e *Engine) loadLeadIntoMemory(id market.LeadID) error {
	return e.reportIfColdRowUnreadable(e.state.LoadLeadIntoMemory(id, e.opt.Clock.Now()))
}

// errColdRowUnreadable is the ErrUnavailable of a request that needs a row of a cold file that cannot be read.
var errColdRowUnreadable = fmt.Errorf("a row of a closed lead cannot be read: %w", ErrUnavailable)

// reportIfColdRowUnreadable reports an error of a read of the state's cold files, and returns
// errColdRowUnreadable. It returns nil for nil.
func (e *Engine) reportIfColdRowUnreadable(err error) error {
	if err == nil {
		return nil
	}
	e.opt.Observer.ReportFault("cannot read a row of a closed lead from a cold file; the caller may repeat the request", err)
	return errColdRowUnreadable
}

// waitForReadSlot waits for one of the maxLogReads slots and takes it. It returns false at
// deadlineNanos or if the exchange stops.
func (r *logReader) waitForReadSlot(deadlineNanos int64) (reserved bool) {
	select {
	case r.slots <- struct{}{}:
		return true
	default:
	}
	fired, stop := r.opt.Clock.Timer(time.Duration(deadlineNanos - r.opt.Clock.Now()))
	defer stop()
	select {
	case r.slots <- struct{}{}:
		return true
	case <-fired:
	case <-r.stop:
	}
	return false
}

// readAuctionFromCacheOrLog returns the past auction of a row of the state, from the cache or else
// from the log. Its error is ErrGone if the log's history no longer has the auction, and otherwise
// ErrUnavailable. deadlineNanos limits the wait for a log read, in Unix nanoseconds.
func (e *Engine) readAuctionFromCacheOrLog(row *state.AuctionRow, deadlineNanos int64) (*pastauction.RecordedAuction, error) {
	data := e.recent.FindEncodedEvent(row.Name)
	cached := data != nil
	if !cached {
		var err error
		if data, err = e.log.readEncoded(row.Seq, deadlineNanos); err != nil {
			return nil, err
		}
	}
	record, err := e.log.decodeRecord(row.Seq, data)
	if err != nil {
		return nil, err
	}
	held, ok := record.(*event.PingAuctionCompleted)
	if !ok || held.Name != row.Name {
		panic(fmt.Sprintf("BUG: log record %d is not the auction that the state has there", row.Seq))
	}
	if !cached {
		e.recent.Add(held, data, e.opt.Clock.Now())
	}
	return pastauction.New(held), nil
}
