package engine

import (
	"unicode/utf8"

	"pingpost/engine/market"
	"pingpost/engine/market/format"
	"pingpost/engine/state"
)

// parsedBuyerReport is a buyer's report on one lead after parsing, with all objections to it.
type parsedBuyerReport struct {
	lead       market.LeadID // zero: lead_id is not a valid id
	status     market.LeadStatus
	reason     string
	occurred   int64 // Unix nanoseconds; zero: not given
	objections []market.StatusReportRejection
	reasons    string // the allowed reasons, if RejectionReasonUnlisted is among the objections
}

// parseReports parses all reports of a request. A lead may be in only one of them, and a second
// report on it gets an objection. Otherwise the results would depend on the order of the
// decisions. The second decision would also need the event of the first one, which is not applied
// yet. The error is ErrUnavailable.
func (r *statusRequestInProgress) parseReports() error {
	seen := make(map[market.LeadID]struct{}, len(r.req.Reports))
	for i := range r.req.Reports {
		form := &r.req.Reports[i]
		rep := r.parseStatusReasonAndTime(form)
		switch {
		case form.NotObject:
			rep.objections = []market.StatusReportRejection{market.RejectionNotObject}
		case form.Lead.CountsAsMissing():
			rep.addRejection(market.RejectionLeadMissing)
		case form.Lead.Kind != market.JSONString:
			rep.addRejection(market.RejectionLeadType)
		default:
			rep.lead, _ = market.ParseLeadID(string(form.Lead.Text))
		}
		if _, twice := seen[rep.lead]; twice && !rep.lead.IsZero() {
			rep.addRejection(market.RejectionLeadTwice)
		}
		seen[rep.lead] = struct{}{}
		lead, ok, err := r.findLeadOfBuyer(rep.lead)
		if err != nil {
			return err
		}
		if ok {
			r.rejectUnlistedReturnReason(&rep, &lead)
		}
		r.reports = append(r.reports, rep)
	}
	return nil
}

// addRejection adds an objection, which becomes part of the report's result.
func (rep *parsedBuyerReport) addRejection(rejection market.StatusReportRejection) {
	rep.objections = append(rep.objections, rejection)
}

// parseStatusReasonAndTime parses the status, reason and time of one report, and adds an objection for each
// that is invalid.
func (r *statusRequestInProgress) parseStatusReasonAndTime(received *ReceivedStatusReport) (rep parsedBuyerReport) {
	switch m := &received.Status; {
	case m.CountsAsMissing():
		rep.addRejection(market.RejectionStatusMissing)
	case m.Kind != market.JSONString:
		rep.addRejection(market.RejectionStatusType)
	default:
		var ok bool
		if rep.status, ok = market.ParseReportedStatus(string(m.Text)); !ok {
			rep.addRejection(market.RejectionStatusUnknown)
		}
	}
	rep.parseReasonOrAddRejection(&received.Reason)
	rep.parseOccurredAtOrAddRejection(&received.Occurred, r.now)
	return rep
}

func (rep *parsedBuyerReport) parseReasonOrAddRejection(m *market.JSONMember) {
	switch {
	case m.CountsAsMissing():
		if rep.status == market.StatusReturned {
			rep.addRejection(market.RejectionReasonMissing)
		}
	case m.Kind != market.JSONString:
		rep.addRejection(market.RejectionReasonType)
	case utf8.RuneCount(m.Text) > market.MaxReportReason:
		rep.addRejection(market.RejectionReasonTooLong)
	case !isPrintableUnicode(m.Text):
		rep.addRejection(market.RejectionReasonInvalid)
	default:
		rep.reason = string(m.Text)
	}
}

func (rep *parsedBuyerReport) parseOccurredAtOrAddRejection(m *market.JSONMember, nowNanos int64) {
	if m.CountsAsMissing() {
		return
	}
	if m.Kind != market.JSONString {
		rep.addRejection(market.RejectionOccurredType)
		return
	}
	at, ok := format.ParseTimestampClamped(m.Text)
	switch {
	case !ok:
		rep.addRejection(market.RejectionOccurredInvalid)
	case at > nowNanos+market.MaxReporterClockSkew:
		rep.addRejection(market.RejectionOccurredInFuture)
	default:
		rep.occurred = at
	}
}

// rejectUnlistedReturnReason adds an objection if the campaign does not accept the reason of a
// return. It skips a lead whose return was requested before, because that return keeps its reason
// even if the list of accepted reasons has changed.
func (r *statusRequestInProgress) rejectUnlistedReturnReason(rep *parsedBuyerReport, lead *state.Lead) {
	if rep.status != market.StatusReturned || rep.reason == "" || lead.Status == market.StatusReturned || lead.ReturnState() == market.ReturnPending {
		return
	}
	if rule := r.plan.returnRuleOrDefaultIfRemoved(r.engine, lead.Campaign); !rule.AcceptsReturnReason(rep.reason) {
		rep.addRejection(market.RejectionReasonUnlisted)
		rep.reasons = rule.ListAcceptedReasons()
	}
}

// idempotencyKeyFaults returns the faults of the Idempotency-Key header, which every status
// request needs.
func (r *statusRequestInProgress) idempotencyKeyFaults() []market.FieldError {
	return appendMalformedHeaderFaults(appendMissingKeyFault(nil, r.req.Key, r.req.BadKey), r.req.BadKey, false)
}

// fieldErrorsOf translates the rejections of a report into field errors of the API. acceptedReasons
// lists the return reasons that the campaign accepts. It is empty if no reason was rejected, or in
// old log records.
func fieldErrorsOf(rejections []market.StatusReportRejection, acceptedReasons string) (faults []market.FieldError) {
	for _, objection := range rejections {
		if fault, ok := objection.FieldError(); ok {
			if objection == market.RejectionReasonUnlisted && acceptedReasons != "" {
				fault.Expected += ": " + acceptedReasons
			}
			faults = append(faults, fault)
		}
	}
	return faults
}
