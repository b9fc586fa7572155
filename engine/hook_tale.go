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
	t := tale{campaign: fact.Campaign, auction: fact.Theirs, test: fact.Sale.Test}
	for i := range fact.Fields {
		if f := &fact.Fields[i]; f.Name == fieldSellerID {
			t.uuid = string(f.Text) // the last one: what a post says beside the campaign's fields
		}
	}
	switch {
	case t.auction != "":
	case !fact.Auction.ID.IsZero():
		t.auction = fact.Auction.ID.String()
	case !fact.Post.Auction.IsZero():
		t.auction = fact.Post.Auction.String()
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
	switch {
	case fact.Next.Buyer != 0:
		t.sell(&fact.Next)
	case fact.Reason == market.ReasonNone:
		t.sell(&fact.Sale)
	default:
		t.reason = fact.Reason.String()
	}
	if fact.Hook == market.HookPostFailed {
		t.buyer = fact.Sale.Buyer // which the supplier was told
	}
}

func (t *tale) unsell() {
	t.buyer, t.paid, t.payout, t.reversed, t.currency, t.reason = 0, false, 0, 0, market.Currency{}, ""
}

// change is what a buyer's report makes of the tale of a lead that it has.
func (t *tale) change(c *event.Change) {
	t.reason, t.reversed = string([]byte(c.Reason)), c.Return.Reverse
}

// row takes from memory what it has of a lead: where it was sold, and to whom.
func (t *tale) row(lead *state.Lead) {
	t.campaign = lead.Campaign
	t.unsell()
	t.test = lead.Test()
	t.buyer, t.reason = lead.Buyer, lead.Reason.String()
	if lead.Buyer != 0 && lead.Status != market.StatusUnmatched {
		t.paid, t.payout, t.currency = true, lead.Payout, lead.Currency
	}
}
