package engine

import (
	"fmt"
	"slices"

	"pingpost/engine/event"
	"pingpost/engine/market"
)

// StatusAnswer has the results of a buyer's reports, in their order.
type StatusAnswer struct {
	Request  market.RequestID // of the first call with this key
	Results  []StatusResult
	Replayed bool
}

// StatusResult is the result of one report.
type StatusResult struct {
	Lead   string        // lead_id as it arrived; empty: it was not a string
	Status market.Status // the lead's status
	Waits  bool          // its return waits for the operator's approval

	Code      RefusalCode // empty: the report was accepted
	Objection market.ReportRejection
	Fields    []market.FieldError
}

// firstAnswer returns the answer of the key's first request, from its event.
func (r *reporting) firstAnswer(seq uint64) (StatusAnswer, error) {
	record, err := r.engine.log.read(seq, r.deadline())
	if err != nil {
		return StatusAnswer{}, err
	}
	changed, ok := record.(*event.StatusChanged)
	if !ok {
		panic(fmt.Sprintf("BUG: log record %d is not the status report of an idempotency key", seq))
	}
	answer := statusAnswer(changed, r.req)
	answer.Replayed = true
	return answer, nil
}

// statusAnswer returns the answer, the first time and for repeats. The results come from the
// event. Names of unknown leads come from the request, which is equal in a repeat.
func statusAnswer(record *event.StatusChanged, req *StatusRequest) StatusAnswer {
	answer := StatusAnswer{Request: record.Request, Results: make([]StatusResult, len(record.Changes))}
	allowed := record.Allowed
	for i := range record.Changes {
		change, result := &record.Changes[i], &answer.Results[i]
		switch {
		case !change.Lead.IsZero():
			result.Lead = change.Lead.String()
		case i < len(req.Reports) && req.Reports[i].Lead.Kind == market.JSONString:
			result.Lead = string(req.Reports[i].Lead.Text)
		}
		reasons := ""
		if slices.Contains(change.Rejections, market.RejectionReasonUnlisted) && len(allowed) > 0 {
			reasons, allowed = allowed[0], allowed[1:]
		}
		result.became(change, reasons)
	}
	return answer
}

// became enters what a change came to; allowed are the reasons that its campaign
// takes, where it is refused for its reason.
func (s *StatusResult) became(change *event.LeadChange, allowed string) {
	switch change.Result {
	case event.ChangeDone:
		s.Status = change.To
	case event.ChangeNone:
		s.Status, s.Waits = change.From, change.From != change.To
	case event.ChangePending:
		s.Status, s.Waits = change.From, true
	case event.ChangeUnknown:
		s.Code = NotFound
	case event.ChangeInvalid:
		s.Code, s.Fields = InvalidPayload, faultsOf(change.Rejections, allowed)
	case event.ChangeNotAllowed:
		s.Code = InvalidTransition
		if len(change.Rejections) > 0 {
			s.Objection = change.Rejections[0]
		}
	default:
		panic("BUG: a buyer's report came to " + change.Result.String())
	}
}

// refusalOf is the refusal of a single report, nil where it was taken.
func refusalOf(change *event.LeadChange) error {
	var result StatusResult
	result.became(change, "")
	if result.Code == "" {
		return nil
	}
	return &Refusal{Code: result.Code, Fields: result.Fields, Objection: result.Objection}
}
