package webhook

import (
	"fmt"

	"pingpost/engine/event"
	"pingpost/engine/state"
)

// EventLogReader reads records back from the log, at the log position seq or for a lead. It waits
// for a free slot until the time `until`, in Unix nanoseconds. Both methods return nil without an
// error for a record that the log's history no longer has.
type EventLogReader interface {
	ReadIfKept(seq uint64, until int64) (event.Event, error)
	// ReadDecisionIfKept reads the record that brought the lead.
	ReadDecisionIfKept(lead *state.Lead, until int64) (*event.LeadDecided, error)
}

// LoadPayload builds the payload of a queued webhook from log records. If the log's history no
// longer has them, it takes the fields of the lead's row in the state. found is false if there is no
// such row either. An error is the reader's or the state's. deadlineNanos is the reader's time limit, in Unix
// nanoseconds.
func LoadPayload(leadRows *state.State, log EventLogReader, queued *state.OutboxWebhook, deadlineNanos int64) (payload Payload, found bool, err error) {
	cause, err := log.ReadIfKept(queued.Cause, deadlineNanos)
	if err != nil {
		return Payload{}, false, err
	}
	if decided, ok := cause.(*event.LeadDecided); ok {
		return NewPayloadOfDecision(decided), true, nil
	}
	lead, known, err := leadRows.Lead(queued.Lead)
	if err != nil {
		return Payload{}, false, err
	}
	if known {
		decided, err := log.ReadDecisionIfKept(&lead, deadlineNanos)
		if err != nil {
			return Payload{}, false, err
		}
		if decided != nil {
			payload = NewPayloadOfDecision(decided)
		}
		payload.setSaleAndReasonFromLeadRow(&lead)
	}
	switch cause := cause.(type) {
	case *event.PostSettled:
		payload.SetOutcomeOfSettlement(cause)
	case *event.LeadStatusChangesDecided:
		payload.applyStatusReport(cause.Buyer, findTriggeringChange(cause, queued))
	default:
		return payload, known, nil
	}
	return payload, true, nil
}

// findTriggeringChange returns the change that triggered the queued webhook, from the event of a
// buyer's status reports.
func findTriggeringChange(record *event.LeadStatusChangesDecided, queued *state.OutboxWebhook) *event.DecidedLeadStatusChange {
	for i := range record.Changes {
		if c := &record.Changes[i]; c.Lead == queued.Lead && c.Webhook == queued.Type {
			return c
		}
	}
	panic(fmt.Sprintf("BUG: log record %d does not trigger %s of lead %s", queued.Cause, queued.Type, queued.Lead))
}
