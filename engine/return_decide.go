package engine

import (
	"errors"
	"fmt"

	"pingpost/engine/event"
	"pingpost/engine/market"
	"pingpost/engine/state"
)

// WaitingReturn is a return that waits for the operator's word.
type WaitingReturn struct {
	Lead     market.LeadID
	Buyer    string
	Supplier string
	Campaign string
	Status   market.Status // where the lead stands meanwhile
	Reason   string        // the buyer's
	Asked    int64         // when it was asked for, Unix nanoseconds
	Credit   market.Money  // that the buyer gets back
	Reverse  market.Money  // that the supplier gives back
	Currency market.Currency
	Test     bool
}

// DecideReturn is an operator's word on a return that waits for it. An approved
// one gives back what the rules said when it was asked for. ErrNotFound: there is
// no such lead; ErrConflict: no return of it waits.
func (e Operator) DecideReturn(id market.LeadID, approve bool, note string) error {
	until := e.opt.Clock.Now() + int64(e.opt.Ceiling)
	p := e.plan.Load()
	if p == nil {
		return ErrUnavailable
	}
	taken, err := e.takeLead(id, until)
	if err != nil {
		return err
	}
	defer e.changing.drop(&taken)
	waiting, waits := e.state.PendingReturn(id)
	if !waits {
		if _, known := e.state.Lead(id); !known {
			return fmt.Errorf("%w: no lead %s is known", ErrNotFound, id)
		}
		return fmt.Errorf("%w: no return of lead %s waits", ErrConflict, id)
	}
	buyer, change, err := e.asked(p, id, waiting, until)
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

// takeLead takes one lead, as a report does.
func (e *Engine) takeLead(id market.LeadID, until int64) (taken []market.LeadID, err error) {
	for wait := e.changing.take(id); wait != nil; wait = e.changing.take(id) {
		if e.waitUntil(wait, until) != nil {
			return nil, ErrUnavailable
		}
	}
	return []market.LeadID{id}, nil
}

// asked is the change that a buyer asked for when a return began to wait. The lead
// may have left memory since. Where history no longer holds the report, it is put
// together from the lead and the rules of today.
func (e *Engine) asked(p *plan, id market.LeadID, waiting state.PendingReturn, until int64) (buyer market.Ref, change event.Change, err error) {
	fact, err := e.log.ReadIfKept(waiting.Seq, until)
	if err != nil {
		return 0, change, err
	}
	if changed, ok := fact.(*event.StatusChanged); ok {
		for i := range changed.Changes {
			if c := &changed.Changes[i]; c.Lead == id && c.Result == event.ChangePending {
				return changed.Buyer, *c, nil
			}
		}
		panic(fmt.Sprintf("BUG: fact %d does not ask for the return of lead %s", waiting.Seq, id))
	}
	lead, ok := e.state.Lead(id)
	if !ok {
		return 0, change, fmt.Errorf("%w: lead %s has left memory, and its report the log's history", ErrNotFound, id)
	}
	rule := p.returns(e, lead.Campaign)
	change = event.Change{Lead: id, From: lead.Status, To: market.StatusReturned, Supplier: lead.Supplier}
	change.Return, err = e.givenBack(&lead, &rule, until)
	return lead.Buyer, change, err
}

// WaitingReturns lists the returns that wait, the oldest leads first: at most so
// many, after a lead (the zero one: from the beginning), and how many there are in
// all. Of one that is past memory and history nothing is told but its lead.
func (e *Engine) WaitingReturns(after market.LeadID, most int) (page []WaitingReturn, total int, err error) {
	until := e.opt.Clock.Now() + int64(e.opt.Ceiling)
	p := e.plan.Load()
	if p == nil {
		return nil, 0, ErrUnavailable
	}
	all := e.state.PendingReturnLeads()
	for _, id := range all {
		if len(page) == most {
			break
		}
		waiting, waits := e.state.PendingReturn(id)
		if compareLeads(id, after) <= 0 || !waits {
			continue
		}
		buyer, change, err := e.asked(p, id, waiting, until)
		if err != nil && !errors.Is(err, ErrNotFound) {
			return nil, 0, err
		}
		back := &change.Return
		lead, known := e.state.Lead(id)
		if known { // a test's return gives nothing back, and so names no campaign
			back.Campaign = lead.Campaign
		}
		page = append(page, WaitingReturn{
			Lead: id, Status: change.From, Reason: change.Reason, Asked: waiting.At, Test: known && lead.IsTest(),
			Buyer:    e.state.NameOf(event.NameBuyer, buyer),
			Supplier: e.state.NameOf(event.NameSupplier, change.Supplier),
			Campaign: e.state.NameOf(event.NameCampaign, back.Campaign),
			Credit:   back.Credit, Reverse: back.Reverse, Currency: back.Currency,
		})
	}
	return page, len(all), nil
}
