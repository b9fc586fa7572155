// Code generated from api/openapi.yaml by sdk/generate. DO NOT EDIT.

package model

// LeadStatus is: `OPEN`: with a buyer's endpoint, the outcome not known yet. `ACCEPTED`: a buyer was assigned. `UNMATCHED`: nobody took it. The others are what its buyer has reported.
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
