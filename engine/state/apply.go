package state

import (
	"fmt"

	"pingpost/engine/event"
	"pingpost/engine/market"
)

// Apply applies an event to the state. It is the only function that changes the state. The
// caller calls it for every event in the order of the log, both while serving and in
// replay. It decides nothing and cannot fail. The caller may reuse the event when Apply
// returns.
func (s *State) Apply(seq uint64, at int64, e event.Event) {
	s.applying.Lock()
	defer s.applying.Unlock()
	s.applyLocked(seq, at, e)
}

func (s *State) applyLocked(seq uint64, at int64, e event.Event) {
	if seq != s.seq+1 {
		panic(fmt.Sprintf("BUG: event %d applied after event %d", seq, s.seq))
	}
	switch e := e.(type) {
	case *event.LeadDecided:
		s.applyLead(seq, at, e)
	case *event.PostAttempted:
		s.applyPostAttempt(seq, e)
	case *event.PostSettled:
		s.applySettlement(seq, at, e)
	case *event.AuctionHeld:
		s.applyAuction(seq, at, e)
	case *event.StatusChanged:
		s.applyChanges(seq, at, e)
	case *event.WebhookAttempted:
		s.applyWebhookAttempt(seq, at, e)
	case *event.WebhooksSwitched:
		s.applyWebhooksSwitched(seq, at, e)
	case *event.LeadsErased:
		s.applyErased(seq, e)
	default:
		if seq > s.loaded {
			s.applyLedger(at, e)
		}
	}
	s.seq, s.at = seq, at
}

// applyLedger applies an event that does not concern a single lead.
func (s *State) applyLedger(at int64, e event.Event) {
	switch e := e.(type) {
	case *event.Founded:
		s.founded = *e
	case *event.CatalogSet:
		s.catalogs.apply(e, at)
	case *event.NamesGiven:
		for i := range e.Names {
			s.names.add(e.Names[i].Kind, e.Names[i].Ref, e.Names[i].ID)
		}
		for i := range e.Caps {
			key := e.Caps[i].Key
			key.Zone = copyString(key.Zone)
			s.caps.add(e.Caps[i].Ref, key)
		}
	case *event.CredentialSet:
		s.settings.setCredential(e)
	case *event.UserSet:
		s.users.setUser(e)
	case *event.APITokenSet:
		s.users.setAPIToken(e)
	case *event.SecretSet:
		s.settings.setSecret(e)
	case *event.PauseSet:
		s.settings.setPause(e)
	case *event.ListLoaded:
		s.settings.setList(e)
	case *event.FundsMoved:
		s.accounts.applyFunds(e)
	default:
		panic(fmt.Sprintf("BUG: no rule to apply a %s event", e.Kind()))
	}
	s.availability.Add(1)
}

// applyFunds applies an operator's entry. The opening balance replaces the balance: earlier
// purchases, made while the buyer's money was unlimited, are not on account.
func (a *accounts) applyFunds(e *event.FundsMoved) {
	if e.Opening {
		a.mu.Lock()
		acc := a.getLocked(e.Buyer)
		acc.opened, acc.balance = true, 0
		a.mu.Unlock()
	}
	a.adjust(e.Buyer, e.Amount, 0)
}

func (s *State) applyLead(seq uint64, at int64, e *event.LeadDecided) {
	lead := Lead{
		ID: e.Lead, Request: e.Request, Decided: e.Decided, Seq: seq, Keep: secondsRoundedUp(e.Keep),
		Campaign: e.Campaign, Supplier: e.Supplier, Reason: e.Reason,
	}
	if e.Sale.Test {
		lead.LeadMarks |= markTest
	}
	posted := e.Post.URL != ""
	switch {
	case e.Sale.Buyer == 0:
		lead.Status, lead.Answer = market.StatusUnmatched, AnswerUnmatched
	case posted:
		lead.assignBuyer(&e.Sale)
		lead.Status, lead.Delivery = market.StatusOpen, market.DeliveryPending
	default:
		lead.assignBuyer(&e.Sale)
		lead.Status, lead.Answer = market.StatusAccepted, AnswerAccepted
	}
	shard := s.leadShard(&e.Lead)
	shard.mu.Lock()
	if seq > shard.loaded {
		shard.table.put(&lead, secondsRoundedDown(at))
		if posted {
			shard.addPost(e.Lead, &e.Post, &e.Sale, sealedPart{e.Slot, e.Sealed}, e.Decided)
		}
	}
	shard.mu.Unlock()
	s.slots.recordUse(e.Slot)
	s.storeKey(&e.Idempotency, rowAnsweredByLead(e.Lead), seq, at)
	s.enqueueWebhook(seq, at, e.Supplier, e.Lead, e.Webhook)
	s.markAuctionSold(seq, e.Sale.Ping, e.Lead)
	if e.Sale.Buyer == 0 || e.Sale.Test {
		return
	}
	if !posted {
		s.storeDuplicates(e.Sale.Duplicates, e.Lead, seq, at)
		s.countSold(seq, e.Campaign, e.Sale.Buyer, e.Decided)
	}
	s.applySale(seq, e.Campaign, &e.Sale, posted)
}

// applySale charges the sale's caps, money and turn. A posted sale holds its money until
// it is settled.
func (s *State) applySale(seq uint64, campaign market.Ref, sale *event.Sale, held bool) {
	if seq <= s.loaded {
		return
	}
	s.rotations.applyTurn(campaign, sale.Turn, seq)
	s.raiseAvailabilityVersion(s.caps.charge(sale.Charges))
	s.raiseAvailabilityVersion(s.accounts.debitSale(sale, held))
}

// countSold counts a delivered lead in the month of its decision.
func (s *State) countSold(seq uint64, campaign, buyer market.Ref, decided int64) {
	if seq > s.loaded {
		s.monthlySales.addSale(campaign, buyer, decided)
	}
}

// debitSale debits a sale's price from the buyer's balance, or holds it.
func (a *accounts) debitSale(sale *event.Sale, held bool) (crossed bool) {
	if held {
		return a.adjust(sale.Buyer, 0, sale.Price)
	}
	return a.adjust(sale.Buyer, -sale.Price, 0)
}

// raiseAvailabilityVersion raises the availability version if an event crossed a threshold, so
// that callers compute availability again.
func (s *State) raiseAvailabilityVersion(crossed bool) {
	if crossed {
		s.availability.Add(1)
	}
}

func (l *Lead) assignBuyer(sale *event.Sale) {
	l.Buyer, l.Price, l.Payout, l.Currency = sale.Buyer, sale.Price, sale.Payout, sale.Currency
}
