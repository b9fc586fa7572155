package event

import (
	"pingpost/engine/market"
)

// LeadDecided records a lead and the decision on it.
//
//	Sale alone     sold to a buyer without an endpoint
//	Sale and Post  assigned to a buyer, to whom the lead is now posted
//	Reason         unsold
type LeadDecided struct {
	Lead     market.LeadID
	Request  market.RequestID // of the call with the lead; a replay repeats it
	Campaign market.PermanentNumber
	Supplier market.PermanentNumber
	Catalog  uint32 // version of the configuration that numbers the filter sets
	Decided  int64  // Unix nanoseconds; caps are charged in the windows of this instant

	Idempotency RequestIdempotencyKey
	Reason      market.UnsoldReason
	Trail       []FilterSetsWithOutcome
	Sale        Sale
	Post        PostIntent
	Keep        int64 // end of the lead's retention in memory, at the earliest when its delivery has ended; Unix nanoseconds

	Fields []LeadField // without personal and unknown fields, which are in Sealed
	Sealed []byte      // encrypted LeadPersonalData, under the key of Slot

	DuplicateOf market.LeadID         // of a duplicate: the accepted lead with the same value
	Auction     AuctionOfIngestedLead // of the sale or failed sale; zero: no auction

	SellerAuction string             // the seller's own id of the auction that its post names; empty: none
	Webhook       market.WebhookType // that this decision causes, or WebhookNone
	Slot          uint64             // of the key that seals the lead; zero: plaintext (before encryption)
}

// RequestIdempotencyKey is a request's idempotency key, by which a repeat finds the first answer.
// A zero Key means that the request has none.
type RequestIdempotencyKey struct {
	Key         [16]byte // hash of owner, endpoint and key
	Fingerprint uint64   // hash of the body
	ExpiresAt   int64    // Unix nanoseconds
}

// LeadField is one field of a lead, as the log stores it.
type LeadField struct {
	Name string
	Kind market.FieldValueKind
	Text []byte
}

func (*LeadDecided) Kind() Kind { return KindLeadDecided }
func (l *LeadDecided) reset()   { l.ResetKeepingCapacity() }

// ResetKeepingCapacity empties the event, and keeps the memory of its lists for the next one.
func (l *LeadDecided) ResetKeepingCapacity() {
	charges, dups, bids := l.Sale.Charges[:0], l.Sale.Duplicates[:0], l.Auction.Bids[:0]
	trail, fields, sealed := l.Trail[:0], l.Fields[:0], l.Sealed[:0]
	*l = LeadDecided{} // assigned in place: a literal with fields is built elsewhere and copied
	l.Sale.Charges, l.Sale.Duplicates, l.Auction.Bids = charges, dups, bids
	l.Trail, l.Fields, l.Sealed = trail, fields, sealed
}

func (l *LeadDecided) encodeOrDecode(pb *protobufCodec) {
	encodeOrDecodeID16(pb, 1, &l.Lead)
	encodeOrDecodeID16(pb, 2, &l.Request)
	encodeOrDecodeUint32(pb, 3, &l.Campaign)
	encodeOrDecodeUint32(pb, 4, &l.Supplier)
	encodeOrDecodeUint32(pb, 5, &l.Catalog)
	encodeOrDecodeFixed64(pb, 6, &l.Decided)
	encodeOrDecodeID16(pb, 7, &l.Idempotency.Key)
	encodeOrDecodeFixed64(pb, 8, &l.Idempotency.Fingerprint)
	encodeOrDecodeFixed64(pb, 9, &l.Idempotency.ExpiresAt)
	encodeOrDecodeEnum(pb, 10, &l.Reason)
	pb.skipFieldRangeIfReplay(11, 11)
	encodeOrDecodeTrail(pb, 11, &l.Trail)
	encodeOrDecodeMessage(pb, 12, &l.Sale, l.Sale.Buyer != 0 || l.Sale.Test)
	encodeOrDecodeMessage(pb, 13, &l.Post, l.Post.URL != "")
	encodeOrDecodeFixed64(pb, 14, &l.Keep)
	pb.skipFieldRangeIfReplay(15, 15)
	encodeOrDecodeMessageList(pb, 15, &l.Fields)
	encodeOrDecodeBytes(pb, 16, &l.Sealed)
	encodeOrDecodeID16(pb, 17, &l.DuplicateOf)
	pb.skipFieldRangeIfReplay(18, 19)
	encodeOrDecodeMessage(pb, 18, &l.Auction, !l.Auction.ID.IsZero())
	encodeOrDecodeString(pb, 19, &l.SellerAuction)
	encodeOrDecodeEnum(pb, 20, &l.Webhook)
	encodeOrDecodeUint64(pb, 21, &l.Slot)
}

func (f *LeadField) encodeOrDecode(pb *protobufCodec) {
	encodeOrDecodeString(pb, 1, &f.Name)
	encodeOrDecodeEnum(pb, 2, &f.Kind)
	encodeOrDecodeBytes(pb, 3, &f.Text)
}
