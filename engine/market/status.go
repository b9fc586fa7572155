package market

import "pingpost/api/errcode"

// LeadStatus is the state of a lead as its supplier and its buyer see it. The numbers are in the log
// and never change.
type LeadStatus uint8

const (
	StatusOpen      LeadStatus = 0 // posted to a buyer's endpoint, result unknown
	StatusAccepted  LeadStatus = 1 // a buyer was assigned
	StatusUnmatched LeadStatus = 2 // unsold

	// StatusContacted and those after it are the buyer's reports on an accepted lead.
	StatusContacted LeadStatus = 3
	StatusQualified LeadStatus = 4
	StatusSold      LeadStatus = 5
	StatusReturned  LeadStatus = 6
	statusEnd       LeadStatus = 7
)

var statusNames = [statusEnd]string{"OPEN", "ACCEPTED", "UNMATCHED", "contacted", "qualified", "sold", "returned"}

func (s LeadStatus) String() string { return EnumName(statusNames[:], int(s), "unknown") }

// ParseReportedStatus returns the status with this name. The bool is false if a buyer cannot
// report the status.
func ParseReportedStatus(name string) (status LeadStatus, reportable bool) {
	for s := StatusContacted; s < statusEnd; s++ {
		if statusNames[s] == name {
			return s, true
		}
	}
	return 0, false
}

// IsReportedByBuyer reports whether s is a status that a buyer reports, such as contacted or returned.
func (s LeadStatus) IsReportedByBuyer() bool { return s >= StatusContacted && s < statusEnd }

// CanReportChangeTo reports whether a buyer's report may change s to next. Reports only go
// forward: a sold lead cannot become contacted, and a return is final.
func (s LeadStatus) CanReportChangeTo(next LeadStatus) bool {
	switch s {
	case StatusAccepted, StatusContacted, StatusQualified, StatusSold:
		return next > s && next >= StatusContacted && next < statusEnd
	}
	return false
}

// WebhookTypeOfReport returns the type of webhook that a buyer's report of status s triggers, or
// WebhookNone if a buyer cannot report s.
func (s LeadStatus) WebhookTypeOfReport() WebhookType {
	switch s {
	case StatusContacted:
		return WebhookContacted
	case StatusQualified:
		return WebhookQualified
	case StatusSold:
		return WebhookSold
	case StatusReturned:
		return WebhookReturned
	}
	return WebhookNone
}

// DeliveryState is the state of a lead's delivery to its buyer's endpoint. The numbers are in the
// log and never change.
type DeliveryState uint8

const (
	DeliveryNone      DeliveryState = 0 // only recorded: the buyer has no endpoint
	DeliveryPending   DeliveryState = 1 // an attempt is running or will follow
	DeliveryDone      DeliveryState = 2 // the buyer acknowledged it
	DeliveryUnknown   DeliveryState = 3 // the attempts are used up; an operator decides
	DeliveryFailed    DeliveryState = 4 // the buyer refused it
	DeliveryConfirmed DeliveryState = 5 // operator: the buyer has it
	DeliveryReleased  DeliveryState = 6 // operator: the buyer does not have it
)

var deliveryNames = [...]string{"none", "pending", "delivered", "unknown", "failed", "confirmed", "released"}

func (d DeliveryState) String() string { return EnumName(deliveryNames[:], int(d), "invalid") }

// StatusReportRejection is the reason why a buyer's report on a lead was rejected: the report is
// invalid, or the lead's state does not allow it. The numbers are in the log and never change,
// because the answer to a repeated request is read from there.
type StatusReportRejection uint8

const (
	RejectionNone StatusReportRejection = 0

	// RejectionNotObject and those up to the next group: the report is invalid. Each has a
	// field error.
	RejectionNotObject        StatusReportRejection = 1 // in a batch: it is not an object
	RejectionLeadMissing      StatusReportRejection = 2
	RejectionLeadType         StatusReportRejection = 3
	RejectionLeadTwice        StatusReportRejection = 4 // in a batch: another report is on the same lead
	RejectionStatusMissing    StatusReportRejection = 5
	RejectionStatusType       StatusReportRejection = 6
	RejectionStatusUnknown    StatusReportRejection = 7
	RejectionReasonMissing    StatusReportRejection = 8
	RejectionReasonType       StatusReportRejection = 9
	RejectionReasonTooLong    StatusReportRejection = 10
	RejectionReasonInvalid    StatusReportRejection = 11
	RejectionReasonUnlisted   StatusReportRejection = 12 // the campaign does not accept returns for this reason
	RejectionOccurredType     StatusReportRejection = 13
	RejectionOccurredInvalid  StatusReportRejection = 14
	RejectionOccurredInFuture StatusReportRejection = 15
	invalidReportEnd                                = 16 // rejections below it mean an invalid report

	// RejectionDeliveryPending and those after it: the lead's state does not allow the report.
	RejectionDeliveryPending StatusReportRejection = 32 // whether the buyer has the lead is not known yet
	RejectionNotSold         StatusReportRejection = 33
	RejectionStatusBackward  StatusReportRejection = 34 // the lead has a later status, or was returned
	RejectionReturnPending   StatusReportRejection = 35
	RejectionReturnRefused   StatusReportRejection = 36 // by the operator before
	RejectionReturnLate      StatusReportRejection = 37
	RejectionReturnShare     StatusReportRejection = 38
)

// Limits of a buyer's report: the characters of its reason, and the time by which occurred_at may
// be ahead of the exchange's clock.
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
	RejectionOccurredInFuture: {"occurred_at", errcode.FieldOutOfRange, "a time at most five minutes in the future"},
}

// FieldError returns the field error that the buyer receives for an invalid report. isInvalidReport
// is false for RejectionNone, and if the report is valid and the lead's state does not allow it.
func (r StatusReportRejection) FieldError() (fieldError FieldError, isInvalidReport bool) {
	if r == RejectionNone || r >= invalidReportEnd {
		return fieldError, false
	}
	return reportFieldErrors[r], true
}

// String returns the message that the buyer receives for its rejected report.
func (r StatusReportRejection) String() string {
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
