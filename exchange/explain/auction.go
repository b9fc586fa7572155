package explain

import (
	"cmp"
	"fmt"
	"net/http"

	"pingpost/engine/event"
	"pingpost/engine/market"
)

// Statuses of a ping.
const (
	statusNoBid = "NO_BID"
	statusBid   = "BID"   // no lead is sold at it
	statusTaken = "TAKEN" // a lead claimed an offer, and the buyer has not acknowledged it yet
	statusSold  = "SOLD"
)

// newAuctionExplanation returns the explanation of the auction in a log entry, as of its
// decision. It lacks the leads that later claimed one of its offers.
func (e *Explainer) newAuctionExplanation(found *logEntry) *Explanation {
	held := found.auctionHeld()
	doc := &Explanation{
		Kind: kindPing, ID: held.Auction.String(), AuctionID: held.Auction.String(),
		SellerID: held.SellerAuction, RequestID: held.Request.String(),
		Supplier: e.state.NameOf(event.ObjectSupplier, held.Supplier),
		Campaign: e.state.NameOf(event.ObjectCampaign, held.Campaign),
		Catalog:  held.Catalog, Hops: held.Hops, Test: held.Test,
		Received: Instant(held.Began), Decided: Instant(found.at), BidsDue: Instant(held.Deadline), Until: Instant(held.Until),
		Status: statusNoBid, Reason: held.Reason.String(),
		Fields: fieldsAsJSON(held.Fields), Posts: []Post{},
	}
	if held.SellerAuction == "" {
		doc.Kind, doc.ID = kindAvailability, market.PingID(held.Auction).String()
	}
	doc.Answer = &Answer{At: doc.Decided, Status: http.StatusOK, Result: answerNoBid, Reason: doc.Reason}
	if doc.Offers = e.listOffers(held); len(doc.Offers) > 0 {
		doc.Status, doc.Answer.Result = statusBid, answerBid
	}
	config := e.readCampaignConfig(held.Catalog, doc.Campaign, found.seq)
	doc.Method = config.method
	doc.renameZIP3(cmp.Or(config.zip, zipField))
	doc.Candidates = e.listCandidates(config, held.Trail, held.Bids, len(held.Trail) > 0)
	doc.noteMissingConfig(&config)
	doc.Why = summarizeAuction(doc)
	return doc
}

// zip3 is the name that a ping uses for a field with only the first three digits of a ZIP code.
const zip3 = "zip3"

// renameZIP3 renames the field with the name zip to zip3 if its value has only three digits.
// The log stores these digits under the name of the full ZIP code.
func (x *Explanation) renameZIP3(zip string) {
	if value, ok := x.Fields[zip]; ok && len(value) == len(`"941"`) {
		delete(x.Fields, zip)
		x.Fields[zip3] = value
	}
}

// noteMissingConfig adds a note to the explanation if it could not name the buyer of a
// candidate, because the configuration of that time is unavailable.
func (x *Explanation) noteMissingConfig(l *campaignConfig) {
	if l.known {
		return
	}
	for i := range x.Candidates {
		if x.Candidates[i].Buyer == "" {
			x.Notes = append(x.Notes, fmt.Sprintf("Buyers that were not pinged appear as numbered filter sets: configuration %d, which was in force, "+
				"is no longer in the log, or its file in catalogs/ is missing.", x.Catalog))
			return
		}
	}
}

// listCandidates lists the campaign's filter sets with the outcome of each. Pinged filter sets
// come first, in the order of bids, then the others by number.
//
// The trail has the outcomes by filter set. A filter set that is missing in the trail was not
// needed for the decision. It is listed only if all is set and the configuration l is known.
func (e *Explainer) listCandidates(l campaignConfig, trail []event.OutcomeFilterSets, bids []event.Bid, all bool) []Candidate {
	outcomes := make(map[uint32]market.Outcome)
	seats := 0
	for i := range trail {
		for seat := trail[i].FilterSets.NextFrom(0); seat >= 0; seat = trail[i].FilterSets.NextFrom(seat + 1) {
			outcomes[uint32(seat)] = trail[i].Outcome
			seats = max(seats, seat+1)
		}
	}
	if all && len(trail) > 0 {
		seats = max(seats, len(l.buyers))
	}
	list := make([]Candidate, 0, max(seats, len(bids)))
	pinged := make(map[uint32]bool, len(bids))
	for i := range bids {
		bid := &bids[i]
		outcome, ok := outcomes[bid.FilterSet]
		if !ok {
			outcome = bid.Outcome
		}
		pinged[bid.FilterSet] = true
		list = append(list, e.newPingedCandidate(bid, outcome))
	}
	for seat := range uint32(seats) {
		outcome, ok := outcomes[seat]
		if !pinged[seat] && (ok || all) {
			list = append(list, Candidate{Buyer: l.buyerOfFilterSet(seat), Seat: seat, Outcome: outcome.String()})
		}
	}
	return list
}

// newPingedCandidate returns the candidate for an entry of the auction's list of bids. Some
// entries have no ping behind them, and Pinged is then false. In these cases the buyer had
// demanded a pause with a 429, or its connection limit was reached.
func (e *Explainer) newPingedCandidate(bid *event.Bid, outcome market.Outcome) Candidate {
	c := Candidate{
		Buyer: e.state.NameOf(event.ObjectBuyer, bid.Buyer), Seat: bid.FilterSet, Outcome: outcome.String(), Pinged: true,
		Elapsed: Milliseconds(bid.Elapsed), Status: bid.Status, Fault: faultName(bid.Fault), Reason: bid.Reason,
	}
	if outcome == market.OutcomeRateLimited && bid.Status == 0 && (bid.Fault == market.FaultNone || bid.Fault == market.FaultConnectionLimit) {
		c.Pinged, c.Elapsed = false, 0
	}
	if bid.Currency != (market.Currency{}) {
		c.Bid, c.Until = newAmount(bid.Amount, bid.Currency), Instant(bid.ValidUntil)
	}
	if bid.Payout != 0 {
		c.Payout = newAmount(bid.Payout, bid.Currency)
	}
	return c
}
