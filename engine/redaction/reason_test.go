package redaction

import "testing"

// TestReasonsNameNobody: a reason that has an address or a number is not kept; one that
// only has figures in it is.
func TestReasonsNameNobody(t *testing.T) {
	for reason, want := range map[string]string{
		"": "", "wrong_number": "wrong_number", "no answer, 3 tries in 24 h": "no answer, 3 tries in 24 h",
		"call ann@example.com": Withheld, "call 415-555-0132": Withheld, "order 123456": "order 123456", "order 1234567": Withheld,
	} {
		if got := WithholdIfContact(reason); got != want {
			t.Errorf("%q: %q", reason, got)
		}
	}
}
