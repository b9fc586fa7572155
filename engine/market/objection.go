package market

import "pingpost/api/errcode"

// Objection is why a buyer's report on a lead is not taken: something in the
// report itself, or where the lead stands. Numbers are in the log and never
// change: the answer to a repeat is read from there.
type Objection uint8

const (
	ObjectionNone Objection = 0

	// To the report itself. A field error goes with each.
	ObjectionNoObject       Objection = 1 // among many: it is no object
	ObjectionLeadMissing    Objection = 2
	ObjectionLeadType       Objection = 3
	ObjectionLeadTwice      Objection = 4 // among many: another one is of the same lead
	ObjectionStatusMissing  Objection = 5
	ObjectionStatusType     Objection = 6
	ObjectionStatusUnknown  Objection = 7
	ObjectionReasonMissing  Objection = 8
	ObjectionReasonType     Objection = 9
	ObjectionReasonLong     Objection = 10
	ObjectionReasonForm     Objection = 11
	ObjectionReasonUnlisted Objection = 12 // the campaign takes returns for other reasons
	ObjectionOccurredType   Objection = 13
	ObjectionOccurredForm   Objection = 14
	ObjectionOccurredToCome Objection = 15
	objectionsToReports               = 16 // below it: those to the report

	// To where the lead stands.
	ObjectionOnItsWay      Objection = 32 // whether the buyer has the lead is not known yet
	ObjectionNotSold       Objection = 33
	ObjectionFurther       Objection = 34 // the lead has come further, or was returned
	ObjectionReturnWaits   Objection = 35
	ObjectionReturnRefused Objection = 36 // by the operator, once
	ObjectionReturnLate    Objection = 37
	ObjectionReturnShare   Objection = 38
)

// The most characters of a reason, and how far ahead of ours a reporter's clock
// may be.
const (
	MaxReportReason   = 255
	MaxReportersClock = 5 * 60 * 1_000_000_000 // nanoseconds
)

var reportFaults = [objectionsToReports]FieldError{
	ObjectionNoObject:       {"changes", errcode.FieldWrongType, "an object with lead_id and status"},
	ObjectionLeadMissing:    {"lead_id", errcode.FieldMissingRequired, "the lead's id"},
	ObjectionLeadType:       {"lead_id", errcode.FieldWrongType, "a string, the lead's id"},
	ObjectionLeadTwice:      {"lead_id", errcode.FieldNotAllowedValue, "each lead once; send what follows in a request of its own"},
	ObjectionStatusMissing:  {"status", errcode.FieldMissingRequired, "contacted, qualified, sold or returned"},
	ObjectionStatusType:     {"status", errcode.FieldWrongType, "a string: contacted, qualified, sold or returned"},
	ObjectionStatusUnknown:  {"status", errcode.FieldNotAllowedValue, "contacted, qualified, sold or returned"},
	ObjectionReasonMissing:  {"reason", errcode.FieldMissingRequired, "why the lead is returned"},
	ObjectionReasonType:     {"reason", errcode.FieldWrongType, "a string of at most 255 printable characters"},
	ObjectionReasonLong:     {"reason", errcode.FieldTooLong, "at most 255 characters"},
	ObjectionReasonForm:     {"reason", errcode.FieldInvalidFormat, "a string of at most 255 printable characters"},
	ObjectionReasonUnlisted: {"reason", errcode.FieldNotAllowedValue, "one of the reasons for which this campaign takes leads back"},
	ObjectionOccurredType:   {"occurred_at", errcode.FieldWrongType, "a string: a time as RFC 3339 has it, such as 2026-01-31T09:30:00Z"},
	ObjectionOccurredForm:   {"occurred_at", errcode.FieldInvalidFormat, "a time as RFC 3339 has it, such as 2026-01-31T09:30:00Z"},
	ObjectionOccurredToCome: {"occurred_at", errcode.FieldOutOfRange, "a time that is not ahead of now"},
}

// Fault is the field error that goes with an objection to the report; not ok: it
// is to where the lead stands.
func (o Objection) Fault() (fault FieldError, ok bool) {
	if o == ObjectionNone || o >= objectionsToReports {
		return fault, false
	}
	return reportFaults[o], true
}

// String says what is in the way, to a person.
func (o Objection) String() string {
	switch o {
	case ObjectionOnItsWay:
		return "Whether the lead has reached you is not known here yet. Send this once its delivery has been acknowledged."
	case ObjectionNotSold:
		return "The lead was not sold to you in the end: its delivery was refused or taken back."
	case ObjectionFurther:
		return "The lead has come further than this status, or was returned. Reports go forward only."
	case ObjectionReturnWaits:
		return "A return of this lead waits for the operator's word. Until then its status stays as it is."
	case ObjectionReturnRefused:
		return "The operator has refused the return of this lead. It cannot be asked for again."
	case ObjectionReturnLate:
		return "The time in which this campaign takes leads back is over for this one."
	case ObjectionReturnShare:
		return "Of the leads that you bought in this campaign in that month no more can be returned."
	}
	if fault, ok := o.Fault(); ok {
		return fault.Field + ": " + fault.Expected
	}
	return "unknown objection"
}
