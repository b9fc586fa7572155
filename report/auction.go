package report

import (
	"pingpost/engine/event"
	"pingpost/engine/market"
)

// auction is a row: one that was held, by itself or in an ingest.
type auction struct {
	id                 market.AuctionID
	seq                uint64
	at                 int64
	lead               market.LeadID // zero: it was held by itself
	campaign, supplier market.Ref
	source             int64
	state              string
	reason             market.Reason
	asked              int
	test               bool
}

// bid is a row: what a buyer that was asked came to.
type bid struct {
	auction market.AuctionID
	of      event.Bid
}

func (b *batch) held(fact *event.AuctionHeld) {
	a := auction{
		id: fact.Auction, seq: b.seq, at: b.at, campaign: fact.Campaign, supplier: fact.Supplier,
		reason: fact.Reason, asked: len(fact.Bids), test: fact.Test,
	}
	a.source, a.state = b.place(fact.Fields)
	b.asked[a.id] = len(b.auctions)
	b.auctions = append(b.auctions, a)
	c := cell{campaign: a.campaign, supplier: a.supplier, source: a.source, state: a.state}
	if !a.test {
		whole := c
		whole.reason = cause(a.reason)
		b.count(whole, countAuctions, 1)
	}
	b.offers(a.id, c, fact.Bids, a.test)
}

// offers are what those who were asked came to.
func (b *batch) offers(id market.AuctionID, c cell, bids []event.Bid, test bool) {
	for i := range bids {
		of := bids[i]
		if of.Outcome == market.OutcomePostPending { // an ingest's: its post follows
			of.Outcome = market.OutcomeWon
		}
		b.bids = append(b.bids, bid{id, event.Bid{
			FilterSet: of.FilterSet, Buyer: of.Buyer, Outcome: of.Outcome, Elapsed: of.Elapsed, Amount: of.Amount, Payout: of.Payout,
			Currency: of.Currency, Status: of.Status, Fault: of.Fault, // and nothing that the buyer wrote freely
		}})
		if test {
			continue
		}
		c.buyer, c.reason = of.Buyer, causeOf(of.Outcome)
		b.count(c, countPings, 1)
		if of.Currency != (market.Currency{}) {
			b.count(c, countBids, 1)
		}
		switch of.Outcome {
		case market.OutcomeWon:
			b.count(c, countWins, 1)
		case market.OutcomeLate, market.OutcomeTimeout:
			b.count(c, countTimeouts, 1)
		}
		if of.Status != 0 {
			b.clocked(c, pacePing, of.Elapsed)
		}
	}
}

// origin is what a ping said that its lead does not say again.
func (b *batch) origin(id market.AuctionID) (source int64, state string, err error) {
	if i, known := b.asked[id]; known {
		return b.auctions[i].source, b.auctions[i].state, nil
	}
	return b.kept.origin(b.ctx, id)
}
