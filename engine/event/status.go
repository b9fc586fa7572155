package event

import (
	"pingpost/engine/market"
)

// LeadStatusChangesDecided records changes to leads after their sale: a buyer's report on one or more leads,
// or an operator's decision on a pending return. Each report is one event, because it has one
// answer.
//
// Rejected changes and changes without effect are recorded too. If the buyer repeats the request,
// the exchange reads the answer from this event.
type LeadStatusChangesDecided struct {
	Request     market.RequestID // of the call; a replay repeats it
	Buyer       market.PermanentNumber
	At          int64 // Unix nanoseconds
	Idempotency RequestIdempotencyKey
	Changes     []DecidedLeadStatusChange // at most one change of each lead has an effect
	Note        string                    // of the operator
	By          string                    // requesting operator; empty: no operator, or an earlier program wrote the event
	Allowed     []string                  // the allowed reasons of each change with RejectionReasonUnlisted, in their order
}

// DecidedLeadStatusChange is the part of a LeadStatusChangesDecided event that concerns one lead: the
// requested change and its result.
type DecidedLeadStatusChange struct {
	Lead       market.LeadID // from the request; zero: not an identifier
	Result     LeadStatusChangeResult
	From, To   market.LeadStatus
	Reason     string // of the reporter
	Occurred   int64  // when it happened, according to the reporter; Unix nanoseconds, zero: not given
	Return     MoneyAndCapsReversedByReturn
	Webhook    market.WebhookType     // that this change causes, or WebhookNone
	Supplier   market.PermanentNumber // of the lead
	WasPending bool                   // the operator decides a pending return

	Rejections []market.StatusReportRejection // with ChangeNotAllowed and ChangeInvalid
}

// LeadStatusChangeResult is the result of one requested change of a lead's status. The log stores
// these numbers, so they never change.
type LeadStatusChangeResult uint8

const (
	ChangeDone       LeadStatusChangeResult = 1 // the lead has status To now, or the return is approved
	ChangeNone       LeadStatusChangeResult = 2 // the lead had that status before
	ChangePending    LeadStatusChangeResult = 3 // the return awaits the operator's approval
	ChangeRefused    LeadStatusChangeResult = 4 // the operator rejects the return
	ChangeUnknown    LeadStatusChangeResult = 5 // the reporter has no such lead
	ChangeNotAllowed LeadStatusChangeResult = 6 // the lead's status does not allow To
	ChangeInvalid    LeadStatusChangeResult = 7 // the report itself is invalid
	changeResultEnd                         = 8
)

var changeResultNames = [changeResultEnd]string{"", "done", "none", "waits", "refused", "unknown", "not_now", "invalid"}

func (r LeadStatusChangeResult) String() string {
	return market.EnumName(changeResultNames[:], int(r), "invalid_result")
}

// MoneyAndCapsReversedByReturn lists everything that a return gives back: the buyer's money, the
// supplier's payout and the capacity of caps. Only an event with the result ChangeDone gives it
// back. With ChangePending it lists the resources that an approval will give back; the event of the
// approval repeats them. With ChangeRefused only Campaign and Month are set.
//
// Month zero means that there is nothing to give back. This is so for a test lead, which counts
// in no month.
type MoneyAndCapsReversedByReturn struct {
	Campaign market.PermanentNumber
	Credit   market.Money // to the buyer's account
	Reverse  market.Money // of the supplier's payout; zero if the campaign leaves the payout
	Currency market.Currency
	Charges  []CapCharge // given back to caps, in their windows
	Month    int64       // in which the lead was sold: the month's beginning in UTC, Unix nanoseconds
}

func (*LeadStatusChangesDecided) Kind() Kind { return KindLeadStatusesChanged }

func (s *LeadStatusChangesDecided) reset() { *s = LeadStatusChangesDecided{Changes: s.Changes[:0]} }

func (s *LeadStatusChangesDecided) encodeOrDecode(pb *protobufCodec) {
	encodeOrDecodeID16(pb, 1, &s.Request)
	encodeOrDecodeUint32(pb, 2, &s.Buyer)
	encodeOrDecodeFixed64(pb, 3, &s.At)
	encodeOrDecodeID16(pb, 4, &s.Idempotency.Key)
	encodeOrDecodeFixed64(pb, 5, &s.Idempotency.Fingerprint)
	encodeOrDecodeFixed64(pb, 6, &s.Idempotency.ExpiresAt)
	encodeOrDecodeMessageList(pb, 7, &s.Changes)
	encodeOrDecodeString(pb, 8, &s.Note)
	encodeOrDecodeString(pb, 9, &s.By)
	encodeOrDecodeStringList(pb, 10, &s.Allowed)
}

func (c *DecidedLeadStatusChange) encodeOrDecode(pb *protobufCodec) {
	encodeOrDecodeID16(pb, 1, &c.Lead)
	encodeOrDecodeEnum(pb, 2, &c.Result)
	encodeOrDecodeEnum(pb, 3, &c.From)
	encodeOrDecodeEnum(pb, 4, &c.To)
	encodeOrDecodeString(pb, 5, &c.Reason)
	encodeOrDecodeFixed64(pb, 6, &c.Occurred)
	encodeOrDecodeMessage(pb, 7, &c.Return, c.Return.Month != 0)
	encodeOrDecodeEnum(pb, 8, &c.Webhook)
	encodeOrDecodeUint32(pb, 9, &c.Supplier)
	encodeOrDecodeBool(pb, 10, &c.WasPending)
	encodeOrDecodeRejectionBytes(pb, 11, &c.Rejections)
}

func (r *MoneyAndCapsReversedByReturn) encodeOrDecode(pb *protobufCodec) {
	encodeOrDecodeUint32(pb, 1, &r.Campaign)
	encodeOrDecodeZigzag(pb, 2, &r.Credit)
	encodeOrDecodeZigzag(pb, 3, &r.Reverse)
	encodeOrDecodeFixedBytes(pb, 4, r.Currency[:], r.Currency != (market.Currency{}))
	encodeOrDecodeMessageList(pb, 5, &r.Charges)
	encodeOrDecodeFixed64(pb, 6, &r.Month)
}

// encodeOrDecodeRejectionBytes encodes or decodes a list of rejections as a byte string, one byte for each.
func encodeOrDecodeRejectionBytes(pb *protobufCodec, fieldNumber uint32, rejections *[]market.StatusReportRejection) {
	encoded := make([]byte, len(*rejections))
	for i, rejection := range *rejections {
		encoded[i] = byte(rejection)
	}
	encodeOrDecodeBytes(pb, fieldNumber, &encoded)
	if pb.decoding {
		*rejections = (*rejections)[:0]
		for _, rejection := range encoded {
			*rejections = append(*rejections, market.StatusReportRejection(rejection))
		}
	}
}
