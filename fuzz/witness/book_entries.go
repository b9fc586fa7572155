package witness

import (
	"pingpost/engine/event"
	"pingpost/engine/market"
)

// bidFact is what a buyer came to in an auction.
type bidFact struct {
	Buyer   uint64       `json:"buyer"`
	Outcome string       `json:"outcome"`
	Amount  market.Money `json:"amount"`
	Payout  market.Money `json:"payout"`
}

// bids are those that stand, by buyer.
type bids map[string]market.Money

// auction is a ping in the book.
type auction struct {
	name, campaign string
	reason         string
	bids           bids
	best           market.Money // zero: none stands
	lead           *entry       // that has used it up
	choice         bool         // a supplier asked who would buy, and chooses
}

// promised is what a lead is sold at to a buyer: at a ping's best bid, and at any
// that is chosen.
func (a *auction) promised(buyer string) market.Money {
	if a.choice {
		return a.bids[buyer]
	}
	return a.best
}

// standing takes the bids that may be sold at. They come best first.
func (b *book) standing(f *fact) (all bids, best market.Money) {
	all = bids{}
	floor := market.Money(0)
	if c := b.terms.campaign(b.name(event.NameCampaign, f.Campaign)); c != nil {
		floor = c.floor
	}
	last := market.Money(0)
	for _, bid := range f.Bids {
		if bid.Payout == 0 {
			continue
		}
		if bid.Payout != payout(bid.Amount) || bid.Amount < floor {
			b.breach("a bid of %v stands, with a payout of %v", bid.Amount, bid.Payout)
		}
		if last != 0 && bid.Amount > last {
			b.breach("a bid of %v stands behind one of %v", bid.Amount, last)
		}
		last = bid.Amount
		all[b.name(event.NameBuyer, bid.Buyer)] = bid.Amount
		best = max(best, bid.Amount)
	}
	return all, best
}

// hold enters an auction that stands by itself.
func (b *book) hold(f *fact) {
	a := &auction{name: f.Name, campaign: b.name(event.NameCampaign, f.Campaign), reason: f.Reason, choice: f.Theirs == ""}
	a.bids, a.best = b.standing(f)
	if (a.best == 0) != (a.reason != "") {
		b.breach("the auction %s has bids up to %v, and the reason %q", f.Theirs, a.best, a.reason)
	}
	if b.theirs[f.Theirs] && !a.choice {
		b.breach("the seller's auction %s is held twice", f.Theirs)
	}
	if b.held[a.name] != nil || b.asked[f.Request] != nil {
		b.breach("two auctions have the name %s, or the request %s", a.name, f.Request)
	}
	b.theirs[f.Theirs], b.held[a.name], b.asked[f.Request] = true, a, a
}

// bid finds the bids that a lead may be sold at, and uses an earlier auction up.
func (b *book) bid(e *entry, f *fact) {
	if !b.terms.auctioned(e.campaign) {
		return
	}
	if f.Sale.Ping == "" {
		e.bids, _ = b.standing(f)
		return
	}
	a := b.held[f.Sale.Ping]
	switch {
	case a == nil || a.campaign != e.campaign:
		b.breach("lead %s is sold at a bid of the auction %s, which nobody held", e.id, f.Sale.Ping)
		return
	case a.lead != nil:
		b.breach("the auction %s sells the leads %s and %s", a.name, a.lead.id, e.id)
	case f.Sale.Price != a.promised(b.name(event.NameBuyer, f.Sale.Buyer)):
		b.breach("lead %s is sold at %v, and %v was promised", e.id, f.Sale.Price, a.promised(b.name(event.NameBuyer, f.Sale.Buyer)))
	}
	a.lead, e.ping, e.bids = e, a.name, a.bids
}

// giveBack frees the auction of a lead that its buyer refused. Such a lead was
// promised to that buyer, and goes to no other.
func (b *book) giveBack(e *entry, goesOn bool) {
	if e.ping == "" {
		return
	}
	if goesOn {
		b.breach("lead %s left the buyer whose bid was promised", e.id)
	}
	if a := b.held[e.ping]; a != nil && a.lead == e {
		a.lead = nil
	}
}

// priceOf is what a lead costs the buyer that it is sold to.
func (b *book) priceOf(e *entry) (price market.Money, seated bool) {
	if b.terms.auctioned(e.campaign) {
		price, seated = e.bids[e.buyer]
		return price, seated
	}
	return b.terms.price(e.campaign, e.buyer)
}

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
	buyer := b.terms.buyer(id)
	if buyer == nil || !buyer.funded {
		return
	}
	left := b.balance[id] + buyer.credit - b.taken[id]
	if least, ok := b.least[id]; !ok || left < least {
		b.least[id] = left
	}
	if left < 0 {
		b.breach("%s is overdrawn: %v, %v held, %v credit", id, b.balance[id], b.taken[id], buyer.credit)
	}
}
