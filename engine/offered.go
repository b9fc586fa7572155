package engine

import (
	"fmt"
	"slices"

	"pingpost/engine/event"
	"pingpost/engine/market"
	"pingpost/engine/state"
)

// pastAuction is the part of a recorded auction that a sale needs: the valid bids and the
// ping's fields. It is immutable and shares the texts of its event.
type pastAuction struct {
	id       market.AuctionID
	name     [16]byte
	campaign market.Ref
	token    market.BidToken
	bids     []event.Bid // the valid ones, best first
	fields   []event.Field
}

// newPastAuction takes over the event's lists and removes its invalid bids.
func newPastAuction(held *event.AuctionHeld) *pastAuction {
	return &pastAuction{
		id: held.Auction, name: held.Name, campaign: held.Campaign, token: held.Token,
		bids:   slices.DeleteFunc(held.Bids, func(b event.Bid) bool { return !isAcceptable(&b) }),
		fields: held.Fields,
	}
}

// isAcceptable reports whether a supplier can accept a recorded bid.
func isAcceptable(b *event.Bid) bool {
	return b.Token != "" && (b.Outcome == market.OutcomeWon || b.Outcome == market.OutcomeLost)
}

// winner returns the bid that won. A seller's token stands for this bid.
func (a *pastAuction) winner() *event.Bid {
	for i := range a.bids {
		if a.bids[i].Outcome == market.OutcomeWon {
			return &a.bids[i]
		}
	}
	return nil
}

// bidOf returns a buyer's valid bid, or nil.
func (a *pastAuction) bidOf(buyer market.Ref) *event.Bid {
	for i := range a.bids {
		if a.bids[i].Buyer == buyer {
			return &a.bids[i]
		}
	}
	return nil
}

// readAuction returns a recorded auction, from the cache or the log. Errors and the time
// limit are those of readEntry.
func (e *Engine) readAuction(row *state.AuctionRow, until int64) (*pastAuction, error) {
	data := e.recent.find(row.Name)
	cached := data != nil
	if !cached {
		var err error
		if data, err = e.log.readEncoded(row.Seq, until); err != nil {
			return nil, err
		}
	}
	record, err := e.log.decode(row.Seq, data)
	if err != nil {
		return nil, err
	}
	held, ok := record.(*event.AuctionHeld)
	if !ok || held.Name != row.Name {
		panic(fmt.Sprintf("BUG: log record %d is not the auction that the state has there", row.Seq))
	}
	if !cached {
		e.cacheAuction(held, data)
	}
	return newPastAuction(held), nil
}
