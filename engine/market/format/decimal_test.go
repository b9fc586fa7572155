package format

import (
	"fmt"
	"testing"
)

func TestSplitDecimal(t *testing.T) {
	for text, want := range map[string]string{
		"0":         "+0. e0",
		"-0":        "-0. e0",
		"120":       "+120. e0",
		"-12.50":    "-12.50 e0",
		"1e5":       "+1. e5",
		"1E+05":     "+1. e5",
		"1.25e-3":   "+1.25 e-3",
		"1e-0":      "+1. e0",
		"0.0e0":     "+0.0 e0",
		"9e1000000": "+9. e1000000",
		// Exponents are limited to a size that no text could compensate.
		"1e99999999999999999999999":  "+1. e1099511627776",
		"1e-99999999999999999999999": "+1. e-1099511627776",
	} {
		d, ok := ParseDecimal([]byte(text))
		sign := map[bool]string{true: "-", false: "+"}[d.Negative]
		if got := fmt.Sprintf("%s%s.%s e%d", sign, d.Whole, d.Fraction, d.Exponent); !ok || got != want {
			t.Errorf("%s: %s, %t; want %s", text, got, ok, want)
		}
	}
}
