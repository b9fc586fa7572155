package delivery

import (
	"fmt"

	"pingpost/engine/event"
	"pingpost/engine/market"
	"pingpost/engine/redaction"
	"pingpost/engine/state"
)

// ContinueInBackground runs the delivery to its end on a goroutine of its own. The caller has
// committed the supplier's answer and gives up the delivery.
func (d *Delivery) ContinueInBackground() {
	d.Trace.EndPendingPostAndStop(d.all.opt.Clock.Now())
	d.inBackground = true
	close(d.supplierAnswered)
	go func() {
		defer d.all.unregisterAndCloseEnded(d)
		if err := d.runUntilSettledOrStopped(); err != nil {
			d.all.opt.Observer.ReportFault("cannot commit an attempt or the outcome of a delivery; the next start continues the delivery", fmt.Errorf("lead %s: %w", d.lead, err))
		}
	}()
}

// ResendInBackground posts the lead again in the background, because an operator decided so for
// an unconfirmed delivery. It treats the buyer as one that may have the lead.
func (d *Delivery) ResendInBackground(post *state.UnfinishedPost) {
	d.SetIntentAndDecryptBody(post)
	d.inDoubt = true
	d.ContinueInBackground()
}

// UnregisterAndWakeWaiters ends a delivery whose outcome is committed, or that cannot continue. It
// wakes the requests that wait for the lead's answer.
func (d *Delivery) UnregisterAndWakeWaiters() {
	d.all.unregisterAndCloseEnded(d)
	close(d.supplierAnswered)
}

// runUntilSettledOrStopped makes attempts until the delivery's outcome is committed, or until the
// exchange stops. Then it returns nil, and the next start continues the delivery. An error is the
// log's.
func (d *Delivery) runUntilSettledOrStopped() error {
	if d.unsendable && !d.inProgress {
		return d.BuildAndCommitSettlement(event.SettledUnknown)
	}
	for {
		if !d.inProgress {
			if !d.waitForRetryOrStop() {
				return nil
			}
			d.startAttempt()
		}
		result := <-d.results
		switch how := d.settleOrScheduleRetry(&result); how {
		case notSettled:
			if err := d.commitFailedAttempt(); err != nil {
				return err
			}
		case event.SettledRefused:
			record := d.NewSettlement(how)
			record.Reason = market.ReasonPostRejected
			return d.CommitSettlement(record, nil)
		default:
			return d.BuildAndCommitSettlement(how)
		}
	}
}

// BuildAndCommitSettlement commits an outcome that needs no reason and no next buyer. It reports an
// unconfirmed delivery or a sale to the observer.
func (d *Delivery) BuildAndCommitSettlement(outcome event.PostSettlement) error {
	err := d.CommitSettlement(d.NewSettlement(outcome), nil)
	if err != nil || d.post.Sale.Test {
		return err
	}
	switch outcome {
	case event.SettledUnknown:
		d.all.opt.Observer.WarnOfUnconfirmedDelivery(d.lead, d.buyerID())
	case event.SettledDelivered:
		d.all.opt.Observer.SaleSettled(d.buyerID())
	}
	return nil
}

// NewSettlement returns the event that records an outcome of the delivery, with the result of the
// last attempt. The caller may complete it before the commit. An attempt that is still in
// progress counts as a timeout.
func (d *Delivery) NewSettlement(outcome event.PostSettlement) *event.PostSettled {
	last := d.lastResult
	if d.inProgress {
		last = market.BuyerPostResult{Fault: market.FaultTimeout}
	}
	record := &event.PostSettled{
		Lead: d.lead, Decided: d.post.Decided, Settlement: outcome, Attempts: d.attempts, Fault: last.Fault,
		BuyerLead: last.BuyerLeadID, Code: last.Code, Status: uint32(max(0, last.Status)), Elapsed: int64(last.Elapsed),
	}
	record.Sale.CopyFrom(&d.post.Sale)
	if lead, ok := d.all.opt.State.LeadInMemory(d.lead); ok {
		record.Campaign, record.Supplier = lead.Campaign, lead.Supplier
		d.supplierAccepted = lead.Answer == state.AnswerAccepted
	}
	return record
}

// SetTriggeredWebhook writes the webhook event that a settlement triggers into its record. The
// record comes from NewSettlement. CommitSettlement calls it; others need it only if they commit
// the record themselves.
func (d *Delivery) SetTriggeredWebhook(record *event.PostSettled) {
	d.all.opt.SelectWebhook(record, d.supplierAccepted)
}

// CommitSettlement commits a result of the delivery, such as delivered, refused or pending, which
// NewSettlement returned. It adds the webhook event that the result triggers, and releases the
// reservations, which may be nil.
func (d *Delivery) CommitSettlement(record *event.PostSettled, reserved *state.RequestReservations) error {
	d.SetTriggeredWebhook(record)
	return d.all.opt.Commit(record, reserved)
}

// redactContact removes contact data of the lead from a buyer's answer, before the answer is
// used, logged or reported. A code that contains contact data becomes redaction.Withheld, and a
// buyer's lead id becomes empty. A repeat of the supplier's post reads the logged answer, so it equals
// the first one. The intent for a later buyer has no contact fields, so after a
// restart they are read from the lead's first event.
func (d *Delivery) redactContact(result *market.BuyerPostResult) {
	if result.Code == "" && result.BuyerLeadID == "" {
		return
	}
	if d.contactFields == nil {
		d.contactFields = d.all.opt.ReadContactFields(d.lead)
	}
	var contact redaction.ContactMatcher
	for _, field := range d.contactFields {
		contact.Add(field.Name, field.Text)
	}
	if contact.ContactFoundIn([]byte(result.Code)) {
		result.Code = redaction.Withheld
	}
	if contact.ContactFoundIn([]byte(result.BuyerLeadID)) {
		result.BuyerLeadID = ""
	}
}
