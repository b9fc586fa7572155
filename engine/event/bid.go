package event

import (
	"github.com/VictoriaMetrics/easyproto"

	"pingpost/engine/market"
)

// Bid is what one buyer that was asked came to. What it offered is kept also
// where the offer does not stand.
type Bid struct {
	Seat       uint32 // position in the lineup
	Buyer      market.Ref
	Outcome    market.Outcome
	Elapsed    int64           // from the auction's beginning to the answer, nanoseconds
	Amount     market.Money    // as the buyer said it
	Payout     market.Money    // what the supplier would get of it; zero where it does not stand
	Currency   market.Currency // zero: no offer
	Token      string          // the buyer's, to be shown in the post
	ValidUntil int64           // Unix nanoseconds; when it is over for us
	Status     uint32          // HTTP status, zero where none came
	Fault      market.Fault
	Reason     string // the buyer's own word
}

func putBids(mm message, field uint32, bids []Bid) {
	for i := range bids {
		bids[i].marshal(mm.AppendMessage(field))
	}
}

func getBid(fc *easyproto.FieldContext, bids *[]Bid) bool {
	var b *Bid
	*bids, b = grow(*bids)
	*b = Bid{}
	return getMessage(fc, b.field)
}

func (b *Bid) marshal(mm message) {
	putUint(mm, 1, uint64(b.Seat))
	putUint(mm, 2, uint64(b.Buyer))
	putUint(mm, 3, uint64(b.Outcome))
	putSint(mm, 4, b.Elapsed)
	putSint(mm, 5, int64(b.Amount))
	putSint(mm, 6, int64(b.Payout))
	putCurrency(mm, 7, b.Currency)
	putString(mm, 8, b.Token)
	putFixed(mm, 9, uint64(b.ValidUntil))
	putUint(mm, 10, uint64(b.Status))
	putUint(mm, 11, uint64(b.Fault))
	putString(mm, 12, b.Reason)
}

func (b *Bid) field(fc *easyproto.FieldContext) bool {
	switch fc.FieldNum {
	case 1:
		return getUint32(fc, &b.Seat)
	case 2:
		return getRef(fc, &b.Buyer)
	case 3:
		return getByte(fc, &b.Outcome)
	case 4:
		return getSint(fc, &b.Elapsed)
	case 5:
		return getMoney(fc, &b.Amount)
	case 6:
		return getMoney(fc, &b.Payout)
	case 7:
		return getCurrency(fc, &b.Currency)
	case 8:
		return getString(fc, &b.Token)
	case 9:
		return getFixed(fc, &b.ValidUntil)
	case 10:
		return getUint32(fc, &b.Status)
	case 11:
		return getByte(fc, &b.Fault)
	case 12:
		return getString(fc, &b.Reason)
	}
	return true
}
