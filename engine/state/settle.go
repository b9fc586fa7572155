package state

import (
	"pingpost/engine/event"
	"pingpost/engine/market"
)

func (s *State) applyPostAttempt(seq uint64, e *event.PostAttempted) {
	shard := s.leadShard(&e.Lead)
	shard.mu.Lock()
	defer shard.mu.Unlock()
	if seq > shard.loaded && !e.KeepsAttempt {
		shard.editPost(e.Lead, func(p *OpenPost) { p.Attempts, p.LastAttempt = e.Attempt, e.At })
	}
}

func (s *State) applySettlement(seq uint64, at int64, e *event.PostSettled) {
	shard := s.leadShard(&e.Lead)
	shard.mu.Lock()
	if seq > shard.loaded {
		before := shard.exhaustedPostsLocked(e.Lead)
		shard.table.edit((*[16]byte)(&e.Lead), func(l *Lead) { l.applySettlement(e, seq) })
		shard.applySettlement(e)
		s.countUnknownDelivery(&e.Sale, shard.exhaustedPostsLocked(e.Lead)-before)
	}
	shard.mu.Unlock()
	s.enqueueWebhook(seq, at, e.Supplier, e.Lead, e.Webhook)
	if e.Settlement == event.SettledRefused || e.Settlement == event.SettledReleased {
		s.replaceAuction(seq, e.Lead, e.Sale.Ping, e.Next.Ping)
	}
	if !e.Sale.Test {
		s.settleSale(seq, at, e)
	}
}

// settleSale takes the sale's held resources for good, or gives them back. A test sale
// holds only the auction that it uses up, which is a test auction.
func (s *State) settleSale(seq uint64, at int64, e *event.PostSettled) {
	decided := e.Decided
	if decided == 0 { // an earlier program wrote the log
		decided = at
	}
	switch e.Settlement {
	case event.SettledPending, event.SettledUnknown:
		s.storeDuplicates(e.Sale.Duplicates, e.Lead, seq, at)
	case event.SettledDelivered, event.SettledConfirmed:
		s.storeDuplicates(e.Sale.Duplicates, e.Lead, seq, at)
		s.countSold(seq, e.Campaign, e.Sale.Buyer, decided)
		if seq > s.loaded {
			s.raiseAvailabilityVersion(s.accounts.adjust(e.Sale.Buyer, -e.Sale.Price, -e.Sale.Price))
		}
	case event.SettledRefused, event.SettledReleased:
		if seq > s.loaded {
			s.returnResources(seq, e)
		}
		s.removeDuplicates(e.Sale.Duplicates, e.Lead, seq)
		if e.Next.Buyer != 0 && e.Post.URL == "" {
			s.storeDuplicates(e.Next.Duplicates, e.Lead, seq, at)
			s.countSold(seq, e.Campaign, e.Next.Buyer, decided)
		}
	}
}

// returnResources returns the resources of a failed sale and takes those of the next one, if
// there is one.
func (s *State) returnResources(seq uint64, e *event.PostSettled) {
	s.raiseAvailabilityVersion(s.caps.replaceCharges(e.Sale.Charges, e.Next.Charges))
	s.raiseAvailabilityVersion(s.accounts.adjust(e.Sale.Buyer, 0, -e.Sale.Price))
	if e.Next.Buyer != 0 {
		s.rotations.applyTurn(e.Campaign, e.Next.Turn, seq)
		s.raiseAvailabilityVersion(s.accounts.debitSale(&e.Next, e.Post.URL != ""))
	}
}

// applySettlement changes the lead's status. The supplier's answer stays.
func (l *Lead) applySettlement(e *event.PostSettled, seq uint64) {
	if e.Settlement.IsFinal() {
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
			l.assignBuyer(&e.Next)
			l.markAccepted(market.DeliveryNone)
		default:
			l.assignBuyer(&e.Next)
		}
	}
}

