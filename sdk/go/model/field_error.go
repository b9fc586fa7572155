// Code generated from api/openapi.yaml by sdk/generate. DO NOT EDIT.

package model

// FieldError is: One member of a request that is at fault.
type FieldError struct {
	// Where it stands, as a path with dots, such as `lead.tcpa.consent_cert_url`; or the header's name.
	Field string         `json:"field"`
	Code  FieldErrorCode `json:"code"`
	// What is expected there, in words.
	Expected string `json:"expected"`
}
