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
func (e *Explainer) newAuctionExplanation(auctionEntry *logEntry) *Explanation {
	auctionEvent := auctionEntry.mustBePingAuction()
	doc := &Explanation{
		Kind: kindPing, ID: auctionEvent.Auction.String(), AuctionID: auctionEvent.Auction.String(),
		SellerID: auctionEvent.SellerAuction, RequestID: auctionEvent.Request.String(),
		Supplier: e.State.NameOf(event.ObjectSupplier, auctionEvent.Supplier),
		Campaign: e.State.NameOf(event.ObjectCampaign, auctionEvent.Campaign),
		Catalog:  auctionEvent.Catalog, Hops: auctionEvent.Hops, Test: auctionEvent.Test,
		Received: NanosAsRFC3339(auctionEvent.Began), Decided: NanosAsRFC3339(auctionEntry.at), BidsDue: NanosAsRFC3339(auctionEvent.Deadline), Until: NanosAsRFC3339(auctionEvent.Until),
		Status: statusNoBid, Reason: auctionEvent.Reason.String(),
		Fields: fieldsAsJSON(auctionEvent.Fields), Posts: []DeliveryToBuyer{},
	}
	if auctionEvent.SellerAuction == "" {
		doc.Kind, doc.ID = kindAvailability, market.PingID(auctionEvent.Auction).String()
	}
	doc.Answer = &AnswerToSupplier{At: doc.Decided, Status: http.StatusOK, Result: answerNoBid, Reason: doc.Reason}
	if doc.Offers = e.listOffersToSupplier(auctionEvent); len(doc.Offers) > 0 {
		doc.Status, doc.Answer.Result = statusBid, answerBid
	}
	config := e.readCampaignConfig(auctionEvent.Catalog, doc.Campaign, auctionEntry.seq)
	doc.Method = config.method
	doc.renameToZIP3IfThreeDigits(cmp.Or(config.zip, zipField))
	doc.Candidates = e.listFilterSetCandidates(config, auctionEvent.Trail, auctionEvent.Bids, len(auctionEvent.Trail) > 0)
	e.addRulesOfAuction(doc, auctionEntry, &config)
	doc.addNoteIfBuyersUnknown(&config)
	doc.Why = summarizeAuction(doc)
	return doc
}

// zip3 is the name that a ping uses for a field with only the first three digits of a ZIP code.
const zip3 = "zip3"

// renameToZIP3IfThreeDigits renames the field with the name zipFieldName to zip3 if its value has
// only three digits. The log stores these digits under the name of the full ZIP code.
func (x *Explanation) renameToZIP3IfThreeDigits(zipFieldName string) {
	if value, ok := x.Fields[zipFieldName]; ok && len(value) == len(`"941"`) {
		delete(x.Fields, zipFieldName)
		x.Fields[zip3] = value
	}
}

// addNoteIfBuyersUnknown adds a note to the explanation if it could not name the buyer of a
// candidate, because the configuration of that time is unavailable.
func (x *Explanation) addNoteIfBuyersUnknown(config *campaignConfigOfVersion) {
	if config.known {
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

// listFilterSetCandidates lists the campaign's filter sets with the outcome of each. Pinged filter sets
// come first, in the order of bids, then the others by number.
//
// recordedOutcomes has the outcomes by filter set. A filter set that is missing there was not
// needed for the decision. It is listed only if includeWithoutOutcome is set and config is known.
func (e *Explainer) listFilterSetCandidates(config campaignConfigOfVersion, recordedOutcomes []event.FilterSetsWithOutcome, bids []event.Bid, includeWithoutOutcome bool) []FilterSetCandidate {
	outcomes := make(map[uint32]market.BuyerOutcome)
	seats := 0
	for i := range recordedOutcomes {
		for seat := recordedOutcomes[i].FilterSets.NextFrom(0); seat >= 0; seat = recordedOutcomes[i].FilterSets.NextFrom(seat + 1) {
			outcomes[uint32(seat)] = recordedOutcomes[i].Outcome
			seats = max(seats, seat+1)
		}
	}
	if includeWithoutOutcome && len(recordedOutcomes) > 0 {
		seats = max(seats, len(config.sets))
	}
	list := make([]FilterSetCandidate, 0, max(seats, len(bids)))
	pinged := make(map[uint32]bool, len(bids))
	for i := range bids {
		bid := &bids[i]
		outcome, ok := outcomes[bid.FilterSet]
		if !ok {
			outcome = bid.Outcome
		}
		pinged[bid.FilterSet] = true
		list = append(list, e.newCandidateFromBid(bid, outcome))
	}
	for seat := range uint32(seats) {
		outcome, ok := outcomes[seat]
		if !pinged[seat] && (ok || includeWithoutOutcome) {
			list = append(list, FilterSetCandidate{Buyer: config.filterSetAt(seat).Buyer, Seat: seat, Outcome: outcome.String()})
		}
	}
	for i := range list {
		list[i].Set = config.filterSetAt(list[i].Seat).ID
	}
	return list
}

// newCandidateFromBid returns the candidate for an entry of the auction's list of bids. Some
// entries have no ping behind them, and Pinged is then false. In these cases the buyer had
// demanded a pause with a 429, or its connection limit was reached.
func (e *Explainer) newCandidateFromBid(bid *event.Bid, outcome market.BuyerOutcome) FilterSetCandidate {
	c := FilterSetCandidate{
		Buyer: e.State.NameOf(event.ObjectBuyer, bid.Buyer), Seat: bid.FilterSet, Outcome: outcome.String(), Pinged: true,
		Elapsed: NanosAsMilliseconds(bid.Elapsed), Status: bid.Status, Fault: nameOfFault(bid.Fault), Reason: bid.Reason,
	}
	if outcome == market.OutcomeRateLimited {
		c.rateLimit = pauseDemanded
		if bid.Fault == market.FaultConnectionLimit {
			c.rateLimit = connectionsInUse
		}
	}
	if outcome == market.OutcomeRateLimited && bid.Status == 0 && (bid.Fault == market.FaultNone || bid.Fault == market.FaultConnectionLimit) {
		c.Pinged, c.Elapsed = false, 0
	}
	if bid.Currency != (market.Currency{}) {
		c.Bid, c.Until = newAmount(bid.Amount, bid.Currency), NanosAsRFC3339(bid.ValidUntil)
	}
	if bid.Payout != 0 {
		c.Payout = newAmount(bid.Payout, bid.Currency)
	}
	return c
}
