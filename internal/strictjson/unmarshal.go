package strictjson

import (
	"errors"
	"fmt"

	"github.com/goccy/go-json"
)

// MaxDocument is the length in bytes above which Unmarshal rejects a text. A large
// configuration fits.
const MaxDocument = 16 << 20

// TypeError says that a JSON value does not fit the Go type into which it is decoded. It does
// not quote the value, which may be personal or secret.
type TypeError struct {
	Field string // dotted path of struct fields, as far as known
	Want  string // the Go type
}

func (e *TypeError) Error() string {
	if e.Field == "" {
		return fmt.Sprintf("the JSON value does not fit the Go type %s", e.Want)
	}
	return fmt.Sprintf("%s: the JSON value does not fit the Go type %s", e.Field, e.Want)
}

// UnmarshalUnambiguous decodes a JSON text into v by the rules of encoding/json, after the strict
// checks of this package. It ignores members for which v has no field. It allocates, so it is not for
// the hot path.
//
// Two members with names that differ only in case count as repeated, because both would set the
// same struct field. A single member in the wrong case still sets its field.
//
// The error is a *SyntaxError, a *TypeError, or wraps the error of an UnmarshalJSON method. A panic
// of the decoder also becomes an error. After an error v may be partly filled.
func UnmarshalUnambiguous(data []byte, v any) (err error) {
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
		return toTypeErrorOrWrap(err)
	}
	return nil
}

// checkIsOneValue returns an error unless the text is exactly one JSON value that passes this package's
// checks. Names that differ only in case count as repeated.
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

// toTypeErrorOrWrap converts a type error of the JSON library to a *TypeError, which does not quote the
// value, because the value may be personal or secret. It wraps every other error, which may
// quote the value.
func toTypeErrorOrWrap(err error) error {
	var wrong *json.UnmarshalTypeError
	if errors.As(err, &wrong) && wrong.Type != nil {
		return &TypeError{Field: wrong.Field, Want: wrong.Type.String()}
	}
	return fmt.Errorf("cannot decode the JSON value: %w", err)
}
