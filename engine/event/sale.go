package event

import (
	"github.com/VictoriaMetrics/easyproto"

	"pingpost/engine/market"
)

// Sale is the buyer of a lead with all resources that the sale takes: capacity of caps,
// money, a turn, and the values that identify a duplicate. A posted sale reserves them. Its
// PostSettled event repeats the sale, to use them finally or to release them.
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

// CapCharge takes Amount (leads, or millionths) of a cap in the window that began at Window,
// in Unix nanoseconds. A return gives it back to the same window.
type CapCharge struct {
	Cap    market.Ref
	Window int64
	Amount int64
}

// RotationTurn is one turn of a round-robin rotation among the filter sets that were eligible
// together. Set identifies those filter sets and their weights. Member is the buyer's
// position among them. Phase is the position in the cycle at which a new set starts. A
// zero Set means no turn.
type RotationTurn struct {
	Set    uint64
	Phase  uint32
	Member uint32
}

// DuplicateValue is a value by which later leads are recognized as duplicates of this one.
// Memory keeps it from the acceptance of the lead until Until, in Unix nanoseconds.
type DuplicateValue struct {
	Key   market.DuplicateKey
	Until int64
}

// ResetKeepingCapacity empties s and keeps its capacity.
func (s *Sale) ResetKeepingCapacity() {
	*s = Sale{Charges: s.Charges[:0], Duplicates: s.Duplicates[:0]}
}

// CopyFrom makes s equal to other without sharing memory with it.
func (s *Sale) CopyFrom(other *Sale) {
	charges, dups := s.Charges[:0], s.Duplicates[:0]
	*s = *other
	s.Charges = append(charges, other.Charges...)
	s.Duplicates = append(dups, other.Duplicates...)
}

func (s *Sale) marshal(mm openMessage) {
	putUint(mm, 1, uint64(s.Buyer))
	putUint(mm, 2, uint64(s.FilterSet))
	putSint(mm, 3, int64(s.Price))
	putSint(mm, 4, int64(s.Payout))
	putCurrency(mm, 5, s.Currency)
	putCharges(mm, 6, s.Charges)
	putFixed(mm, 7, s.Turn.Set)
	putUint(mm, 8, uint64(s.Turn.Phase))
	putUint(mm, 10, uint64(s.Turn.Member))
	for i := range s.Duplicates {
		inner := mm.AppendMessage(9)
		putID(inner, 1, s.Duplicates[i].Key)
		putFixed(inner, 2, uint64(s.Duplicates[i].Until))
	}
	putID(mm, 11, s.Ping)
	putBool(mm, 12, s.Test)
}

func putCharges(mm openMessage, field uint32, charges []CapCharge) {
	for i := range charges {
		inner := mm.AppendMessage(field)
		putUint(inner, 1, uint64(charges[i].Cap))
		putFixed(inner, 2, uint64(charges[i].Window))
		putSint(inner, 3, charges[i].Amount)
	}
}

func (s *Sale) decodeField(fc *easyproto.FieldContext) bool {
	switch fc.FieldNum {
	case 1:
		return getRef(fc, &s.Buyer)
	case 2:
		return getUint32(fc, &s.FilterSet)
	case 3:
		return getMoney(fc, &s.Price)
	case 4:
		return getMoney(fc, &s.Payout)
	case 5:
		return getCurrency(fc, &s.Currency)
	case 6:
		return getCharge(fc, &s.Charges)
	case 7:
		set, ok := fc.Fixed64()
		s.Turn.Set = set
		return ok
	case 8:
		return getUint32(fc, &s.Turn.Phase)
	case 10:
		return getUint32(fc, &s.Turn.Member)
	case 9:
		var dup *DuplicateValue
		s.Duplicates, dup = appendZero(s.Duplicates)
		*dup = DuplicateValue{}
		return getMessage(fc, dup.decodeField)
	case 11:
		return getID(fc, &s.Ping)
	case 12:
		return getBool(fc, &s.Test)
	}
	return true
}

func getCharge(fc *easyproto.FieldContext, charges *[]CapCharge) bool {
	var charge *CapCharge
	*charges, charge = appendZero(*charges)
	*charge = CapCharge{}
	return getMessage(fc, charge.decodeField)
}

func (c *CapCharge) decodeField(fc *easyproto.FieldContext) bool {
	switch fc.FieldNum {
	case 1:
		return getRef(fc, &c.Cap)
	case 2:
		return getFixed(fc, &c.Window)
	case 3:
		return getSint(fc, &c.Amount)
	}
	return true
}

func (d *DuplicateValue) decodeField(fc *easyproto.FieldContext) bool {
	switch fc.FieldNum {
	case 1:
		return getID(fc, (*[16]byte)(&d.Key))
	case 2:
		return getFixed(fc, &d.Until)
	}
	return true
}

// getMessage reads an embedded message's fields.
func getMessage(fc *easyproto.FieldContext, decode func(*easyproto.FieldContext) bool) bool {
	data, ok := fc.MessageData()
	return ok && decodeFields(fc, data, decode) == nil
}
