// Code generated from api/openapi.yaml by sdk/generate. DO NOT EDIT.

package model

// ReportedStatus is: The outcome of a lead.
// Others than those below may come.
type ReportedStatus string

const (
	ReportedStatusContacted ReportedStatus = "contacted"
	ReportedStatusQualified ReportedStatus = "qualified"
	ReportedStatusSold      ReportedStatus = "sold"
	ReportedStatusReturned  ReportedStatus = "returned"
)
