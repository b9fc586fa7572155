package event

import (
	"pingpost/engine/market"
)

// Bid is the result of pinging one buyer. An offer that was judged invalid is recorded too.
type Bid struct {
	FilterSet  uint32 // position in the campaign's filter sets
	Buyer      market.PermanentNumber
	Outcome    market.BuyerOutcome
	Elapsed    int64           // from the start of the auction to the answer, nanoseconds
	Amount     market.Money    // as the buyer sent it
	Payout     market.Money    // for the supplier; zero if the bid is not valid
	Currency   market.Currency // zero: no offer
	Token      string          // the buyer's, which the post repeats
	ValidUntil int64           // Unix nanoseconds; end of the bid for this exchange
	Status     uint32          // HTTP status; zero: no answer
	Fault      market.OutboundRequestFault
	Reason     string // of the buyer
	// PausedUntil is the end of the pause that the buyer demanded with HTTP 429, in Unix
	// nanoseconds. 0: none, or an earlier program wrote the event.
	PausedUntil int64
	Set         string // id of the filter set among those of the buyer; empty: none
}

func (b *Bid) encodeOrDecode(pb *protobufCodec) {
	encodeOrDecodeUint32(pb, 1, &b.FilterSet)
	encodeOrDecodeUint32(pb, 2, &b.Buyer)
	encodeOrDecodeEnum(pb, 3, &b.Outcome)
	encodeOrDecodeZigzag(pb, 4, &b.Elapsed)
	encodeOrDecodeZigzag(pb, 5, &b.Amount)
	encodeOrDecodeZigzag(pb, 6, &b.Payout)
	encodeOrDecodeFixedBytes(pb, 7, b.Currency[:], b.Currency != (market.Currency{}))
	encodeOrDecodeString(pb, 8, &b.Token)
	encodeOrDecodeFixed64(pb, 9, &b.ValidUntil)
	encodeOrDecodeUint32(pb, 10, &b.Status)
	encodeOrDecodeEnum(pb, 11, &b.Fault)
	encodeOrDecodeString(pb, 12, &b.Reason)
	encodeOrDecodeFixed64(pb, 13, &b.PausedUntil)
	encodeOrDecodeString(pb, 14, &b.Set)
}
