package market

import (
	"encoding/json"
	"errors"
	"math"
	"math/big"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"pingpost/api/errcode"
	"pingpost/engine/market/format"
)

var numberParts = regexp.MustCompile(`\A(-?)(0|[1-9][0-9]*)(?:\.([0-9]+))?(?:[eE]([+-]?[0-9]+))?\z`)

// bigNumber parses a JSON number with math/big. It limits the exponent, but the number stays
// outside all limits.
func bigNumber(text string) (value *big.Rat, ok bool) {
	parts := numberParts.FindStringSubmatch(text)
	if parts == nil {
		return nil, false
	}
	digits, _ := new(big.Int).SetString(parts[2]+parts[3], 10)
	value = new(big.Rat).SetInt(digits)
	exponent := new(big.Int)
	if parts[4] != "" {
		exponent.SetString(strings.TrimPrefix(parts[4], "+"), 10)
	}
	exponent.Sub(exponent, big.NewInt(int64(len(parts[3]))))
	maxExponent := big.NewInt(int64(len(text)) + 400)
	if exponent.CmpAbs(maxExponent) > 0 {
		exponent.Mul(maxExponent, big.NewInt(int64(exponent.Sign())))
	}
	power := new(big.Rat).SetInt(new(big.Int).Exp(big.NewInt(10), new(big.Int).Abs(exponent), nil))
	if exponent.Sign() < 0 {
		power.Inv(power)
	}
	value.Mul(value, power)
	if parts[1] == "-" {
		value.Neg(value)
	}
	return value, true
}

var numberSeeds = []string{
	"0", "-0", "12", "9.5", "0.000001", "1e2", "125e-1", "1000000", "1000000.0000001", "0.1234567", "1e-999999999999999999999", "0e999999999999999999999",
	"-1e300", "1e999999999999999999999", "01", "+1", ".5", "5.", "1e", "NaN", "0x10", "1_0", "9223372036854775807", "-9223372036854775808", "9223372036854775808",
	"1000.0", "1e18", "1e19", "0.1e1", "123456789012345678901234567890e-20", "2.5", "1E+2", "-0.0", "1e308", "1.8e308", "5e-324", "1" + strings.Repeat("0", 200) + "e-200",
}

// FuzzMoney compares amounts and bids with math/big, and parses written amounts again.
func FuzzMoney(f *testing.F) {
	for _, text := range numberSeeds {
		f.Add(text)
	}
	million := big.NewRat(1_000_000, 1)
	f.Fuzz(func(t *testing.T, text string) {
		bid, errBid := ParseBidAmount([]byte(text))
		amount, errAmount := ParseMoney([]byte(text))
		exact, ok := bigNumber(text)
		if ok != (json.Valid([]byte(text)) && strings.Trim(text, " \t\r\n") == text && strings.IndexAny(text, "-0123456789") == 0) {
			t.Fatalf("the model accepts %q: %t, unlike encoding/json", text, ok)
		}
		var want error
		switch {
		case !ok:
			want = ErrNotNumber
		case exact.Sign() < 0:
			want = ErrNegative
		case exact.Cmp(million) > 0:
			want = ErrTooLarge
		}
		if want != nil {
			if !errors.Is(errBid, want) || !errors.Is(errAmount, want) || bid != 0 || amount != 0 {
				t.Fatalf("%q: %d, %d, %v, %v; want %v", text, bid, amount, errBid, errAmount, want)
			}
			return
		}
		millionths := new(big.Rat).Mul(exact, million)
		truncated := new(big.Int).Quo(millionths.Num(), millionths.Denom()).Int64()
		if int64(bid) != truncated || errors.Is(errBid, ErrTooSmall) != (truncated == 0) || truncated > 0 && errBid != nil {
			t.Fatalf("bid %q: %d, %v; want %d", text, bid, errBid, truncated)
		}
		if whole := millionths.IsInt(); whole && (errAmount != nil || int64(amount) != truncated) || !whole && !errors.Is(errAmount, ErrTooPrecise) {
			t.Fatalf("amount %q: %d, %v; want %s", text, amount, errAmount, exact)
		}
		if back, err := ParseMoney(bid.AppendJSON(nil)); err != nil || back != bid {
			t.Fatalf("%s is parsed as %d, %v", bid, back, err)
		}
	})
}

// FuzzNumber compares the numbers of fields with math/big and strconv.
func FuzzNumber(f *testing.F) {
	for _, text := range numberSeeds {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		exact, ok := bigNumber(text)
		n, code := format.ParseInteger([]byte(text))
		want, wantValue := "", int64(0)
		switch {
		case !ok, !exact.IsInt():
			want = errcode.FieldWrongType
		case !exact.Num().IsInt64():
			want = errcode.FieldOutOfRange
		default:
			wantValue = exact.Num().Int64()
		}
		if code != want || n != wantValue {
			t.Fatalf("integer %q: %d %q, want %d %q", text, n, code, wantValue, want)
		}
		float, code := format.ParseNumber([]byte(text))
		wantFloat, err := strconv.ParseFloat(text, 64)
		switch {
		case len(text) > format.MaxNumberText:
			want = errcode.FieldOutOfRange
		case !ok:
			want = errcode.FieldWrongType
		case err != nil:
			want = errcode.FieldOutOfRange
		default:
			want = ""
		}
		if code != want || code == "" && (float != wantFloat || math.Signbit(float) && float == 0) {
			t.Fatalf("number %q: %v %q, want %v %q", text, float, code, wantFloat, want)
		}
	})
}
