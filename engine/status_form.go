package engine

import (
	"unicode/utf8"

	"pingpost/api/errcode"
	"pingpost/engine/market"
	"pingpost/engine/market/format"
	"pingpost/engine/state"
)

// parsedReport is a parsed StatusReport.
type parsedReport struct {
	lead       market.LeadID // zero: lead_id is not a valid id
	status     market.LeadStatus
	reason     string
	occurred   int64 // Unix nanoseconds; zero: not given
	objections []market.ReportRejection
	reasons    string // the allowed reasons, if RejectionReasonUnlisted is among the objections
}

// parseReports parses all reports. A lead may be in only one of them: otherwise the results
// would depend on the order of the decisions, and the second one on an event that is not
// applied.
func (r *reportWorkspace) parseReports() {
	seen := make(map[market.LeadID]struct{}, len(r.req.Reports))
	for i := range r.req.Reports {
		form := &r.req.Reports[i]
		rep := r.parseReport(form)
		switch {
		case form.NotObject:
			rep.objections = []market.ReportRejection{market.RejectionNotObject}
		case form.Lead.IsMissing():
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
		if lead, ok := r.leadOfBuyer(rep.lead); ok {
			r.checkReturnReason(&rep, &lead)
		}
		r.reports = append(r.reports, rep)
	}
}

// addRejection adds an objection.
func (rep *parsedReport) addRejection(o market.ReportRejection) {
	rep.objections = append(rep.objections, o)
}

// parseReport parses a report and adds all objections.
func (r *reportWorkspace) parseReport(form *StatusReport) (rep parsedReport) {
	switch m := &form.Status; {
	case m.IsMissing():
		rep.addRejection(market.RejectionStatusMissing)
	case m.Kind != market.JSONString:
		rep.addRejection(market.RejectionStatusType)
	default:
		var ok bool
		if rep.status, ok = market.ParseReportedStatus(string(m.Text)); !ok {
			rep.addRejection(market.RejectionStatusUnknown)
		}
	}
	rep.parseReason(&form.Reason)
	rep.parseOccurredAt(&form.Occurred, r.now)
	return rep
}

func (rep *parsedReport) parseReason(m *market.Member) {
	switch {
	case m.IsMissing():
		if rep.status == market.StatusReturned {
			rep.addRejection(market.RejectionReasonMissing)
		}
	case m.Kind != market.JSONString:
		rep.addRejection(market.RejectionReasonType)
	case utf8.RuneCount(m.Text) > market.MaxReportReason:
		rep.addRejection(market.RejectionReasonTooLong)
	case !isPrintable(m.Text):
		rep.addRejection(market.RejectionReasonInvalid)
	default:
		rep.reason = string(m.Text)
	}
}

func (rep *parsedReport) parseOccurredAt(m *market.Member, now int64) {
	if m.IsMissing() {
		return
	}
	if m.Kind != market.JSONString {
		rep.addRejection(market.RejectionOccurredType)
		return
	}
	at, ok := format.ParseTimestamp(m.Text)
	switch {
	case !ok:
		rep.addRejection(market.RejectionOccurredInvalid)
	case at > now+market.MaxReporterClockSkew:
		rep.addRejection(market.RejectionOccurredInFuture)
	default:
		rep.occurred = at
	}
}

// checkReturnReason checks the reason of a return against the campaign's list. A return
// that was requested before keeps its reason, even if the list has changed.
func (r *reportWorkspace) checkReturnReason(rep *parsedReport, lead *state.Lead) {
	if rep.status != market.StatusReturned || rep.reason == "" || lead.Status == market.StatusReturned || lead.ReturnState() == market.ReturnPending {
		return
	}
	if rule := r.plan.returnRule(r.engine, lead.Campaign); !rule.AcceptsReason(rep.reason) {
		rep.addRejection(market.RejectionReasonUnlisted)
		rep.reasons = rule.ListReasons()
	}
}

// idempotencyKeyFaults returns the faults of the Idempotency-Key header.
func (r *reportWorkspace) idempotencyKeyFaults() []market.FieldError {
	const field, expected = "Idempotency-Key", "1 to 255 visible ASCII characters"
	switch {
	case r.req.BadKey:
		return []market.FieldError{{Field: field, Code: errcode.FieldInvalidFormat, Expected: expected}}
	case len(r.req.Key) == 0:
		return []market.FieldError{{Field: field, Code: errcode.FieldMissingRequired, Expected: expected}}
	}
	return nil
}

// fieldErrorsOf returns the field errors of the objections. The error of a refused reason lists
// the allowed reasons; old log records have no such list.
func fieldErrorsOf(objections []market.ReportRejection, reasons string) (faults []market.FieldError) {
	for _, objection := range objections {
		if fault, ok := objection.FieldError(); ok {
			if objection == market.RejectionReasonUnlisted && reasons != "" {
				fault.Expected += ": " + reasons
			}
			faults = append(faults, fault)
		}
	}
	return faults
}
