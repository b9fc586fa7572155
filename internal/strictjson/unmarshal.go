package strictjson

import (
	"errors"
	"fmt"

	"github.com/goccy/go-json"
)

// MaxDocument limits the text that Unmarshal accepts, in bytes. A large configuration fits.
const MaxDocument = 16 << 20

// TypeError reports a value that does not fit its Go type. Like SyntaxError it does not repeat
// the value.
type TypeError struct {
	Field string // dotted path of struct fields, as far as known
	Want  string // the Go type
}

func (e *TypeError) Error() string {
	if e.Field == "" {
		return fmt.Sprintf("the value does not fit a %s", e.Want)
	}
	return fmt.Sprintf("%s: the value does not fit a %s", e.Field, e.Want)
}

// Unmarshal decodes a JSON value into v by the rules of encoding/json, off the hot path. It first
// checks the text like a body. Two members whose names differ only in case count as equal,
// because both would set the same struct field. A single member in the wrong case still sets its
// field.
//
// Errors are a *SyntaxError, a *TypeError, or the error of an UnmarshalJSON method. After an
// error, v may have some values.
func Unmarshal(data []byte, v any) (err error) {
	if len(data) > MaxDocument {
		return &SyntaxError{Offset: MaxDocument, Message: tooLarge}
	}
	if err := checkIsOneValue(data); err != nil {
		return err
	}
	defer func() {
		if fault := recover(); fault != nil {
			err = fmt.Errorf("cannot decode into %T: the decoder panicked: %v", v, fault)
		}
	}()
	if err := json.Unmarshal(data, v); err != nil {
		return convertError(err)
	}
	return nil
}

// checkIsOneValue checks that the text is exactly one value.
func checkIsOneValue(data []byte) error {
	s := scanner{ignoreCase: true}
	s.setText(data)
	s.skipSpace()
	if _, _, err := s.scanValue(); err != nil {
		return err
	}
	if err := s.requireEndOfText(); err != nil {
		return err
	}
	return nil
}

// convertError converts an error of the decoder into one that does not repeat the value.
func convertError(err error) error {
	var wrong *json.UnmarshalTypeError
	if errors.As(err, &wrong) && wrong.Type != nil {
		return &TypeError{Field: wrong.Field, Want: wrong.Type.String()}
	}
	return fmt.Errorf("cannot decode the value: %w", err)
}
