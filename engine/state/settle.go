package state

import (
	"pingpost/engine/event"
	"pingpost/engine/market"
)

func (s *State) applyPostAttempted(seq uint64, e *event.PostAttempted) {
	shard := s.leadShardOf(&e.Lead)
	shard.mu.Lock()
	defer shard.mu.Unlock()
	if seq > shard.loaded && !e.KeepsAttempt {
		shard.replaceOpenPost(e.Lead, func(p *OpenPost) { p.Attempts, p.LastAttempt = e.Attempt, e.At })
	}
}

func (s *State) applyPostSettled(seq uint64, batchTime int64, e *event.PostSettled) {
	shard := s.leadShardOf(&e.Lead)
	shard.mu.Lock()
	if seq > shard.loaded {
		before := shard.countExhaustedPostsLocked(e.Lead)
		shard.table.editRow((*[16]byte)(&e.Lead), func(l *Lead) { l.applySettlement(e, seq) })
		shard.settleOpenPost(e)
		s.adjustUnknownDeliveries(&e.Sale, shard.countExhaustedPostsLocked(e.Lead)-before)
	}
	shard.mu.Unlock()
	s.enqueueWebhook(seq, batchTime, e.Supplier, e.Lead, e.Webhook)
	if e.Settlement == event.SettledRefused || e.Settlement == event.SettledReleased {
		s.replaceSoldAuction(seq, e.Lead, e.Sale.Ping, e.Next.Ping)
	}
	if !e.Sale.Test {
		s.settleSaleResources(seq, batchTime, e)
	}
}

// settleSaleResources takes the sale's held resources for good, or gives them back. A test sale
// holds only the auction that it uses up, which is a test auction.
func (s *State) settleSaleResources(seq uint64, batchTime int64, e *event.PostSettled) {
	decided := e.Decided
	if decided == 0 { // an earlier program wrote the log
		decided = batchTime
	}
	switch e.Settlement {
	case event.SettledPending, event.SettledUnknown:
		s.storeDuplicateValues(e.Sale.Duplicates, e.Lead, seq, batchTime)
	case event.SettledDelivered, event.SettledConfirmed:
		s.storeDuplicateValues(e.Sale.Duplicates, e.Lead, seq, batchTime)
		s.countMonthlySale(seq, e.Campaign, e.Sale.Buyer, decided)
		if seq > s.loaded {
			s.raiseAvailabilityVersionIf(s.accounts.adjustBalance(e.Sale.Buyer, -e.Sale.Price, -e.Sale.Price))
		}
	case event.SettledRefused, event.SettledReleased:
		if seq > s.loaded {
			s.replaceSaleResources(seq, e)
		}
		s.removeDuplicateValues(e.Sale.Duplicates, e.Lead, seq)
		if e.Next.Buyer != 0 && e.Post.URL == "" {
			s.storeDuplicateValues(e.Next.Duplicates, e.Lead, seq, batchTime)
			s.countMonthlySale(seq, e.Campaign, e.Next.Buyer, decided)
		}
	}
}

// replaceSaleResources returns the resources of a failed sale and takes those of the next one, if
// there is one.
func (s *State) replaceSaleResources(seq uint64, e *event.PostSettled) {
	s.raiseAvailabilityVersionIf(s.caps.replaceCharges(e.Sale.Charges, e.Next.Charges))
	s.raiseAvailabilityVersionIf(s.accounts.adjustBalance(e.Sale.Buyer, 0, -e.Sale.Price))
	if e.Next.Buyer != 0 {
		s.rotations.applyTurn(e.Campaign, e.Next.Turn, seq)
		s.raiseAvailabilityVersionIf(s.accounts.debitOrHoldPrice(&e.Next, e.Post.URL != ""))
	}
}

// applySettlement changes the lead's status. The supplier's answer stays.
func (l *Lead) applySettlement(e *event.PostSettled, seq uint64) {
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
			l.copyBuyerAndPrice(&e.Next)
			l.markAccepted(market.DeliveryNone)
		default:
			l.copyBuyerAndPrice(&e.Next)
		}
	}
}

