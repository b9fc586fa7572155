package event

import (
	"pingpost/engine/market"
)

// Bid is the result of pinging one buyer. An offer that was judged invalid is recorded too.
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

func (b *Bid) encodeOrDecode(pb *protobufCodec) {
	uint32Field(pb, 1, &b.FilterSet)
	uint32Field(pb, 2, &b.Buyer)
	enumField(pb, 3, &b.Outcome)
	zigzagField(pb, 4, &b.Elapsed)
	zigzagField(pb, 5, &b.Amount)
	zigzagField(pb, 6, &b.Payout)
	fixedBytesField(pb, 7, b.Currency[:], b.Currency != (market.Currency{}))
	stringField(pb, 8, &b.Token)
	fixed64Field(pb, 9, &b.ValidUntil)
	uint32Field(pb, 10, &b.Status)
	enumField(pb, 11, &b.Fault)
	stringField(pb, 12, &b.Reason)
}
