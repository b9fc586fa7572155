package explain

import (
	"cmp"
	"fmt"
	"net/http"

	"pingpost/engine/event"
	"pingpost/engine/market"
)

// How a ping stands.
const (
	statusNoBid = "NO_BID"
	statusBid   = "BID"   // nothing is sold at it
	statusTaken = "TAKEN" // a lead is for the buyer of an offer, which has not acknowledged it
	statusSold  = "SOLD"
)

// tellAuction tells of an auction that a ping was, without what was sold at its
// bids.
func (e *Explainer) newAuctionExplanation(found *entry) *Explanation {
	held := found.held()
	doc := &Explanation{
		Kind: kindPing, ID: held.Auction.String(), AuctionID: held.Auction.String(),
		SellerID: held.SellerAuction, RequestID: held.Request.String(),
		Supplier: e.state.NameOf(event.NameSupplier, held.Supplier),
		Campaign: e.state.NameOf(event.NameCampaign, held.Campaign),
		Catalog:  held.Catalog, Hops: held.Hops, Test: held.Test,
		Received: Instant(held.Began), Decided: Instant(found.at), BidsDue: Instant(held.Deadline), Until: Instant(held.Until),
		Status: statusNoBid, Reason: held.Reason.String(),
		Fields: fieldsOf(held.Fields), Posts: []Post{},
	}
	if held.SellerAuction == "" {
		doc.Kind, doc.ID = kindAvailability, market.PingID(held.Auction).String()
	}
	doc.Answer = &Answer{At: doc.Decided, Status: http.StatusOK, Result: answerNoBid, Reason: doc.Reason}
	if doc.Offers = e.offers(held); len(doc.Offers) > 0 {
		doc.Status, doc.Answer.Result = statusBid, answerBid
	}
	config := e.campaignConfig(held.Catalog, doc.Campaign, found.seq)
	doc.Method = config.method
	doc.renameZIP3(cmp.Or(config.zip, zipField))
	doc.Candidates = e.candidates(config, held.Trail, held.Bids, len(held.Trail) > 0)
	doc.noteMissingConfig(&config)
	doc.Why = whyAuction(doc)
	return doc
}

// zip3 is how a ping calls the beginning of a ZIP code.
const zip3 = "zip3"

// threeDigits calls the start of a ZIP code by its name: the log has it where the
// whole one would be.
func (x *Explanation) renameZIP3(zip string) {
	if value, ok := x.Fields[zip]; ok && len(value) == len(`"941"`) {
		delete(x.Fields, zip)
		x.Fields[zip3] = value
	}
}

// nameless says why seats have numbers where buyers should be named.
func (x *Explanation) noteMissingConfig(l *campaignConfig) {
	if l.known {
		return
	}
	for i := range x.Candidates {
		if x.Candidates[i].Buyer == "" {
			x.Notes = append(x.Notes, fmt.Sprintf("Buyers that were not asked are told by their seats: configuration %d, by which it was decided, "+
				"is no longer in the log's history, or its file in catalogs/ is gone.", x.Catalog))
			return
		}
	}
}

// candidates are all seats of a lineup, each with its one outcome, which the trail
// has: first those that were asked, as their bids are ranked, then the others. A
// seat that is in no step was not needed any more; where all are told of and the
// lineup is known, those are listed too.
func (e *Explainer) candidates(l campaignConfig, trail []event.Step, bids []event.Bid, all bool) []Candidate {
	outcomes := make(map[uint32]market.Outcome)
	seats := 0
	for i := range trail {
		for seat := trail[i].FilterSets.Next(0); seat >= 0; seat = trail[i].FilterSets.Next(seat + 1) {
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
		outcome, ok := outcomes[bid.FilterSet]
		if !ok {
			outcome = bid.Outcome
		}
		asked[bid.FilterSet] = true
		list = append(list, e.pingedCandidate(bid, outcome))
	}
	for seat := range uint32(seats) {
		outcome, ok := outcomes[seat]
		if !asked[seat] && (ok || all) {
			list = append(list, Candidate{Buyer: l.buyerAt(seat), Seat: seat, Outcome: outcome.String()})
		}
	}
	return list
}

// asked tells of a candidate whose turn it was to be pinged. One that has asked for a
// pause, by the 429 to an earlier ping, was sent nothing, and neither was one at its
// limit of connections.
func (e *Explainer) pingedCandidate(bid *event.Bid, outcome market.Outcome) Candidate {
	c := Candidate{
		Buyer: e.state.NameOf(event.NameBuyer, bid.Buyer), Seat: bid.FilterSet, Outcome: outcome.String(), Pinged: true,
		Elapsed: Milliseconds(bid.Elapsed), Status: bid.Status, Fault: faultOf(bid.Fault), Reason: bid.Reason,
	}
	if outcome == market.OutcomeRateLimited && bid.Status == 0 && (bid.Fault == market.FaultNone || bid.Fault == market.FaultConnectionLimit) {
		c.Pinged, c.Elapsed = false, 0
	}
	if bid.Currency != (market.Currency{}) {
		c.Bid, c.Until = amountOf(bid.Amount, bid.Currency), Instant(bid.ValidUntil)
	}
	if bid.Payout != 0 {
		c.Payout = amountOf(bid.Payout, bid.Currency)
	}
	return c
}
