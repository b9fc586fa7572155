package engine

import (
	"fmt"
	"slices"

	"pingpost/engine/event"
	"pingpost/engine/market"
)

// StatusAnswer is what a buyer is told of its reports, in their order.
type StatusAnswer struct {
	Request  market.RequestID // of the call that was answered first
	Results  []StatusResult
	Replayed bool
}

// StatusResult is what one report came to.
type StatusResult struct {
	Lead   string        // as it was named; empty: no text was
	Status market.Status // where the lead stands
	Waits  bool          // its return waits for the operator

	Code      RefusalCode // empty: it was taken
	Objection market.ReportRejection
	Fields    []market.FieldError
}

// repeat is the answer that the key's first use was given, from its fact.
func (r *reporting) repeat(seq uint64) (StatusAnswer, error) {
	fact, err := r.engine.log.read(seq, r.ceiling())
	if err != nil {
		return StatusAnswer{}, err
	}
	changed, ok := fact.(*event.StatusChanged)
	if !ok {
		panic(fmt.Sprintf("BUG: fact %d is not the report that answered a key", seq))
	}
	answer := statusAnswer(changed, r.req)
	answer.Replayed = true
	return answer, nil
}

// statusAnswer is what the buyer is told, at first and ever after: the fact says
// what became of each report, and the request, which is the same then, how those
// were called that name no lead.
func statusAnswer(fact *event.StatusChanged, req *StatusRequest) StatusAnswer {
	answer := StatusAnswer{Request: fact.Request, Results: make([]StatusResult, len(fact.Changes))}
	allowed := fact.Allowed
	for i := range fact.Changes {
		change, result := &fact.Changes[i], &answer.Results[i]
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
func (s *StatusResult) became(change *event.Change, allowed string) {
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
func refusalOf(change *event.Change) error {
	var result StatusResult
	result.became(change, "")
	if result.Code == "" {
		return nil
	}
	return &Refusal{Code: result.Code, Fields: result.Fields, Objection: result.Objection}
}
