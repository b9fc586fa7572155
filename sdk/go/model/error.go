// Code generated from api/openapi.yaml by sdk/generate. DO NOT EDIT.

package model

// Error is: Every error, on every path.
type Error struct {
	Error ErrorCode `json:"error"`
	// What is wrong and what to do, for a person. It never repeats what was sent.
	Message string `json:"message"`
	// The exchange's name for one request, in its logs too.
	RequestID string `json:"request_id"`
	// With `invalid_payload`, every member that is at fault.
	FieldErrors []FieldError     `json:"field_errors,omitzero"`
	Reason      *UnmatchedReason `json:"reason,omitzero"`
	// With the errors of OAuth at `/oauth/token`, the same as `message`.
	ErrorDescription *string `json:"error_description,omitzero"`
}
