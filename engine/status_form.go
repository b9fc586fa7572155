package engine

import (
	"unicode/utf8"

	"pingpost/api/errcode"
	"pingpost/engine/market"
	"pingpost/engine/market/format"
	"pingpost/engine/state"
)

// report is a parsed StatusReport.
type report struct {
	lead       market.LeadID // zero: lead_id is not a valid id
	status     market.Status
	reason     string
	occurred   int64 // Unix nanoseconds; zero: not given
	objections []market.ReportRejection
	reasons    string // the allowed reasons, if RejectionReasonUnlisted is among the objections
}

// readAll parses all reports. A lead may be in only one of them: otherwise the results would
// depend on the order of the decisions, and the second one on an event that is not applied.
func (r *reporting) readAll() {
	seen := make(map[market.LeadID]struct{}, len(r.req.Reports))
	for i := range r.req.Reports {
		form := &r.req.Reports[i]
		rep := r.read(form)
		switch {
		case form.NotObject:
			rep.objections = []market.ReportRejection{market.RejectionNotObject}
		case form.Lead.IsMissing():
			rep.object(market.RejectionLeadMissing)
		case form.Lead.Kind != market.JSONString:
			rep.object(market.RejectionLeadType)
		default:
			rep.lead, _ = market.ParseLeadID(string(form.Lead.Text))
		}
		if _, twice := seen[rep.lead]; twice && !rep.lead.IsZero() {
			rep.object(market.RejectionLeadTwice)
		}
		seen[rep.lead] = struct{}{}
		if lead, ok := r.buyersLead(rep.lead); ok {
			r.checkReason(&rep, &lead)
		}
		r.reports = append(r.reports, rep)
	}
}

// object adds an objection.
func (rep *report) object(o market.ReportRejection) { rep.objections = append(rep.objections, o) }

// read parses a report and adds all objections.
func (r *reporting) read(form *StatusReport) (rep report) {
	switch m := &form.Status; {
	case m.IsMissing():
		rep.object(market.RejectionStatusMissing)
	case m.Kind != market.JSONString:
		rep.object(market.RejectionStatusType)
	default:
		var ok bool
		if rep.status, ok = market.ParseReportedStatus(string(m.Text)); !ok {
			rep.object(market.RejectionStatusUnknown)
		}
	}
	rep.readReason(&form.Reason)
	rep.readOccurred(&form.Occurred, r.now)
	return rep
}

func (rep *report) readReason(m *market.Member) {
	switch {
	case m.IsMissing():
		if rep.status == market.StatusReturned {
			rep.object(market.RejectionReasonMissing)
		}
	case m.Kind != market.JSONString:
		rep.object(market.RejectionReasonType)
	case utf8.RuneCount(m.Text) > market.MaxReportReason:
		rep.object(market.RejectionReasonTooLong)
	case !isPrintable(m.Text):
		rep.object(market.RejectionReasonInvalid)
	default:
		rep.reason = string(m.Text)
	}
}

func (rep *report) readOccurred(m *market.Member, now int64) {
	if m.IsMissing() {
		return
	}
	if m.Kind != market.JSONString {
		rep.object(market.RejectionOccurredType)
		return
	}
	at, ok := format.ParseTimestamp(m.Text)
	switch {
	case !ok:
		rep.object(market.RejectionOccurredInvalid)
	case at > now+market.MaxReporterClockSkew:
		rep.object(market.RejectionOccurredInFuture)
	default:
		rep.occurred = at
	}
}

// checkReason checks the reason of a return against the campaign's list. A return that was
// requested before keeps its reason, even if the list has changed.
func (r *reporting) checkReason(rep *report, lead *state.Lead) {
	if rep.status != market.StatusReturned || rep.reason == "" || lead.Status == market.StatusReturned || lead.ReturnState() == market.ReturnPending {
		return
	}
	if rule := r.plan.returns(r.engine, lead.Campaign); !rule.AcceptsReason(rep.reason) {
		rep.object(market.RejectionReasonUnlisted)
		rep.reasons = rule.ListReasons()
	}
}

// keyFaults returns the faults of the Idempotency-Key header.
func (r *reporting) keyFaults() []market.FieldError {
	const field, expected = "Idempotency-Key", "1 to 255 visible ASCII characters"
	switch {
	case r.req.BadKey:
		return []market.FieldError{{Field: field, Code: errcode.FieldInvalidFormat, Expected: expected}}
	case len(r.req.Key) == 0:
		return []market.FieldError{{Field: field, Code: errcode.FieldMissingRequired, Expected: expected}}
	}
	return nil
}

// faultsOf returns the field errors of the objections. The error of a refused reason lists
// the allowed reasons; old log records have no such list.
func faultsOf(objections []market.ReportRejection, reasons string) (faults []market.FieldError) {
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
