package engine

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"

	"pingpost/engine/event"
	"pingpost/engine/market"
	"pingpost/engine/state"
)

// campaignBuyerMonth identifies one calendar month of sales to a buyer in a campaign. A return rule may
// limit the share of these leads that the buyer returns.
type campaignBuyerMonth struct {
	campaign, buyer market.PermanentNumber
	began           int64 // Unix nanoseconds
}

func salesMonthOf(lead *state.Lead) campaignBuyerMonth {
	return campaignBuyerMonth{lead.Campaign, lead.Buyer, market.StartOfUTCMonth(lead.Decided)}
}

func compareMonths(first, second campaignBuyerMonth) int {
	return cmp.Or(cmp.Compare(first.campaign, second.campaign), cmp.Compare(first.buyer, second.buyer), cmp.Compare(first.began, second.began))
}

func compareLeadIDs(first, second market.LeadID) int { return bytes.Compare(first[:], second[:]) }

// returnRuleOrDefaultIfRemoved returns the rule for returning leads of a campaign, from the present
// configuration. A removed campaign has the default rule.
func (p *compiledCatalog) returnRuleOrDefaultIfRemoved(e *Engine, campaign market.PermanentNumber) market.ReturnRule {
	if o := p.campaigns[market.CampaignID(e.state.NameOf(event.ObjectCampaign, campaign))]; o != nil {
		return o.Campaign.Returns
	}
	return market.DefaultReturnRule()
}

// returnLimitAppliesToLead reports whether the rule limits how many leads of a month may be returned. A
// share of 100 % is no limit, because a lead is returned once. Test leads are never limited.
func returnLimitAppliesToLead(rule *market.ReturnRule, lead *state.Lead) bool {
	return rule.MaxShare < market.WholeShare && !lead.IsTest()
}

// returnMonthToLock returns the month whose returns a report would add to. mustLock reports whether
// the rule limits them; then the caller must lock the month. A report that is no return, or is
// already rejected, needs no lock.
func (r *statusRequestInProgress) returnMonthToLock(rep *parsedBuyerReport) (month campaignBuyerMonth, mustLock bool, err error) {
	if rep.status != market.StatusReturned || len(rep.objections) > 0 {
		return month, false, nil
	}
	lead, ok, err := r.engine.findLead(rep.lead)
	if err != nil || !ok {
		return month, false, err
	}
	month = salesMonthOf(&lead)
	month.buyer = r.req.Buyer.Ref // even if another buyer has the lead now: this buyer may get it before the lock
	rule := r.plan.returnRuleOrDefaultIfRemoved(r.engine, lead.Campaign)
	return month, returnLimitAppliesToLead(&rule, &lead), nil
}

// isWithinReturnLimit reports whether the buyer may return this lead, within the limit of its month.
// The caller has locked the month. If the lead's delivery was unconfirmed, it counts as sold,
// because this report confirms it.
func (r *statusRequestInProgress) isWithinReturnLimit(lead *state.Lead, rule *market.ReturnRule) bool {
	if !returnLimitAppliesToLead(rule, lead) {
		return true
	}
	m := salesMonthOf(lead)
	sold, returned := r.engine.state.MonthlySaleCounts(m.campaign, m.buyer, m.began)
	if lead.Delivery == market.DeliveryUnknown {
		sold++
	}
	return rule.ShareAllowsAnotherReturn(returned+r.returns[m], sold)
}

// countReturnInRequest counts an accepted return of this request, so that later reports of the
// request see it in their limit. Test leads do not count.
func (r *statusRequestInProgress) countReturnInRequest(lead *state.Lead) {
	if lead.IsTest() {
		return
	}
	if r.returns == nil {
		r.returns = make(map[campaignBuyerMonth]int64)
	}
	r.returns[salesMonthOf(lead)]++
}

