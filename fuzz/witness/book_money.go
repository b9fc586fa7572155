package witness

import (
	"pingpost/engine/event"
	"pingpost/engine/market"
)

// movement is a line of somebody's statement: of a buyer's, or of the supplier's.
type movement struct {
	seq      uint64
	kind     string
	lead     string
	campaign string
	amount   market.Money // in the account's own eyes: what is paid is below zero
}

// heldAt is what open posts held of a buyer's money from an entry on.
type heldAt struct {
	seq  uint64
	held market.Money
}

func (b *book) fund(f *fact) {
	amount, err := market.ParseMoney([]byte(f.Amount))
	if err != nil {
		b.breach("money of %q: %v", f.Amount, err)
	}
	buyer, kind := b.name(event.NameBuyer, f.Buyer), "opening"
	if f.Opening && b.balance[buyer] != 0 {
		b.breach("a second opening balance of %s", buyer)
	}
	if !f.Opening {
		kind = "top_up"
		b.moved = append(b.moved, amount)
	}
	b.balance[buyer] += amount
	b.lines[buyer] = append(b.lines[buyer], movement{seq: b.seq, kind: kind, amount: amount})
}

// keep holds a lead's price, or lets it go. Of a test nothing is held.
func (b *book) keep(e *entry, price market.Money) {
	if e.test {
		return
	}
	b.taken[e.buyer] += price
	b.holds[e.buyer] = append(b.holds[e.buyer], heldAt{b.seq, b.taken[e.buyer]})
}

// heldAt is what was held of a buyer's money after an entry.
func (b *book) heldAt(buyer string, seq uint64) (held market.Money) {
	for _, h := range b.holds[buyer] {
		if h.seq <= seq {
			held = h.held
		}
	}
	return held
}

// sold is a lead that its buyer has, and pays.
func (b *book) sold(e *entry) { b.pay("sale", "sale", e, e.price, payout(e.price)) }

// gaveBack is a lead that its buyer gave back.
func (b *book) gaveBack(e *entry, credit, reverse market.Money) {
	if credit != 0 || reverse != 0 {
		b.pay("return", "reversal", e, -credit, -reverse)
	}
}

// pay enters what a buyer pays for a lead and what its supplier is paid. A test costs
// nobody anything.
func (b *book) pay(bought, brought string, e *entry, price, paid market.Money) {
	if e.test {
		return
	}
	b.balance[e.buyer] -= price
	b.lines[e.buyer] = append(b.lines[e.buyer], movement{b.seq, bought, e.id, e.campaign, -price})
	b.lines[supplier] = append(b.lines[supplier], movement{b.seq, brought, e.id, e.campaign, paid})
}

func (b *book) afford(id string) {
	if buyer := b.terms.buyer(id); buyer != nil && buyer.funded && b.balance[id]+buyer.credit < b.taken[id] {
		b.breach("%s is overdrawn: %v, %v held, %v credit", id, b.balance[id], b.taken[id], buyer.credit)
	}
}
