package engine

import (
	"errors"
	"fmt"
	"slices"

	"pingpost/engine/event"
	"pingpost/engine/market"
	"pingpost/engine/redaction"
	"pingpost/engine/state"
)

// decideReport returns the change that a report causes, or its rejection. The caller has locked
// the report's lead. If the lead's delivery was unconfirmed, the report proves that the buyer has
// the lead. decideReport then commits that first.
func (r *reportWorkspace) decideReport(rep *parsedReport) (event.LeadStatusChange, error) {
	for {
		lead, ok := r.leadOfBuyer(rep.lead)
		change := event.LeadStatusChange{Lead: rep.lead, To: rep.status}
		switch {
		case len(rep.objections) > 0:
			change.Result, change.Rejections = event.ChangeInvalid, rep.objections
			return change, nil
		case !ok:
			change.Result = event.ChangeUnknown
			return change, nil
		}
		change.From, change.Supplier = lead.Status, lead.Supplier
		rule := r.plan.returnRule(r.engine, lead.Campaign)
		var objection market.BuyerReportRejection
		change.Result, objection = r.judgeReport(rep, &lead, &rule)
		switch change.Result {
		case event.ChangeNotAllowed:
			change.Rejections = []market.BuyerReportRejection{objection}
			return change, nil
		case event.ChangeNone:
			return change, nil
		}
		if lead.Delivery != market.DeliveryUnknown {
			err := r.completeChange(&change, rep, &lead, &rule)
			return change, err
		}
		if err := r.confirmDelivery(rep.lead); err != nil {
			return change, err
		}
	}
}

// judgeReport decides whether a lead may change to the reported status, by its present status and
// the campaign's return rule. It returns the result and, for ChangeNotAllowed, the objection. It
// changes nothing.
func (r *reportWorkspace) judgeReport(rep *parsedReport, lead *state.Lead, rule *market.ReturnRule) (event.LeadStatusChangeResult, market.BuyerReportRejection) {
	no := func(o market.BuyerReportRejection) (event.LeadStatusChangeResult, market.BuyerReportRejection) {
		return event.ChangeNotAllowed, o
	}
	switch {
	case lead.Status == market.StatusUnmatched:
		return no(market.RejectionNotSold)
	case lead.Status == market.StatusOpen, lead.Delivery == market.DeliveryPending:
		return no(market.RejectionDeliveryPending)
	case lead.Status == rep.status, lead.ReturnState() == market.ReturnPending && rep.status == market.StatusReturned:
		return event.ChangeNone, market.RejectionNone
	case lead.ReturnState() == market.ReturnPending:
		return no(market.RejectionReturnPending)
	case !lead.Status.CanReportChangeTo(rep.status):
		return no(market.RejectionStatusBackward)
	case rep.status != market.StatusReturned:
		return event.ChangeDone, market.RejectionNone
	case lead.ReturnState() == market.ReturnRefused:
		return no(market.RejectionReturnRefused)
	case r.now-lead.Decided >= int64(rule.Window):
		return no(market.RejectionReturnLate)
	case !r.mayReturnAnother(lead, rule):
		return no(market.RejectionReturnShare)
	case rule.Manual:
		return event.ChangePending, market.RejectionNone
	}
	return event.ChangeDone, market.RejectionNone
}

// completeChange fills in an accepted change: the reason and time, the resources that a return
// gives back, and the webhook event for the supplier. The reason is withheld if it contains
// contact data.
func (r *reportWorkspace) completeChange(change *event.LeadStatusChange, rep *parsedReport, lead *state.Lead, rule *market.ReturnRule) (err error) {
	change.Reason, change.Occurred = redaction.WithholdContact(rep.reason), rep.occurred
	if rep.status == market.StatusReturned {
		change.Return, err = r.engine.newReturn(lead, rule, r.deadline())
		r.countReturn(lead)
	}
	if change.Result == event.ChangeDone {
		change.Webhook = r.plan.webhookIfConfigured(lead.Supplier, rep.status.WebhookType())
	}
	return err
}

// confirmDelivery commits that the buyer has the lead of an unconfirmed delivery, because the
// buyer has reported on it. If an operator has resolved the delivery meanwhile, it commits no
// event. Afterwards the caller must read the lead again.
func (r *reportWorkspace) confirmDelivery(lead market.LeadID) error {
	e := r.engine
	err := e.By("").ResolveUnconfirmedDelivery(lead, event.SettledConfirmed)
	switch {
	case errors.Is(err, ErrNotFound):
		return nil
	case !errors.Is(err, ErrConflict):
		return err
	}
	// The last delivery may be about to end, or an operator has resent the lead.
	row, _ := e.state.Lead(lead)
	if d := e.deliveries.FindRunning(lead); d != nil && row.Delivery == market.DeliveryUnknown {
		return r.waitForResult(d.Ended())
	}
	return nil
}

// StatusAnswer is the answer to a buyer's status request. Results has one result for each report,
// in the order of the reports.
type StatusAnswer struct {
	Request  market.RequestID // of the first call with this key
	Results  []StatusResult
	Replayed bool
}

// StatusResult is the result of one report in a status request: the lead's status, or the reason
// for the rejection.
type StatusResult struct {
	Lead   string            // lead_id as it arrived; empty: it was not a string
	Status market.LeadStatus // the lead's status
	Waits  bool              // its return waits for the operator's approval

	Code      RefusalCode // empty: the report was accepted
	Objection market.BuyerReportRejection
	Fields    []market.FieldError
}

// answerOfFirstRequest returns the answer to the first status request with this idempotency key,
// for a repeat. It reads that request's event at log position seq.
func (r *reportWorkspace) answerOfFirstRequest(seq uint64) (StatusAnswer, error) {
	record, err := r.engine.log.readRecord(seq, r.deadline())
	if err != nil {
		return StatusAnswer{}, err
	}
	changed, ok := record.(*event.LeadStatusesChanged)
	if !ok {
		panic(fmt.Sprintf("BUG: log record %d is not the status report of an idempotency key", seq))
	}
	answer := newStatusAnswer(changed, r.req)
	answer.Replayed = true
	return answer, nil
}

// newStatusAnswer builds the answer to a status request from the request's event, so that the
// first answer and its repeats are equal. For an unknown lead the event has no id. The id's text
// then comes from the request, whose body is the same in a repeat.
func newStatusAnswer(record *event.LeadStatusesChanged, req *StatusRequest) StatusAnswer {
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
		result.setResult(change, reasons)
	}
	return answer
}

// setResult sets the result of one report from the change in the event. allowed lists the return
// reasons that the campaign accepts, if the report was rejected for its reason.
func (s *StatusResult) setResult(change *event.LeadStatusChange, allowed string) {
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
		s.Code, s.Fields = InvalidPayload, fieldErrorsOf(change.Rejections, allowed)
	case event.ChangeNotAllowed:
		s.Code = InvalidTransition
		if len(change.Rejections) > 0 {
			s.Objection = change.Rejections[0]
		}
	default:
		panic("BUG: the change of a buyer's report has the result " + change.Result.String())
	}
}

// refusalOfChange returns the *Refusal for a request with a single report, or nil if the report
// was accepted.
func refusalOfChange(change *event.LeadStatusChange) error {
	var result StatusResult
	result.setResult(change, "")
	if result.Code == "" {
		return nil
	}
	return &Refusal{Code: result.Code, Fields: result.Fields, Objection: result.Objection}
}
