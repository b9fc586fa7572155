// Code generated from api/openapi.yaml by sdk/generate. DO NOT EDIT.

package model

// StatusResponse is: The result of a report.
type StatusResponse struct {
	// The exchange's id of a lead.
	LeadID string       `json:"lead_id"`
	Status LeadStatus   `json:"status"`
	Return *ReturnState `json:"return,omitzero"`
}
