package event

import (
	"github.com/VictoriaMetrics/easyproto"

	"pingpost/engine/market"
)

// Bid is the result of pinging one buyer. It keeps the offer even if the offer is invalid.
type Bid struct {
	FilterSet  uint32 // position in the campaign's filter sets
	Buyer      market.Ref
	Outcome    market.Outcome
	Elapsed    int64           // from the start of the auction to the answer, nanoseconds
	Amount     market.Money    // as the buyer sent it
	Payout     market.Money    // for the supplier; zero if the bid is not valid
	Currency   market.Currency // zero: no offer
	Token      string          // the buyer's, which the post repeats
	ValidUntil int64           // Unix nanoseconds; end of the bid for this exchange
	Status     uint32          // HTTP status; zero: no answer
	Fault      market.Fault
	Reason     string // of the buyer
}

func putBids(mm openMessage, field uint32, bids []Bid) {
	for i := range bids {
		bids[i].marshal(mm.AppendMessage(field))
	}
}

func getBid(fc *easyproto.FieldContext, bids *[]Bid) bool {
	var b *Bid
	*bids, b = appendZero(*bids)
	*b = Bid{}
	return getMessage(fc, b.decodeField)
}

func (b *Bid) marshal(mm openMessage) {
	putUint(mm, 1, uint64(b.FilterSet))
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

func (b *Bid) decodeField(fc *easyproto.FieldContext) bool {
	switch fc.FieldNum {
	case 1:
		return getUint32(fc, &b.FilterSet)
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
