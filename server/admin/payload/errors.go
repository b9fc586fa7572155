package payload

import (
	"pingpost/engine/market"
	"pingpost/server/httperror"
)

// DetailedError is an error of the API with the errors of single fields of the request, and with
// further members of its JSON document.
type DetailedError struct {
	Failure httperror.Error
	Fields  []market.FieldError
	Members map[string]any
}

func (d *DetailedError) Error() string { return d.Failure.Message }

// NewInvalidFieldsError returns the error of a request with these invalid fields, a 422.
func NewInvalidFieldsError(fields []market.FieldError) error {
	return &DetailedError{Failure: httperror.InvalidPayload, Fields: fields}
}

// FieldErrors collects the errors of a request's fields.
type FieldErrors []market.FieldError

// AddIf adds an error of a field if isInvalid is set.
func (f *FieldErrors) AddIf(isInvalid bool, field, code, expected string) {
	if isInvalid {
		*f = append(*f, market.FieldError{Field: field, Code: code, Expected: expected})
	}
}

// NewInvalidFieldError returns the error of a request with one invalid field, a 422. expected says
// what the field accepts.
func NewInvalidFieldError(fieldName, code, expected string) error {
	return NewInvalidFieldsError([]market.FieldError{{Field: fieldName, Code: code, Expected: expected}})
}
