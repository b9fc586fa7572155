package event

import (
	"testing"

	"pingpost/engine/market"
)

// What gives nothing back is not written: a month makes the difference.
func TestAReturnIsWrittenWithItsMonth(t *testing.T) {
	var d Decoder
	for month, want := range map[int64]market.Money{0: 0, 1: 5} {
		back, err := d.Decode(AppendRecord(nil, &LeadStatusesChanged{Changes: []LeadStatusChange{{Return: ResourcesFreedByReturn{Credit: 5, Month: month}}}}))
		if err != nil || back.(*LeadStatusesChanged).Changes[0].Return.Credit != want {
			t.Errorf("month %d: %+v, %v", month, back, err)
		}
	}
}

// A test lead that nobody takes is known for one.
func TestAnUnsoldTestLeadSaysSo(t *testing.T) {
	for _, brief := range []bool{false, true} {
		d := Decoder{ForReplay: brief}
		for _, test := range []bool{true, false} {
			back, err := d.Decode(AppendRecord(nil, &LeadDecided{Reason: market.ReasonNoBuyer, Sale: Sale{Test: test}}))
			if err != nil || back.(*LeadDecided).Sale.Test != test {
				t.Errorf("test %t: %+v, %v", test, back, err)
			}
		}
	}
}
