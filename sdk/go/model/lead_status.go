// Code generated from api/openapi.yaml by sdk/generate. DO NOT EDIT.

package model

// LeadStatus is: `OPEN`: sent to a buyer's endpoint, without a result so far. `ACCEPTED`: a buyer was assigned. `UNMATCHED`: unsold. The others are the buyer's reports.
// Others than those below may come.
type LeadStatus string

const (
	LeadStatusOpen      LeadStatus = "OPEN"
	LeadStatusAccepted  LeadStatus = "ACCEPTED"
	LeadStatusUnmatched LeadStatus = "UNMATCHED"
	LeadStatusContacted LeadStatus = "contacted"
	LeadStatusQualified LeadStatus = "qualified"
	LeadStatusSold      LeadStatus = "sold"
	LeadStatusReturned  LeadStatus = "returned"
)
