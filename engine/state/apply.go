package state

import (
	"fmt"

	"pingpost/engine/event"
	"pingpost/engine/market"
)

// Apply applies the event with sequence seq to the state. The committer calls it for every event in
// the order of the log; LogReplay applies events in the same way at a start. Apart from them, only
// reservations, claims and times of last use change. batchUnixNanos is the time of the event's log
// batch in Unix nanoseconds.
//
// Apply makes no decisions and returns no error. An event out of order is a bug and panics. The
// caller may reuse the event when Apply returns.
func (s *State) Apply(seq uint64, batchUnixNanos int64, e event.Event) {
	s.applying.Lock()
	defer s.applying.Unlock()
	s.applyLocked(seq, batchUnixNanos, e)
}

// applyLocked is Apply for a caller that holds s.applying.
func (s *State) applyLocked(seq uint64, batchUnixNanos int64, e event.Event) {
	if seq != s.seq+1 {
		panic(fmt.Sprintf("BUG: event %d applied after event %d", seq, s.seq))
	}
	switch e := e.(type) {
	case *event.LeadDecided:
		s.applyLeadDecided(seq, batchUnixNanos, e)
	case *event.PostAttemptFailed:
		s.applyPostAttemptFailed(seq, e)
	case *event.PostSettled:
		s.applyPostSettled(seq, batchUnixNanos, e)
	case *event.PingAuctionCompleted:
		s.applyPingAuctionCompleted(seq, batchUnixNanos, e)
	case *event.LeadStatusChangesDecided:
		s.applyLeadStatusesChanged(seq, batchUnixNanos, e)
	case *event.WebhookAttemptedOrDecided:
		s.applyWebhookAttemptedOrDecided(seq, batchUnixNanos, e)
	case *event.SupplierWebhooksTurnedOnOrOff:
		s.applyWebhooksTurnedOnOrOff(seq, batchUnixNanos, e)
	case *event.PersonalDataOfLeadsErased:
		s.applyLeadPersonalDataErased(seq, e)
	case *event.OperatorActionRecorded: // the audit log changes no state
	default:
		if seq > s.loaded {
			s.applyGlobalEvent(batchUnixNanos, e)
		}
	}
	s.seq, s.at = seq, batchUnixNanos
	s.appliedSeconds.Store(unixSecondsRoundedDown(batchUnixNanos))
}

// applyGlobalEvent applies an event that changes the configuration, names, settings, users, alerts,
// saved reports or buyers' accounts. It changes no lead, auction or webhook. It raises the availability
// versions of all campaigns, or for a buyer's account those of the buyer's campaigns. These parts are in
// the snapshot's one global section. While a snapshot encodes them, applyGlobalEvent waits.
func (s *State) applyGlobalEvent(batchUnixNanos int64, e event.Event) {
	s.configuring.Lock()
	defer s.configuring.Unlock()
	switch e := e.(type) {
	case *event.ExchangeFounded:
		s.founded = *e
	case *event.ConfigActivated:
		s.catalogs.applyConfigActivated(e, batchUnixNanos)
	case *event.ConfigObjectNumbersAssigned:
		for i := range e.Names {
			s.names.add(e.Names[i].Kind, e.Names[i].Ref, e.Names[i].ID)
		}
		for i := range e.Caps {
			key := e.Caps[i].Key
			key.Zone, key.Entry = copyString(key.Zone), copyString(key.Entry)
			s.caps.add(e.Caps[i].Ref, key)
		}
	case *event.CredentialAddedOrRevoked:
		s.settings.applyCredentialAddedOrRevoked(e)
	case *event.UserAccountChanged:
		s.users.applyUserAccountChanged(e)
	case *event.APITokenAddedOrRevoked:
		s.users.applyAPITokenAddedOrRevoked(e)
	case *event.AlertSettingsChanged:
		s.alerts.ApplySettings(e)
	case *event.AlertOrNotificationChanged:
		s.alerts.ApplyChange(e)
	case *event.SavedReportChanged:
		s.savedReports.ApplyChange(e)
	case *event.ReportMailEnded:
		s.savedReports.ApplyMail(e)
	case *event.InvitationCreatedOrRevoked:
		s.users.applyInvitationChanged(e)
	case *event.UserSecondFactorChangedOrUsed:
		s.users.applySecondFactorChanged(e)
	case *event.SecretStoredOrDeleted:
		s.settings.applySecretStoredOrDeleted(e)
	case *event.CampaignOrBuyerPausedOrResumed:
		s.settings.applyPausedOrResumed(e)
	case *event.SuppressionListContentLoaded:
		s.settings.applySuppressionListReplaced(e)
	case *event.BuyerFundsAdjusted:
		s.accounts.applyOpeningBalanceOrTopUp(e)
		s.availability.raiseForBuyer(e.Buyer)
		return
	default:
		panic(fmt.Sprintf("BUG: no rule to apply a %s event", e.Kind()))
	}
	s.availability.all.Add(1)
}

