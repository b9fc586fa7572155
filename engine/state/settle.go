package state

import (
	"pingpost/engine/event"
	"pingpost/engine/market"
)

func (s *State) applyTried(seq uint64, e *event.PostTried) {
	shard := s.leadShard(&e.Lead)
	shard.mu.Lock()
	defer shard.mu.Unlock()
	if seq > shard.loaded {
		shard.changePost(e.Lead, func(p *Post) { p.Attempts, p.Tried = e.Attempt, e.At })
	}
}

func (s *State) applySettled(seq uint64, at int64, e *event.PostSettled) {
	shard := s.leadShard(&e.Lead)
	shard.mu.Lock()
	if seq > shard.loaded {
		before := shard.unknownLocked(e.Lead)
		shard.table.change((*[16]byte)(&e.Lead), func(l *Lead) { l.settle(e, seq) })
		shard.settlePost(e)
		s.countUnknown(&e.Sale, shard.unknownLocked(e.Lead)-before)
	}
	shard.mu.Unlock()
	s.owe(seq, at, e.Supplier, e.Lead, e.Hook)
	if e.Settlement == event.SettledRefused || e.Settlement == event.SettledReleased {
		s.swapPing(seq, e.Lead, e.Sale.Ping, e.Next.Ping)
	}
	if !e.Sale.Test {
		s.settleSale(seq, at, e)
	}
}

// settleSale takes for good what a sale held, or gives it back. A test sale held
// nothing but the auction that it uses up, which is a test's.
func (s *State) settleSale(seq uint64, at int64, e *event.PostSettled) {
	decided := e.Decided
	if decided == 0 { // a log of a time when settlements did not say it
		decided = at
	}
	switch e.Settlement {
	case event.SettledPending, event.SettledUnknown:
		s.rememberDups(e.Sale.Dups, e.Lead, seq, at)
	case event.SettledDelivered, event.SettledConfirmed:
		s.rememberDups(e.Sale.Dups, e.Lead, seq, at)
		s.countSold(seq, e.Campaign, e.Sale.Buyer, decided)
		if seq > s.loaded {
			s.doorMoved(s.accounts.move(e.Sale.Buyer, -e.Sale.Price, -e.Sale.Price))
		}
	case event.SettledRefused, event.SettledReleased:
		if seq > s.loaded {
			s.giveBack(seq, e)
		}
		s.forgetDups(e.Sale.Dups, e.Lead, seq)
		if e.Next.Buyer != 0 && e.Post.URL == "" {
			s.rememberDups(e.Next.Dups, e.Lead, seq, at)
			s.countSold(seq, e.Campaign, e.Next.Buyer, decided)
		}
	}
}

// giveBack returns what a sale held that came to nothing, and takes what the
// next one takes, if there is one.
func (s *State) giveBack(seq uint64, e *event.PostSettled) {
	s.doorMoved(s.caps.swap(e.Sale.Charges, e.Next.Charges))
	s.doorMoved(s.accounts.move(e.Sale.Buyer, 0, -e.Sale.Price))
	if e.Next.Buyer != 0 {
		s.turns.apply(e.Campaign, e.Next.Turn, seq)
		s.doorMoved(s.accounts.sell(&e.Next, e.Post.URL != ""))
	}
}

// settle changes where a lead stands; what its supplier was told stays told.
func (l *Lead) settle(e *event.PostSettled, seq uint64) {
	if e.Settlement.Ends() {
		l.Settled = seq
	}
	switch e.Settlement {
	case event.SettledDelivered:
		l.accept(market.DeliveryDone)
	case event.SettledConfirmed:
		l.accept(market.DeliveryConfirmed)
	case event.SettledPending:
		l.accept(market.DeliveryPending)
	case event.SettledUnknown:
		l.accept(market.DeliveryUnknown)
	case event.SettledResent:
		l.Delivery = market.DeliveryPending
	case event.SettledReleased:
		l.fail(market.DeliveryReleased, e.Reason)
	case event.SettledRefused:
		switch {
		case e.Next.Buyer == 0:
			l.fail(market.DeliveryFailed, e.Reason)
		case e.Post.URL == "":
			l.assign(&e.Next)
			l.accept(market.DeliveryNone)
		default:
			l.assign(&e.Next)
		}
	}
}

func (l *Lead) accept(delivery market.Delivery) {
	l.Status, l.Delivery = market.StatusAccepted, delivery
	if l.Answer == AnswerNone {
		l.Answer = AnswerAccepted
	}
}

func (l *Lead) fail(delivery market.Delivery, reason market.Reason) {
	l.Status, l.Delivery, l.Reason = market.StatusUnmatched, delivery, reason
	if l.Answer == AnswerNone {
		l.Answer = AnswerUnmatched
		l.Buyer, l.Price, l.Payout, l.Currency = 0, 0, 0, market.Currency{}
	}
}

func (shard *leadShard) settlePost(e *event.PostSettled) {
	switch e.Settlement {
	case event.SettledPending:
		shard.changePost(e.Lead, func(p *Post) { p.Answered = true })
	case event.SettledUnknown:
		shard.changePost(e.Lead, func(p *Post) { p.Answered, p.Unknown, p.Attempts = true, true, e.Attempts })
	case event.SettledResent:
		shard.changePost(e.Lead, func(p *Post) { p.Unknown, p.Attempts = false, 0 })
	case event.SettledRefused:
		decided := int64(0)
		if old := shard.posts[e.Lead]; old != nil {
			decided = old.Decided
		}
		delete(shard.posts, e.Lead)
		if e.Next.Buyer != 0 && e.Post.URL != "" {
			shard.openPost(e.Lead, &e.Post, &e.Next, sealedPart{e.Slot, e.Sealed}, decided)
		}
	default:
		delete(shard.posts, e.Lead)
	}
}
