package exchange

import (
	"pingpost/engine/event"
	"pingpost/engine/market"
)

// How a ping stands.
const (
	statusNoBid = "NO_BID"
	statusBid   = "BID"
	statusSold  = "SOLD"
)

// tellAuction tells of an auction that a ping was, without what was sold at its
// bids.
func (e *explainer) tellAuction(found *entry) *Explanation {
	held := found.held()
	told := &Explanation{
		Kind: kindPing, ID: held.Auction.String(), AuctionID: held.Auction.String(),
		SellerID: held.Theirs, RequestID: held.Request.String(),
		Supplier: e.state.NameOf(event.NameSupplier, held.Supplier),
		Campaign: e.state.NameOf(event.NameCampaign, held.Campaign),
		Catalog:  held.Catalog, Hops: held.Hops, Test: held.Test,
		Received: Instant(held.Began), Decided: Instant(found.at), BidsDue: Instant(held.Deadline), Until: Instant(held.Until),
		Status: statusNoBid, Reason: held.Reason.String(),
		Fields: fieldsOf(held.Fields), Posts: []Post{},
	}
	if held.Theirs == "" {
		told.Kind, told.ID = kindAvailability, market.PingID(held.Auction).String()
	}
	if len(held.Bids) > 0 && held.Bids[0].Outcome == market.OutcomeWon {
		best := &held.Bids[0]
		told.Status, told.Buyer = statusBid, e.state.NameOf(event.NameBuyer, best.Buyer)
		told.Price, told.Payout = amountOf(best.Amount, best.Currency), amountOf(best.Payout, best.Currency)
		told.Margin = amountOf(best.Amount-best.Payout, best.Currency)
		if row, ok := e.state.Auction(held.Name, held.Began); ok && row.Sold() {
			told.Status = statusSold
		}
	}
	lineup := e.lineup(held.Catalog, told.Campaign, found.seq)
	told.Method = lineup.method
	told.Candidates = e.candidates(lineup, held.Trail, held.Bids, len(held.Trail) > 0)
	told.Why = whyAuction(told)
	return told
}

// candidates are all seats of a lineup, each with its one outcome, which the trail
// has: first those that were asked, as their bids are ranked, then the others. A
// seat that is in no step was not needed any more; where all are told of and the
// lineup is known, those are listed too.
func (e *explainer) candidates(l lineup, trail []event.Step, bids []event.Bid, all bool) []Candidate {
	outcomes := make(map[uint32]market.Outcome)
	seats := 0
	for i := range trail {
		for seat := trail[i].Seats.Next(0); seat >= 0; seat = trail[i].Seats.Next(seat + 1) {
			outcomes[uint32(seat)] = trail[i].Outcome
			seats = max(seats, seat+1)
		}
	}
	if all && len(trail) > 0 {
		seats = max(seats, len(l.buyers))
	}
	list := make([]Candidate, 0, max(seats, len(bids)))
	asked := make(map[uint32]bool, len(bids))
	for i := range bids {
		bid := &bids[i]
		outcome, ok := outcomes[bid.Seat]
		if !ok {
			outcome = bid.Outcome
		}
		asked[bid.Seat] = true
		list = append(list, e.asked(bid, outcome))
	}
	for seat := range uint32(seats) {
		outcome, ok := outcomes[seat]
		if !asked[seat] && (ok || all) {
			list = append(list, Candidate{Buyer: l.buyer(seat), Seat: seat, Outcome: outcome.String()})
		}
	}
	return list
}

func (e *explainer) asked(bid *event.Bid, outcome market.Outcome) Candidate {
	c := Candidate{
		Buyer: e.state.NameOf(event.NameBuyer, bid.Buyer), Seat: bid.Seat, Outcome: outcome.String(), Asked: true,
		Elapsed: Milliseconds(bid.Elapsed), Status: bid.Status, Reason: bid.Reason,
	}
	if bid.Fault != market.FaultNone {
		c.Fault = bid.Fault.String()
	}
	if bid.Currency != (market.Currency{}) {
		c.Bid, c.Until = amountOf(bid.Amount, bid.Currency), Instant(bid.ValidUntil)
	}
	if bid.Payout != 0 {
		c.Payout = amountOf(bid.Payout, bid.Currency)
	}
	return c
}
