package projection

import (
	"pingpost/engine/event"
	"pingpost/engine/market"
)

// Auction is a row of the report's table of auctions: an auction for a ping, or for an
// ingested lead.
type Auction struct {
	ID                 market.AuctionID
	Seq                uint64
	At                 int64
	Lead               market.LeadID // zero: an auction for a ping
	Campaign, Supplier market.Ref
	Source             int64
	State              string
	Reason             market.Reason
	Asked              int
	Test               bool
}

// Bid is a row of the report's table of bids: the result of one buyer in an auction.
type Bid struct {
	Auction market.AuctionID
	Bid     event.Bid
}

func (b *Batch) applyAuctionHeld(fact *event.AuctionHeld) {
	a := Auction{
		ID: fact.Auction, Seq: b.Seq, At: b.At, Campaign: fact.Campaign, Supplier: fact.Supplier,
		Reason: fact.Reason, Asked: len(fact.Bids), Test: fact.Test,
	}
	a.Source, a.State = b.sourceAndState(fact.Fields)
	b.auctionIndex[a.ID] = len(b.Auctions)
	b.Auctions = append(b.Auctions, a)
	c := SumKey{Campaign: a.Campaign, Supplier: a.Supplier, Source: a.Source, State: a.State}
	if !a.Test {
		whole := c
		whole.Reason = Cause(a.Reason)
		b.addToSum(whole, CountAuctions, 1)
	}
	b.addBids(a.ID, c, fact.Bids, a.Test)
}

// addBids adds the results of an auction's buyers that received a ping to the rows. It also
// counts them in the sums with key c, unless it is a test.
func (b *Batch) addBids(id market.AuctionID, c SumKey, bids []event.Bid, test bool) {
	for i := range bids {
		of := bids[i]
		if of.Outcome == market.OutcomePostPending { // in an ingest the post follows
			of.Outcome = market.OutcomeWon
		}
		b.Bids = append(b.Bids, Bid{id, event.Bid{
			FilterSet: of.FilterSet, Buyer: of.Buyer, Outcome: of.Outcome, Elapsed: of.Elapsed, Amount: of.Amount, Payout: of.Payout,
			Currency: of.Currency, Status: of.Status, Fault: of.Fault, // without the buyer's free text
		}})
		if test {
			continue
		}
		c.Buyer, c.Reason = of.Buyer, causeOf(of.Outcome)
		b.addToSum(c, CountPings, 1)
		if of.Currency != (market.Currency{}) {
			b.addToSum(c, CountBids, 1)
		}
		switch of.Outcome {
		case market.OutcomeWon:
			b.addToSum(c, CountWins, 1)
		case market.OutcomeLate, market.OutcomeTimeout:
			b.addToSum(c, CountTimeouts, 1)
		}
		if of.Status != 0 {
			b.recordLatency(c, PingLatency, of.Elapsed)
		}
	}
}

// originOfAuction returns the lead source and the state from an auction's ping. A lead that
// is posted for its bid often does not repeat them.
func (b *Batch) originOfAuction(id market.AuctionID) (source int64, state string, err error) {
	if i, known := b.auctionIndex[id]; known {
		return b.Auctions[i].Source, b.Auctions[i].State, nil
	}
	return b.stored.Origin(b.ctx, id)
}
