package engine

import (
	"fmt"
	"slices"

	"pingpost/engine/event"
	"pingpost/engine/market"
	"pingpost/engine/state"
)

// offered is an auction as a sale needs it: the bids that stand and what the
// ping said. Immutable; its texts are those of the fact that it was read from.
type offered struct {
	id       market.AuctionID
	name     [16]byte
	campaign market.Ref
	token    market.BidToken
	bids     []event.Bid // that stand, best first
	fields   []event.Field
}

// offeredBy takes from a fact what a sale needs of it. The fact's bids are moved
// up.
func offeredBy(fact *event.AuctionHeld) *offered {
	return &offered{
		id: fact.Auction, name: fact.Name, campaign: fact.Campaign, token: fact.Token,
		bids:   slices.DeleteFunc(fact.Bids, func(b event.Bid) bool { return !stands(&b) }),
		fields: fact.Fields,
	}
}

// stands tells whether a bid of a fact can be taken up.
func stands(b *event.Bid) bool {
	return b.Token != "" && (b.Outcome == market.OutcomeWon || b.Outcome == market.OutcomeLost)
}

// winner is the bid that won, which is the one that a seller's token stands for.
func (a *offered) winner() *event.Bid {
	for i := range a.bids {
		if a.bids[i].Outcome == market.OutcomeWon {
			return &a.bids[i]
		}
	}
	return nil
}

// of is a buyer's bid, or nil where none of its stands.
func (a *offered) of(buyer market.Ref) *event.Bid {
	for i := range a.bids {
		if a.bids[i].Buyer == buyer {
			return &a.bids[i]
		}
	}
	return nil
}

// recall is an auction that facts have given a name. The wait and the error are
// readEntry's.
func (e *Engine) recall(row *state.AuctionRow, until int64) (*offered, error) {
	data := e.recent.find(row.Name)
	kept := data != nil
	if !kept {
		var err error
		if data, err = e.log.readEncoded(row.Seq, until); err != nil {
			return nil, err
		}
	}
	fact, err := e.log.decode(row.Seq, data)
	if err != nil {
		return nil, err
	}
	held, ok := fact.(*event.AuctionHeld)
	if !ok || held.Name != row.Name {
		panic(fmt.Sprintf("BUG: fact %d is not the auction that memory has there", row.Seq))
	}
	if !kept {
		e.remember(held, data)
	}
	return offeredBy(held), nil
}
