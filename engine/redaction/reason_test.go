package redaction

import "testing"

// Reasons with an email address or a phone number are withheld. Other numbers are allowed.
func TestReasonsWithContactDataAreWithheld(t *testing.T) {
	for reason, want := range map[string]string{
		"": "", "wrong_number": "wrong_number", "no answer, 3 tries in 24 h": "no answer, 3 tries in 24 h",
		"call ann@example.com": Withheld, "call 415-555-0132": Withheld, "order 123456": "order 123456", "order 1234567": Withheld,
	} {
		if got := WithholdIfContactData(reason); got != want {
			t.Errorf("%q: %q", reason, got)
		}
	}
}
