package market_test

import (
	"testing"

	"pingpost/engine/market"
)

// TestErrorNamesBoundsWithoutExponent checks the error for a number that is out of range.
func TestErrorNamesBoundsWithoutExponent(t *testing.T) {
	for want, spec := range map[string]market.FieldSpec{
		"a number of at most 1000000":         {Type: market.TypeNumber, Max: text("1e6")},
		"a number from -1000000 to 1234567.5": {Type: market.TypeNumber, Min: text("-1e6"), Max: text("1234567.5")},
		"a number of at most 0.00001":         {Type: market.TypeNumber, Max: text("1e-5")},
		"an integer of at most 100000000000":  {Type: market.TypeInteger, Max: text("1e11")},
	} {
		spec.Name = "x"
		m := mappingOf(t, market.UnknownReject, spec)
		var l market.Lead
		l.Reset(m.SlotCount())
		failed := m.FillLeadFromIngest(&l, person(`x=2e12`), nil)
		if len(failed) != 1 || failed[0].Expected != want {
			t.Errorf("%+v, want one error that expects %s", failed, want)
		}
	}
}
