package engine

import (
	"pingpost/engine/event"
	"pingpost/engine/market"
	"pingpost/engine/state"
)

// tale is what an event says of its lead. It is taken from facts, and holds
// nothing by which a person could be known.
type tale struct {
	campaign market.Ref
	uuid     string // the seller's own id of the lead; empty: it has none
	auction  string // as the seller knows it, else as we do; empty: there was none
	test     bool

	buyer    market.Ref // zero: none
	paid     bool       // there is a payout
	payout   market.Money
	reversed market.Money // of it, by a return
	currency market.Currency
	reason   string
}

// taleOf is what a decision says. Its texts are the tale's own.
func taleOf(fact *event.LeadDecided) tale {
	t := tale{campaign: fact.Campaign, uuid: ownID(fact), auction: string([]byte(fact.SellerAuction)), test: fact.Sale.Test}
	if t.auction == "" {
		t.auction = auctionOf(fact)
	}
	if fact.Sale.Buyer == 0 {
		t.reason = fact.Reason.String()
	} else {
		t.sell(&fact.Sale)
	}
	return t
}

func (t *tale) sell(sale *event.Sale) {
	t.buyer, t.paid, t.payout, t.currency = sale.Buyer, true, sale.Payout, sale.Currency
}

// settle is what a settlement that owes an event makes of the tale.
func (t *tale) settle(fact *event.PostSettled) {
	t.unsell()
	t.campaign, t.test = fact.Campaign, fact.Sale.Test
	switch {
	case fact.Next.Buyer != 0:
		t.sell(&fact.Next)
	case fact.Reason == market.ReasonNone:
		t.sell(&fact.Sale)
	default:
		t.reason = fact.Reason.String()
	}
}

func (t *tale) unsell() {
	t.buyer, t.paid, t.payout, t.reversed, t.currency, t.reason = 0, false, 0, 0, market.Currency{}, ""
}

// change is what a report makes of the tale of a lead. Where the lead itself is
// forgotten, the report still says whose it was.
func (t *tale) change(buyer market.Ref, c *event.Change) {
	if t.buyer == 0 {
		t.buyer, t.campaign, t.currency = buyer, c.Return.Campaign, c.Return.Currency
	}
	t.reason, t.reversed = string([]byte(c.Reason)), c.Return.Reverse
}

// row takes from memory what it has of a lead: where it was sold, and to whom.
func (t *tale) row(lead *state.Lead) {
	t.unsell()
	t.campaign, t.test = lead.Campaign, lead.IsTest()
	if lead.Buyer != 0 && lead.Status != market.StatusUnmatched {
		t.buyer, t.paid, t.payout, t.currency = lead.Buyer, true, lead.Payout, lead.Currency
	}
	t.reason = lead.Reason.String()
}
