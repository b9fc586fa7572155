package engine

import (
	"sync"

	"pingpost/engine/auction"
	"pingpost/engine/bitset"
	"pingpost/engine/event"
	"pingpost/engine/market"
	"pingpost/engine/selection"
	"pingpost/engine/state"
)

// A test lead is distributed by the rehearsal of its campaign: the same seats in
// the same order, with the same states, filters, hours, lists, prices and floor,
// and with nothing that a lead takes or wears out. There are no caps in it, no
// money is counted, no duplicates are known, and its buyers have their test
// endpoints in the place of their own.
//
// So every verb treats a test lead as any other, and what it must not touch it
// does not find. What is left to tell apart is told by open.Test, in few places:
// a turn is looked at and not taken; nothing is learned of a buyer from its
// answers; and the facts and what is sent say that it is a test.
//
// A seat whose buyer takes leads at an endpoint, and has none for tests, is
// filtered; one whose buyer takes none anywhere has test leads recorded, as it
// has the others.
//
// An auction over a test lead has a name of another kind (see naming), so that
// no lead in earnest can be sold at its bids, nor a test lead at others.
//
// Made when the first test lead comes, since most campaigns never have one.
// (Rejected: to ask at every cap, claim and endpoint whether the lead is a test;
// one that forgot to ask would charge somebody for it.)
func rehearsal(of *market.Campaign) *open {
	campaign := *of
	campaign.Caps, campaign.Duplicates = nil, market.DuplicateRule{}
	campaign.FilterSets = make([]market.FilterSet, len(of.FilterSets))
	barred := bitset.New(len(of.FilterSets))
	for i := range of.FilterSets {
		seat := &campaign.FilterSets[i]
		*seat = of.FilterSets[i]
		seat.Buyer, seat.Caps = stagehand(seat.Buyer), nil
		if bars(of.FilterSets[i].Buyer, of.Method) {
			barred.Add(i)
		}
	}
	o := &open{Bidders: auction.Bidders{FilterSets: selection.Compile(&campaign), Test: true}, barred: barred}
	if campaign.Method == market.PingPost {
		o.prepare(func(*market.Buyer) *auction.PingLimiter { return nil })
	}
	return o
}

// stagehand is a buyer as test leads meet it.
func stagehand(b *market.Buyer) *market.Buyer {
	hand := *b
	hand.Ping, hand.Post = b.TestPing, b.TestPost
	hand.Caps, hand.Funded, hand.Credit = nil, false, 0
	return &hand
}

// bars tells whether a buyer has an endpoint that the method needs, and none for
// tests.
func bars(b *market.Buyer, method market.SelectionMethod) bool {
	return b.Post != nil && b.TestPost == nil || method == market.PingPost && b.Ping != nil && b.TestPing == nil
}

// as is the campaign as a lead finds it, or a test lead does. The campaign may be
// nil.
func (o *open) as(test bool) *open {
	if o == nil || !test {
		return o
	}
	return o.rehearsal()
}

// rehearses readies the campaign's rehearsal.
func (o *open) rehearses() {
	o.rehearsal = sync.OnceValue(func() *open { return rehearsal(o.Campaign) })
}

// Screen is the lineup's, and takes out the seats that no test lead comes to.
func (o *open) Screen(lead *market.Lead, c *selection.Candidates) {
	o.FilterSets.FilterLead(lead, c)
	if o.barred != nil {
		c.ExcludeAll(o.barred, market.OutcomeFiltered)
	}
}

// filterSetOf returns the index of a buyer's filter set, or -1 if it has none or the test
// campaign excludes it.
func (o *open) filterSetOf(buyer market.Ref) int {
	for i := range o.Campaign.FilterSets {
		if o.Campaign.FilterSets[i].Buyer.Ref == buyer && (o.barred == nil || !o.barred.Has(i)) {
			return i
		}
	}
	return -1
}

// turnOf is whose turn it is among the members of a set: taken, or only looked at.
func (o *open) turnOf(s *state.State, h *state.Reservation, set uint64, weights []int32) (turn event.Turn, member uint32) {
	if o.Test {
		return event.Turn{}, s.NextTurn(o.Campaign.Ref, set, weights)
	}
	turn = s.ReserveTurn(h, o.Campaign.Ref, set, weights)
	return turn, turn.Member
}
