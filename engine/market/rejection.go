package market

import "pingpost/api/errcode"

// ReportRejection is the reason why a buyer's report on a lead was rejected: the report is
// invalid, or the lead's state does not allow it. The numbers are in the log and never change,
// because the answer to a repeated request is read from there.
type ReportRejection uint8

const (
	RejectionNone ReportRejection = 0

	// RejectionNotObject and those up to the next group: the report is invalid. Each has a
	// field error.
	RejectionNotObject        ReportRejection = 1 // in a batch: it is not an object
	RejectionLeadMissing      ReportRejection = 2
	RejectionLeadType         ReportRejection = 3
	RejectionLeadTwice        ReportRejection = 4 // in a batch: another report is on the same lead
	RejectionStatusMissing    ReportRejection = 5
	RejectionStatusType       ReportRejection = 6
	RejectionStatusUnknown    ReportRejection = 7
	RejectionReasonMissing    ReportRejection = 8
	RejectionReasonType       ReportRejection = 9
	RejectionReasonTooLong    ReportRejection = 10
	RejectionReasonInvalid    ReportRejection = 11
	RejectionReasonUnlisted   ReportRejection = 12 // the campaign does not accept returns for this reason
	RejectionOccurredType     ReportRejection = 13
	RejectionOccurredInvalid  ReportRejection = 14
	RejectionOccurredInFuture ReportRejection = 15
	invalidReportEnd                          = 16 // below it: those to the report

	// RejectionDeliveryPending and those after it: the lead's state does not allow the report.
	RejectionDeliveryPending ReportRejection = 32 // whether the buyer has the lead is not known yet
	RejectionNotSold         ReportRejection = 33
	RejectionStatusBackward  ReportRejection = 34 // the lead has a later status, or was returned
	RejectionReturnPending   ReportRejection = 35
	RejectionReturnRefused   ReportRejection = 36 // by the operator before
	RejectionReturnLate      ReportRejection = 37
	RejectionReturnShare     ReportRejection = 38
)

// The maximum characters of a reason, and how far a reporter's clock may be ahead.
const (
	MaxReportReason      = 255
	MaxReporterClockSkew = 5 * 60 * 1_000_000_000 // nanoseconds
)

var reportFieldErrors = [invalidReportEnd]FieldError{
	RejectionNotObject:        {"changes", errcode.FieldWrongType, "an object with lead_id and status"},
	RejectionLeadMissing:      {"lead_id", errcode.FieldMissingRequired, "the lead's id"},
	RejectionLeadType:         {"lead_id", errcode.FieldWrongType, "a string, the lead's id"},
	RejectionLeadTwice:        {"lead_id", errcode.FieldNotAllowedValue, "each lead once; send what follows in a request of its own"},
	RejectionStatusMissing:    {"status", errcode.FieldMissingRequired, "contacted, qualified, sold or returned"},
	RejectionStatusType:       {"status", errcode.FieldWrongType, "a string: contacted, qualified, sold or returned"},
	RejectionStatusUnknown:    {"status", errcode.FieldNotAllowedValue, "contacted, qualified, sold or returned"},
	RejectionReasonMissing:    {"reason", errcode.FieldMissingRequired, "why the lead is returned"},
	RejectionReasonType:       {"reason", errcode.FieldWrongType, "a string of at most 255 printable characters"},
	RejectionReasonTooLong:    {"reason", errcode.FieldTooLong, "at most 255 characters"},
	RejectionReasonInvalid:    {"reason", errcode.FieldInvalidFormat, "a string of at most 255 printable characters"},
	RejectionReasonUnlisted:   {"reason", errcode.FieldNotAllowedValue, "one of the reasons for which this campaign takes leads back"},
	RejectionOccurredType:     {"occurred_at", errcode.FieldWrongType, "a string: a time as RFC 3339 has it, such as 2026-01-31T09:30:00Z"},
	RejectionOccurredInvalid:  {"occurred_at", errcode.FieldInvalidFormat, "a time as RFC 3339 has it, such as 2026-01-31T09:30:00Z"},
	RejectionOccurredInFuture: {"occurred_at", errcode.FieldOutOfRange, "a time that is not ahead of now"},
}

// FieldError returns the field error that the buyer receives for an invalid report. ok is false
// if the report is valid and the lead's state does not allow it.
func (r ReportRejection) FieldError() (fault FieldError, ok bool) {
	if r == RejectionNone || r >= invalidReportEnd {
		return fault, false
	}
	return reportFieldErrors[r], true
}

// String returns the message that the buyer receives for its rejected report.
func (r ReportRejection) String() string {
	switch r {
	case RejectionDeliveryPending:
		return "It is not known yet whether you received the lead. Send this report after its delivery is acknowledged."
	case RejectionNotSold:
		return "The lead is not sold to you: its delivery was refused or released."
	case RejectionStatusBackward:
		return "The lead has come further than this status, or was returned. Reports go forward only."
	case RejectionReturnPending:
		return "A return of this lead awaits the operator's decision. Until then its status cannot change."
	case RejectionReturnRefused:
		return "The operator has refused the return of this lead. It cannot be asked for again."
	case RejectionReturnLate:
		return "The time in which this campaign takes leads back is over for this one."
	case RejectionReturnShare:
		return "You have returned the maximum share of the leads that you bought in this campaign in that month."
	}
	if fault, ok := r.FieldError(); ok {
		return fault.Field + ": " + fault.Expected
	}
	return "unknown rejection"
}
