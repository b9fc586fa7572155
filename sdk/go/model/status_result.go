// Code generated from api/openapi.yaml by sdk/generate. DO NOT EDIT.

package model

// StatusResult is: What one report came to. Either `status` is there, or `error` and `message`.
type StatusResult struct {
	// The lead as the report named it; null where it named none by a text.
	LeadID *string      `json:"lead_id"`
	Status *LeadStatus  `json:"status,omitzero"`
	Return *ReturnState `json:"return,omitzero"`
	Error  *ErrorCode   `json:"error,omitzero"`
	// What is wrong, for a person.
	Message *string `json:"message,omitzero"`
	// With `invalid_payload`, which members are at fault.
	FieldErrors []FieldError `json:"field_errors,omitzero"`
}