func (l *Lead) markAccepted(delivery market.DeliveryState) {
	l.Status, l.Delivery = market.StatusAccepted, delivery
	if l.Answer == AnswerNone {
		l.Answer = AnswerAccepted
	}
}

func (l *Lead) markUnmatched(delivery market.DeliveryState, reason market.Reason) {
	l.Status, l.Delivery, l.Reason = market.StatusUnmatched, delivery, reason
	if l.Answer == AnswerNone {
		l.Answer = AnswerUnmatched
		l.Buyer, l.Price, l.Payout, l.Currency = 0, 0, 0, market.Currency{}
	}
}

func (shard *leadShard) settleOpenPost(e *event.PostSettled) {
	switch e.Settlement {
	case event.SettledPending:
		shard.replaceOpenPost(e.Lead, func(p *OpenPost) { p.Answered = true })
	case event.SettledUnknown:
		shard.replaceOpenPost(e.Lead, func(p *OpenPost) { p.Answered, p.Exhausted, p.Attempts = true, true, e.Attempts })
	case event.SettledResent:
		shard.replaceOpenPost(e.Lead, func(p *OpenPost) { p.Exhausted, p.Attempts = false, 0 })
	case event.SettledRefused:
		decided := int64(0)
		if old := shard.posts[e.Lead]; old != nil {
			decided = old.Decided
		}
		delete(shard.posts, e.Lead)
		if e.Next.Buyer != 0 && e.Post.URL != "" {
			shard.addOpenPost(e.Lead, &e.Post, &e.Next, sealedContact{e.Slot, e.Sealed}, decided)
		}
	default:
		delete(shard.posts, e.Lead)
	}
}

// applyStatusChanged applies a buyer's report on leads, or an operator's decision on a return.
func (s *State) applyStatusChanged(seq uint64, batchTime int64, e *event.StatusChanged) {
	s.storeIdempotencyKey(&e.Idempotency, newRowAnsweredByEvent(seq), seq, batchTime)
	for i := range e.Changes {
		c := &e.Changes[i]
		switch c.Result {
		case event.ChangeDone, event.ChangePending, event.ChangeRefused:
			s.applyChangeToLead(seq, c)
			s.giveBackReturnedResources(seq, e.Buyer, c)
			s.applyPendingReturn(seq, batchTime, c)
		}
		s.enqueueWebhook(seq, batchTime, c.Supplier, c.Lead, c.Webhook)
	}
}

func (s *State) applyChangeToLead(seq uint64, c *event.LeadChange) {
	shard := s.leadShardOf(&c.Lead)
	shard.mu.Lock()
	defer shard.mu.Unlock()
	if seq > shard.loaded {
		shard.table.editRow((*[16]byte)(&c.Lead), func(l *Lead) { l.applyReportedChange(c) })
	}
}

// applyReportedChange changes the lead's status by a buyer's report.
func (l *Lead) applyReportedChange(c *event.LeadChange) {
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

// applyPendingReturn stores a new pending return, and removes a decided one.
func (s *State) applyPendingReturn(seq uint64, batchTime int64, c *event.LeadChange) {
	switch {
	case seq <= s.loaded:
	case c.Result == event.ChangePending:
		s.pendingReturns.add(c.Lead, seq, batchTime)
	case c.WasPending:
		s.pendingReturns.remove(c.Lead)
	}
}

// giveBackReturnedResources gives back the resources of a return. It counts the return in its month from
// the request until a rejection.
func (s *State) giveBackReturnedResources(seq uint64, buyer market.Ref, c *event.LeadChange) {
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
		s.raiseAvailabilityVersionIf(s.caps.replaceCharges(back.Charges, nil))
		s.raiseAvailabilityVersionIf(s.accounts.adjustBalance(buyer, back.Credit, 0))
	}
}
