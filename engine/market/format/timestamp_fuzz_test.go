package format

import (
	"math"
	"math/big"
	"regexp"
	"strings"
	"testing"
	"time"
)

var timestampForm = regexp.MustCompile(`\A[0-9]{4}-[0-9]{2}-[0-9]{2}[Tt][0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]{1,9})?([Zz]|[+-]([01][0-9]|2[0-3]):[0-5][0-9])\z`)

// FuzzTimestamp compares timestamps with package time. Only ParseTimestampClamped accepts second 60 and
// lowercase letters; it limits times to the range of Unix nanoseconds.
func FuzzTimestamp(f *testing.F) {
	for _, text := range []string{
		"2026-01-31T09:30:00Z", "2026-01-31t09:30:00.123456789z", "2016-12-31T23:59:60Z", "2026-01-31T09:30:00+05:30", "2026-02-29T00:00:00Z", "0001-01-01T00:00:00Z",
		"9999-12-31T23:59:59-23:59", "2262-04-11T23:47:16.9Z", "1970-01-01T00:00:00Z", "2026-01-31T09:30:00,5Z", "2026-01-31T24:00:00Z", "2026-01-31T09:30:00+24:00", "0000-01-01T00:00:00Z", "",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		got, ok := ParseTimestampClamped([]byte(text))
		plain, second := strings.ToUpper(text), 0
		if timestampForm.MatchString(text) && plain[17:19] == "60" {
			plain, second = plain[:17]+"59"+plain[19:], 1
		}
		at, err := time.Parse(time.RFC3339Nano, plain)
		isValid := err == nil && timestampForm.MatchString(text) && !strings.HasPrefix(text, "0000")
		if ok != isValid {
			t.Fatalf("%q: accepted %t, package time: %v", text, ok, err)
		}
		if !ok {
			return
		}
		at = at.Add(time.Duration(second) * time.Second)
		exact := new(big.Int).Add(new(big.Int).Mul(big.NewInt(at.Unix()), big.NewInt(int64(time.Second))), big.NewInt(int64(at.Nanosecond())))
		switch {
		case exact.Sign() <= 0:
			exact.SetInt64(1)
		case at.Unix() >= math.MaxInt64/int64(time.Second):
			exact.SetInt64(math.MaxInt64)
		}
		if exact.Int64() != got {
			t.Fatalf("%q is %d, want %s", text, got, exact)
		}
	})
}
