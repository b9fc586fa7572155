package event

import (
	"pingpost/engine/market"
)

// AuctionHeld records an auction that was held for a ping, without a sale. It names the buyers
// that were excluded, the buyers that were pinged, and each one's answer. The auction reserves no
// caps and no funds; a later sale that names the auction does (Sale.Ping).
//
// Each filter set (buyer) of the campaign has exactly one outcome, in Trail. If its buyer was
// pinged, its element of Bids has the same outcome.
type AuctionHeld struct {
	Auction  market.AuctionID
	Request  market.RequestID // of the call that received the answer; a replay repeats it
	Campaign market.Ref       // zero: no campaign was found
	Supplier market.Ref
	Catalog  uint32 // version of the configuration that numbers the filter sets
	Began    int64  // arrival of the call, Unix nanoseconds
	Deadline int64  // for bids
	Hops     uint32 // number of exchanges before this one

	Name          [16]byte        // key for sales and later pings; zero: no lookup
	SellerAuction string          // the seller's own identifier; empty: none
	Token         market.BidToken // of our bid to the seller; zero: no bid
	Until         int64           // end of the winner's window
	Keep          int64           // end of the name's retention in memory

	Idempotency IdempotencyUse
	Reason      market.Reason // why no bid is valid; none if one is
	Trail       []OutcomeFilterSets
	Bids        []Bid   // of all pinged buyers: the valid ones, best first, then the rest by filter set
	Fields      []Field // the ping's fields of the lead

	Test          bool                 // over a test lead: only a test lead can be sold at its bids
	FiltersPassed market.FiltersPassed // with a bid of ours: the conditions that the lead met in the winner's filter set
}

// EmbeddedAuction is an auction that was held while a lead was decided. It is recorded in the
// LeadDecided event.
type EmbeddedAuction struct {
	ID       market.AuctionID
	Began    int64 // Unix nanoseconds
	Deadline int64
	Bids     []Bid
}

func (*AuctionHeld) Kind() Kind { return KindAuctionHeld }
func (a *AuctionHeld) reset()   { a.ResetKeepingCapacity() }

// ResetKeepingCapacity empties the event, and keeps the memory of its lists for the next one.
func (a *AuctionHeld) ResetKeepingCapacity() {
	*a = AuctionHeld{Trail: a.Trail[:0], Bids: a.Bids[:0], Fields: a.Fields[:0]}
}

func (a *AuctionHeld) encodeOrDecode(pb *protobufCodec) {
	idField(pb, 1, &a.Auction)
	idField(pb, 2, &a.Request)
	uint32Field(pb, 3, &a.Campaign)
	uint32Field(pb, 4, &a.Supplier)
	uint32Field(pb, 5, &a.Catalog)
	fixed64Field(pb, 6, &a.Began)
	fixed64Field(pb, 7, &a.Deadline)
	uint32Field(pb, 8, &a.Hops)
	idField(pb, 9, &a.Name)
	pb.skipFieldsHereIfReplay(10, 10)
	stringField(pb, 10, &a.SellerAuction)
	idField(pb, 11, &a.Token)
	fixed64Field(pb, 12, &a.Until)
	fixed64Field(pb, 13, &a.Keep)
	idField(pb, 14, &a.Idempotency.Key)
	fixed64Field(pb, 15, &a.Idempotency.Fingerprint)
	fixed64Field(pb, 16, &a.Idempotency.ExpiresAt)
	enumField(pb, 17, &a.Reason)
	pb.skipFieldsHereIfReplay(18, 22)
	trailField(pb, 18, &a.Trail)
	messageListField(pb, 19, &a.Bids)
	messageListField(pb, 20, &a.Fields)
	boolField(pb, 21, &a.Test)
	enumField(pb, 22, &a.FiltersPassed)
}

func (a *EmbeddedAuction) encodeOrDecode(pb *protobufCodec) {
	idField(pb, 1, &a.ID)
	fixed64Field(pb, 2, &a.Began)
	fixed64Field(pb, 3, &a.Deadline)
	messageListField(pb, 4, &a.Bids)
}
