package market

import (
	"errors"
	"strconv"
)

// Money is an amount in millionths of its currency's unit: 12.5 dollars are
// 12_500_000. Only balances are ever negative.
type Money int64

const (
	moneyUnit     = 1_000_000
	moneyDecimals = 6

	// MaxMoney is the most that one amount may be: a million units.
	MaxMoney Money = 1_000_000 * moneyUnit
)

// What may be wrong with an amount.
var (
	ErrNotNumber  = errors.New("the amount is not a JSON number")
	ErrNegative   = errors.New("the amount is negative")
	ErrTooLarge   = errors.New("the amount is over 1000000")
	ErrTooPrecise = errors.New("the amount has digits past the sixth decimal")
)

// ParseMoney reads a JSON number from its digits, exponent and all. An amount
// that Money cannot hold exactly is an error, never rounded.
func ParseMoney(digits []byte) (Money, error) {
	m, rest, err := parseAmount(digits)
	if err == nil && rest {
		return 0, ErrTooPrecise
	}
	return m, err
}

// ParseBid reads what a buyer bids: digits past the sixth decimal are cut.
// Sign and size are judged before the cut.
func ParseBid(digits []byte) (Money, error) {
	m, _, err := parseAmount(digits)
	return m, err
}

// parseAmount reads a number without ever holding more of it than Money's
// thirteen digits, so a long mantissa or a huge exponent costs no memory; rest
// tells that non-zero digits lie past the sixth decimal.
func parseAmount(text []byte) (m Money, rest bool, err error) {
	d, ok := splitDecimal(text)
	if !ok {
		return 0, false, ErrNotNumber
	}
	place := d.exponent + moneyDecimals + len(d.whole) - 1 // of the next digit, in powers of ten of a millionth
	for _, part := range [2][]byte{d.whole, d.fraction} {
		for _, c := range part {
			switch {
			case c == '0' && m == 0: // leading
			case place < 0:
				rest = rest || c != '0'
			case place > 12: // ten million units or more
				return 0, false, d.overflow()
			default:
				m += Money(c-'0') * powersOfTen[place]
			}
			place--
		}
	}
	switch {
	case d.negative && (m > 0 || rest):
		return 0, false, ErrNegative
	case m > MaxMoney, m == MaxMoney && rest:
		return 0, false, ErrTooLarge
	}
	return m, rest, nil
}

var powersOfTen = [13]Money{1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12}

// AppendJSON appends the shortest JSON number: 12, 9.5, 0.000001.
func (m Money) AppendJSON(dst []byte) []byte {
	magnitude := uint64(m)
	if m < 0 {
		dst = append(dst, '-')
		magnitude = -magnitude
	}
	dst = strconv.AppendUint(dst, magnitude/moneyUnit, 10)
	fraction := magnitude % moneyUnit
	if fraction == 0 {
		return dst
	}
	dst = append(dst, '.')
	for scale := uint64(moneyUnit / 10); fraction > 0; scale /= 10 {
		dst = append(dst, byte('0'+fraction/scale))
		fraction %= scale
	}
	return dst
}

func (m Money) String() string { return string(m.AppendJSON(nil)) }

// MarshalJSON writes what AppendJSON does.
func (m Money) MarshalJSON() ([]byte, error) { return m.AppendJSON(nil), nil }

// UnmarshalJSON reads what ParseMoney does; null leaves the amount alone.
func (m *Money) UnmarshalJSON(text []byte) error {
	if string(text) == "null" {
		return nil
	}
	parsed, err := ParseMoney(text)
	if err != nil {
		return err
	}
	*m = parsed
	return nil
}

// Currency is an ISO 4217 code. The zero value is no currency.
type Currency [3]byte

// ParseCurrency takes three capital letters; whether the code is in use is not
// looked up.
func ParseCurrency(s string) (c Currency, ok bool) {
	if len(s) != len(c) {
		return Currency{}, false
	}
	for i := range c {
		if s[i] < 'A' || s[i] > 'Z' {
			return Currency{}, false
		}
		c[i] = s[i]
	}
	return c, true
}

func (c Currency) String() string {
	if c == (Currency{}) {
		return ""
	}
	return string(c[:])
}
