package engine

import (
	"errors"
	"strings"

	"pingpost/engine/event"
	"pingpost/engine/market"
	"pingpost/engine/state"
)

// decide returns the change that a report causes. Its lead is locked. If the lead's delivery
// was unconfirmed, the report confirms it, and that event is committed first.
func (r *reporting) decide(rep *report) (event.LeadChange, error) {
	for {
		lead, ok := r.buyersLead(rep.lead)
		change := event.LeadChange{Lead: rep.lead, To: rep.status}
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

// judge is the state machine of a lead after its sale. It returns the report's result and,
// if the report is not allowed, the reason.
func (r *reporting) judge(rep *report, lead *state.Lead, rule *market.ReturnRule) (event.LeadChangeResult, market.ReportRejection) {
	no := func(o market.ReportRejection) (event.LeadChangeResult, market.ReportRejection) {
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
	case !lead.Status.CanBecome(rep.status):
		return no(market.RejectionStatusBackward)
	case rep.status != market.StatusReturned:
		return event.ChangeDone, market.RejectionNone
	case lead.ReturnState() == market.ReturnRefused:
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

// complete fills in the rest of an accepted change.
func (r *reporting) complete(change *event.LeadChange, rep *report, lead *state.Lead, rule *market.ReturnRule) (err error) {
	change.Reason, change.Occurred = withoutContact(rep.reason), rep.occurred
	if rep.status == market.StatusReturned {
		change.Return, err = r.engine.givenBack(lead, rule, r.deadline())
		r.countReturn(lead)
	}
	if change.Result == event.ChangeDone {
		change.Webhook = r.plan.webhookFor(lead.Supplier, rep.status.WebhookType())
	}
	return err
}

// withoutContact returns a buyer's reason for a return, or Withheld if it seems to have an
// e-mail address or a phone number. The log has reasons in plaintext, and the supplier gets
// them. Rejected: a comparison with the lead's contact data, which must be read from the log
// for each of up to 1,000 leads.
func withoutContact(reason string) string {
	digits := 0
	for _, r := range reason {
		if r >= '0' && r <= '9' {
			digits++
		}
	}
	if digits >= minDigits || strings.Contains(reason, "@") {
		return Withheld
	}
	return reason
}

// confirm commits that the buyer has the lead, unless an operator has resolved the delivery
// meanwhile. The caller reads the lead again.
func (r *reporting) confirm(lead market.LeadID) error {
	e := r.engine
	err := e.By("").Resolve(lead, event.SettledConfirmed)
	switch {
	case errors.Is(err, ErrNotFound):
		return nil
	case !errors.Is(err, ErrConflict):
		return err
	}
	// The last delivery may be about to end, or an operator has resent the lead.
	row, _ := e.state.Lead(lead)
	if c := e.deliveries.find(lead); c != nil && row.Delivery == market.DeliveryUnknown {
		return r.waitForResult(c.ended)
	}
	return nil
}
