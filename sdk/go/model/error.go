// Code generated from api/openapi.yaml by sdk/generate. DO NOT EDIT.

package model

// Error is: An error. All paths use this form.
type Error struct {
	Error ErrorCode `json:"error"`
	// The problem and the remedy as text for people. It never repeats your input.
	Message string `json:"message"`
	// The exchange's id of one request, also in its logs.
	RequestID string `json:"request_id"`
	// With `invalid_payload`, all invalid members.
	FieldErrors []FieldError     `json:"field_errors,omitzero"`
	Reason      *UnmatchedReason `json:"reason,omitzero"`
	// With the errors of OAuth at `/oauth/token`, the text of `message`.
	ErrorDescription *string `json:"error_description,omitzero"`
}
