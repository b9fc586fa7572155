package format

import (
	"math"
	"strings"
	"testing"

	"pingpost/api/errcode"
)

func TestParseInteger(t *testing.T) {
	for text, want := range map[string]int64{
		"0": 0, "-0": 0, "0.000": 0, "0e999999999999999999999": 0, "-0.0e-5": 0,
		"1": 1, "-17": -17, "1e3": 1000, "1E+3": 1000, "1000.0": 1000, "1.50e1": 15, "1200e-2": 12, "0.001e3": 1,
		"9223372036854775807": math.MaxInt64, "-9223372036854775808": math.MinInt64, "9.223372036854775807e18": math.MaxInt64,
		"0." + strings.Repeat("0", 60) + "7e61": 7,
	} {
		if got, code := ParseInteger([]byte(text)); got != want || code != "" {
			t.Errorf("%s: %d %s, want %d", text, got, code, want)
		}
	}
	for text, want := range map[string]string{
		"": errcode.FieldWrongType, "x": errcode.FieldWrongType, "01": errcode.FieldWrongType, "+1": errcode.FieldWrongType, "1.": errcode.FieldWrongType, " 1": errcode.FieldWrongType,
		"0x10": errcode.FieldWrongType, "1_000": errcode.FieldWrongType, "NaN": errcode.FieldWrongType, "Infinity": errcode.FieldWrongType, "１": errcode.FieldWrongType,
		"1.5": errcode.FieldWrongType, "1e-1": errcode.FieldWrongType, "15e-2": errcode.FieldWrongType, "1e-999999999999": errcode.FieldWrongType,
		"9223372036854775808": errcode.FieldOutOfRange, "-9223372036854775809": errcode.FieldOutOfRange, "18446744073709551617": errcode.FieldOutOfRange,
		"1e19": errcode.FieldOutOfRange, "1e999999999999999999999": errcode.FieldOutOfRange, strings.Repeat("9", 128): errcode.FieldOutOfRange,
	} {
		if got, code := ParseInteger([]byte(text)); code != want {
			t.Errorf("%s: %d %q, want %q", text, got, code, want)
		}
	}
}

func TestParseNumber(t *testing.T) {
	for text, want := range map[string]float64{"0": 0, "-0": 0, "0.82": 0.82, "-1.5e3": -1500, "1e-400": 0} {
		got, code := ParseNumber([]byte(text))
		if got != want || code != "" || math.Signbit(got) != (want < 0) {
			t.Errorf("%s: %v %s", text, got, code)
		}
	}
	for text, want := range map[string]string{
		"": errcode.FieldWrongType, "NaN": errcode.FieldWrongType, "Inf": errcode.FieldWrongType, "0x1p3": errcode.FieldWrongType, "1_0": errcode.FieldWrongType, ".5": errcode.FieldWrongType, "5.": errcode.FieldWrongType,
		"1e400": errcode.FieldOutOfRange, "-1e400": errcode.FieldOutOfRange, strings.Repeat("1", 129): errcode.FieldOutOfRange,
	} {
		if got, code := ParseNumber([]byte(text)); code != want {
			t.Errorf("%s: %v %q, want %q", text, got, code, want)
		}
	}
}

func TestIsPlainInteger(t *testing.T) {
	for text, want := range map[string]bool{"0": true, "12": true, "-7": true, "-0": false, "1e3": false, "2.0": false, "-": false} {
		if got := IsPlainInteger([]byte(text)); got != want {
			t.Errorf("%s: %v", text, got)
		}
	}
}
