package format_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/nyaruka/phonenumbers"

	"pingpost/engine/market/format"
)

// phoneForm is what the contract takes, before a number is looked at as one.
var phoneForm = regexp.MustCompile(`\A *\+?[0-9 ().-]*\z`)

// phoneDifferences are why AppendPhoneAsE164 may say another thing than libphonenumber
// says of the same text, read as a number dialled in the United States. A
// difference that is none of these is a fault.
var phoneDifferences = []struct {
	why   string
	holds func(text, digits, ours, theirs string) bool
}{
	{"letters, extensions, full-width digits and all other characters are refused", func(text, _, ours, _ string) bool {
		return ours == "" && !phoneForm.MatchString(text)
	}},
	{"a text is at most 64 bytes, a number at most 15 digits", func(text, digits, ours, _ string) bool {
		return ours == "" && (len(text) > 64 || len(digits) > 15)
	}},
	{"numbers made for fiction count as given", func(_, digits, ours, theirs string) bool {
		return theirs == "" && regexp.MustCompile(`\A\+1[2-9][0-9]{2}55501[0-9]{2}\z`).MatchString(ours) && strings.HasSuffix(digits, ours[2:])
	}},
	{"without a + there are ten digits, or eleven that begin with 1: no prefix for calls abroad or between areas", func(text, digits, ours, _ string) bool {
		return ours == "" && !strings.Contains(text, "+") && (len(digits) != 10 && (len(digits) != 11 || digits[0] != '1') || digits[0] < '2')
	}},
	{"what begins with + and a country code has no prefix before its national number", func(text, digits, ours, theirs string) bool {
		return strings.Contains(text, "+") && ours != theirs && strings.HasPrefix(digits, "1") && len(digits) != 11 && ours == oracle(digits)
	}},
}

// FuzzParsePhone holds our reading against libphonenumber's: of the digits alone,
// where there is no difference but fiction, and of the text as it came.
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
		ours, whole := strings.CutPrefix(string(out), "x")
		if !whole || ok != (ours != "") {
			t.Fatalf("%q: %q, %v", text, out, ok)
		}
		digits := strings.Map(func(r rune) rune {
			if r < '0' || r > '9' {
				return -1
			}
			return r
		}, text)
		if want := phoneByTheBook(text, digits); ours != want {
			t.Fatalf("%q: %q, libphonenumber has %q of its digits", text, ours, want)
		}
		if again, ok := format.AppendPhoneAsE164(nil, []byte(ours)); ours != "" && (!ok || string(again) != ours) {
			t.Fatalf("%q becomes %q when read again", ours, again)
		}
		theirs := ""
		if number, err := phonenumbers.Parse(text, "US"); err == nil && phonenumbers.IsValidNumber(number) {
			theirs = phonenumbers.Format(number, phonenumbers.E164)
		}
		if ours == theirs {
			return
		}
		for _, d := range phoneDifferences {
			if d.holds(text, digits, ours, theirs) {
				return
			}
		}
		t.Fatalf("%q: %q, libphonenumber has %q, and nothing says why", text, ours, theirs)
	})
}

// phoneByTheBook is the contract's sentence, with libphonenumber for what a valid
// number is.
func phoneByTheBook(text, digits string) string {
	switch {
	case !phoneForm.MatchString(text), len(text) > 64, digits == "", len(digits) > 15:
		return ""
	case strings.Contains(text, "+"), len(digits) == 11 && digits[0] == '1':
		return oracle(digits)
	case len(digits) == 10:
		return oracle("1" + digits)
	}
	return ""
}
