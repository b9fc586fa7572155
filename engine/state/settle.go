package state

import (
	"pingpost/engine/event"
	"pingpost/engine/market"
)

// applyPostAttemptFailed records in the lead's open post the number and time of a failed attempt. An
// event with KeepsAttempt leaves the post unchanged, because that attempt does not count.
func (s *State) applyPostAttemptFailed(seq uint64, e *event.PostAttemptFailed) {
	shard := s.leadShardOf(&e.Lead)
	shard.mu.Lock()
	defer shard.mu.Unlock()
	if seq > shard.loaded && !e.KeepsAttempt {
		shard.replacePostByEditedCopy(e.Lead, func(p *UnfinishedPost) { p.Attempts, p.LastAttempt = e.Attempt, e.At })
	}
}

// applyPostSettled applies an outcome of a delivery: to the lead, its open post, its auction, the
// supplier's webhooks, and the sale's caps, funds, duplicate values and monthly counts.
func (s *State) applyPostSettled(seq uint64, batchUnixNanos int64, e *event.PostSettled) {
	shard := s.leadShardOf(&e.Lead)
	shard.mu.Lock()
	if seq > shard.loaded {
		before := shard.countPostsOutOfAttemptsLocked(e.Lead)
		shard.table.editRow((*[16]byte)(&e.Lead), func(l *Lead) { l.applyPostResultOrDecision(e, seq) })
		shard.settleUnfinishedPost(e)
		s.addToUnknownDeliveryCount(&e.Sale, shard.countPostsOutOfAttemptsLocked(e.Lead)-before)
	}
	shard.mu.Unlock()
	s.enqueueWebhook(seq, batchUnixNanos, e.Supplier, e.Lead, e.Webhook)
	if e.Settlement == event.SettledRefused || e.Settlement == event.SettledReleased {
		s.releaseAuctionAndMarkNextSold(seq, e.Lead, e.Sale.Ping, e.Next.Ping)
	}
	if !e.Sale.Test {
		s.settleCapsFundsDuplicatesAndCounts(seq, batchUnixNanos, e)
	}
}

// settleCapsFundsDuplicatesAndCounts applies a delivery's outcome to the caps, funds, duplicate values and
// monthly counts of the sale. It is not called for a test sale, which uses only a test auction.
//
//	pending, unknown      stores the duplicate values; the price stays held
//	delivered, confirmed  also debits the price and counts the sale in its month
//	refused, released     gives caps and funds back and removes the duplicate values; the turn
//	                      stays counted; a next sale in the event takes its own resources
//	resent                no change
func (s *State) settleCapsFundsDuplicatesAndCounts(seq uint64, batchUnixNanos int64, e *event.PostSettled) {
	decided := e.Decided
	if decided == 0 { // an earlier program wrote the log
		decided = batchUnixNanos
	}
	switch e.Settlement {
	case event.SettledPending, event.SettledUnknown:
		s.storeDuplicateValues(e.Sale.Duplicates, e.Lead, seq, batchUnixNanos)
	case event.SettledDelivered, event.SettledConfirmed:
		s.storeDuplicateValues(e.Sale.Duplicates, e.Lead, seq, batchUnixNanos)
		s.countSaleForMonthlyReturnLimit(seq, e.Campaign, e.Sale.Buyer, decided)
		if seq > s.loaded {
			s.accounts.adjustBalanceAndHeldFunds(e.Sale.Buyer, -e.Sale.Price, -e.Sale.Price)
		}
	case event.SettledRefused, event.SettledReleased:
		if seq > s.loaded {
			s.releaseFailedSaleAndChargeNextSale(seq, e)
		}
		s.removeDuplicateValuesOfLead(e.Sale.Duplicates, e.Lead, seq)
		if e.Next.Buyer != 0 && e.Post.URL == "" {
			s.storeDuplicateValues(e.Next.Duplicates, e.Lead, seq, batchUnixNanos)
			s.countSaleForMonthlyReturnLimit(seq, e.Campaign, e.Next.Buyer, decided)
		}
	}
}

// releaseFailedSaleAndChargeNextSale gives back the caps and the funds of a sale that failed. If the event
// names a next buyer, it takes the caps, the funds and the turn of that sale.
func (s *State) releaseFailedSaleAndChargeNextSale(seq uint64, e *event.PostSettled) {
	s.caps.replaceCharges(e.Sale.Charges, e.Next.Charges)
	s.accounts.adjustBalanceAndHeldFunds(e.Sale.Buyer, 0, -e.Sale.Price)
	if e.Next.Buyer != 0 {
		s.rotations.countTurnAndEndReservation(e.Campaign, e.Next.Turn, seq)
		s.accounts.debitOrHoldPrice(&e.Next, e.Post.URL != "")
	}
}

// applyPostResultOrDecision sets the lead's status and delivery state to the outcome of its delivery. If
// the supplier has received an answer, this recorded answer stays unchanged.
func (l *Lead) applyPostResultOrDecision(e *event.PostSettled, seq uint64) {
	if e.Settlement.EndsPost() {
		l.Settled = seq
	}
	switch e.Settlement {
	case event.SettledDelivered:
		l.markAccepted(market.DeliveryDone)
	case event.SettledConfirmed:
		l.markAccepted(market.DeliveryConfirmed)
	case event.SettledPending:
		l.markAccepted(market.DeliveryPending)
	case event.SettledUnknown:
		l.markAccepted(market.DeliveryUnknown)
	case event.SettledResent:
		l.Delivery = market.DeliveryPending
	case event.SettledReleased:
		l.markUnmatched(market.DeliveryReleased, e.Reason)
	case event.SettledRefused:
		switch {
		case e.Next.Buyer == 0:
			l.markUnmatched(market.DeliveryFailed, e.Reason)
		case e.Post.URL == "":
			l.copyBuyerAndAmounts(&e.Next)
			l.markAccepted(market.DeliveryNone)
		default:
			l.copyBuyerAndAmounts(&e.Next)
		}
	}
}

