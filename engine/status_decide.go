package engine

import (
	"errors"
	"strings"

	"pingpost/engine/event"
	"pingpost/engine/market"
	"pingpost/engine/state"
)

// decide says what a report comes to. Its lead is taken. One whose delivery
// nobody knew the end of is hereby known to have arrived: that is a fact before
// the report is one.
func (r *reporting) decide(rep *report) (event.Change, error) {
	for {
		lead, ok := r.own(rep.lead)
		change := event.Change{Lead: rep.lead, To: rep.status}
		switch {
		case len(rep.objections) > 0:
			change.Result, change.Rejections = event.ChangeInvalid, rep.objections
			return change, nil
		case !ok:
			change.Result = event.ChangeUnknown
			return change, nil
		}
		change.From, change.Supplier = lead.Status, lead.Supplier
		rule := r.plan.returns(r.engine, lead.Campaign)
		var objection market.ReportRejection
		change.Result, objection = r.judge(rep, &lead, &rule)
		switch change.Result {
		case event.ChangeNotAllowed:
			change.Rejections = []market.ReportRejection{objection}
			return change, nil
		case event.ChangeNone:
			return change, nil
		}
		if lead.Delivery != market.DeliveryUnknown {
			err := r.complete(&change, rep, &lead, &rule)
			return change, err
		}
		if err := r.confirm(rep.lead); err != nil {
			return change, err
		}
	}
}

// judge is the state machine: what a report comes to from where its lead stands.
func (r *reporting) judge(rep *report, lead *state.Lead, rule *market.ReturnRule) (event.ChangeResult, market.ReportRejection) {
	no := func(o market.ReportRejection) (event.ChangeResult, market.ReportRejection) {
		return event.ChangeNotAllowed, o
	}
	switch {
	case lead.Status == market.StatusUnmatched:
		return no(market.RejectionNotSold)
	case lead.Status == market.StatusOpen, lead.Delivery == market.DeliveryPending:
		return no(market.RejectionDeliveryPending)
	case lead.Status == rep.status, lead.Return() == market.ReturnPending && rep.status == market.StatusReturned:
		return event.ChangeNone, market.RejectionNone
	case lead.Return() == market.ReturnPending:
		return no(market.RejectionReturnPending)
	case !lead.Status.CanBecome(rep.status):
		return no(market.RejectionStatusBackward)
	case rep.status != market.StatusReturned:
		return event.ChangeDone, market.RejectionNone
	case lead.Return() == market.ReturnRefused:
		return no(market.RejectionReturnRefused)
	case r.now-lead.Decided >= int64(rule.Window):
		return no(market.RejectionReturnLate)
	case !r.shareLeft(lead, rule):
		return no(market.RejectionReturnShare)
	case rule.Manual:
		return event.ChangePending, market.RejectionNone
	}
	return event.ChangeDone, market.RejectionNone
}

// complete fills in what goes with a change that is taken.
func (r *reporting) complete(change *event.Change, rep *report, lead *state.Lead, rule *market.ReturnRule) (err error) {
	change.Reason, change.Occurred = withoutAnyone(rep.reason), rep.occurred
	if rep.status == market.StatusReturned {
		change.Return, err = r.engine.givenBack(lead, rule, r.ceiling())
		r.countReturn(lead)
	}
	if change.Result == event.ChangeDone {
		change.Webhook = r.plan.webhookFor(lead.Supplier, rep.status.Webhook())
	}
	return err
}

// withoutAnyone is a reporter's reason, which is told on and logged in clear, unless it
// has an e-mail address or a phone number. Whose lead it is would have to be read from
// the log, for each of a thousand.
func withoutAnyone(reason string) string {
	digits := 0
	for _, r := range reason {
		if r >= '0' && r <= '9' {
			digits++
		}
	}
	if digits >= leastDigits || strings.Contains(reason, "@") {
		return Withheld
	}
	return reason
}

// confirm makes it a fact that the buyer has a lead, unless an operator has said
// anything of it meanwhile, which is for the caller to see.
func (r *reporting) confirm(lead market.LeadID) error {
	e := r.engine
	err := e.By("").Resolve(lead, event.SettledConfirmed)
	switch {
	case errors.Is(err, ErrNotFound):
		return nil
	case !errors.Is(err, ErrConflict):
		return err
	}
	// Its last courier may be on the way out, or an operator has sent it again.
	row, _ := e.state.Lead(lead)
	if c := e.couriers.of(lead); c != nil && row.Delivery == market.DeliveryUnknown {
		return r.wait(c.ended)
	}
	return nil
}
