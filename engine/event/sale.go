package event

import (
	"pingpost/engine/market"
)

// Sale is the sale of a lead to a buyer, with everything that the sale takes: capacity of caps,
// money, a turn in the rotation, and the values by which duplicates are recognized.
//
// If the lead is posted, its event takes the capacity and the turn, and only holds the money. The
// PostSettled events then repeat the sale. One of a success takes the money; one of a refusal or
// release gives capacity and money back. A turn is not given back.
type Sale struct {
	Buyer      market.PermanentNumber // zero: no sale
	FilterSet  uint32                 // position in the campaign's filter sets, by the catalog's version
	Price      market.Money
	Payout     market.Money
	Currency   market.Currency
	Charges    []CapCharge
	Turn       RotationTurn
	Duplicates []DuplicateCheckValue
	Ping       [16]byte // name of the auction that the sale uses up; zero: none
	Test       bool     // of a test lead, sold or not: it takes no resources
}

// CapCharge charges Amount to a cap, in the window that begins at Window (Unix nanoseconds). Amount is
// a number of leads, or millionths of the currency unit. A refusal or a release of the lead gives it
// back to the same window, and so does a return if the campaign has cap_back.
type CapCharge struct {
	Cap    market.PermanentNumber
	Window int64
	Amount int64
}

// RotationTurn is the turn that a sale takes in a round-robin or weighted campaign. Set is a hash
// of the buyers (by their filter sets) that were eligible together, and of their weights. Each Set
// has its own rotation. Member is the chosen buyer's position among them. Phase is the point in the
// cycle of turns at which the Set's rotation started; it differs between Sets, so that not every
// rotation starts with the first buyer. Set zero means no turn.
type RotationTurn struct {
	Set    uint64
	Phase  uint32
	Member uint32
}

// DuplicateCheckValue is a value of a lead, as a hash, by which later leads are recognized as its
// duplicates. Memory keeps it from the acceptance of the lead until Until, in Unix nanoseconds.
type DuplicateCheckValue struct {
	Key   market.DuplicateKey
	Until int64
}

// ResetKeepingCapacity empties the sale, and keeps the memory of its lists for the next one.
func (s *Sale) ResetKeepingCapacity() {
	*s = Sale{Charges: s.Charges[:0], Duplicates: s.Duplicates[:0]}
}

// CopyFrom makes s a copy of other that shares no lists with it. It reuses the memory of s.
func (s *Sale) CopyFrom(other *Sale) {
	charges, dups := s.Charges[:0], s.Duplicates[:0]
	*s = *other
	s.Charges = append(charges, other.Charges...)
	s.Duplicates = append(dups, other.Duplicates...)
}

func (s *Sale) encodeOrDecode(pb *protobufCodec) {
	encodeOrDecodeUint32(pb, 1, &s.Buyer)
	encodeOrDecodeUint32(pb, 2, &s.FilterSet)
	encodeOrDecodeZigzag(pb, 3, &s.Price)
	encodeOrDecodeZigzag(pb, 4, &s.Payout)
	encodeOrDecodeFixedBytes(pb, 5, s.Currency[:], s.Currency != (market.Currency{}))
	encodeOrDecodeMessageList(pb, 6, &s.Charges)
	encodeOrDecodeFixed64(pb, 7, &s.Turn.Set)
	encodeOrDecodeUint32(pb, 8, &s.Turn.Phase)
	encodeOrDecodeUint32(pb, 10, &s.Turn.Member)
	encodeOrDecodeMessageList(pb, 9, &s.Duplicates)
	encodeOrDecodeID16(pb, 11, &s.Ping)
	encodeOrDecodeBool(pb, 12, &s.Test)
}

func (c *CapCharge) encodeOrDecode(pb *protobufCodec) {
	encodeOrDecodeUint32(pb, 1, &c.Cap)
	encodeOrDecodeFixed64(pb, 2, &c.Window)
	encodeOrDecodeZigzag(pb, 3, &c.Amount)
}

func (d *DuplicateCheckValue) encodeOrDecode(pb *protobufCodec) {
	encodeOrDecodeID16(pb, 1, &d.Key)
	encodeOrDecodeFixed64(pb, 2, &d.Until)
}
