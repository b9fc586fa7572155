package witness

import "pingpost/engine/event"

// settle ends an intent, or changes how it stands.
func (b *book) settle(f *fact) {
	e := b.leads[f.Lead]
	if e == nil {
		b.breach("lead %s is settled and was never decided", f.Lead)
		return
	}
	if f.Sale == nil || b.name(event.NameBuyer, f.Sale.Buyer) != e.buyer || f.Sale.Price != e.price {
		b.breach("lead %s is settled on other terms than it was intended on", e.id)
		return
	}
	if !mayFollow(e.standing, f.Settlement) {
		b.breach("lead %s is %s and then settled as %s", e.id, e.standing, f.Settlement)
		return
	}
	switch f.Settlement {
	case "confirmed", "released", "resent":
		b.ruled[ruling{e.id, f.Settlement}] = true
	}
	e.settlement = f.Settlement
	switch f.Settlement {
	case "delivered", "confirmed":
		e.standing = delivered
		b.keep(e, -e.price)
		b.sold(e)
	case "pending", "resent":
		e.standing, e.promised = pending, true
	case "unknown":
		e.standing, e.promised = uncertain, true
	case "refused", "released":
		b.refuse(e, f)
	}
}

// mayFollow tells whether a settlement is possible where a lead stands.
func mayFollow(now standing, settlement string) bool {
	switch settlement {
	case "pending":
		return now == open
	case "delivered", "refused", "unknown":
		return now == open || now == pending
	case "confirmed", "released", "resent":
		return now == uncertain
	}
	return false
}

// refuse gives back what the sale took, and sells the lead to the next buyer
// where the fact names one. A buyer that may have the lead already keeps it.
func (b *book) refuse(e *entry, f *fact) {
	b.charge(e, -1)
	b.keep(e, -e.price)
	b.giveBack(e, f.Next != nil)
	switch {
	case f.Next == nil:
		e.buyer, e.price, e.standing, e.reason = "", 0, unsold, f.Reason
		if f.Reason == "" {
			b.breach("lead %s ends unsold without a reason", e.id)
		}
		return
	case e.promised:
		b.breach("lead %s left %s, with which it was accepted", e.id, e.buyer)
	case e.tried:
		b.breach("lead %s left %s, which may have it", e.id, e.buyer)
	}
	b.sell(e, f.Next)
}