// applyOpeningBalanceOrTopUp adds an operator's top-up to the buyer's balance. A negative top-up
// corrects a mistake. The opening balance replaces the balance instead: earlier purchases, made while
// the buyer's money was unlimited, do not count.
func (a *buyerAccounts) applyOpeningBalanceOrTopUp(e *event.BuyerFundsAdjusted) {
	if e.Opening {
		a.mu.Lock()
		acc := a.getOrCreateAccountLocked(e.Buyer)
		a.copyLocked(e.Buyer, acc)
		acc.opened, acc.balance = true, 0
		a.mu.Unlock()
	}
	a.adjustBalanceAndHeldFunds(e.Buyer, e.Amount, 0)
}

// applyLeadDecided stores the event's lead, its idempotency key and its webhook. For a sale it also
// stores the post to send, marks the auction as sold, and charges the sale. A sale to a buyer
// without an endpoint is final, so it also counts in its month, and its duplicate values are stored.
// The sale of a test lead stores no duplicate values, charges no caps, funds or turn, and counts in no month.
func (s *State) applyLeadDecided(seq uint64, batchUnixNanos int64, e *event.LeadDecided) {
	lead := Lead{
		ID: e.Lead, Request: e.Request, Decided: e.Decided, Seq: seq, Keep: unixSecondsRoundedUp(e.Keep),
		Campaign: e.Campaign, Supplier: e.Supplier, Reason: e.Reason,
	}
	if e.Sale.Test {
		lead.LeadFlags |= testLeadFlag
	}
	posted := e.Post.URL != ""
	switch {
	case e.Sale.Buyer == 0:
		lead.Status, lead.Answer = market.StatusUnmatched, AnswerUnmatched
	case posted:
		lead.copyBuyerAndAmounts(&e.Sale)
		lead.Status, lead.Delivery = market.StatusOpen, market.DeliveryPending
	default:
		lead.copyBuyerAndAmounts(&e.Sale)
		lead.Status, lead.Answer = market.StatusAccepted, AnswerAccepted
	}
	shard := s.leadShardOf(&e.Lead)
	shard.mu.Lock()
	if seq > shard.loaded {
		shard.table.put(&lead, unixSecondsRoundedDown(batchUnixNanos))
		if posted {
			shard.addUnfinishedPost(e.Lead, &e.Post, &e.Sale, sealedPersonalData{e.Slot, e.Sealed}, e.Decided)
		}
	}
	shard.mu.Unlock()
	s.slots.recordUsedSlot(e.Slot)
	s.storeIdempotencyKey(&e.Idempotency, newIdempotencyRowAnsweredByLead(e.Lead), seq, batchUnixNanos)
	s.enqueueWebhook(seq, batchUnixNanos, e.Supplier, e.Lead, e.Webhook)
	s.markAuctionSold(seq, e.Sale.Ping, e.Lead)
	if e.Sale.Buyer == 0 || e.Sale.Test {
		return
	}
	if !posted {
		s.storeDuplicateValues(e.Sale.Duplicates, e.Lead, seq, batchUnixNanos)
		s.countSaleForMonthlyReturnLimit(seq, e.Campaign, e.Sale.Buyer, e.Decided)
	}
	s.chargeSaleToCapsRotationAndFunds(seq, e.Campaign, &e.Sale, posted)
}

// chargeSaleToCapsRotationAndFunds counts the sale in its caps and its rotation, and takes the price from the
// buyer's account. If the lead is still to be posted, holdPriceUntilPostEnds is true and the price is only
// held until the post ends. Events that the loaded snapshot contains already are skipped.
func (s *State) chargeSaleToCapsRotationAndFunds(seq uint64, campaign market.PermanentNumber, sale *event.Sale, holdPriceUntilPostEnds bool) {
	if seq <= s.loaded {
		return
	}
	s.rotations.countTurnAndEndReservation(campaign, sale.Turn, seq)
	s.caps.applyCharges(sale.Charges)
	s.accounts.debitOrHoldPrice(sale, holdPriceUntilPostEnds)
}

// countSaleForMonthlyReturnLimit counts a sold lead in the month of its decision. Events that the loaded
// snapshot contains already are skipped.
func (s *State) countSaleForMonthlyReturnLimit(seq uint64, campaign, buyer market.PermanentNumber, decidedAtUnixNanos int64) {
	if seq > s.loaded {
		s.monthlySales.countSale(campaign, buyer, decidedAtUnixNanos)
	}
}

// debitOrHoldPrice debits the sale's price from the buyer's balance, or holds it if holdPriceUntilPostEnds is
// set.
func (a *buyerAccounts) debitOrHoldPrice(sale *event.Sale, holdPriceUntilPostEnds bool) {
	if holdPriceUntilPostEnds {
		a.adjustBalanceAndHeldFunds(sale.Buyer, 0, sale.Price)
	} else {
		a.adjustBalanceAndHeldFunds(sale.Buyer, -sale.Price, 0)
	}
}

// copyBuyerAndAmounts copies the buyer, price, payout and currency of the sale to the lead.
func (l *Lead) copyBuyerAndAmounts(sale *event.Sale) {
	l.Buyer, l.Price, l.Payout, l.Currency = sale.Buyer, sale.Price, sale.Payout, sale.Currency
}
