package engine

import (
	"fmt"

	"pingpost/engine/event"
	"pingpost/engine/market"
)

// EncryptedLead names a lead and the slot of its key.
type EncryptedLead struct {
	Lead market.LeadID
	Slot uint64
}

// Erase makes the contact data of these leads unreadable for ever. It commits the erasure and
// then erases the keys, durably when it returns. After an error some keys may still exist;
// the next call for these leads, or the next start, erases them. To erase a lead twice has no
// effect.
//
// Erase skips leads with a delivery in progress, because the attempts need the data, and
// returns them. It erases a lead with an unconfirmed delivery; an operator can no longer
// resend that lead.
func (e Operator) Erase(leads []EncryptedLead) (inDelivery []EncryptedLead, err error) {
	e.configuring.Lock() // so that no operator resends a post meanwhile
	defer e.configuring.Unlock()
	record := event.LeadsErased{At: e.opt.Clock.Now(), By: e.by}
	slots := make([]uint64, 0, len(leads))
	for _, lead := range leads {
		if lead.Slot == 0 {
			panic("BUG: a lead without a key cannot be erased")
		}
		if post := e.state.OpenPost(lead.Lead); post != nil && !post.Exhausted {
			inDelivery = append(inDelivery, lead)
			continue
		}
		slots = append(slots, lead.Slot)
		if !e.state.IsSlotErased(lead.Slot) {
			record.Slots, record.Leads = append(record.Slots, lead.Slot), append(record.Leads, lead.Lead)
		}
	}
	if len(record.Slots) > 0 {
		if err := e.commit(&record, nil); err != nil {
			return inDelivery, err
		}
	}
	return inDelivery, e.opt.Sealer.Erase(slots)
}

// WaitForDelivery waits until a lead's delivery has ended, at most until a time in Unix
// nanoseconds. It reports whether the delivery has ended.
func (e *Engine) WaitForDelivery(lead market.LeadID, until int64) bool {
	c := e.deliveries.find(lead)
	return c == nil || e.waitUntil(c.ended, until) == nil
}

// eraseKeys erases the keys of all erased leads. A crash may have interrupted Erase, or the
// operator may have restored an older copy of the keys.
func (e *Engine) eraseKeys() error {
	erased := e.state.ErasedSlots()
	if len(erased) == 0 {
		return nil
	}
	if err := e.opt.Sealer.Erase(erased); err != nil {
		return fmt.Errorf("cannot erase the keys of erased leads: %w", err)
	}
	return nil
}
