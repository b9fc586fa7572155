package engine

import (
	"unicode/utf8"

	"pingpost/api/errcode"
	"pingpost/engine/market"
	"pingpost/engine/state"
)

// report is a buyer's word on a lead, read.
type report struct {
	lead       market.LeadID // zero: what was named is no lead's id
	status     market.Status
	reason     string
	occurred   int64 // Unix nanoseconds; zero: no word
	objections []market.Objection
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
			rep.objections = []market.Objection{market.ObjectionNoObject}
		case form.Lead.Missing():
			rep.object(market.ObjectionLeadMissing)
		case form.Lead.Kind != market.JSONString:
			rep.object(market.ObjectionLeadType)
		default:
			rep.lead, _ = market.ParseLeadID(string(form.Lead.Text))
		}
		if _, twice := seen[rep.lead]; twice && !rep.lead.IsZero() {
			rep.object(market.ObjectionLeadTwice)
		}
		seen[rep.lead] = struct{}{}
		if lead, ok := r.own(rep.lead); ok {
			r.checkReason(&rep, &lead)
		}
		r.reports = append(r.reports, rep)
	}
}

func (rep *report) object(o market.Objection) { rep.objections = append(rep.objections, o) }

// read reads what stands in a report, and finds all that is wrong with it.
func (r *reporting) read(form *StatusReport) (rep report) {
	switch m := &form.Status; {
	case m.Missing():
		rep.object(market.ObjectionStatusMissing)
	case m.Kind != market.JSONString:
		rep.object(market.ObjectionStatusType)
	default:
		var ok bool
		if rep.status, ok = market.ParseReport(string(m.Text)); !ok {
			rep.object(market.ObjectionStatusUnknown)
		}
	}
	rep.readReason(&form.Reason)
	rep.readOccurred(&form.Occurred, r.now)
	return rep
}

func (rep *report) readReason(m *market.Member) {
	switch {
	case m.Missing():
		if rep.status == market.StatusReturned {
			rep.object(market.ObjectionReasonMissing)
		}
	case m.Kind != market.JSONString:
		rep.object(market.ObjectionReasonType)
	case utf8.RuneCount(m.Text) > market.MaxReportReason:
		rep.object(market.ObjectionReasonLong)
	case !printable(m.Text):
		rep.object(market.ObjectionReasonForm)
	default:
		rep.reason = string(m.Text)
	}
}

func (rep *report) readOccurred(m *market.Member, now int64) {
	if m.Missing() {
		return
	}
	if m.Kind != market.JSONString {
		rep.object(market.ObjectionOccurredType)
		return
	}
	at, ok := market.ParseTimestamp(m.Text)
	switch {
	case !ok:
		rep.object(market.ObjectionOccurredForm)
	case at > now+market.MaxReportersClock:
		rep.object(market.ObjectionOccurredToCome)
	default:
		rep.occurred = at
	}
}

// checkReason holds the reason of a return against the campaign's. One that was
// asked for already stands, whatever the list has become.
func (r *reporting) checkReason(rep *report, lead *state.Lead) {
	if rep.status != market.StatusReturned || rep.reason == "" || lead.Status == market.StatusReturned || lead.Return() == market.ReturnWaits {
		return
	}
	if rule := r.plan.returns(r.engine, lead.Campaign); !rule.Takes(rep.reason) {
		rep.object(market.ObjectionReasonUnlisted)
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

// faultsOf are the field errors that go with objections.
func faultsOf(objections []market.Objection) (faults []market.FieldError) {
	for _, objection := range objections {
		if fault, ok := objection.Fault(); ok {
			faults = append(faults, fault)
		}
	}
	return faults
}
