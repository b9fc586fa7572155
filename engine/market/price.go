package market

import (
	"errors"
	"math/bits"
)

// Share is a part of a price in millionths of one: 0 to 1_000_000.
type Share int64

// WholeShare is all of the price.
const WholeShare Share = 1_000_000

// ErrShareRange says that a share is not between none and all.
var ErrShareRange = errors.New("the share is over 1")

// ParseShare reads a JSON number from 0 to 1 with at most six decimals.
func ParseShare(digits []byte) (Share, error) {
	m, err := ParseMoney(digits)
	switch {
	case errors.Is(err, ErrTooLarge), err == nil && m > Money(WholeShare):
		return 0, ErrShareRange
	case err != nil:
		return 0, err
	}
	return Share(m), nil
}

func (s Share) String() string { return Money(s).String() }

// Payout is what the supplier is paid of a buyer's price: a fixed amount, or a
// share of the price.
type Payout struct {
	Fixed   Money
	Share   Share
	IsFixed bool
}

// Of is the payout at a price. A share is rounded down to the millionth, once.
// A price under a fixed payout is not ok: the exchange would lose by the sale.
func (p Payout) Of(price Money) (payout Money, ok bool) {
	if p.IsFixed {
		if price < p.Fixed {
			return 0, false
		}
		return p.Fixed, true
	}
	if price < 0 || p.Share < 0 || p.Share > WholeShare {
		panic("BUG: payout of a negative price, or a share outside 0 to 1")
	}
	high, low := bits.Mul64(uint64(price), uint64(p.Share))
	quotient, _ := bits.Div64(high, low, uint64(WholeShare))
	return Money(quotient), true
}
