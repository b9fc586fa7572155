package reading

import (
	"fmt"
	"net/url"
	"strings"
	"unicode/utf8"
)

// extractForm reads the fields from an answer that is a URL-encoded form. parameterNames has, for each
// field, the name of the form's parameter, or "". A parameter that occurs twice is an error.
func (f *AnswerFields) extractForm(body []byte, parameterNames *[fieldCount]string) error {
	values, err := url.ParseQuery(strings.TrimSpace(string(body)))
	if err != nil {
		return err
	}
	for i, place := range parameterNames {
		switch given := values[place]; {
		case place == "" || len(given) == 0:
		case len(given) > 1:
			return errAmbiguous
		case !utf8.ValidString(given[0]):
			return fmt.Errorf("the field %q of the buyer's form-encoded answer is not UTF-8", place)
		default:
			f[i] = given[0]
		}
	}
	return nil
}
