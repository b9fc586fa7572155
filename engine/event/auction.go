package event

import (
	"pingpost/engine/market"
)

// PingAuctionCompleted records the result of a supplier's ping, without a sale: its auction, or the
// reason why no auction was held. Without an auction, Trail and Bids are empty. It names the buyers
// that were excluded, the buyers that were pinged, and each one's answer. The auction reserves no caps
// and no funds; a later sale that names the auction does (Sale.Ping).
//
// After an auction, each filter set (buyer) of the campaign has exactly one outcome, in Trail. If its buyer was
// pinged, its element of Bids has the same outcome.
type PingAuctionCompleted struct {
	Auction  market.AuctionID
	Request  market.RequestID       // of the call that received the answer; a replay repeats it
	Campaign market.PermanentNumber // zero: no campaign was found
	Supplier market.PermanentNumber
	Catalog  uint32 // version of the configuration that numbers the filter sets
	Began    int64  // arrival of the call, Unix nanoseconds
	Deadline int64  // for bids
	Hops     uint32 // number of exchanges before this one

	Name          [16]byte                // key for sales and later pings; zero: no lookup
	SellerAuction string                  // the seller's own identifier; empty: none
	Token         market.ExchangeBidToken // of our bid to the seller; zero: no bid
	Until         int64                   // end of the winner's window
	Keep          int64                   // end of the name's retention in memory

	Idempotency RequestIdempotencyKey
	Reason      market.UnsoldReason // why no bid is valid; none if one is
	Trail       []FilterSetsWithOutcome
	Bids        []Bid       // of all pinged buyers: the valid ones, best first, then the rest by filter set
	Fields      []LeadField // the ping's fields of the lead

	Test          bool                       // over a test lead: only a test lead can be sold at its bids
	FiltersPassed market.ConditionsMetByLead // with a bid of ours: the conditions that the lead met in the winner's filter set
}

// AuctionOfIngestedLead is an auction that was held while a lead was decided. It is recorded in the
// LeadDecided event.
type AuctionOfIngestedLead struct {
	ID       market.AuctionID
	Began    int64 // Unix nanoseconds
	Deadline int64
	Bids     []Bid
}

func (*PingAuctionCompleted) Kind() Kind { return KindPingAuctionCompleted }
func (a *PingAuctionCompleted) reset()   { a.ResetKeepingCapacity() }

// ResetKeepingCapacity empties the event, and keeps the memory of its lists for the next one.
func (a *PingAuctionCompleted) ResetKeepingCapacity() {
	*a = PingAuctionCompleted{Trail: a.Trail[:0], Bids: a.Bids[:0], Fields: a.Fields[:0]}
}

func (a *PingAuctionCompleted) encodeOrDecode(pb *protobufCodec) {
	encodeOrDecodeID16(pb, 1, &a.Auction)
	encodeOrDecodeID16(pb, 2, &a.Request)
	encodeOrDecodeUint32(pb, 3, &a.Campaign)
	encodeOrDecodeUint32(pb, 4, &a.Supplier)
	encodeOrDecodeUint32(pb, 5, &a.Catalog)
	encodeOrDecodeFixed64(pb, 6, &a.Began)
	encodeOrDecodeFixed64(pb, 7, &a.Deadline)
	encodeOrDecodeUint32(pb, 8, &a.Hops)
	encodeOrDecodeID16(pb, 9, &a.Name)
	pb.skipFieldRangeIfReplay(10, 10)
	encodeOrDecodeString(pb, 10, &a.SellerAuction)
	encodeOrDecodeID16(pb, 11, &a.Token)
	encodeOrDecodeFixed64(pb, 12, &a.Until)
	encodeOrDecodeFixed64(pb, 13, &a.Keep)
	encodeOrDecodeID16(pb, 14, &a.Idempotency.Key)
	encodeOrDecodeFixed64(pb, 15, &a.Idempotency.Fingerprint)
	encodeOrDecodeFixed64(pb, 16, &a.Idempotency.ExpiresAt)
	encodeOrDecodeEnum(pb, 17, &a.Reason)
	pb.skipFieldRangeIfReplay(18, 22)
	encodeOrDecodeTrail(pb, 18, &a.Trail)
	encodeOrDecodeMessageList(pb, 19, &a.Bids)
	encodeOrDecodeMessageList(pb, 20, &a.Fields)
	encodeOrDecodeBool(pb, 21, &a.Test)
	encodeOrDecodeEnum(pb, 22, &a.FiltersPassed)
}

func (a *AuctionOfIngestedLead) encodeOrDecode(pb *protobufCodec) {
	encodeOrDecodeID16(pb, 1, &a.ID)
	encodeOrDecodeFixed64(pb, 2, &a.Began)
	encodeOrDecodeFixed64(pb, 3, &a.Deadline)
	encodeOrDecodeMessageList(pb, 4, &a.Bids)
}
