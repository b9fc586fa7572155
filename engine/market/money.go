package market

import (
	"errors"
	"math/bits"
	"strconv"

	"pingpost/engine/market/format"
)

// Money is an amount in millionths of its currency's unit: 12.5 dollars are 12_500_000. Only
// balances and changes of balances can be negative.
type Money int64

const (
	moneyUnit     = 1_000_000
	moneyDecimals = 6

	// MaxMoney is the largest single amount: a million units.
	MaxMoney Money = 1_000_000 * moneyUnit
)

// The errors of reading an amount.
var (
	ErrNotNumber  = errors.New("the amount is not a JSON number")
	ErrNegative   = errors.New("the amount is negative")
	ErrTooLarge   = errors.New("the amount is over 1000000")
	ErrTooPrecise = errors.New("the amount has digits past the sixth decimal")
	ErrTooSmall   = errors.New("the bid is below 0.000001")
)

// ParseMoney reads an amount from 0 to MaxMoney from the text of a JSON number, in any notation.
// It never rounds: a digit other than 0 past the sixth decimal is an error.
func ParseMoney(jsonNumber []byte) (Money, error) {
	m, truncated, err := parseMicroAmount(jsonNumber)
	if err == nil && truncated {
		return 0, ErrTooPrecise
	}
	return m, err
}

// ParseBidAmount reads the amount of a bid, and drops digits past the sixth decimal. It checks
// sign and size before it drops them. If the rest is 0, it returns ErrTooSmall, so that no bid is
// free.
func ParseBidAmount(jsonNumber []byte) (Money, error) {
	m, _, err := parseMicroAmount(jsonNumber)
	if err == nil && m == 0 {
		return 0, ErrTooSmall
	}
	return m, err
}

// parseMicroAmount reads an amount in millionths. droppedDigits reports that it dropped non-zero
// digits past the sixth decimal. It stores no more than Money's thirteen digits, so a long number
// or a huge exponent costs no memory.
func parseMicroAmount(text []byte) (m Money, droppedDigits bool, err error) {
	d, ok := format.ParseDecimal(text)
	if !ok {
		return 0, false, ErrNotNumber
	}
	place := d.Exponent + moneyDecimals + len(d.Whole) - 1 // of the next digit, in powers of ten of a millionth
	for _, part := range [2][]byte{d.Whole, d.Fraction} {
		for _, c := range part {
			switch {
			case c == '0' && m == 0: // leading
			case place < 0:
				droppedDigits = droppedDigits || c != '0'
			case place > 12: // ten million units or more
				return 0, false, outOfRangeError(d.Negative)
			default:
				m += Money(c-'0') * powersOfTen[place]
			}
			place--
		}
	}
	switch {
	case d.Negative && (m > 0 || droppedDigits):
		return 0, false, ErrNegative
	case m > MaxMoney, m == MaxMoney && droppedDigits:
		return 0, false, ErrTooLarge
	}
	return m, droppedDigits, nil
}

// outOfRangeError returns the error for an amount outside the range of Money: too large or
// negative.
func outOfRangeError(negative bool) error {
	if negative {
		return ErrNegative
	}
	return ErrTooLarge
}

var powersOfTen = [13]Money{1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12}

// AppendJSON appends the amount as the shortest JSON number: 12, 9.5, 0.000001.
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

// MarshalJSON returns the amount in the form of AppendJSON. It implements json.Marshaler.
func (m Money) MarshalJSON() ([]byte, error) { return m.AppendJSON(nil), nil }

// UnmarshalJSON reads the amount with ParseMoney. It implements json.Unmarshaler; null leaves the
// amount unchanged.
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

// Currency is an ISO 4217 code of three letters, such as USD. The zero value means no currency.
type Currency [3]byte

// ParseCurrency returns the currency with this code of three capital letters. It does not check
// that the code is in use. ok is false for any other text.
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

// ShareInMillionths is a fraction of a price or of a number, in millionths: 0 to 1_000_000.
type ShareInMillionths int64

// WholeShare is the share of 100 %.
const WholeShare ShareInMillionths = 1_000_000

// ErrShareRange reports that a configured share is greater than 1.
var ErrShareRange = errors.New("the share is over 1")

// ParseShare reads a share from the text of a JSON number from 0 to 1 with at most six
// decimals.
func ParseShare(jsonNumber []byte) (ShareInMillionths, error) {
	m, err := ParseMoney(jsonNumber)
	switch {
	case errors.Is(err, ErrTooLarge), err == nil && m > Money(WholeShare):
		return 0, ErrShareRange
	case err != nil:
		return 0, err
	}
	return ShareInMillionths(m), nil
}

func (s ShareInMillionths) String() string { return Money(s).String() }

// PayoutRule is the supplier's part of the price that a buyer pays: a fixed amount, or a share of the
// price.
type PayoutRule struct {
	Fixed   Money
	Share   ShareInMillionths
	IsFixed bool
}

// AmountAtPrice returns the payout for a sale at this price. A share is rounded down to the
// millionth. priceCoversPayout is false if the price is below a fixed payout, because the exchange would lose
// money.
func (p PayoutRule) AmountAtPrice(price Money) (payout Money, priceCoversPayout bool) {
	if p.IsFixed {
		if price < p.Fixed {
			return 0, false
		}
		return p.Fixed, true
	}
	if price < 0 || p.Share < 0 || p.Share > WholeShare {
		panic("BUG: payout of a negative price, or a share outside 0 to 1")
	}
	return Money(multiplyByMillionths(int64(price), int64(p.Share))), true
}

// multiplyByMillionths returns amount * millionths / 1_000_000, rounded down. Both are not negative, and
// the result must fit an int64.
func multiplyByMillionths(amount, millionths int64) int64 {
	high, low := bits.Mul64(uint64(amount), uint64(millionths))
	quotient, _ := bits.Div64(high, low, moneyUnit)
	return int64(quotient)
}
