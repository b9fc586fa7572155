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

// decideReportOnLockedLead returns the change that a report causes, or its rejection. The caller
// has locked the report's lead. If the lead's delivery was unconfirmed, the report proves that the
// buyer has the lead. decideReportOnLockedLead then commits that first.
func (r *statusRequestInProgress) decideReportOnLockedLead(report *parsedBuyerReport) (event.DecidedLeadStatusChange, error) {
	for {
		lead, ok, err := r.findLeadOfBuyer(report.lead)
		if err != nil {
			return event.DecidedLeadStatusChange{}, err
		}
		change := event.DecidedLeadStatusChange{Lead: report.lead, To: report.status}
		switch {
		case len(report.objections) > 0:
			change.Result, change.Rejections = event.ChangeInvalid, report.objections
			return change, nil
		case !ok:
			change.Result = event.ChangeUnknown
			return change, nil
		}
		change.From, change.Supplier = lead.Status, lead.Supplier
		rule := r.plan.returnRuleOrDefaultIfRemoved(r.engine, lead.Campaign)
		var objection market.StatusReportRejection
		change.Result, objection = r.judgeStatusChange(report, &lead, &rule)
		switch change.Result {
		case event.ChangeNotAllowed:
			change.Rejections = []market.StatusReportRejection{objection}
			return change, nil
		case event.ChangeNone:
			return change, nil
		}
		if err := r.engine.loadLeadIntoMemory(lead.ID); err != nil {
			return change, err
		}
		if lead.Delivery != market.DeliveryUnknown {
			err := r.fillChangeAndCountReturnInRequest(&change, report, &lead, &rule)
			return change, err
		}
		if err := r.confirmDeliveryProvenByReport(report.lead); err != nil {
			return change, err
		}
	}
}

// judgeStatusChange decides whether a lead may change to the reported status, by its present status and
// the campaign's return rule. It returns the result and, for ChangeNotAllowed, the objection. It
// changes nothing.
func (r *statusRequestInProgress) judgeStatusChange(report *parsedBuyerReport, lead *state.Lead, rule *market.ReturnRule) (event.LeadStatusChangeResult, market.StatusReportRejection) {
	no := func(o market.StatusReportRejection) (event.LeadStatusChangeResult, market.StatusReportRejection) {
		return event.ChangeNotAllowed, o
	}
	switch {
	case lead.Status == market.StatusUnmatched:
		return no(market.RejectionNotSold)
	case lead.Status == market.StatusOpen, lead.Delivery == market.DeliveryPending:
		return no(market.RejectionDeliveryPending)
	case lead.Status == report.status, lead.ReturnState() == market.ReturnPending && report.status == market.StatusReturned:
		return event.ChangeNone, market.RejectionNone
	case lead.ReturnState() == market.ReturnPending:
		return no(market.RejectionReturnPending)
	case !lead.Status.CanReportChangeTo(report.status):
		return no(market.RejectionStatusBackward)
	case report.status != market.StatusReturned:
		return event.ChangeDone, market.RejectionNone
	case lead.ReturnState() == market.ReturnRefused:
		return no(market.RejectionReturnRefused)
	case r.now-lead.Decided >= int64(rule.Window):
		return no(market.RejectionReturnLate)
	case !r.isWithinReturnLimit(lead, rule):
		return no(market.RejectionReturnShare)
	case rule.Manual:
		return event.ChangePending, market.RejectionNone
	}
	return event.ChangeDone, market.RejectionNone
}

// fillChangeAndCountReturnInRequest fills in an accepted change: the reason and time, the resources
// that a return gives back, and the webhook event for the supplier. It withholds the reason if it
// contains contact data. It counts a return for the limit on returns within this request. The error
// is of the read of the log for the resources that a return gives back.
func (r *statusRequestInProgress) fillChangeAndCountReturnInRequest(change *event.DecidedLeadStatusChange, report *parsedBuyerReport, lead *state.Lead, rule *market.ReturnRule) (err error) {
	change.Reason, change.Occurred = redaction.WithholdIfContactData(report.reason), report.occurred
	if report.status == market.StatusReturned {
		change.Return, err = r.engine.newMoneyAndCapsReversed(lead, rule, r.answerDueNanos())
		r.countReturnInRequest(lead)
	}
	if change.Result == event.ChangeDone {
		change.Webhook = r.plan.webhookTypeIfSupplierHasEndpoint(lead.Supplier, report.status.WebhookTypeOfReport())
	}
	return err
}

