// Code generated from api/openapi.yaml by sdk/generate. DO NOT EDIT.

package model

// FieldErrorCode is: The code for an invalid member.
// Others than those below may come.
type FieldErrorCode string

const (
	FieldErrorCodeMissingRequired        FieldErrorCode = "missing_required"
	FieldErrorCodeWrongType              FieldErrorCode = "wrong_type"
	FieldErrorCodeInvalidFormat          FieldErrorCode = "invalid_format"
	FieldErrorCodeOutOfRange             FieldErrorCode = "out_of_range"
	FieldErrorCodeNotAllowedValue        FieldErrorCode = "not_allowed_value"
	FieldErrorCodeTooLong                FieldErrorCode = "too_long"
	FieldErrorCodeUnknown                FieldErrorCode = "unknown"
	FieldErrorCodeInactive               FieldErrorCode = "inactive"
	FieldErrorCodeExpired                FieldErrorCode = "expired"
	FieldErrorCodePingMismatch           FieldErrorCode = "ping_mismatch"
	FieldErrorCodeContactFieldNotAllowed FieldErrorCode = "contact_field_not_allowed"
	FieldErrorCodeUnknownField           FieldErrorCode = "unknown_field"
)
