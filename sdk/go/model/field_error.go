// Code generated from api/openapi.yaml by sdk/generate. DO NOT EDIT.

package model

// FieldError is: One invalid member of a request.
type FieldError struct {
	// The member's place, as a path with dots such as `lead.tcpa.consent_cert_url`, or the name of a header.
	Field string         `json:"field"`
	Code  FieldErrorCode `json:"code"`
	// The valid form, as text for people.
	Expected string `json:"expected"`
}
