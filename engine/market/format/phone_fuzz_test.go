package format_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/nyaruka/phonenumbers"

	"pingpost/engine/market/format"
)

// phoneForm matches the characters that the contract allows.
var phoneForm = regexp.MustCompile(`\A *\+?[0-9 ().-]*\z`)

// phoneDifferences are the allowed differences between AppendPhoneAsE164 and libphonenumber for a
// number dialled in the United States.
var phoneDifferences = []struct {
	why     string
	applies func(text, digits, got, theirs string) bool
}{
	{"letters, extensions, full-width digits and all other characters are rejected", func(text, _, got, _ string) bool {
		return got == "" && !phoneForm.MatchString(text)
	}},
	{"a text is at most 64 bytes, a number at most 15 digits", func(text, digits, got, _ string) bool {
		return got == "" && (len(text) > 64 || len(digits) > 15)
	}},
	{"fictional numbers are accepted", func(_, digits, got, theirs string) bool {
		return theirs == "" && regexp.MustCompile(`\A\+1[2-9][0-9]{2}55501[0-9]{2}\z`).MatchString(got) && strings.HasSuffix(digits, got[2:])
	}},
	{"without a + there are ten digits, or eleven that begin with 1: no prefix for calls abroad or between areas", func(text, digits, got, _ string) bool {
		return got == "" && !strings.Contains(text, "+") && (len(digits) != 10 && (len(digits) != 11 || digits[0] != '1') || digits[0] < '2')
	}},
	{"a number with + and country code has no national prefix", func(text, digits, got, theirs string) bool {
		return strings.Contains(text, "+") && got != theirs && strings.HasPrefix(digits, "1") && len(digits) != 11 && got == libphonenumberE164(digits)
	}},
}

// FuzzParsePhone compares AppendPhoneAsE164 with libphonenumber: for the digits alone, where only
// fictional numbers differ, and for the whole text.
func FuzzParsePhone(f *testing.F) {
	for _, text := range []string{
		"(415) 555-0123", "+1 415 555 2671", "1-416-967-1111", "+44 (0)20 7946 0958", "415-555-CALL", "++14155550123", "(+1) 415 555 0123",
		"011 44 20 7946 0958", "0000000000", "+1 242 322 1234", "340.774.1234", "4155550123 x5", "tel:+14155550123", "４１５５５５０１２３", "+39 06 698 1",
		"+800 1234 5678", "5555550123", "155 555 0123", "+", "", " ", "-", "+1 1 415 555 2671", "+49 30 901820", "\x00", "1 1415 555 2671",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		out, ok := format.AppendPhoneAsE164([]byte("x"), []byte(text))
		got, whole := strings.CutPrefix(string(out), "x")
		if !whole || ok != (got != "") {
			t.Fatalf("%q: %q, %v", text, out, ok)
		}
		digits := strings.Map(func(r rune) rune {
			if r < '0' || r > '9' {
				return -1
			}
			return r
		}, text)
		if want := parsePhoneModel(text, digits); got != want {
			t.Fatalf("%q: got %q, libphonenumber parses its digits as %q", text, got, want)
		}
		if again, ok := format.AppendPhoneAsE164(nil, []byte(got)); got != "" && (!ok || string(again) != got) {
			t.Fatalf("result %q is parsed again as %q", got, again)
		}
		theirs := ""
		if number, err := phonenumbers.Parse(text, "US"); err == nil && phonenumbers.IsValidNumber(number) {
			theirs = phonenumbers.Format(number, phonenumbers.E164)
		}
		if got == theirs {
			return
		}
		for _, d := range phoneDifferences {
			if d.applies(text, digits, got, theirs) {
				return
			}
		}
		t.Fatalf("%q: got %q, libphonenumber %q, and no listed difference applies", text, got, theirs)
	})
}

// parsePhoneModel implements the contract's rule; libphonenumber decides which numbers are valid.
func parsePhoneModel(text, digits string) string {
	switch {
	case !phoneForm.MatchString(text), len(text) > 64, digits == "", len(digits) > 15:
		return ""
	case strings.Contains(text, "+"), len(digits) == 11 && digits[0] == '1':
		return libphonenumberE164(digits)
	case len(digits) == 10:
		return libphonenumberE164("1" + digits)
	}
	return ""
}
