package event

import (
	"github.com/VictoriaMetrics/easyproto"

	"pingpost/engine/market"
)

// AuctionHeld is an auction that stands by itself, and its end: who was not
// asked, who was, and what each answered. It holds nothing of anybody: only a
// sale that names it does (Sale.Ping).
//
// A seat of the lineup has exactly one outcome, in Trail; one that was asked has
// the same in its bid.
type AuctionHeld struct {
	Auction  market.AuctionID
	Request  market.RequestID // of the call that was answered with it; a replay repeats it
	Campaign market.Ref       // zero: none was found
	Supplier market.Ref
	Catalog  uint32 // version whose lineup the seats are of
	Began    int64  // the call's arrival, Unix nanoseconds
	Deadline int64  // bids had to be here by then
	Hops     uint32 // exchanges that the ping had been through before this one

	Name   [16]byte        // by which sales, and later pings, find it; zero: by nothing
	Theirs string          // the seller's own identifier; empty: it gave none
	Token  market.BidToken // of our bid to the seller; zero: there is none
	Until  int64           // end of the winner's window
	Keep   int64           // memory forgets the name then

	Idempotency Idempotency
	Reason      market.Reason // why there is no bid that stands; none where one does
	Trail       []Step
	Bids        []Bid   // of all that were asked: those that stand, best first, then the rest by seat
	Fields      []Field // what the ping said of the lead

	Test   bool          // over a test lead: no other can be sold at its bids
	Passed market.Passed // with a bid of ours: what the lead has met at the winner's seat
}

// Auction is an auction that was part of another decision, and is recorded with
// it.
type Auction struct {
	ID       market.AuctionID
	Began    int64 // Unix nanoseconds
	Deadline int64
	Bids     []Bid
}

func (*AuctionHeld) Kind() Kind { return KindAuctionHeld }
func (a *AuctionHeld) reset()   { a.Reset() }

// Reset empties a and keeps its capacity.
func (a *AuctionHeld) Reset() {
	*a = AuctionHeld{Trail: a.Trail[:0], Bids: a.Bids[:0], Fields: a.Fields[:0]}
}

func (a *AuctionHeld) marshal(mm message) {
	putID(mm, 1, a.Auction)
	putID(mm, 2, a.Request)
	putUint(mm, 3, uint64(a.Campaign))
	putUint(mm, 4, uint64(a.Supplier))
	putUint(mm, 5, uint64(a.Catalog))
	putFixed(mm, 6, uint64(a.Began))
	putFixed(mm, 7, uint64(a.Deadline))
	putUint(mm, 8, uint64(a.Hops))
	putID(mm, 9, a.Name)
	putString(mm, 10, a.Theirs)
	putID(mm, 11, a.Token)
	putFixed(mm, 12, uint64(a.Until))
	putFixed(mm, 13, uint64(a.Keep))
	putID(mm, 14, a.Idempotency.Key)
	putFixed(mm, 15, a.Idempotency.Print)
	putFixed(mm, 16, uint64(a.Idempotency.Until))
	putUint(mm, 17, uint64(a.Reason))
	putTrail(mm, 18, a.Trail)
	putBids(mm, 19, a.Bids)
	for i := range a.Fields {
		a.Fields[i].marshal(mm.AppendMessage(20))
	}
	putBool(mm, 21, a.Test)
	putUint(mm, 22, uint64(a.Passed))
}

// fieldToApply is field without what is only ever read from the log.
func (a *AuctionHeld) fieldToApply(fc *easyproto.FieldContext) bool {
	switch fc.FieldNum {
	case 10, 18, 19, 20, 21, 22:
		return true
	}
	return a.field(fc)
}

func (a *AuctionHeld) field(fc *easyproto.FieldContext) bool {
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
		return getString(fc, &a.Theirs)
	case 11:
		return getID(fc, (*[16]byte)(&a.Token))
	case 12:
		return getFixed(fc, &a.Until)
	case 13:
		return getFixed(fc, &a.Keep)
	}
	return a.decision(fc)
}

// decision reads the fields from the idempotency key on.
func (a *AuctionHeld) decision(fc *easyproto.FieldContext) bool {
	switch fc.FieldNum {
	case 14:
		return getID(fc, &a.Idempotency.Key)
	case 15:
		fingerprint, ok := fc.Fixed64()
		a.Idempotency.Print = fingerprint
		return ok
	case 16:
		return getFixed(fc, &a.Idempotency.Until)
	case 17:
		return getByte(fc, &a.Reason)
	case 18:
		return getStep(fc, &a.Trail)
	case 19:
		return getBid(fc, &a.Bids)
	case 20:
		return getField(fc, &a.Fields)
	case 21:
		return getBool(fc, &a.Test)
	case 22:
		return getByte(fc, &a.Passed)
	}
	return true
}

func (a *Auction) marshal(mm message) {
	putID(mm, 1, a.ID)
	putFixed(mm, 2, uint64(a.Began))
	putFixed(mm, 3, uint64(a.Deadline))
	putBids(mm, 4, a.Bids)
}

func (a *Auction) field(fc *easyproto.FieldContext) bool {
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
