package market

import (
	"encoding/json"
	"errors"
	"math"
	"math/big"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestParseMoney(t *testing.T) {
	const dollar = Money(1_000_000)
	cases := []struct {
		text   string
		want   Money
		err    error // of ParseMoney
		bidErr error // of ParseBidAmount
		bid    Money // of ParseBidAmount, if ParseMoney fails
	}{
		{text: "0", bidErr: ErrTooSmall},
		{text: "-0", bidErr: ErrTooSmall},
		{text: "0.000000", bidErr: ErrTooSmall},
		{text: "12", want: 12 * dollar},
		{text: "9.5", want: 9_500_000},
		{text: "0.000001", want: 1},
		{text: "8.00", want: 8 * dollar},
		{text: "12.3400000000000", want: 12_340_000},
		{text: "1e2", want: 100 * dollar},
		{text: "1E+2", want: 100 * dollar},
		{text: "125e-1", want: 12_500_000},
		{text: "0.00000125e6", want: 1_250_000},
		{text: "1000000", want: MaxMoney},
		{text: "10000000e-1", want: MaxMoney},
		{text: "0e999999999999999999999", bidErr: ErrTooSmall},
		{text: "0." + strings.Repeat("0", 5000) + "1e5001", want: dollar},
		{text: "1" + strings.Repeat("0", 5000) + "e-5000", want: dollar},

		{text: "0.1234567", err: ErrTooPrecise, bid: 123_456},
		{text: "0.12345670", err: ErrTooPrecise, bid: 123_456},
		{text: "1e-7", err: ErrTooPrecise, bidErr: ErrTooSmall},
		{text: "1e-400", err: ErrTooPrecise, bidErr: ErrTooSmall},
		{text: "0.0000009", err: ErrTooPrecise, bidErr: ErrTooSmall},
		{text: "0.0000019", err: ErrTooPrecise, bid: 1},
		{text: "1e-999999999999999999999", err: ErrTooPrecise, bidErr: ErrTooSmall},
		{text: "9.9999999", err: ErrTooPrecise, bid: 9_999_999},

		{text: "1000000.000001", err: ErrTooLarge, bidErr: ErrTooLarge},
		{text: "1000000.0000001", err: ErrTooLarge, bidErr: ErrTooLarge},
		{text: "1e7", err: ErrTooLarge, bidErr: ErrTooLarge},
		{text: "1e999999999999999999999", err: ErrTooLarge, bidErr: ErrTooLarge},
		{text: strings.Repeat("9", 5000), err: ErrTooLarge, bidErr: ErrTooLarge},

		{text: "-1", err: ErrNegative, bidErr: ErrNegative},
		{text: "-0.0000001", err: ErrNegative, bidErr: ErrNegative},
		{text: "-1e300", err: ErrNegative, bidErr: ErrNegative},

		{text: "", err: ErrNotNumber, bidErr: ErrNotNumber},
		{text: "-", err: ErrNotNumber, bidErr: ErrNotNumber},
		{text: "+1", err: ErrNotNumber, bidErr: ErrNotNumber},
		{text: "01", err: ErrNotNumber, bidErr: ErrNotNumber},
		{text: ".5", err: ErrNotNumber, bidErr: ErrNotNumber},
		{text: "5.", err: ErrNotNumber, bidErr: ErrNotNumber},
		{text: "1e", err: ErrNotNumber, bidErr: ErrNotNumber},
		{text: "1e+", err: ErrNotNumber, bidErr: ErrNotNumber},
		{text: "1e2.5", err: ErrNotNumber, bidErr: ErrNotNumber},
		{text: "1e2 USD", err: ErrNotNumber, bidErr: ErrNotNumber},
		{text: "1 ", err: ErrNotNumber, bidErr: ErrNotNumber},
		{text: "0x10", err: ErrNotNumber, bidErr: ErrNotNumber},
		{text: "1_0", err: ErrNotNumber, bidErr: ErrNotNumber},
		{text: "NaN", err: ErrNotNumber, bidErr: ErrNotNumber},
		{text: `"12"`, err: ErrNotNumber, bidErr: ErrNotNumber},
	}
	for _, c := range cases {
		name := c.text[:min(len(c.text), 30)]
		if got, err := ParseMoney([]byte(c.text)); got != c.want || !errors.Is(err, c.err) {
			t.Errorf("amount %s: %d, %v; want %d, %v", name, got, err, c.want, c.err)
		}
		bid := c.bid
		if c.err == nil {
			bid = c.want
		}
		if got, err := ParseBidAmount([]byte(c.text)); got != bid || !errors.Is(err, c.bidErr) {
			t.Errorf("bid %s: %d, %v; want %d, %v", name, got, err, bid, c.bidErr)
		}
	}
}

func TestMoneyText(t *testing.T) {
	for want, m := range map[string]Money{
		"0": 0, "12": 12_000_000, "9.5": 9_500_000, "0.000001": 1, "0.1": 100_000, "10.01": 10_010_000,
		"1000000": MaxMoney, "-3.25": -3_250_000, "-0.000001": -1,
		"9223372036854.775807": math.MaxInt64, "-9223372036854.775808": math.MinInt64,
	} {
		if got := m.String(); got != want {
			t.Errorf("String of %d millionths is %s, want %s", m, got, want)
		}
	}
}

func TestMoneyTextIsShortestAndRoundTrips(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := Money(rapid.Int64Range(0, int64(MaxMoney)).Draw(t, "millionths"))
		text := m.AppendJSON([]byte("x"))[1:]
		long := big.NewRat(int64(m), 1_000_000).FloatString(6)
		if want := strings.TrimSuffix(strings.TrimRight(long, "0"), "."); string(text) != want {
			t.Fatalf("%d is written %s, want %s", m, text, want)
		}
		if back, err := ParseMoney(text); back != m || err != nil {
			t.Fatalf("%s is parsed as %d, %v", text, back, err)
		}
		if negative := (-m).String(); m != 0 && negative != "-"+string(text) {
			t.Fatalf("String of -%s is %s", text, negative)
		}
	})
}

func TestMoneyInJSON(t *testing.T) {
	type priced struct {
		Price Money `json:"price"`
	}
	text, err := json.Marshal(priced{Price: 12_340_000})
	if err != nil || string(text) != `{"price":12.34}` {
		t.Fatalf("%s, %v", text, err)
	}
	var back priced
	if err := json.Unmarshal(text, &back); err != nil || back.Price != 12_340_000 {
		t.Errorf("%v, %v", back, err)
	}
	if err := json.Unmarshal([]byte(`{"price":null}`), &back); err != nil || back.Price != 12_340_000 {
		t.Errorf("null changed the price to %v, %v", back, err)
	}
	for _, wrong := range []string{`{"price":"12"}`, `{"price":-1}`, `{"price":0.0000001}`, `{"price":1000001}`, `{"price":true}`} {
		if err := json.Unmarshal([]byte(wrong), &back); err == nil || back.Price != 12_340_000 {
			t.Errorf("%s: %v, %v", wrong, back, err)
		}
	}
}

func TestParseCurrency(t *testing.T) {
	for _, code := range []string{"USD", "EUR", "XXX"} {
		if c, ok := ParseCurrency(code); !ok || c.String() != code {
			t.Errorf("%s: %s, %t", code, c, ok)
		}
	}
	for _, wrong := range []string{"", "US", "USDT", "usd", "U$D", "US ", "ÜS"} {
		if c, ok := ParseCurrency(wrong); ok || c != (Currency{}) || c.String() != "" {
			t.Errorf("%q is parsed as %q", wrong, c)
		}
	}
}
