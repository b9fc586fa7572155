package projection

import (
	"pingpost/engine/event"
	"pingpost/engine/market"
)

// AuctionRow is a row of the report's table of auctions: an auction for a ping, or for an
// ingested lead.
type AuctionRow struct {
	ID                 market.AuctionID
	Seq                uint64
	At                 int64
	Lead               market.LeadID // zero: an auction for a ping
	Campaign, Supplier market.PermanentNumber
	Source             int64
	State              string
	Reason             market.UnsoldReason
	Asked              int
	Test               bool
}

// BidRow is a row of the report's table of bids: the result of one buyer in an auction.
type BidRow struct {
	Auction market.AuctionID
	Bid     event.Bid
}

func (b *ChangeBatch) applyPingAuctionCompleted(ev *event.PingAuctionCompleted) {
	a := AuctionRow{
		ID: ev.Auction, Seq: b.Seq, At: b.At, Campaign: ev.Campaign, Supplier: ev.Supplier,
		Reason: ev.Reason, Asked: len(ev.Bids), Test: ev.Test,
	}
	a.Source, a.State = b.sourceAndState(ev.Fields)
	b.auctionIndex[a.ID] = len(b.Auctions)
	b.Auctions = append(b.Auctions, a)
	c := SumDimensionValues{Campaign: a.Campaign, Supplier: a.Supplier, Source: a.Source, State: a.State}
	if !a.Test {
		whole := c
		whole.Reason = NonSaleCause(a.Reason)
		b.addToSum(whole, CountAuctions, 1)
	}
	b.addAndCountBids(a.ID, c, ev.Bids, a.Test)
}

// addAndCountBids adds the results of an auction's buyers that received a ping to the rows. It
// also counts them in the sums with this key, unless it is a test.
func (b *ChangeBatch) addAndCountBids(id market.AuctionID, key SumDimensionValues, bids []event.Bid, isTest bool) {
	for i := range bids {
		of := bids[i]
		if of.Outcome == market.OutcomePostPending { // in an ingest the post follows
			of.Outcome = market.OutcomeWon
		}
		b.Bids = append(b.Bids, BidRow{id, event.Bid{
			FilterSet: of.FilterSet, Buyer: of.Buyer, Outcome: of.Outcome, Elapsed: of.Elapsed, Amount: of.Amount, Payout: of.Payout,
			Currency: of.Currency, Status: of.Status, Fault: of.Fault, // without the buyer's free text
		}})
		if isTest {
			continue
		}
		key.Buyer, key.Reason = of.Buyer, causeOfOutcomeOrZero(of.Outcome)
		b.addToSum(key, CountPings, 1)
		if of.Currency != (market.Currency{}) {
			b.addToSum(key, CountBids, 1)
		}
		switch of.Outcome {
		case market.OutcomeWon:
			b.addToSum(key, CountWins, 1)
		case market.OutcomeLate, market.OutcomeTimeout:
			b.addToSum(key, CountTimeouts, 1)
		}
		if of.Status != 0 {
			b.recordLatency(key, PingLatency, of.Elapsed)
		}
	}
}

// sourceAndStateOfAuction returns the lead source and the US state from an auction's ping. A
// lead that is posted for its bid often does not repeat them.
func (b *ChangeBatch) sourceAndStateOfAuction(id market.AuctionID) (sourceNumber int64, usState string, err error) {
	if i, known := b.auctionIndex[id]; known {
		return b.Auctions[i].Source, b.Auctions[i].State, nil
	}
	return b.stored.LoadAuctionSourceAndUSStateOrZero(b.ctx, id)
}