// newMoneyAndCapsReversed returns the resources that the return of a lead gives back: the buyer's
// money, the supplier's payout and the caps, as the rule says. For a test lead the result is zero.
// deadlineNanos limits the wait for a log read, in Unix nanoseconds.
func (e *Engine) newMoneyAndCapsReversed(lead *state.Lead, rule *market.ReturnRule, deadlineNanos int64) (returned event.MoneyAndCapsReversedByReturn, err error) {
	if lead.IsTest() {
		return returned, nil
	}
	returned = event.MoneyAndCapsReversedByReturn{Campaign: lead.Campaign, Month: market.StartOfUTCMonth(lead.Decided), Credit: lead.Price, Currency: lead.Currency}
	if rule.ReversePayout {
		returned.Reverse = lead.Payout
	}
	if rule.RestoreCaps {
		returned.Charges, err = e.readCapChargesOfSale(lead, deadlineNanos)
	}
	return returned, err
}

// readCapChargesOfSale returns the caps that the lead's sale used, with their amounts, so that a
// return can give them back. The state does not keep them, so they come from the sale's event. If
// the log's history no longer has the event, all periods of these caps have passed, and the
// result is empty.
func (e *Engine) readCapChargesOfSale(lead *state.Lead, deadlineNanos int64) ([]event.CapCharge, error) {
	seq := lead.Seq
	if lead.Settled != 0 {
		seq = lead.Settled
	}
	record, err := e.log.ReadIfKept(seq, deadlineNanos)
	if record == nil {
		return nil, err
	}
	switch sale := record.(type) {
	case *event.LeadDecided:
		return sale.Sale.Charges, nil
	case *event.PostSettled:
		if sale.Next.Buyer != 0 {
			return sale.Next.Charges, nil
		}
		return sale.Sale.Charges, nil
	}
	panic("BUG: a lead was sold by a " + record.Kind().String())
}

// webhookTypeIfSupplierHasEndpoint returns webhookType, or WebhookNone if the supplier has no webhook endpoint.
func (p *compiledCatalog) webhookTypeIfSupplierHasEndpoint(supplier market.PermanentNumber, webhookType market.WebhookType) market.WebhookType {
	if p.webhooks[supplier] == nil {
		return market.WebhookNone
	}
	return webhookType
}

// PendingReturn describes a return that a buyer requested and an operator has to approve or
// refuse.
type PendingReturn struct {
	Lead      market.LeadID
	Buyer     string
	Supplier  string
	Campaign  string
	Status    market.LeadStatus // the lead's present status
	Reason    string            // from the buyer
	Requested int64             // Unix nanoseconds
	Credit    market.Money      // to the buyer
	Reverse   market.Money      // from the supplier
	Currency  market.Currency
	Test      bool
}

// DecideReturn approves or refuses a pending return, with the operator's note. An approved return
// gives back the money and caps that the rules allowed at the time of the buyer's request. If the
// log no longer has that request, the present rules apply. ErrNotFound: the lead does not exist.
// ErrConflict: it has no pending return.
func (e OperatorActions) DecideReturn(id market.LeadID, approve bool, note string) error {
	until := e.opt.Clock.Now() + int64(e.opt.Ceiling)
	p := e.plan.Load()
	if p == nil {
		return ErrUnavailable
	}
	locked, err := e.lockLeadStatus(id, until)
	if err != nil {
		return err
	}
	defer e.changing.UnlockAndEmpty(&locked)
	if err := e.loadLeadIntoMemory(id); err != nil {
		return err
	}
	pending, ok := e.state.PendingReturnRequest(id)
	if !ok {
		_, known, err := e.findLead(id)
		if err != nil {
			return err
		}
		if !known {
			return fmt.Errorf("%w: lead %s does not exist", ErrNotFound, id)
		}
		return fmt.Errorf("%w: lead %s has no pending return", ErrConflict, id)
	}
	buyer, change, err := e.readOrRebuildRequestedReturn(p, id, pending, until)
	if err != nil {
		return err
	}
	change.WasPending = true
	if approve {
		change.Result = event.ChangeDone
		change.Webhook = p.webhookTypeIfSupplierHasEndpoint(change.Supplier, market.WebhookReturned)
	} else {
		change.Result = event.ChangeRefused
		change.Return = event.MoneyAndCapsReversedByReturn{Campaign: change.Return.Campaign, Month: change.Return.Month}
	}
	return e.commit(&event.LeadStatusChangesDecided{
		Buyer: buyer, At: e.opt.Clock.Now(), Note: note, By: e.by, Changes: []event.DecidedLeadStatusChange{change},
	}, nil)
}