// markAccepted sets status ACCEPTED and the delivery state. If the supplier has no answer yet,
// its answer is now ACCEPTED.
func (l *Lead) markAccepted(delivery market.DeliveryState) {
	l.Status, l.Delivery = market.StatusAccepted, delivery
	if l.Answer == AnswerNone {
		l.Answer = AnswerAccepted
	}
}

// markUnmatched sets status UNMATCHED with a delivery state and a reason. If the supplier has no
// answer yet, its answer is now UNMATCHED and the lead keeps no buyer and no price.
func (l *Lead) markUnmatched(delivery market.DeliveryState, reason market.UnsoldReason) {
	l.Status, l.Delivery, l.Reason = market.StatusUnmatched, delivery, reason
	if l.Answer == AnswerNone {
		l.Answer = AnswerUnmatched
		l.Buyer, l.Price, l.Payout, l.Currency = 0, 0, 0, market.Currency{}
	}
}

// settleUnfinishedPost updates, replaces or removes the lead's open post by the outcome of its
// delivery. A refusal with a next buyer that has an endpoint replaces it by the post to that
// buyer.
func (shard *leadShard) settleUnfinishedPost(e *event.PostSettled) {
	switch e.Settlement {
	case event.SettledPending:
		shard.replacePostByEditedCopy(e.Lead, func(p *UnfinishedPost) { p.Answered = true })
	case event.SettledUnknown:
		shard.replacePostByEditedCopy(e.Lead, func(p *UnfinishedPost) { p.Answered, p.Exhausted, p.Attempts = true, true, e.Attempts })
	case event.SettledResent:
		shard.replacePostByEditedCopy(e.Lead, func(p *UnfinishedPost) { p.Exhausted, p.Attempts = false, 0 })
	case event.SettledRefused:
		decided := int64(0)
		if old := shard.posts[e.Lead]; old != nil {
			decided = old.Decided
		}
		delete(shard.posts, e.Lead)
		if e.Next.Buyer != 0 && e.Post.URL != "" {
			shard.addUnfinishedPost(e.Lead, &e.Post, &e.Next, sealedPersonalData{e.Slot, e.Sealed}, decided)
		}
	default:
		delete(shard.posts, e.Lead)
	}
}

// applyLeadStatusesChanged applies a buyer's report on leads, or an operator's decision on a return.
// It skips changes that the event lists as rejected or without effect.
func (s *State) applyLeadStatusesChanged(seq uint64, batchUnixNanos int64, e *event.LeadStatusChangesDecided) {
	s.storeIdempotencyKey(&e.Idempotency, newIdempotencyRowAnsweredByEvent(seq), seq, batchUnixNanos)
	for i := range e.Changes {
		c := &e.Changes[i]
		switch c.Result {
		case event.ChangeDone, event.ChangePending, event.ChangeRefused:
			s.loadColdLeadForApply(c.Lead, seq)
			s.leadShardOf(&c.Lead).editUnlessEventInSnapshot((*[16]byte)(&c.Lead), seq, func(l *Lead) { l.applyStatusChange(c) })
			s.adjustReturnCountAndRefundIfApproved(seq, e.Buyer, c)
			s.addOrRemovePendingReturn(seq, batchUnixNanos, c)
		}
		s.enqueueWebhook(seq, batchUnixNanos, c.Supplier, c.Lead, c.Webhook)
	}
}

// applyStatusChange sets the lead's status, or the state of its return, by one change of a
// LeadStatusChangesDecided event.
func (l *Lead) applyStatusChange(c *event.DecidedLeadStatusChange) {
	switch c.Result {
	case event.ChangeDone:
		l.Status = c.To
		if c.To == market.StatusReturned {
			l.setReturnState(market.ReturnApproved)
		}
	case event.ChangePending:
		l.setReturnState(market.ReturnPending)
	case event.ChangeRefused:
		l.setReturnState(market.ReturnRefused)
	}
}

// addOrRemovePendingReturn adds a return that waits for an operator's approval to the list of pending
// returns, and removes a return that an operator has decided.
func (s *State) addOrRemovePendingReturn(seq uint64, batchUnixNanos int64, c *event.DecidedLeadStatusChange) {
	switch {
	case seq <= s.loaded:
	case c.Result == event.ChangePending:
		s.pendingReturns.add(c.Lead, seq, batchUnixNanos)
	case c.WasPending:
		s.pendingReturns.remove(c.Lead)
	}
}

// adjustReturnCountAndRefundIfApproved applies one change of a LeadStatusChangesDecided event to the monthly
// returns, the caps and the buyer's account. A return counts from the buyer's request on, in the month
// of the lead's decision; a rejection takes it out again. An approval also gives capacity back to the
// caps and credits the buyer.
func (s *State) adjustReturnCountAndRefundIfApproved(seq uint64, buyer market.PermanentNumber, c *event.DecidedLeadStatusChange) {
	back := &c.Return
	if seq <= s.loaded || back.Month == 0 {
		return
	}
	leads := int64(0)
	switch {
	case c.Result == event.ChangeRefused:
		leads = -1
	case !c.WasPending:
		leads = 1
	}
	s.monthlySales.adjustReturns(back.Campaign, buyer, back.Month, leads)
	if c.Result == event.ChangeDone {
		s.caps.replaceCharges(back.Charges, nil)
		s.accounts.adjustBalanceAndHeldFunds(buyer, back.Credit, 0)
	}
}
