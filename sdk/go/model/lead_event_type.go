// Code generated from api/openapi.yaml by sdk/generate. DO NOT EDIT.

package model

// LeadEventType is: The type of the event.
// Others than those below may come.
type LeadEventType string

const (
	LeadEventTypeLeadPosted     LeadEventType = "lead.posted"
	LeadEventTypeLeadContacted  LeadEventType = "lead.contacted"
	LeadEventTypeLeadQualified  LeadEventType = "lead.qualified"
	LeadEventTypeLeadSold       LeadEventType = "lead.sold"
	LeadEventTypeLeadReturned   LeadEventType = "lead.returned"
	LeadEventTypeLeadUnmatched  LeadEventType = "lead.unmatched"
	LeadEventTypeLeadPostFailed LeadEventType = "lead.post_failed"
)
