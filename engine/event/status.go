package event

import (
	"github.com/VictoriaMetrics/easyproto"

	"pingpost/engine/market"
)

// StatusChanged is a change of leads after their sale: a buyer's report on one or more
// leads, or an operator's decision on a pending return. Each report is one event, because
// it has one answer.
//
// It contains rejected and repeated changes as well: the answer to a repeat is read from
// here.
type StatusChanged struct {
	Request     market.RequestID // of the call; a replay repeats it
	Buyer       market.Ref
	At          int64 // Unix nanoseconds
	Idempotency IdempotencyUse
	Changes     []LeadChange // no lead twice among the effective ones
	Note        string       // of the operator
	By          string       // requesting operator; empty: no operator, or an earlier program wrote the event
	Allowed     []string     // the allowed reasons of each change with RejectionReasonUnlisted, in their order
}

// LeadChange is the change of one lead.
type LeadChange struct {
	Lead       market.LeadID // from the request; zero: not an identifier
	Result     LeadChangeResult
	From, To   market.Status
	Reason     string // of the reporter
	Occurred   int64  // when it happened, according to the reporter; Unix nanoseconds, zero: not given
	Return     ReturnedResources
	Webhook    market.WebhookType // that this change causes, or WebhookNone
	Supplier   market.Ref         // of the lead
	WasPending bool               // the operator decides a pending return

	Rejections []market.ReportRejection // with ChangeNotAllowed and ChangeInvalid
}

// LeadChangeResult is the result of a change. Numbers are in the log.
type LeadChangeResult uint8

const (
	ChangeDone       LeadChangeResult = 1 // the lead has status To now, or the return is approved
	ChangeNone       LeadChangeResult = 2 // the lead had that status before
	ChangePending    LeadChangeResult = 3 // the return awaits the operator's approval
	ChangeRefused    LeadChangeResult = 4 // the operator rejects the return
	ChangeUnknown    LeadChangeResult = 5 // the reporter has no such lead
	ChangeNotAllowed LeadChangeResult = 6 // the lead's status does not allow To
	ChangeInvalid    LeadChangeResult = 7 // the report itself is invalid
	changeResultEnd                   = 8
)

func (r LeadChangeResult) String() string {
	names := [changeResultEnd]string{"", "done", "none", "waits", "refused", "unknown", "not_now", "invalid"}
	if r >= changeResultEnd {
		return "invalid_result"
	}
	return names[r]
}

// ReturnedResources lists the resources that a return gives back. It is effective with ChangeDone
// alone. With ChangePending it is an estimate by the rules at that time, and with
// ChangeRefused it has only Campaign and Month. Without a Month there is no return: a
// returned test lead gives nothing back, and counts in no month.
type ReturnedResources struct {
	Campaign market.Ref
	Credit   market.Money // to the buyer's account
	Reverse  market.Money // of the supplier's payout; zero if the campaign leaves the payout
	Currency market.Currency
	Charges  []CapCharge // given back to caps, in their windows
	Month    int64       // of the sale: its beginning in UTC, Unix nanoseconds
}

func (*StatusChanged) Kind() Kind { return KindStatusChanged }

func (s *StatusChanged) reset() { *s = StatusChanged{Changes: s.Changes[:0]} }

func (s *StatusChanged) marshal(mm openMessage) {
	putID(mm, 1, s.Request)
	putUint(mm, 2, uint64(s.Buyer))
	putFixed(mm, 3, uint64(s.At))
	putID(mm, 4, s.Idempotency.Key)
	putFixed(mm, 5, s.Idempotency.Fingerprint)
	putFixed(mm, 6, uint64(s.Idempotency.ExpiresAt))
	for i := range s.Changes {
		s.Changes[i].marshal(mm.AppendMessage(7))
	}
	putString(mm, 8, s.Note)
	putString(mm, 9, s.By)
	for _, reasons := range s.Allowed {
		mm.AppendString(10, reasons)
	}
}

func (s *StatusChanged) decodeField(fc *easyproto.FieldContext) bool {
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
		s.Idempotency.Fingerprint = fingerprint
		return ok
	case 6:
		return getFixed(fc, &s.Idempotency.ExpiresAt)
	case 7:
		var c *LeadChange
		s.Changes, c = appendZero(s.Changes)
		*c = LeadChange{}
		return getMessage(fc, c.decodeField)
	case 8:
		return getString(fc, &s.Note)
	case 9:
		return getString(fc, &s.By)
	case 10:
		var reasons string
		ok := getString(fc, &reasons)
		s.Allowed = append(s.Allowed, reasons)
		return ok
	}
	return true
}

func (c *LeadChange) marshal(mm openMessage) {
	putID(mm, 1, c.Lead)
	putUint(mm, 2, uint64(c.Result))
	putUint(mm, 3, uint64(c.From))
	putUint(mm, 4, uint64(c.To))
	putString(mm, 5, c.Reason)
	putFixed(mm, 6, uint64(c.Occurred))
	if c.Return.Month != 0 {
		c.Return.marshal(mm.AppendMessage(7))
	}
	putUint(mm, 8, uint64(c.Webhook))
	putUint(mm, 9, uint64(c.Supplier))
	putBool(mm, 10, c.WasPending)
	putRejections(mm, 11, c.Rejections)
}

func (c *LeadChange) decodeField(fc *easyproto.FieldContext) bool {
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
		return getMessage(fc, c.Return.decodeField)
	case 8:
		return getByte(fc, &c.Webhook)
	case 9:
		return getRef(fc, &c.Supplier)
	case 10:
		return getBool(fc, &c.WasPending)
	case 11:
		return getRejections(fc, &c.Rejections)
	}
	return true
}

// putRejections writes one byte for each rejection.
func putRejections(mm openMessage, field uint32, rejections []market.ReportRejection) {
	numbers := make([]byte, len(rejections))
	for i, objection := range rejections {
		numbers[i] = byte(objection)
	}
	putBytes(mm, field, numbers)
}

func getRejections(fc *easyproto.FieldContext, rejections *[]market.ReportRejection) bool {
	numbers, ok := fc.Bytes()
	for _, number := range numbers {
		*rejections = append(*rejections, market.ReportRejection(number))
	}
	return ok
}

func (r *ReturnedResources) marshal(mm openMessage) {
	putUint(mm, 1, uint64(r.Campaign))
	putSint(mm, 2, int64(r.Credit))
	putSint(mm, 3, int64(r.Reverse))
	putCurrency(mm, 4, r.Currency)
	putCharges(mm, 5, r.Charges)
	putFixed(mm, 6, uint64(r.Month))
}

func (r *ReturnedResources) decodeField(fc *easyproto.FieldContext) bool {
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
