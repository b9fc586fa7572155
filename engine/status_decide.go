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
			change.Result, change.Objections = event.ChangeInvalid, rep.objections
			return change, nil
		case !ok:
			change.Result = event.ChangeUnknown
			return change, nil
		}
		change.From, change.Supplier = lead.Status, lead.Supplier
		rule := r.plan.returns(r.engine, lead.Campaign)
		var objection market.Objection
		change.Result, objection = r.judge(rep, &lead, &rule)
		switch change.Result {
		case event.ChangeNotNow:
			change.Objections = []market.Objection{objection}
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
func (r *reporting) judge(rep *report, lead *state.Lead, rule *market.ReturnRule) (event.ChangeResult, market.Objection) {
	no := func(o market.Objection) (event.ChangeResult, market.Objection) { return event.ChangeNotNow, o }
	switch {
	case lead.Status == market.StatusUnmatched:
		return no(market.ObjectionNotSold)
	case lead.Status == market.StatusOpen, lead.Delivery == market.DeliveryPending:
		return no(market.ObjectionOnItsWay)
	case lead.Status == rep.status, lead.Return() == market.ReturnWaits && rep.status == market.StatusReturned:
		return event.ChangeNone, market.ObjectionNone
	case lead.Return() == market.ReturnWaits:
		return no(market.ObjectionReturnWaits)
	case !lead.Status.MayBecome(rep.status):
		return no(market.ObjectionFurther)
	case rep.status != market.StatusReturned:
		return event.ChangeDone, market.ObjectionNone
	case lead.Return() == market.ReturnRefused:
		return no(market.ObjectionReturnRefused)
	case r.now-lead.Decided >= int64(rule.Window):
		return no(market.ObjectionReturnLate)
	case !r.shareLeft(lead, rule):
		return no(market.ObjectionReturnShare)
	case rule.Manual:
		return event.ChangeWaits, market.ObjectionNone
	}
	return event.ChangeDone, market.ObjectionNone
}

// complete fills in what goes with a change that is taken.
func (r *reporting) complete(change *event.Change, rep *report, lead *state.Lead, rule *market.ReturnRule) (err error) {
	change.Reason, change.Occurred = withoutAnyone(rep.reason), rep.occurred
	if rep.status == market.StatusReturned {
		change.Return, err = r.engine.givenBack(lead, rule, r.ceiling())
		r.countReturn(lead)
	}
	if change.Result == event.ChangeDone {
		change.Hook = r.plan.owes(lead.Supplier, rep.status.Hook())
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
