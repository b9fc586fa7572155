package engine

import (
	"errors"
	"fmt"
	"time"

	"pingpost/engine/event"
	"pingpost/engine/pastauction"
	"pingpost/engine/state"
)

// maxLogReads limits the records that are read back from the log at once. Each read also
// reads and checks a part of a segment.
const maxLogReads = 4

// logReader reads records back from the log. Its methods wait for a free slot until a time
// in Unix nanoseconds. Their errors are ErrUnavailable, unless a comment says otherwise;
// the log's own errors are reported to the observer.
type logReader struct {
	opt   *Options
	slots chan struct{}
	stop  chan struct{} // closed when the exchange stops
}

func newLogReader(opt *Options, stop chan struct{}) logReader {
	return logReader{opt: opt, slots: make(chan struct{}, maxLogReads), stop: stop}
}

// readRecord reads a record that the history must have.
func (r *logReader) readRecord(seq uint64, until int64) (event.Event, error) {
	data, err := r.readEncoded(seq, until)
	if errors.Is(err, ErrGone) {
		err = r.reportReadFailure(seq, err)
	}
	if err != nil {
		return nil, err
	}
	return r.decodeRecord(seq, data)
}

// ReadIfKept reads a record. It returns nil without an error if the history no longer has
// it.
func (r *logReader) ReadIfKept(seq uint64, until int64) (event.Event, error) {
	data, err := r.readEncoded(seq, until)
	switch {
	case errors.Is(err, ErrGone):
		return nil, nil
	case err != nil:
		return nil, err
	}
	return r.decodeRecord(seq, data)
}

// ReadDecision reads the record that brought the lead. It returns nil without an error if
// the history no longer has it.
func (r *logReader) ReadDecision(lead *state.Lead, until int64) (*event.LeadDecided, error) {
	record, err := r.ReadIfKept(lead.Seq, until)
	if record == nil {
		return nil, err
	}
	decided, ok := record.(*event.LeadDecided)
	if !ok || decided.Lead != lead.ID {
		panic("BUG: the record at a lead's log position is not its decision")
	}
	return decided, nil
}

// readEncoded reads the encoding of a record. It may also return ErrGone, which it does
// not report, because for some callers that is a normal result.
func (r *logReader) readEncoded(seq uint64, until int64) ([]byte, error) {
	if !r.reserveReadSlot(until) {
		return nil, ErrUnavailable
	}
	defer func() { <-r.slots }()
	data, err := r.opt.History.At(seq)
	switch {
	case errors.Is(err, ErrGone):
		return nil, ErrGone
	case err != nil:
		return nil, r.reportReadFailure(seq, err)
	}
	return data, nil
}

// decodeRecord decodes a record, which shares the memory of data.
func (r *logReader) decodeRecord(seq uint64, data []byte) (event.Event, error) {
	record, err := new(event.Decoder).Decode(data)
	if err != nil {
		return nil, r.reportReadFailure(seq, err)
	}
	return record, nil
}

// reportReadFailure reports the failure to read a record, unless no slot was free, and returns
// ErrUnavailable.
func (r *logReader) reportReadFailure(seq uint64, err error) error {
	if errors.Is(err, ErrUnavailable) {
		return ErrUnavailable
	}
	r.opt.Observer.ReportFault("cannot read a record back from the log; the caller may repeat the request", fmt.Errorf("log record %d: %w", seq, err))
	return ErrUnavailable
}

// reserveReadSlot waits for a free slot. It returns false if the time is over or the exchange
// stops.
func (r *logReader) reserveReadSlot(until int64) bool {
	select {
	case r.slots <- struct{}{}:
		return true
	default:
	}
	fired, stop := r.opt.Clock.Timer(time.Duration(until - r.opt.Clock.Now()))
	defer stop()
	select {
	case r.slots <- struct{}{}:
		return true
	case <-fired:
	case <-r.stop:
	}
	return false
}

// readRecordedAuction returns a recorded auction, from the cache or the log. Errors and the
// time limit are those of logReader.readEncoded.
func (e *Engine) readRecordedAuction(row *state.AuctionRow, until int64) (*pastauction.Auction, error) {
	data := e.recent.Find(row.Name)
	cached := data != nil
	if !cached {
		var err error
		if data, err = e.log.readEncoded(row.Seq, until); err != nil {
			return nil, err
		}
	}
	record, err := e.log.decodeRecord(row.Seq, data)
	if err != nil {
		return nil, err
	}
	held, ok := record.(*event.AuctionHeld)
	if !ok || held.Name != row.Name {
		panic(fmt.Sprintf("BUG: log record %d is not the auction that the state has there", row.Seq))
	}
	if !cached {
		e.recent.Add(held, data, e.opt.Clock.Now())
	}
	return pastauction.New(held), nil
}
