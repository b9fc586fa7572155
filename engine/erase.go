package engine

import (
	"fmt"

	"pingpost/engine/event"
	"pingpost/engine/market"
)

// Sealed is a lead and the slot of the key that it is sealed with.
type Sealed struct {
	Lead market.LeadID
	Slot uint64
}

// Erase makes sure that nobody can know any more who these leads are: that is a fact
// first, and then their keys are dropped, durably when it returns. An error means that
// some keys may be there still; erased again, or by the next start, they are dropped.
// To erase a lead twice does no harm.
//
// A lead that is being brought to its buyer is left as it is, and comes back: what is
// to be sent has to be known as long as it may be sent. One whose tries are used up is
// erased, and what an operator could have had sent again with it.
func (e Operator) Erase(leads []Sealed) (underWay []Sealed, err error) {
	e.configuring.Lock() // no operator has a post resent meanwhile
	defer e.configuring.Unlock()
	fact := event.LeadsErased{At: e.opt.Clock.Now(), By: e.by}
	slots := make([]uint64, 0, len(leads))
	for _, lead := range leads {
		if lead.Slot == 0 {
			panic("BUG: a lead is to be erased that was never sealed")
		}
		if post := e.state.OpenPost(lead.Lead); post != nil && !post.Exhausted {
			underWay = append(underWay, lead)
			continue
		}
		slots = append(slots, lead.Slot)
		if !e.state.SlotErased(lead.Slot) {
			fact.Slots, fact.Leads = append(fact.Slots, lead.Slot), append(fact.Leads, lead.Lead)
		}
	}
	if len(fact.Slots) > 0 {
		if err := e.commit(&fact, nil); err != nil {
			return underWay, err
		}
	}
	return underWay, e.opt.Sealer.Erase(slots)
}

// Undelivered waits until nobody is at work any more to bring a lead to its buyer, or
// until a time in Unix nanoseconds; true: somebody still is.
func (e *Engine) Undelivered(lead market.LeadID, until int64) bool {
	c := e.couriers.of(lead)
	return c != nil && e.waitUntil(c.ended, until) != nil
}

// dropKeys drops the keys of all who were erased: a crash may have come between the
// fact and that, and a backup of the keys may be of a time before.
func (e *Engine) dropKeys() error {
	erased := e.state.ErasedSlots()
	if len(erased) == 0 {
		return nil
	}
	if err := e.opt.Sealer.Erase(erased); err != nil {
		return fmt.Errorf("what was erased could not be made certain: %w", err)
	}
	return nil
}
