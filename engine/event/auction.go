package event

import (
	"github.com/VictoriaMetrics/easyproto"

	"pingpost/engine/market"
)

// AuctionHeld records a separate auction with its end: the buyers that were excluded, the
// buyers that were pinged, and each one's answer. It reserves nothing; a sale that names
// the auction does (Sale.Ping).
//
// Each filter set of the campaign has exactly one outcome, in Trail. If its buyer was
// pinged, the bid has the same outcome.
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

// EmbeddedAuction is an auction within another decision, and is recorded with it.
type EmbeddedAuction struct {
	ID       market.AuctionID
	Began    int64 // Unix nanoseconds
	Deadline int64
	Bids     []Bid
}

func (*AuctionHeld) Kind() Kind { return KindAuctionHeld }
func (a *AuctionHeld) reset()   { a.ResetKeepingCapacity() }

// ResetKeepingCapacity empties a and keeps its capacity.
func (a *AuctionHeld) ResetKeepingCapacity() {
	*a = AuctionHeld{Trail: a.Trail[:0], Bids: a.Bids[:0], Fields: a.Fields[:0]}
}

func (a *AuctionHeld) marshal(mm openMessage) {
	putID(mm, 1, a.Auction)
	putID(mm, 2, a.Request)
	putUint(mm, 3, uint64(a.Campaign))
	putUint(mm, 4, uint64(a.Supplier))
	putUint(mm, 5, uint64(a.Catalog))
	putFixed(mm, 6, uint64(a.Began))
	putFixed(mm, 7, uint64(a.Deadline))
	putUint(mm, 8, uint64(a.Hops))
	putID(mm, 9, a.Name)
	putString(mm, 10, a.SellerAuction)
	putID(mm, 11, a.Token)
	putFixed(mm, 12, uint64(a.Until))
	putFixed(mm, 13, uint64(a.Keep))
	putID(mm, 14, a.Idempotency.Key)
	putFixed(mm, 15, a.Idempotency.Fingerprint)
	putFixed(mm, 16, uint64(a.Idempotency.ExpiresAt))
	putUint(mm, 17, uint64(a.Reason))
	putTrail(mm, 18, a.Trail)
	putBids(mm, 19, a.Bids)
	for i := range a.Fields {
		a.Fields[i].marshal(mm.AppendMessage(20))
	}
	putBool(mm, 21, a.Test)
	putUint(mm, 22, uint64(a.FiltersPassed))
}

// decodeFieldForReplay reads a field, and skips those that Apply does not use.
func (a *AuctionHeld) decodeFieldForReplay(fc *easyproto.FieldContext) bool {
	switch fc.FieldNum {
	case 10, 18, 19, 20, 21, 22:
		return true
	}
	return a.decodeField(fc)
}

func (a *AuctionHeld) decodeField(fc *easyproto.FieldContext) bool {
	switch fc.FieldNum {
	case 1:
		return getID(fc, (*[16]byte)(&a.Auction))
	case 2:
		return getID(fc, (*[16]byte)(&a.Request))
	case 3:
		return getRef(fc, &a.Campaign)
	case 4:
		return getRef(fc, &a.Supplier)
	case 5:
		return getUint32(fc, &a.Catalog)
	case 6:
		return getFixed(fc, &a.Began)
	case 7:
		return getFixed(fc, &a.Deadline)
	case 8:
		return getUint32(fc, &a.Hops)
	case 9:
		return getID(fc, &a.Name)
	case 10:
		return getString(fc, &a.SellerAuction)
	case 11:
		return getID(fc, (*[16]byte)(&a.Token))
	case 12:
		return getFixed(fc, &a.Until)
	case 13:
		return getFixed(fc, &a.Keep)
	}
	return a.decodeDecisionField(fc)
}

// decodeDecisionField reads the fields from the idempotency key on.
func (a *AuctionHeld) decodeDecisionField(fc *easyproto.FieldContext) bool {
	switch fc.FieldNum {
	case 14:
		return getID(fc, &a.Idempotency.Key)
	case 15:
		fingerprint, ok := fc.Fixed64()
		a.Idempotency.Fingerprint = fingerprint
		return ok
	case 16:
		return getFixed(fc, &a.Idempotency.ExpiresAt)
	case 17:
		return getByte(fc, &a.Reason)
	case 18:
		return getTrailStep(fc, &a.Trail)
	case 19:
		return getBid(fc, &a.Bids)
	case 20:
		return getField(fc, &a.Fields)
	case 21:
		return getBool(fc, &a.Test)
	case 22:
		return getByte(fc, &a.FiltersPassed)
	}
	return true
}

func (a *EmbeddedAuction) marshal(mm openMessage) {
	putID(mm, 1, a.ID)
	putFixed(mm, 2, uint64(a.Began))
	putFixed(mm, 3, uint64(a.Deadline))
	putBids(mm, 4, a.Bids)
}

func (a *EmbeddedAuction) decodeField(fc *easyproto.FieldContext) bool {
	switch fc.FieldNum {
	case 1:
		return getID(fc, (*[16]byte)(&a.ID))
	case 2:
		return getFixed(fc, &a.Began)
	case 3:
		return getFixed(fc, &a.Deadline)
	case 4:
		return getBid(fc, &a.Bids)
	}
	return true
}
