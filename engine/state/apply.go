package state

import (
	"fmt"

	"pingpost/engine/event"
	"pingpost/engine/market"
)

// Apply applies the event with sequence seq to the state. No other function changes the state,
// except reservations and marks. The committer calls it for every event in the order of the log,
// and a replay does the same at a start. batchTime is the time of the event's log batch in Unix
// nanoseconds.
//
// Apply makes no decisions and cannot fail. The caller may reuse the event when Apply returns.
func (s *State) Apply(seq uint64, batchTime int64, e event.Event) {
	s.applying.Lock()
	defer s.applying.Unlock()
	s.applyLocked(seq, batchTime, e)
}

// applyLocked is Apply for a caller that holds s.applying.
func (s *State) applyLocked(seq uint64, batchTime int64, e event.Event) {
	if seq != s.seq+1 {
		panic(fmt.Sprintf("BUG: event %d applied after event %d", seq, s.seq))
	}
	switch e := e.(type) {
	case *event.LeadDecided:
		s.applyLeadDecided(seq, batchTime, e)
	case *event.PostAttempted:
		s.applyPostAttempted(seq, e)
	case *event.PostSettled:
		s.applyPostSettled(seq, batchTime, e)
	case *event.AuctionHeld:
		s.applyAuctionHeld(seq, batchTime, e)
	case *event.StatusChanged:
		s.applyStatusChanged(seq, batchTime, e)
	case *event.WebhookAttempted:
		s.applyWebhookAttempted(seq, batchTime, e)
	case *event.WebhooksSwitched:
		s.applyWebhooksSwitched(seq, batchTime, e)
	case *event.LeadsErased:
		s.applyLeadsErased(seq, e)
	default:
		if seq > s.loaded {
			s.applyGlobalEvent(batchTime, e)
		}
	}
	s.seq, s.at = seq, batchTime
}

// applyGlobalEvent applies an event that changes settings, accounts, names or the configuration,
// and no lead, auction or webhook. These parts are in the snapshot's one ledger section.
func (s *State) applyGlobalEvent(batchTime int64, e event.Event) {
	switch e := e.(type) {
	case *event.Founded:
		s.founded = *e
	case *event.CatalogSet:
		s.catalogs.applyCatalogSet(e, batchTime)
	case *event.NamesNumbered:
		for i := range e.Names {
			s.names.add(e.Names[i].Kind, e.Names[i].Ref, e.Names[i].ID)
		}
		for i := range e.Caps {
			key := e.Caps[i].Key
			key.Zone = copyString(key.Zone)
			s.caps.add(e.Caps[i].Ref, key)
		}
	case *event.CredentialSet:
		s.settings.applyCredentialSet(e)
	case *event.UserSet:
		s.users.applyUserSet(e)
	case *event.APITokenSet:
		s.users.applyAPITokenSet(e)
	case *event.SecretSet:
		s.settings.applySecretSet(e)
	case *event.PauseSet:
		s.settings.applyPauseSet(e)
	case *event.SuppressionListLoaded:
		s.settings.applyListLoaded(e)
	case *event.BuyerFundsMoved:
		s.accounts.applyFundsMoved(e)
	default:
		panic(fmt.Sprintf("BUG: no rule to apply a %s event", e.Kind()))
	}
	s.availability.Add(1)
}

// applyFundsMoved adds an operator's top-up to the buyer's balance. The opening balance replaces
// the balance instead: earlier purchases, made while the buyer's money was unlimited, do not
// count.
func (a *buyerAccounts) applyFundsMoved(e *event.BuyerFundsMoved) {
	if e.Opening {
		a.mu.Lock()
		acc := a.getOrCreateLocked(e.Buyer)
		acc.opened, acc.balance = true, 0
		a.mu.Unlock()
	}
	a.adjustBalance(e.Buyer, e.Amount, 0)
}

