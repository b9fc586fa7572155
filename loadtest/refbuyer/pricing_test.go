package refbuyer

import (
	"strings"
	"testing"

	"pingpost/engine/market"
)

func TestParsePricing(t *testing.T) {
	rows := []struct{ text, state, low, mid, top string }{
		{"12.50", "CA", "12.5", "12.5", "12.5"},
		{"12.50", "", "12.5", "12.5", "12.5"},
		{"0", "CA", "0", "0", "0"},
		{"0.000001", "CA", "0.000001", "0.000001", "0.000001"},
		{"1000000", "CA", "1000000", "1000000", "1000000"},
		{"8-20", "CA", "8", "14", "20"},
		{"8-8.01", "CA", "8", "8.01", "8.01"},
		{"8.005-8.012", "CA", "8.005", "8.005", "8.005"},
		{"0-1000000", "CA", "0", "500000", "1000000"},
		{"CA=20,TX=15,*=9", "CA", "20", "20", "20"},
		{"CA=20,TX=15,*=9", "TX", "15", "15", "15"},
		{"CA=20,TX=15,*=9", "NY", "9", "9", "9"},
		{"CA=20,TX=15,*=9", "", "9", "9", "9"},
		{"CA=20", "NY", "0", "0", "0"},
		{"*=9,CA=0", "CA", "0", "0", "0"},
		{"CA=8-20,*=1-2", "CA", "8", "14", "20"},
		{"CA=8-20,*=1-2", "NV", "1", "1.5", "2"},
	}
	for _, row := range rows {
		p, err := ParsePricing(row.text)
		if err != nil {
			t.Errorf("%s: %v", row.text, err)
			continue
		}
		state := market.ParseUSStateCode([]byte(row.state))
		for quantile, want := range map[float64]string{0: row.low, 0.5: row.mid, 1 - 1e-12: row.top} {
			if got := p.At(state, quantile).String(); got != want {
				t.Errorf("%s in %q at %v: %s, want %s", row.text, row.state, quantile, got, want)
			}
		}
	}
	if got := Fixed(7).At(market.NoState, 0.9); got != 7 {
		t.Errorf("a fixed price of 7 is %v", got)
	}
	if got := (Pricing{}).At(market.NoState, 0.9); got != 0 {
		t.Errorf("no price is %v", got)
	}
}

func TestNoPricing(t *testing.T) {
	rows := []struct{ text, says string }{
		{"", "not a JSON number"},
		{"ten", "not a JSON number"},
		{"-5", "not a JSON number"},
		{"$5", "not a JSON number"},
		{"8-", "not a JSON number"},
		{"20-8", "smaller amount"},
		{"1000001", "over 1000000"},
		{"0.0000001", "sixth decimal"},
		{"8-9-10", "not a JSON number"},
		{"CA=", "not a JSON number"},
		{"CA=5,", "not a JSON number"},
		{"CA", "not a JSON number"},
		{"CA=5,TX", "not a JSON number"},
		{"ca=5", "not a state"},
		{"XX=5", "not a state"},
		{"=5", "not a state"},
		{"CAL=5", "not a state"},
		{"CA=5,CA=6", "CA is listed twice"},
		{"*=5,*=6", "* is listed twice"},
	}
	for _, row := range rows {
		if p, err := ParsePricing(row.text); err == nil || !strings.Contains(err.Error(), `bid "`+row.text+`"`) || !strings.Contains(err.Error(), row.says) {
			t.Errorf("%q: got %v, %v", row.text, p, err)
		}
	}
}

// TestParseSum: the revenue of many leads may exceed the highest price.
func TestParseSum(t *testing.T) {
	for digits, want := range map[string]market.Money{"0": 0, "7.5": 7_500_000, "2345678.90123": 2_345_678_901_230, "0.000001": 1} {
		if got, err := parseSum(digits); err != nil || got != want {
			t.Errorf("%s is %v, %v", digits, int64(got), err)
		}
	}
	for _, digits := range []string{"", "much", "1.0000001", "1e9", "99999999999999999999"} {
		if _, err := parseSum(digits); err == nil {
			t.Errorf("%q is accepted", digits)
		}
	}
}
