package state

import (
	"pingpost/engine/event"
	"pingpost/engine/market"
)

// applyChanges applies what a buyer reports of its leads, or an operator's word on
// a return.
func (s *State) applyChanges(seq uint64, at int64, e *event.StatusChanged) {
	s.rememberKey(&e.Idempotency, bySeq(seq), seq, at)
	for i := range e.Changes {
		c := &e.Changes[i]
		switch c.Result {
		case event.ChangeDone, event.ChangeWaits, event.ChangeRefused:
			s.changeLead(seq, c)
			s.applyReturn(seq, e.Buyer, c)
		}
		s.owe(seq, at, c.Supplier, c.Lead, c.Hook)
	}
}

func (s *State) changeLead(seq uint64, c *event.Change) {
	shard := s.leadShard(&c.Lead)
	shard.mu.Lock()
	defer shard.mu.Unlock()
	if seq > shard.loaded {
		shard.table.change((*[16]byte)(&c.Lead), func(l *Lead) { l.become(c) })
	}
}

// become changes where a lead stands by a report of its buyer's.
func (l *Lead) become(c *event.Change) {
	switch c.Result {
	case event.ChangeDone:
		l.Status = c.To
		if c.To == market.StatusReturned {
			l.setReturn(market.ReturnApproved)
		}
	case event.ChangeWaits:
		l.setReturn(market.ReturnWaits)
	case event.ChangeRefused:
		l.setReturn(market.ReturnRefused)
	}
}

// applyReturn gives back what a return gives back, and counts it in its month from
// the time it is asked for until it is refused.
func (s *State) applyReturn(seq uint64, buyer market.Ref, c *event.Change) {
	back := &c.Return
	if seq <= s.loaded || back.Month == 0 {
		return
	}
	leads := int64(0)
	switch {
	case c.Result == event.ChangeRefused:
		leads = -1
	case !c.Waited:
		leads = 1
	}
	s.months.giveBack(back.Campaign, buyer, back.Month, leads)
	if c.Result == event.ChangeDone {
		s.doorMoved(s.caps.swap(back.Charges, nil))
		s.doorMoved(s.accounts.move(buyer, back.Credit, 0))
	}
}