// applyLeadDecided stores the event's lead, its idempotency key and its webhook. For a sale it
// also stores the post to send, marks the auction as sold, and charges the sale.
func (s *State) applyLeadDecided(seq uint64, batchTime int64, e *event.LeadDecided) {
	lead := Lead{
		ID: e.Lead, Request: e.Request, Decided: e.Decided, Seq: seq, Keep: unixSecondsRoundedUp(e.Keep),
		Campaign: e.Campaign, Supplier: e.Supplier, Reason: e.Reason,
	}
	if e.Sale.Test {
		lead.LeadFlags |= markTest
	}
	posted := e.Post.URL != ""
	switch {
	case e.Sale.Buyer == 0:
		lead.Status, lead.Answer = market.StatusUnmatched, AnswerUnmatched
	case posted:
		lead.copyBuyerAndPrice(&e.Sale)
		lead.Status, lead.Delivery = market.StatusOpen, market.DeliveryPending
	default:
		lead.copyBuyerAndPrice(&e.Sale)
		lead.Status, lead.Answer = market.StatusAccepted, AnswerAccepted
	}
	shard := s.leadShardOf(&e.Lead)
	shard.mu.Lock()
	if seq > shard.loaded {
		shard.table.put(&lead, unixSecondsRoundedDown(batchTime))
		if posted {
			shard.addOpenPost(e.Lead, &e.Post, &e.Sale, sealedContact{e.Slot, e.Sealed}, e.Decided)
		}
	}
	shard.mu.Unlock()
	s.slots.recordUsedSlot(e.Slot)
	s.storeIdempotencyKey(&e.Idempotency, newRowAnsweredByLead(e.Lead), seq, batchTime)
	s.enqueueWebhook(seq, batchTime, e.Supplier, e.Lead, e.Webhook)
	s.markAuctionSold(seq, e.Sale.Ping, e.Lead)
	if e.Sale.Buyer == 0 || e.Sale.Test {
		return
	}
	if !posted {
		s.storeDuplicateValues(e.Sale.Duplicates, e.Lead, seq, batchTime)
		s.countMonthlySale(seq, e.Campaign, e.Sale.Buyer, e.Decided)
	}
	s.chargeSale(seq, e.Campaign, &e.Sale, posted)
}

// chargeSale counts the sale in its caps and its rotation, and takes the price from the buyer's
// account. If the lead is still to be posted, onHold is true and the price is only held until the
// post ends.
func (s *State) chargeSale(seq uint64, campaign market.Ref, sale *event.Sale, onHold bool) {
	if seq <= s.loaded {
		return
	}
	s.rotations.applyTurn(campaign, sale.Turn, seq)
	s.raiseAvailabilityVersionIf(s.caps.applyCharges(sale.Charges))
	s.raiseAvailabilityVersionIf(s.accounts.debitOrHoldPrice(sale, onHold))
}

// countMonthlySale counts a sold lead in the month of its decision. Events that the loaded
// snapshot contains already are skipped.
func (s *State) countMonthlySale(seq uint64, campaign, buyer market.Ref, decidedAt int64) {
	if seq > s.loaded {
		s.monthlySales.countSale(campaign, buyer, decidedAt)
	}
}

// debitOrHoldPrice debits the sale's price from the buyer's balance, or holds it if hold is set.
// thresholdCrossed reports that a cached answer of lacksFunds is no longer valid.
func (a *buyerAccounts) debitOrHoldPrice(sale *event.Sale, hold bool) (thresholdCrossed bool) {
	if hold {
		return a.adjustBalance(sale.Buyer, 0, sale.Price)
	}
	return a.adjustBalance(sale.Buyer, -sale.Price, 0)
}

// raiseAvailabilityVersionIf raises the availability version if thresholdCrossed is set. Callers
// that cache which buyers are available then compute it again.
func (s *State) raiseAvailabilityVersionIf(thresholdCrossed bool) {
	if thresholdCrossed {
		s.availability.Add(1)
	}
}

// copyBuyerAndPrice copies the buyer, price, payout and currency of the sale to the lead.
func (l *Lead) copyBuyerAndPrice(sale *event.Sale) {
	l.Buyer, l.Price, l.Payout, l.Currency = sale.Buyer, sale.Price, sale.Payout, sale.Currency
}
