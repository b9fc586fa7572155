// Code generated from api/openapi.yaml by sdk/generate. DO NOT EDIT.

package model

// StatusResult is: The result of one report: `status`, or `error` and `message`.
type StatusResult struct {
	// The lead's id from the report; null if that was not text.
	LeadID *string      `json:"lead_id"`
	Status *LeadStatus  `json:"status,omitzero"`
	Return *ReturnState `json:"return,omitzero"`
	Error  *ErrorCode   `json:"error,omitzero"`
	// The error as text for people.
	Message *string `json:"message,omitzero"`
	// With `invalid_payload`, the invalid members.
	FieldErrors []FieldError `json:"field_errors,omitzero"`
}
