package event

import (
	"github.com/VictoriaMetrics/easyproto"

	"pingpost/engine/market"
)

// StatusChanged is what became of leads after their sale: a buyer's report of one
// lead or of many, or an operator's word on a return that waited for it. A report
// is one fact whatever it holds, so that one answer belongs to it.
//
// A change that was refused, or that says what is so already, is in it too: the
// answer to a repeat is read from here.
type StatusChanged struct {
	Request     market.RequestID // of the call; a replay repeats it
	Buyer       market.Ref
	At          int64 // Unix nanoseconds
	Idempotency Idempotency
	Changes     []Change // no lead twice among those that change anything
	Note        string   // the operator's
	By          string   // the operator who asked for it; empty: nobody did, or an earlier program wrote it
}

// Change is what became of one lead.
type Change struct {
	Lead     market.LeadID // as it was asked for; zero where that was no identifier
	Result   ChangeResult
	From, To market.Status
	Reason   string // the reporter's
	Occurred int64  // when it happened, by the reporter's word; Unix nanoseconds, zero: no word
	Return   Return
	Hook     market.HookType // that this change owes the supplier; none: none
	Supplier market.Ref      // of the lead
	Waited   bool            // of a return: it has waited for the operator, who decides it now

	Objections []market.Objection // with ChangeNotNow and ChangeInvalid
}

// ChangeResult is what a change came to. Numbers are in the log.
type ChangeResult uint8

const (
	ChangeDone     ChangeResult = 1 // the lead is at To now, or the return is settled
	ChangeNone     ChangeResult = 2 // it was there before
	ChangeWaits    ChangeResult = 3 // a return that waits for the operator
	ChangeRefused  ChangeResult = 4 // a return that the operator refuses
	ChangeUnknown  ChangeResult = 5 // the reporter has no such lead
	ChangeNotNow   ChangeResult = 6 // from where the lead stands one does not come to To
	ChangeInvalid  ChangeResult = 7 // the report itself is not in order
	changeResultOf              = 8
)

func (r ChangeResult) String() string {
	names := [changeResultOf]string{"", "done", "none", "waits", "refused", "unknown", "not_now", "invalid"}
	if r >= changeResultOf {
		return "invalid_result"
	}
	return names[r]
}

// Return is what a return gives back. That is so with ChangeDone alone; with
// ChangeWaits it is what it would, by the rules at that time, and with
// ChangeRefused it says nothing but Campaign and Month. Without a Month it is
// none: a test lead that comes back gives nothing back, and counts in no month.
type Return struct {
	Campaign market.Ref
	Credit   market.Money // to the buyer's account
	Reverse  market.Money // of the supplier's payout; zero where the campaign leaves it
	Currency market.Currency
	Charges  []Charge // given back to caps, in their windows
	Month    int64    // in which the lead was sold: its beginning in UTC, Unix nanoseconds
}

func (*StatusChanged) Kind() Kind { return KindStatusChanged }

func (s *StatusChanged) reset() { *s = StatusChanged{Changes: s.Changes[:0]} }

func (s *StatusChanged) marshal(mm message) {
	putID(mm, 1, s.Request)
	putUint(mm, 2, uint64(s.Buyer))
	putFixed(mm, 3, uint64(s.At))
	putID(mm, 4, s.Idempotency.Key)
	putFixed(mm, 5, s.Idempotency.Print)
	putFixed(mm, 6, uint64(s.Idempotency.Until))
	for i := range s.Changes {
		s.Changes[i].marshal(mm.AppendMessage(7))
	}
	putString(mm, 8, s.Note)
	putString(mm, 9, s.By)
}

func (s *StatusChanged) field(fc *easyproto.FieldContext) bool {
	switch fc.FieldNum {
	case 1:
		return getID(fc, (*[16]byte)(&s.Request))
	case 2:
		return getRef(fc, &s.Buyer)
	case 3:
		return getFixed(fc, &s.At)
	case 4:
		return getID(fc, &s.Idempotency.Key)
	case 5:
		fingerprint, ok := fc.Fixed64()
		s.Idempotency.Print = fingerprint
		return ok
	case 6:
		return getFixed(fc, &s.Idempotency.Until)
	case 7:
		var c *Change
		s.Changes, c = grow(s.Changes)
		*c = Change{}
		return getMessage(fc, c.field)
	case 8:
		return getString(fc, &s.Note)
	case 9:
		return getString(fc, &s.By)
	}
	return true
}

func (c *Change) marshal(mm message) {
	putID(mm, 1, c.Lead)
	putUint(mm, 2, uint64(c.Result))
	putUint(mm, 3, uint64(c.From))
	putUint(mm, 4, uint64(c.To))
	putString(mm, 5, c.Reason)
	putFixed(mm, 6, uint64(c.Occurred))
	if c.Return.Month != 0 {
		c.Return.marshal(mm.AppendMessage(7))
	}
	putUint(mm, 8, uint64(c.Hook))
	putUint(mm, 9, uint64(c.Supplier))
	putBool(mm, 10, c.Waited)
	putObjections(mm, 11, c.Objections)
}

func (c *Change) field(fc *easyproto.FieldContext) bool {
	switch fc.FieldNum {
	case 1:
		return getID(fc, (*[16]byte)(&c.Lead))
	case 2:
		return getByte(fc, &c.Result)
	case 3:
		return getByte(fc, &c.From)
	case 4:
		return getByte(fc, &c.To)
	case 5:
		return getString(fc, &c.Reason)
	case 6:
		return getFixed(fc, &c.Occurred)
	case 7:
		return getMessage(fc, c.Return.field)
	case 8:
		return getByte(fc, &c.Hook)
	case 9:
		return getRef(fc, &c.Supplier)
	case 10:
		return getBool(fc, &c.Waited)
	case 11:
		return getObjections(fc, &c.Objections)
	}
	return true
}

// putObjections writes a byte for each.
func putObjections(mm message, field uint32, objections []market.Objection) {
	numbers := make([]byte, len(objections))
	for i, objection := range objections {
		numbers[i] = byte(objection)
	}
	putBytes(mm, field, numbers)
}

func getObjections(fc *easyproto.FieldContext, objections *[]market.Objection) bool {
	numbers, ok := fc.Bytes()
	for _, number := range numbers {
		*objections = append(*objections, market.Objection(number))
	}
	return ok
}

func (r *Return) marshal(mm message) {
	putUint(mm, 1, uint64(r.Campaign))
	putSint(mm, 2, int64(r.Credit))
	putSint(mm, 3, int64(r.Reverse))
	putCurrency(mm, 4, r.Currency)
	putCharges(mm, 5, r.Charges)
	putFixed(mm, 6, uint64(r.Month))
}

func (r *Return) field(fc *easyproto.FieldContext) bool {
	switch fc.FieldNum {
	case 1:
		return getRef(fc, &r.Campaign)
	case 2:
		return getMoney(fc, &r.Credit)
	case 3:
		return getMoney(fc, &r.Reverse)
	case 4:
		return getCurrency(fc, &r.Currency)
	case 5:
		return getCharge(fc, &r.Charges)
	case 6:
		return getFixed(fc, &r.Month)
	}
	return true
}