func (l *Lead) markAccepted(delivery market.Delivery) {
	l.Status, l.Delivery = market.StatusAccepted, delivery
	if l.Answer == AnswerNone {
		l.Answer = AnswerAccepted
	}
}

func (l *Lead) markUnmatched(delivery market.Delivery, reason market.Reason) {
	l.Status, l.Delivery, l.Reason = market.StatusUnmatched, delivery, reason
	if l.Answer == AnswerNone {
		l.Answer = AnswerUnmatched
		l.Buyer, l.Price, l.Payout, l.Currency = 0, 0, 0, market.Currency{}
	}
}

func (shard *leadShard) applySettlement(e *event.PostSettled) {
	switch e.Settlement {
	case event.SettledPending:
		shard.editPost(e.Lead, func(p *OpenPost) { p.Answered = true })
	case event.SettledUnknown:
		shard.editPost(e.Lead, func(p *OpenPost) { p.Answered, p.Exhausted, p.Attempts = true, true, e.Attempts })
	case event.SettledResent:
		shard.editPost(e.Lead, func(p *OpenPost) { p.Exhausted, p.Attempts = false, 0 })
	case event.SettledRefused:
		decided := int64(0)
		if old := shard.posts[e.Lead]; old != nil {
			decided = old.Decided
		}
		delete(shard.posts, e.Lead)
		if e.Next.Buyer != 0 && e.Post.URL != "" {
			shard.addPost(e.Lead, &e.Post, &e.Next, sealedPart{e.Slot, e.Sealed}, decided)
		}
	default:
		delete(shard.posts, e.Lead)
	}
}

// applyChanges applies a buyer's report on leads, or an operator's decision on a return.
func (s *State) applyChanges(seq uint64, at int64, e *event.StatusChanged) {
	s.storeKey(&e.Idempotency, rowAnsweredBySequence(seq), seq, at)
	for i := range e.Changes {
		c := &e.Changes[i]
		switch c.Result {
		case event.ChangeDone, event.ChangePending, event.ChangeRefused:
			s.changeLead(seq, c)
			s.applyReturn(seq, e.Buyer, c)
			s.applyPendingReturn(seq, at, c)
		}
		s.enqueueWebhook(seq, at, c.Supplier, c.Lead, c.Webhook)
	}
}

func (s *State) changeLead(seq uint64, c *event.Change) {
	shard := s.leadShard(&c.Lead)
	shard.mu.Lock()
	defer shard.mu.Unlock()
	if seq > shard.loaded {
		shard.table.edit((*[16]byte)(&c.Lead), func(l *Lead) { l.applyChange(c) })
	}
}

// applyChange changes the lead's status by a buyer's report.
func (l *Lead) applyChange(c *event.Change) {
	switch c.Result {
	case event.ChangeDone:
		l.Status = c.To
		if c.To == market.StatusReturned {
			l.setReturn(market.ReturnApproved)
		}
	case event.ChangePending:
		l.setReturn(market.ReturnPending)
	case event.ChangeRefused:
		l.setReturn(market.ReturnRefused)
	}
}

// applyPendingReturn stores a new pending return, and removes a decided one.
func (s *State) applyPendingReturn(seq uint64, at int64, c *event.Change) {
	switch {
	case seq <= s.loaded:
	case c.Result == event.ChangePending:
		s.pendingReturns.add(c.Lead, seq, at)
	case c.WasPending:
		s.pendingReturns.remove(c.Lead)
	}
}

// applyReturn gives back the resources of a return. It counts the return in its month from
// the request until a rejection.
func (s *State) applyReturn(seq uint64, buyer market.Ref, c *event.Change) {
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
	s.monthlySales.addReturns(back.Campaign, buyer, back.Month, leads)
	if c.Result == event.ChangeDone {
		s.raiseAvailabilityVersion(s.caps.replaceCharges(back.Charges, nil))
		s.raiseAvailabilityVersion(s.accounts.adjust(buyer, back.Credit, 0))
	}
}
