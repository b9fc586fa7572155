package buyer

import (
	"errors"
	"net/url"
	"strings"
	"unicode/utf8"
)

// readForm finds what parameters hold.
func (f *found) readForm(body []byte, places *[findings]string) error {
	values, err := url.ParseQuery(strings.TrimSpace(string(body)))
	if err != nil {
		return err
	}
	for i, place := range places {
		switch given := values[place]; {
		case place == "" || len(given) == 0:
		case len(given) > 1:
			return errAmbiguous
		case !utf8.ValidString(given[0]):
			return errors.New("a parameter is not UTF-8")
		default:
			f[i] = given[0]
		}
	}
	return nil
}
