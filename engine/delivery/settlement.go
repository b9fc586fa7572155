package delivery

import (
	"pingpost/engine/event"
	"pingpost/engine/market"
	"pingpost/engine/redaction"
	"pingpost/engine/state"
)

// ContinueInBackground runs the delivery to its end on a goroutine of its own. The
// supplier's answer is committed.
func (d *Delivery) ContinueInBackground() {
	d.Trace.StopRecording(d.all.opt.Clock.Now())
	d.inBackground = true
	close(d.supplierAnswered)
	go func() {
		defer d.all.unregister(d)
		if err := d.runToEnd(); err != nil {
			d.all.opt.Observer.ReportFault("cannot commit the outcome of a delivery; the next start continues the delivery", err)
		}
	}()
}

// ResendInBackground makes the attempts of an intent that an operator sends again. The
// buyer may have the lead already.
func (d *Delivery) ResendInBackground(post *state.OpenPost) {
	d.LoadIntent(post)
	d.inDoubt = true
	d.ContinueInBackground()
}

// End ends a delivery that is settled, or that cannot go on.
func (d *Delivery) End() {
	d.all.unregister(d)
	close(d.supplierAnswered)
}

// runToEnd makes attempts until the settlement is committed, or the exchange stops.
func (d *Delivery) runToEnd() error {
	if d.unsendable && !d.inProgress {
		return d.CommitNewSettlement(event.SettledUnknown)
	}
	for {
		if !d.inProgress {
			if !d.waitForRetry() {
				return nil
			}
			d.startAttempt()
		}
		result := <-d.results
		switch how := d.judgeResult(&result); how {
		case notSettled:
			if err := d.commitAttempt(); err != nil {
				return err
			}
		case event.SettledRefused:
			record := d.NewSettlement(how)
			record.Reason = market.ReasonPostRejected
			return d.CommitSettlement(record, nil)
		default:
			return d.CommitNewSettlement(how)
		}
	}
}

// CommitNewSettlement commits a settlement that needs nothing but its kind.
func (d *Delivery) CommitNewSettlement(how event.PostSettlement) error {
	err := d.CommitSettlement(d.NewSettlement(how), nil)
	if err == nil && how == event.SettledUnknown && !d.post.Sale.Test {
		d.all.opt.Observer.DeliveryUnknown(d.lead, d.buyerID())
	}
	return err
}

// NewSettlement returns the event of a settlement, with the result of the last attempt. An
// attempt that is still in progress counts as a timeout.
func (d *Delivery) NewSettlement(how event.PostSettlement) *event.PostSettled {
	last := d.lastResult
	if d.inProgress {
		last = market.PostResult{Fault: market.FaultTimeout}
	}
	record := &event.PostSettled{
		Lead: d.lead, Decided: d.post.Decided, Settlement: how, Attempts: d.attempts, Fault: last.Fault,
		BuyerLead: last.BuyerLeadID, Code: last.Code, Status: uint32(max(0, last.Status)), Elapsed: int64(last.Elapsed),
	}
	record.Sale.CopyFrom(&d.post.Sale)
	if lead, ok := d.all.opt.State.Lead(d.lead); ok {
		record.Campaign, record.Supplier = lead.Campaign, lead.Supplier
		d.supplierAccepted = lead.Answer == state.AnswerAccepted
	}
	return record
}

// SelectWebhook stores in a settlement from NewSettlement the webhook event that it triggers.
// CommitSettlement does this too.
func (d *Delivery) SelectWebhook(record *event.PostSettled) {
	d.all.opt.SelectWebhook(record, d.supplierAccepted)
}

// CommitSettlement commits a settlement from NewSettlement. The reservations, which may be nil, are
// released with it.
func (d *Delivery) CommitSettlement(record *event.PostSettled, reserved *state.Reservation) error {
	d.SelectWebhook(record)
	return d.all.opt.Commit(record, reserved)
}

// redactContact removes contact data of the lead from a buyer's answer, before the answer is used,
// logged or reported. An id with contact data becomes empty. After a restart, the intent for
// a later buyer has the body alone, and the contact fields are in the lead's first event.
func (d *Delivery) redactContact(result *market.PostResult) {
	if result.Code == "" && result.BuyerLeadID == "" {
		return
	}
	if d.contactFields == nil {
		d.contactFields = d.all.opt.ReadContactFields(d.lead)
	}
	var contact redaction.Matcher
	for _, field := range d.contactFields {
		contact.Add(field.Name, field.Text)
	}
	if contact.FoundIn([]byte(result.Code)) {
		result.Code = redaction.Withheld
	}
	if contact.FoundIn([]byte(result.BuyerLeadID)) {
		result.BuyerLeadID = ""
	}
}