// confirmDeliveryProvenByReport commits that the buyer has the lead of an unconfirmed delivery, because
// the buyer has reported on it. If the delivery is just ending, it waits for that. In this case, and if
// the delivery was resolved meanwhile, it commits no event. Afterwards the caller must read the lead
// again.
func (r *statusRequestInProgress) confirmDeliveryProvenByReport(lead market.LeadID) error {
	e := r.engine
	err := e.AsOperator("").ResolveUnconfirmedDelivery(lead, event.SettledConfirmed)
	switch {
	case errors.Is(err, ErrNotFound):
		return nil
	case !errors.Is(err, ErrConflict):
		return err
	}
	// The last delivery may be about to end, or an operator has resent the lead.
	row, _ := e.state.LeadInMemory(lead)
	if d := e.deliveries.FindRunning(lead); d != nil && row.Delivery == market.DeliveryUnknown {
		return r.waitOrUnavailable(d.Ended())
	}
	return nil
}

// StatusReportAnswer is the answer to a buyer's status request. Results has one result for each report,
// in the order of the reports.
type StatusReportAnswer struct {
	Request  market.RequestID // of the first call with this key
	Results  []StatusReportResult
	Replayed bool
}

// StatusReportResult is the result of one report in a status request: the lead's status, or the reason
// for the rejection.
type StatusReportResult struct {
	Lead   string            // lead_id as it arrived; empty: it was not a string
	Status market.LeadStatus // the lead's status
	Waits  bool              // its return waits for the operator's approval

	Code      RefusalCode // empty: the report was accepted
	Objection market.StatusReportRejection
	Fields    []market.FieldError
}

// answerOfFirstRequest returns the answer to the first status request with this idempotency key,
// for a repeat. It reads that request's event at logPosition.
func (r *statusRequestInProgress) answerOfFirstRequest(logPosition uint64) (StatusReportAnswer, error) {
	record, err := r.engine.log.readRequiredRecord(logPosition, r.answerDueNanos())
	if err != nil {
		return StatusReportAnswer{}, err
	}
	changed, ok := record.(*event.LeadStatusChangesDecided)
	if !ok {
		panic(fmt.Sprintf("BUG: log record %d is not the status report of an idempotency key", logPosition))
	}
	answer := newStatusReportAnswer(changed, r.req)
	answer.Replayed = true
	return answer, nil
}

// newStatusReportAnswer builds the answer to a status request from the request's event, so that the
// first answer and its repeats are equal. If lead_id was not a valid id, the event has none. The
// text then comes from the request, whose body is the same in a repeat.
func newStatusReportAnswer(record *event.LeadStatusChangesDecided, req *StatusReportRequest) StatusReportAnswer {
	answer := StatusReportAnswer{Request: record.Request, Results: make([]StatusReportResult, len(record.Changes))}
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

// setResult sets the result of one report from the change in the event. acceptedReturnReasons lists the
// return reasons that the campaign accepts. It is used only if the report was rejected for its
// return reason, and is empty otherwise.
func (s *StatusReportResult) setResult(change *event.DecidedLeadStatusChange, acceptedReturnReasons string) {
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
		s.Code, s.Fields = InvalidPayload, fieldErrorsOf(change.Rejections, acceptedReturnReasons)
	case event.ChangeNotAllowed:
		s.Code = InvalidTransition
		if len(change.Rejections) > 0 {
			s.Objection = change.Rejections[0]
		}
	default:
		panic("BUG: the change of a buyer's report has the result " + change.Result.String())
	}
}

// refusalIfRejected returns the *Refusal for a request with a single report, or nil if the report
// was accepted.
func refusalIfRejected(change *event.DecidedLeadStatusChange) error {
	var result StatusReportResult
	result.setResult(change, "")
	if result.Code == "" {
		return nil
	}
	return &Refusal{Code: result.Code, Fields: result.Fields, Objection: result.Objection}
}
