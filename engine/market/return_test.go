package market

import (
	"testing"
	"time"
)

func TestReturnReasons(t *testing.T) {
	listed := ReturnRule{Reasons: map[string]struct{}{"wrong_number": {}, "duplicate": {}}}
	for _, test := range []struct {
		reason    string
		any, list bool
	}{
		{"", false, false},
		{"duplicate", true, true},
		{"Duplicate", true, false},
		{"did not like it", true, false},
	} {
		if got := new(ReturnRule).AcceptsReturnReason(test.reason); got != test.any {
			t.Errorf("reason %q is accepted without a list: %t", test.reason, got)
		}
		if got := listed.AcceptsReturnReason(test.reason); got != test.list {
			t.Errorf("reason %q is accepted with a list: %t", test.reason, got)
		}
	}
}

func TestReturnMaxShare(t *testing.T) {
	percent := func(n int64) ShareInMillionths { return ShareInMillionths(n * int64(WholeShare) / 100) }
	for _, test := range []struct {
		share          ShareInMillionths
		returned, sold int64
		want           bool
	}{
		{WholeShare, 0, 0, false}, // no sales in that month
		{WholeShare, 0, 1, true},
		{WholeShare, 1, 1, false},
		{WholeShare + 1, 4, 5, true},
		{percent(10), 0, 9, false}, // one of nine is more than a tenth
		{percent(10), 0, 10, true},
		{percent(10), 1, 19, false},
		{percent(10), 1, 20, true},
		{percent(50), 1, 3, false},
		{percent(50), 1, 4, true},
		{0, 0, 1_000_000, false},
	} {
		rule := ReturnRule{MaxShare: test.share}
		if got := rule.ShareAllowsAnotherReturn(test.returned, test.sold); got != test.want {
			t.Errorf("returned %d of %d, share %d: another return is allowed: %t", test.returned, test.sold, test.share, got)
		}
	}
}

func TestStartOfUTCMonth(t *testing.T) {
	for at, want := range map[string]string{
		"2026-11-01T00:00:00Z":           "2026-11-01T00:00:00Z",
		"2026-11-30T23:59:59.999999999Z": "2026-11-01T00:00:00Z",
		"2026-12-01T00:59:00+01:00":      "2026-11-01T00:00:00Z",
		"2028-02-29T12:00:00Z":           "2028-02-01T00:00:00Z",
		"2027-01-01T00:00:00Z":           "2027-01-01T00:00:00Z",
		"1970-01-01T00:00:00Z":           "1970-01-01T00:00:00Z",
	} {
		moment := func(text string) int64 {
			parsed, err := time.Parse(time.RFC3339Nano, text)
			if err != nil {
				t.Fatal(err)
			}
			return parsed.UnixNano()
		}
		if got := StartOfUTCMonth(moment(at)); got != moment(want) {
			t.Errorf("StartOfUTCMonth(%s) = %s", at, time.Unix(0, got).UTC())
		}
	}
}
