// Package pastauction reads recorded auctions again, because suppliers may accept their bids
// later. It has their names, the part of them that a sale needs, and a cache that saves reading
// the log.
package pastauction

import (
	"slices"

	"pingpost/engine/event"
	"pingpost/engine/market"
)

// RecordedAuction is the part of a recorded auction that a later sale needs: the valid bids and the
// ping's fields. It is immutable and shares the texts of its event.
type RecordedAuction struct {
	ID       market.AuctionID
	Name     [16]byte
	Campaign market.PermanentNumber
	Began    int64 // Unix nanoseconds
	Token    market.ExchangeBidToken
	Fields   []event.LeadField

	bids []event.Bid // the valid ones, best first
}

// New returns the auction of a recorded event. It takes over the event's lists and removes the
// bids that suppliers cannot accept. The caller must not use the event afterwards.
func New(held *event.PingAuctionCompleted) *RecordedAuction {
	return &RecordedAuction{
		ID: held.Auction, Name: held.Name, Campaign: held.Campaign, Began: held.Began, Token: held.Token,
		bids:   slices.DeleteFunc(held.Bids, func(b event.Bid) bool { return !isValidBidWithToken(&b) }),
		Fields: held.Fields,
	}
}

// isValidBidWithToken reports whether a supplier can accept a recorded bid: the bid was valid, and the
// event has its token.
func isValidBidWithToken(b *event.Bid) bool {
	return b.Token != "" && (b.Outcome == market.OutcomeWon || b.Outcome == market.OutcomeLost)
}

// WinningBid returns the bid that won the auction, or nil if the auction has no winner. The token in
// the answer to a seller's ping identifies this bid.
func (a *RecordedAuction) WinningBid() (bidOrNil *event.Bid) {
	for i := range a.bids {
		if a.bids[i].Outcome == market.OutcomeWon {
			return &a.bids[i]
		}
	}
	return nil
}

// ValidBidOfBuyer returns the valid bid of a buyer, or nil. An ingest may accept any valid bid by naming
// its buyer.
func (a *RecordedAuction) ValidBidOfBuyer(buyer market.PermanentNumber) *event.Bid {
	for i := range a.bids {
		if a.bids[i].Buyer == buyer {
			return &a.bids[i]
		}
	}
	return nil
}
