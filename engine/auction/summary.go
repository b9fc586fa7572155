package auction

import (
	"pingpost/engine/bitset"
	"pingpost/engine/market"
)

// AuctionOutcomeSummary counts the outcomes of an auction for the metrics, as they are at the last answer
// or the deadline, before a sale. It contains no bid tokens.
type AuctionOutcomeSummary struct {
	Reason   market.UnsoldReason      // why there is no valid bid; ReasonNone: there is one
	Outcomes [market.OutcomeCount]int // number of filter sets by outcome
	Pings    []BuyerPingOutcome       // one for each pinged buyer
	Elapsed  int64                    // nanoseconds
	Test     bool                     // of a test lead
}

// BuyerPingOutcome is the outcome of one buyer's ping in an AuctionOutcomeSummary.
type BuyerPingOutcome struct {
	Buyer   *market.Buyer
	Outcome market.BuyerOutcome
	Fault   market.OutboundRequestFault
	Elapsed int64 // nanoseconds from the auction's start
}

// SummarizeAuction returns the summary of the auction at its end, endedAtNanos. The best valid bid
// counts as won, even if the sale fails later. The summary is valid until the next call or
// ResetKeepingMemory.
func (a *Auction) SummarizeAuction(endedAtNanos int64) *AuctionOutcomeSummary {
	s := &a.summary
	*s = AuctionOutcomeSummary{Pings: s.Pings[:0], Test: a.bidders.Test, Elapsed: max(0, endedAtNanos-a.Began)}
	a.Candidates.EachOutcomeInUse(func(outcome market.BuyerOutcome, filterSets bitset.Set) { s.Outcomes[outcome] = filterSets.Count() })
	if len(a.offers) == 0 {
		s.Reason = a.UnsoldReasonOfLatestStage()
	} else {
		s.Outcomes[market.OutcomeWon], s.Outcomes[market.OutcomeLost] = 1, len(a.offers)-1
	}
	for i := range a.offers {
		outcome := market.OutcomeLost
		if i == 0 {
			outcome = market.OutcomeWon
		}
		bid := a.Bid(a.offers[i].FilterSet)
		a.addBuyerPingOutcome(a.offers[i].FilterSet, outcome, bid.Fault, bid.Elapsed)
	}
	for i := range a.invalid {
		bid := &a.invalid[i]
		a.addBuyerPingOutcome(int(bid.FilterSet), a.Candidates.OutcomeOf(int(bid.FilterSet)), bid.Fault, bid.Elapsed)
	}
	return s
}

func (a *Auction) addBuyerPingOutcome(filterSetIndex int, outcome market.BuyerOutcome, fault market.OutboundRequestFault, elapsedNanos int64) {
	a.summary.Pings = append(a.summary.Pings, BuyerPingOutcome{
		Buyer: a.bidders.Campaign.FilterSets[filterSetIndex].Buyer, Outcome: outcome, Fault: fault, Elapsed: elapsedNanos,
	})
}

// SummarizeSupplierPingWithoutAuction returns a summary for a ping that led to no auction, for example
// because no campaign matches. reason says why.
func (a *Auction) SummarizeSupplierPingWithoutAuction(reason market.UnsoldReason, isTest bool) *AuctionOutcomeSummary {
	a.summary = AuctionOutcomeSummary{Reason: reason, Pings: a.summary.Pings[:0], Test: isTest}
	return &a.summary
}
