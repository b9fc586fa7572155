package request

import (
	"errors"

	"pingpost/api/errcode"
	"pingpost/internal/strictjson"
	"pingpost/server/httperror"
)

// NewMalformedJSONError returns the error for a body that is not the expected JSON object.
func NewMalformedJSONError(message string) httperror.Error {
	return httperror.New(400, errcode.MalformedJSON, message)
}

// DescribeJSONError returns a sentence on why a body is not valid JSON. It does not quote the
// body.
func DescribeJSONError(err error) string {
	var syntax *strictjson.SyntaxError
	if errors.As(err, &syntax) {
		return "The body is not the JSON object it should be: " + syntax.Error() + "."
	}
	return "The body is not one JSON object."
}
