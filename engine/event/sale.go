package event

import (
	"pingpost/engine/market"
)

// Sale is the sale of a lead to a buyer, with everything that the sale takes: capacity of caps,
// money, a turn in the rotation, and the values by which duplicates are recognized. If the lead
// is posted, these are held. The PostSettled event then repeats the sale, to take them for good
// or to release them.
type Sale struct {
	Buyer      market.Ref // zero: no sale
	FilterSet  uint32     // position in the campaign's filter sets, by the catalog's version
	Price      market.Money
	Payout     market.Money
	Currency   market.Currency
	Charges    []CapCharge
	Turn       RotationTurn
	Duplicates []DuplicateValue
	Ping       [16]byte // name of the auction that the sale uses up; zero: none
	Test       bool     // of a test lead, sold or not: it takes no resources
}

// CapCharge charges Amount to a cap, in the window that begins at Window (Unix nanoseconds).
// Amount is a number of leads, or millionths of the currency unit. A return gives it back to the
// same window.
type CapCharge struct {
	Cap    market.Ref
	Window int64
	Amount int64
}

// RotationTurn is the turn that a sale takes in a round-robin or weighted campaign. Set is a hash
// of the filter sets (buyers) that were eligible together, and of their weights. Member is the
// chosen buyer's position among them. Phase is the position in the cycle at which a new Set
// begins. Set zero means no turn.
type RotationTurn struct {
	Set    uint64
	Phase  uint32
	Member uint32
}

// DuplicateValue is a value of a lead, as a hash, by which later leads are recognized as its
// duplicates. Memory keeps it from the acceptance of the lead until Until, in Unix nanoseconds.
type DuplicateValue struct {
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
	uint32Field(pb, 1, &s.Buyer)
	uint32Field(pb, 2, &s.FilterSet)
	zigzagField(pb, 3, &s.Price)
	zigzagField(pb, 4, &s.Payout)
	fixedBytesField(pb, 5, s.Currency[:], s.Currency != (market.Currency{}))
	messageListField(pb, 6, &s.Charges)
	fixed64Field(pb, 7, &s.Turn.Set)
	uint32Field(pb, 8, &s.Turn.Phase)
	uint32Field(pb, 10, &s.Turn.Member)
	messageListField(pb, 9, &s.Duplicates)
	idField(pb, 11, &s.Ping)
	boolField(pb, 12, &s.Test)
}

func (c *CapCharge) encodeOrDecode(pb *protobufCodec) {
	uint32Field(pb, 1, &c.Cap)
	fixed64Field(pb, 2, &c.Window)
	zigzagField(pb, 3, &c.Amount)
}

func (d *DuplicateValue) encodeOrDecode(pb *protobufCodec) {
	idField(pb, 1, &d.Key)
	fixed64Field(pb, 2, &d.Until)
}
