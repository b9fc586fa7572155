package engine

import (
	"errors"
	"fmt"

	"pingpost/engine/event"
	"pingpost/engine/market"
	"pingpost/engine/state"
)

// PendingReturn is a return that awaits the operator's approval.
type PendingReturn struct {
	Lead      market.LeadID
	Buyer     string
	Supplier  string
	Campaign  string
	Status    market.Status // the lead's present status
	Reason    string        // from the buyer
	Requested int64         // Unix nanoseconds
	Credit    market.Money  // to the buyer
	Reverse   market.Money  // from the supplier
	Currency  market.Currency
	Test      bool
}

// DecideReturn approves or refuses a pending return. An approved return follows the rules at
// the time of its request. ErrNotFound: the lead does not exist. ErrConflict: it has no
// pending return.
func (e Operator) DecideReturn(id market.LeadID, approve bool, note string) error {
	until := e.opt.Clock.Now() + int64(e.opt.Ceiling)
	p := e.plan.Load()
	if p == nil {
		return ErrUnavailable
	}
	locked, err := e.lockLead(id, until)
	if err != nil {
		return err
	}
	defer e.changing.unlockAll(&locked)
	pending, ok := e.state.PendingReturn(id)
	if !ok {
		if _, known := e.state.Lead(id); !known {
			return fmt.Errorf("%w: lead %s does not exist", ErrNotFound, id)
		}
		return fmt.Errorf("%w: lead %s has no pending return", ErrConflict, id)
	}
	buyer, change, err := e.requestedReturn(p, id, pending, until)
	if err != nil {
		return err
	}
	change.WasPending = true
	if approve {
		change.Result = event.ChangeDone
		change.Webhook = p.webhookFor(change.Supplier, market.WebhookReturned)
	} else {
		change.Result = event.ChangeRefused
		change.Return = event.Return{Campaign: change.Return.Campaign, Month: change.Return.Month}
	}
	return e.commit(&event.StatusChanged{
		Buyer: buyer, At: e.opt.Clock.Now(), Note: note, By: e.by, Changes: []event.Change{change},
	}, nil)
}

// lockLead locks one lead, like a status report.
func (e *Engine) lockLead(id market.LeadID, until int64) (locked []market.LeadID, err error) {
	for wait := e.changing.tryLock(id); wait != nil; wait = e.changing.tryLock(id) {
		if e.waitUntil(wait, until) != nil {
			return nil, ErrUnavailable
		}
	}
	return []market.LeadID{id}, nil
}

// requestedReturn returns the change that the buyer requested. The state may have forgotten
// the lead since. If the log's history no longer has the request, requestedReturn computes
// it from the lead and the present rules.
func (e *Engine) requestedReturn(p *plan, id market.LeadID, pending state.PendingReturn, until int64) (buyer market.Ref, change event.Change, err error) {
	record, err := e.log.ReadIfKept(pending.Seq, until)
	if err != nil {
		return 0, change, err
	}
	if changed, ok := record.(*event.StatusChanged); ok {
		for i := range changed.Changes {
			if c := &changed.Changes[i]; c.Lead == id && c.Result == event.ChangePending {
				return changed.Buyer, *c, nil
			}
		}
		panic(fmt.Sprintf("BUG: log record %d does not request the return of lead %s", pending.Seq, id))
	}
	lead, ok := e.state.Lead(id)
	if !ok {
		return 0, change, fmt.Errorf("%w: lead %s is too old: memory and the log's history no longer have it", ErrNotFound, id)
	}
	rule := p.returns(e, lead.Campaign)
	change = event.Change{Lead: id, From: lead.Status, To: market.StatusReturned, Supplier: lead.Supplier}
	change.Return, err = e.givenBack(&lead, &rule, until)
	return lead.Buyer, change, err
}

// PendingReturns lists the pending returns, oldest leads first: at most limit of them after a
// lead (zero: from the start), and their total number. If memory and history no longer have
// a return, only its lead is set.
func (e *Engine) PendingReturns(after market.LeadID, limit int) (page []PendingReturn, total int, err error) {
	until := e.opt.Clock.Now() + int64(e.opt.Ceiling)
	p := e.plan.Load()
	if p == nil {
		return nil, 0, ErrUnavailable
	}
	all := e.state.PendingReturnLeads()
	for _, id := range all {
		if len(page) == limit {
			break
		}
		pending, ok := e.state.PendingReturn(id)
		if compareLeads(id, after) <= 0 || !ok {
			continue
		}
		buyer, change, err := e.requestedReturn(p, id, pending, until)
		if err != nil && !errors.Is(err, ErrNotFound) {
			return nil, 0, err
		}
		back := &change.Return
		lead, known := e.state.Lead(id)
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
