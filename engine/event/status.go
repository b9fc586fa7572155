package event

import (
	"pingpost/engine/market"
)

// StatusChanged records changes to leads after their sale: a buyer's report on one or more leads,
// or an operator's decision on a pending return. Each report is one event, because it has one
// answer.
//
// Rejected and repeated changes are recorded too, because the answer to a repeat of the request
// is read from this event.
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

// LeadChange is the part of a StatusChanged event that concerns one lead: the requested change
// and its result.
type LeadChange struct {
	Lead       market.LeadID // from the request; zero: not an identifier
	Result     LeadChangeResult
	From, To   market.LeadStatus
	Reason     string // of the reporter
	Occurred   int64  // when it happened, according to the reporter; Unix nanoseconds, zero: not given
	Return     ReturnedResources
	Webhook    market.WebhookType // that this change causes, or WebhookNone
	Supplier   market.Ref         // of the lead
	WasPending bool               // the operator decides a pending return

	Rejections []market.ReportRejection // with ChangeNotAllowed and ChangeInvalid
}

// LeadChangeResult is the result of one requested change of a lead. The numbers are in the log.
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

var changeResultNames = [changeResultEnd]string{"", "done", "none", "waits", "refused", "unknown", "not_now", "invalid"}

func (r LeadChangeResult) String() string {
	return market.EnumName(changeResultNames[:], int(r), "invalid_result")
}

// ReturnedResources lists everything that a return gives back: credit, payout and caps. Apply
// gives it back with the result ChangeDone only. With ChangePending the amounts are an estimate
// by the rules at that time. With ChangeRefused only Campaign and Month are set.
//
// Month zero means that there is nothing to give back. This is so for a test lead, which counts
// in no month.
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

func (s *StatusChanged) encodeOrDecode(pb *protobufCodec) {
	idField(pb, 1, &s.Request)
	uint32Field(pb, 2, &s.Buyer)
	fixed64Field(pb, 3, &s.At)
	idField(pb, 4, &s.Idempotency.Key)
	fixed64Field(pb, 5, &s.Idempotency.Fingerprint)
	fixed64Field(pb, 6, &s.Idempotency.ExpiresAt)
	messageListField(pb, 7, &s.Changes)
	stringField(pb, 8, &s.Note)
	stringField(pb, 9, &s.By)
	stringListField(pb, 10, &s.Allowed)
}

func (c *LeadChange) encodeOrDecode(pb *protobufCodec) {
	idField(pb, 1, &c.Lead)
	enumField(pb, 2, &c.Result)
	enumField(pb, 3, &c.From)
	enumField(pb, 4, &c.To)
	stringField(pb, 5, &c.Reason)
	fixed64Field(pb, 6, &c.Occurred)
	messageField(pb, 7, &c.Return, c.Return.Month != 0)
	enumField(pb, 8, &c.Webhook)
	uint32Field(pb, 9, &c.Supplier)
	boolField(pb, 10, &c.WasPending)
	rejectionsField(pb, 11, &c.Rejections)
}

func (r *ReturnedResources) encodeOrDecode(pb *protobufCodec) {
	uint32Field(pb, 1, &r.Campaign)
	zigzagField(pb, 2, &r.Credit)
	zigzagField(pb, 3, &r.Reverse)
	fixedBytesField(pb, 4, r.Currency[:], r.Currency != (market.Currency{}))
	messageListField(pb, 5, &r.Charges)
	fixed64Field(pb, 6, &r.Month)
}

// rejectionsField encodes or decodes a list of rejections as a byte string, one byte for each.
func rejectionsField(pb *protobufCodec, number uint32, rejections *[]market.ReportRejection) {
	encoded := make([]byte, len(*rejections))
	for i, rejection := range *rejections {
		encoded[i] = byte(rejection)
	}
	bytesField(pb, number, &encoded)
	if pb.decoding {
		*rejections = (*rejections)[:0]
		for _, rejection := range encoded {
			*rejections = append(*rejections, market.ReportRejection(rejection))
		}
	}
}
