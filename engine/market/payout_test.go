package market

import (
	"errors"
	"math/big"
	"testing"

	"pgregory.net/rapid"
)

func TestParseShare(t *testing.T) {
	cases := []struct {
		text string
		want ShareInMillionths
		err  error
	}{
		{"0", 0, nil},
		{"0.80", 800_000, nil},
		{"0.333333", 333_333, nil},
		{"1", WholeShare, nil},
		{"1.0", WholeShare, nil},
		{"5e-1", 500_000, nil},
		{"1.000001", 0, ErrShareRange},
		{"80", 0, ErrShareRange},
		{"1e9", 0, ErrShareRange},
		{"0.3333333", 0, ErrTooPrecise},
		{"-0.1", 0, ErrNegative},
		{"80%", 0, ErrNotNumber},
	}
	for _, c := range cases {
		if got, err := ParseShare([]byte(c.text)); got != c.want || !errors.Is(err, c.err) {
			t.Errorf("%s: %d, %v; want %d, %v", c.text, got, err, c.want, c.err)
		}
	}
	if text := ShareInMillionths(800_000).String(); text != "0.8" {
		t.Errorf("String of share 0.8 is %s", text)
	}
}

func TestPayout(t *testing.T) {
	fixed := PayoutRule{Fixed: 6_500_000, IsFixed: true}
	cases := []struct {
		name   string
		payout PayoutRule
		price  Money
		want   Money
		ok     bool
	}{
		{"four fifths", PayoutRule{Share: 800_000}, 12_000_000, 9_600_000, true},
		{"all", PayoutRule{Share: WholeShare}, MaxMoney, MaxMoney, true},
		{"none", PayoutRule{}, 12_000_000, 0, true},
		{"a third of a cent, rounded down", PayoutRule{Share: 333_333}, 10_000, 3_333, true},
		{"less than a millionth, rounded down", PayoutRule{Share: 999_999}, 1, 0, true},
		{"price of zero", PayoutRule{Share: 800_000}, 0, 0, true},
		{"fixed", fixed, 12_000_000, 6_500_000, true},
		{"fixed, equal to the price", fixed, 6_500_000, 6_500_000, true},
		{"fixed, more than the price", fixed, 6_499_999, 0, false},
	}
	for _, c := range cases {
		if got, ok := c.payout.AmountAtPrice(c.price); got != c.want || ok != c.ok {
			t.Errorf("%s: %s, %t; want %s, %t", c.name, got, ok, c.want, c.ok)
		}
	}
}

func TestShareOfPriceRoundsDownOnce(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		price := rapid.Int64Range(0, int64(MaxMoney)).Draw(t, "price")
		share := rapid.Int64Range(0, int64(WholeShare)).Draw(t, "share")
		exact := new(big.Int).Mul(big.NewInt(price), big.NewInt(share))
		want := exact.Quo(exact, big.NewInt(1_000_000)).Int64()
		if got, ok := (PayoutRule{Share: ShareInMillionths(share)}).AmountAtPrice(Money(price)); int64(got) != want || !ok {
			t.Fatalf("%d, %t; want %d", got, ok, want)
		}
	})
}

func TestInvalidPayoutPanics(t *testing.T) {
	for name, payout := range map[string]func(){
		"negative price":        func() { PayoutRule{Share: 1}.AmountAtPrice(-1) },
		"negative share":        func() { PayoutRule{Share: -1}.AmountAtPrice(1) },
		"share above the whole": func() { PayoutRule{Share: WholeShare + 1}.AmountAtPrice(1) },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: no panic", name)
				}
			}()
			payout()
		}()
	}
}
