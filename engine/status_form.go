package engine

import (
	"unicode/utf8"

	"pingpost/api/errcode"
	"pingpost/engine/market"
	"pingpost/engine/market/format"
	"pingpost/engine/state"
)

// report is a buyer's word on a lead, read.
type report struct {
	lead       market.LeadID // zero: what was named is no lead's id
	status     market.Status
	reason     string
	occurred   int64 // Unix nanoseconds; zero: no word
	objections []market.ReportRejection
	reasons    string // the allowed ones, with RejectionReasonUnlisted
}

// readAll reads each of many reports. A lead stands in one of them: what two of
// them came to would hang on which is decided first, and the second's answer on
// something that is no fact yet.
func (r *reporting) readAll() {
	seen := make(map[market.LeadID]struct{}, len(r.req.Reports))
	for i := range r.req.Reports {
		form := &r.req.Reports[i]
		rep := r.read(form)
		switch {
		case form.NoObject:
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
		if lead, ok := r.own(rep.lead); ok {
			r.checkReason(&rep, &lead)
		}
		r.reports = append(r.reports, rep)
	}
}

func (rep *report) object(o market.ReportRejection) { rep.objections = append(rep.objections, o) }

// read reads what stands in a report, and finds all that is wrong with it.
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
	case !printable(m.Text):
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

// checkReason holds the reason of a return against the campaign's. One that was
// asked for already stands, whatever the list has become.
func (r *reporting) checkReason(rep *report, lead *state.Lead) {
	if rep.status != market.StatusReturned || rep.reason == "" || lead.Status == market.StatusReturned || lead.Return() == market.ReturnPending {
		return
	}
	if rule := r.plan.returns(r.engine, lead.Campaign); !rule.AcceptsReason(rep.reason) {
		rep.object(market.RejectionReasonUnlisted)
		rep.reasons = rule.ListReasons()
	}
}

// keyFaults is what is wrong with the idempotency key.
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

// faultsOf are the field errors that go with objections. A refused reason names the
// allowed ones; entries of earlier programs have no list of them.
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
