package market

import (
	"errors"
	"math"
	"math/big"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"pingpost/engine/market/calendar"
)

func TestParseFactor(t *testing.T) {
	for text, want := range map[string]Factor{"0": 0, "1": UnchangedFactor, "1.25": 1_250_000, "0.000001": 1, "100": MaxFactor, "1e2": MaxFactor} {
		if got, err := ParseFactor([]byte(text)); got != want || err != nil {
			t.Errorf("%s: %v, %v", text, got, err)
		}
	}
	for text, want := range map[string]error{
		"100.000001": ErrFactorTooLarge, "1e99": ErrFactorTooLarge, "-1": ErrNegative, "0.0000001": ErrTooPrecise, "x": ErrNotNumber,
	} {
		if got, err := ParseFactor([]byte(text)); got != 0 || !errors.Is(err, want) {
			t.Errorf("%s: %v, %v; want %v", text, got, err, want)
		}
	}
}

// Modified prices and limits are the exact products, rounded down, up to the largest values.
func TestModifiedTermsAreExactProducts(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := Modifier{Price: Factor(rapid.Int64Range(0, int64(MaxFactor)).Draw(t, "price factor")), Caps: Factor(rapid.Int64Range(0, int64(MaxFactor)).Draw(t, "caps factor"))}
		product := func(amount int64, factor Factor) int64 {
			exact := new(big.Int).Mul(big.NewInt(amount), big.NewInt(int64(factor)))
			return exact.Div(exact, big.NewInt(1_000_000)).Int64()
		}
		price := Money(rapid.Int64Range(0, int64(MaxMoney)).Draw(t, "price"))
		if got := m.ModifiedPrice(price); int64(got) != product(int64(price), m.Price) {
			t.Errorf("%s × %s is %s", price, m.Price, got)
		}
		configured := []*Cap{{Ref: 7, Unit: UnitCount, Limit: rapid.Int64Range(0, 1e9).Draw(t, "count")}, {Ref: 8, Unit: UnitMoney, Limit: rapid.Int64Range(0, int64(MaxMoney)).Draw(t, "money")}}
		for i, limit := range m.ModifiedCaps(configured) {
			if want := product(configured[i].Limit, m.Caps); limit.Limit != want || limit.Ref != configured[i].Ref || limit.Unit != configured[i].Unit {
				t.Errorf("%+v × %s is %+v, want the limit %d", *configured[i], m.Caps, *limit, want)
			}
		}
	})
}

func TestModifierAt(t *testing.T) {
	during := func(line string) *calendar.WeeklySchedule {
		s, err := calendar.ParseWeeklySchedule(time.UTC, []string{line})
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	set := &FilterSet{Price: 10_000_000, Caps: []*Cap{{Limit: 10}}, Modifiers: []Modifier{
		{During: during("Mon 10:00-12:00"), Price: 2 * UnchangedFactor, Caps: UnchangedFactor}, {During: during("Mon 09:00-13:00"), Price: UnchangedFactor, Caps: UnchangedFactor / 3},
	}}
	monday := time.Date(2026, time.November, 30, 0, 0, 0, 0, time.UTC)
	for _, c := range []struct{ from, index, until, price, limit int }{{8, -1, 9, 10, 10}, {9, 1, 10, 10, 3}, {10, 0, 12, 20, 10}, {12, 1, 13, 10, 3}, {13, -1, 7*24 + 9, 10, 10}} {
		at := monday.Add(time.Duration(c.from) * time.Hour).UnixNano()
		index, until := set.ModifierAt(at)
		if want := monday.Add(time.Duration(c.until) * time.Hour).UnixNano(); index != c.index || until != want {
			t.Errorf("at %d:00: modifier %d until %s", c.from, index, time.Unix(0, until).UTC())
		}
		if price, limit := set.PriceAt(at), set.CapsAt(at)[0].Limit; price != Money(c.price)*1_000_000 || limit != int64(c.limit) {
			t.Errorf("at %d:00: price %s and limit %d, want %d and %d", c.from, price, limit, c.price, c.limit)
		}
	}
	plain := &FilterSet{Price: 5, Caps: set.Caps}
	if index, until := plain.ModifierAt(monday.UnixNano()); index != -1 || until != math.MaxInt64 || plain.PriceAt(0) != 5 || !slices.Equal(plain.CapsAt(0), set.Caps) {
		t.Errorf("without modifiers: %d until %d", index, until)
	}
}
