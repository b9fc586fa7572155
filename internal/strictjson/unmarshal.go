package strictjson

import (
	"errors"
	"fmt"

	"github.com/goccy/go-json"
)

// MaxDocument is how many bytes Unmarshal takes: an operator's whole
// configuration, with room.
const MaxDocument = 16 << 20

// TypeError is a value that does not fit where it should go. Like SyntaxError
// it does not repeat the value.
type TypeError struct {
	Field string // dotted path of struct fields, as far as it is known
	Want  string // the Go type
}

func (e *TypeError) Error() string {
	if e.Field == "" {
		return fmt.Sprintf("the value does not fit a %s", e.Want)
	}
	return fmt.Sprintf("%s: the value does not fit a %s", e.Field, e.Want)
}

// Unmarshal decodes any JSON value, off the hot path, into what v points to, by
// the rules of encoding/json. The text first passes the same check as a body,
// and two members whose names differ in case alone count as one given twice,
// for both would go into the same struct field. (One member in the wrong case
// still finds its field.)
//
// Errors are a *SyntaxError, a *TypeError, or what an UnmarshalJSON method of v
// said; v may be filled in part then.
func Unmarshal(data []byte, v any) (err error) {
	if len(data) > MaxDocument {
		return &SyntaxError{Offset: MaxDocument, Message: tooLarge}
	}
	if err := check(data); err != nil {
		return err
	}
	defer func() {
		if fault := recover(); fault != nil {
			err = fmt.Errorf("cannot decode into %T: the decoder gave up: %v", v, fault)
		}
	}()
	if err := json.Unmarshal(data, v); err != nil {
		return describe(err)
	}
	return nil
}

// check walks the whole text as one value.
func check(data []byte) error {
	s := scanner{folds: true}
	s.start(data)
	s.space()
	if _, _, err := s.value(); err != nil {
		return err
	}
	if err := s.end(); err != nil {
		return err
	}
	return nil
}

func describe(err error) error {
	var wrong *json.UnmarshalTypeError
	if errors.As(err, &wrong) && wrong.Type != nil {
		return &TypeError{Field: wrong.Field, Want: wrong.Type.String()}
	}
	return fmt.Errorf("cannot decode the value: %w", err)
}
