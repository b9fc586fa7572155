package webhook

import (
	"fmt"

	"pingpost/engine/event"
	"pingpost/engine/state"
)

// RecordReader reads records back from the log, at the log position seq or for a lead. It waits
// for a free slot until the time `until`, in Unix nanoseconds. Both methods return nil without an
// error for a record that the log's history no longer has.
type RecordReader interface {
	ReadIfKept(seq uint64, until int64) (event.Event, error)
	// ReadDecision reads the record that brought the lead.
	ReadDecision(lead *state.Lead, until int64) (*event.LeadDecided, error)
}

// LoadPayload builds the payload of a queued webhook from log records. If the log's history no
// longer has them, it takes the fields of the lead's row in memory. found is false if there is no
// such row either. An error is the reader's. until is its time limit, in Unix nanoseconds.
func LoadPayload(leads *state.State, log RecordReader, w *state.QueuedWebhook, until int64) (p Payload, found bool, err error) {
	cause, err := log.ReadIfKept(w.Cause, until)
	if err != nil {
		return Payload{}, false, err
	}
	if decided, ok := cause.(*event.LeadDecided); ok {
		return NewPayload(decided), true, nil
	}
	lead, known := leads.Lead(w.Lead)
	if known {
		decided, err := log.ReadDecision(&lead, until)
		if err != nil {
			return Payload{}, false, err
		}
		if decided != nil {
			p = NewPayload(decided)
		}
		p.applyLeadRow(&lead)
	}
	switch cause := cause.(type) {
	case *event.PostSettled:
		p.ApplySettlement(cause)
	case *event.LeadStatusesChanged:
		p.applyReport(cause.Buyer, findTriggeringChange(cause, w))
	default:
		return p, known, nil
	}
	return p, true, nil
}

// findTriggeringChange returns the change that triggered webhook w, from the event of a buyer's
// status reports.
func findTriggeringChange(record *event.LeadStatusesChanged, w *state.QueuedWebhook) *event.LeadStatusChange {
	for i := range record.Changes {
		if c := &record.Changes[i]; c.Lead == w.Lead && c.Webhook == w.Type {
			return c
		}
	}
	panic(fmt.Sprintf("BUG: log record %d does not trigger %s of lead %s", w.Cause, w.Type, w.Lead))
}