// lockLeadStatus locks a lead, so that no status report changes it meanwhile. The caller unlocks the
// returned list, which has this one lead. ErrUnavailable: another request held the lock until
// deadlineNanos, or the engine stops.
func (e *Engine) lockLeadStatus(id market.LeadID, deadlineNanos int64) (lockedLeads []market.LeadID, err error) {
	for wait := e.changing.TryLock(id); wait != nil; wait = e.changing.TryLock(id) {
		if e.waitForEndUntil(wait, deadlineNanos) != nil {
			return nil, ErrUnavailable
		}
	}
	return []market.LeadID{id}, nil
}

// readOrRebuildRequestedReturn returns the buyer of a pending return and the change that it requested,
// from the log. If the log's history no longer has the request, it computes the change from the
// lead and the present rules. ErrNotFound: the state no longer has the lead either.
func (e *Engine) readOrRebuildRequestedReturn(p *compiledCatalog, id market.LeadID, pending state.PendingReturnSeqAndTime, deadlineNanos int64) (buyer market.PermanentNumber, change event.DecidedLeadStatusChange, err error) {
	record, err := e.log.ReadIfKept(pending.Seq, deadlineNanos)
	if err != nil {
		return 0, change, err
	}
	if changed, ok := record.(*event.LeadStatusChangesDecided); ok {
		for i := range changed.Changes {
			if c := &changed.Changes[i]; c.Lead == id && c.Result == event.ChangePending {
				return changed.Buyer, *c, nil
			}
		}
		panic(fmt.Sprintf("BUG: log record %d does not request the return of lead %s", pending.Seq, id))
	}
	lead, ok, err := e.findLead(id)
	if err != nil {
		return 0, change, err
	}
	if !ok {
		return 0, change, fmt.Errorf("%w: lead %s is too old: memory and the log's history no longer have it", ErrNotFound, id)
	}
	rule := p.returnRuleOrDefaultIfRemoved(e, lead.Campaign)
	change = event.DecidedLeadStatusChange{Lead: id, From: lead.Status, To: market.StatusReturned, Supplier: lead.Supplier}
	change.Return, err = e.newMoneyAndCapsReversed(&lead, &rule, deadlineNanos)
	return lead.Buyer, change, err
}

// ListPendingReturns lists the pending returns, oldest leads first. It returns at most limit of
// them, after afterLead (zero: from the start), and the number of all pending returns. If neither
// memory nor the log's history has a return any more, only its lead and its time are set.
func (e *Engine) ListPendingReturns(afterLead market.LeadID, limit int) (page []PendingReturn, totalPending int, err error) {
	until := e.opt.Clock.Now() + int64(e.opt.Ceiling)
	p := e.plan.Load()
	if p == nil {
		return nil, 0, ErrUnavailable
	}
	all := e.state.LeadsWithPendingReturn()
	for _, id := range all {
		if len(page) == limit {
			break
		}
		pending, ok := e.state.PendingReturnRequest(id)
		if compareLeadIDs(id, afterLead) <= 0 || !ok {
			continue
		}
		buyer, change, err := e.readOrRebuildRequestedReturn(p, id, pending, until)
		if err != nil && !errors.Is(err, ErrNotFound) {
			return nil, 0, err
		}
		back := &change.Return
		lead, known, err := e.findLead(id)
		if err != nil {
			return nil, 0, err
		}
		if known { // the return of a test lead is empty and names no campaign
			back.Campaign = lead.Campaign
		}
		page = append(page, PendingReturn{
			Lead: id, Status: change.From, Reason: change.Reason, Requested: pending.At, Test: known && lead.IsTest(),
			Buyer:    e.state.NameOf(event.ObjectBuyer, buyer),
			Supplier: e.state.NameOf(event.ObjectSupplier, change.Supplier),
			Campaign: e.state.NameOf(event.ObjectCampaign, back.Campaign),
			Credit:   back.Credit, Reverse: back.Reverse, Currency: back.Currency,
		})
	}
	return page, len(all), nil
}
