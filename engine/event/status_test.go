package event

import (
	"testing"

	"pingpost/engine/market"
)

// A change without a month frees no resources, so its return is not encoded.
func TestReturnIsEncodedOnlyWithMonth(t *testing.T) {
	var d Decoder
	for month, want := range map[int64]market.Money{0: 0, 1: 5} {
		decoded, err := d.Decode(AppendRecord(nil, &LeadStatusChangesDecided{Changes: []DecidedLeadStatusChange{{Return: MoneyAndCapsReversedByReturn{Credit: 5, Month: month}}}}))
		if err != nil || decoded.(*LeadStatusChangesDecided).Changes[0].Return.Credit != want {
			t.Errorf("month %d: %+v, %v", month, decoded, err)
		}
	}
}

func TestUnsoldTestLeadKeepsTestFlag(t *testing.T) {
	for _, forReplay := range []bool{false, true} {
		d := Decoder{ForReplay: forReplay}
		for _, test := range []bool{true, false} {
			decoded, err := d.Decode(AppendRecord(nil, &LeadDecided{Reason: market.ReasonNoBuyer, Sale: Sale{Test: test}}))
			if err != nil || decoded.(*LeadDecided).Sale.Test != test {
				t.Errorf("test %t: %+v, %v", test, decoded, err)
			}
		}
	}
}
