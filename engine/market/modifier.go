package market

import (
	"errors"
	"math"
	"slices"

	"pingpost/engine/market/calendar"
)

// Factor multiplies a price or a limit. It is in millionths: 1_250_000 is 1.25.
type Factor int64

const (
	UnchangedFactor Factor = 1_000_000
	MaxFactor              = 100 * UnchangedFactor
)

// ErrFactorTooLarge reports that a configured factor is greater than 100.
var ErrFactorTooLarge = errors.New("the factor is over 100")

// ParseFactor reads a factor from the text of a JSON number from 0 to 100 with at most six decimals.
func ParseFactor(jsonNumber []byte) (Factor, error) {
	m, err := ParseMoney(jsonNumber)
	switch {
	case errors.Is(err, ErrTooLarge), err == nil && m > Money(MaxFactor):
		return 0, ErrFactorTooLarge
	case err != nil:
		return 0, err
	}
	return Factor(m), nil
}

func (f Factor) String() string { return Money(f).String() }

// Modifier changes a filter set's terms during hours of the week. Price multiplies the fixed price,
// which is rounded down to the millionth. Caps multiplies the limits of the filter set's own caps;
// counts are rounded down. If Caps is 0, the filter set gets no lead in these hours.
//
// A cap keeps its counter while its limit changes. So each sale counts, and a lower limit can be full
// at once. A sale needs capacity below the limit in force at its decision, so the use of a window never
// exceeds the highest limit that was in force in the window.
type Modifier struct {
	During *calendar.WeeklySchedule
	Price  Factor
	Caps   Factor
}

// ModifierAt returns the index of the first modifier in force at the instant, or -1. The answer may
// change at mayChangeAtNanos, which is math.MaxInt64 without modifiers. Times are in Unix nanoseconds.
func (s *FilterSet) ModifierAt(unixNanos int64) (indexOrMinusOne int, mayChangeAtNanos int64) {
	mayChangeAtNanos = math.MaxInt64
	for i := range s.Modifiers {
		inForce, until := s.Modifiers[i].During.IsOpenAt(unixNanos)
		mayChangeAtNanos = min(mayChangeAtNanos, until)
		if inForce {
			return i, mayChangeAtNanos
		}
	}
	return -1, mayChangeAtNanos
}

// PriceAt returns the fixed price in force at the instant, in Unix nanoseconds.
func (s *FilterSet) PriceAt(unixNanos int64) Money {
	if i, _ := s.ModifierAt(unixNanos); i >= 0 {
		return s.Modifiers[i].ModifiedPrice(s.Price)
	}
	return s.Price
}

// CapsAt returns the filter set's own caps with the limits in force at the instant, in Unix
// nanoseconds. It copies modified caps, so package selection computes them in advance for decisions.
func (s *FilterSet) CapsAt(unixNanos int64) []*Cap {
	if i, _ := s.ModifierAt(unixNanos); i >= 0 {
		return s.Modifiers[i].ModifiedCaps(s.Caps)
	}
	return s.Caps
}

// ModifiedPrice returns the price in the modifier's hours.
func (m *Modifier) ModifiedPrice(price Money) Money {
	return Money(multiplyByMillionths(int64(price), int64(m.Price)))
}

// ModifiedCaps returns the caps with their limits in the modifier's hours. It returns the caps
// themselves if the modifier does not change them.
func (m *Modifier) ModifiedCaps(caps []*Cap) []*Cap {
	if m.Caps == UnchangedFactor {
		return caps
	}
	modified := make([]*Cap, len(caps))
	for i, limit := range caps {
		changed := *limit
		changed.Limit = multiplyByMillionths(limit.Limit, int64(m.Caps))
		modified[i] = &changed
	}
	return modified
}

// WithoutCapFactors returns the modifiers with unchanged caps, for leads that use no cap.
func WithoutCapFactors(modifiers []Modifier) []Modifier {
	modifiers = slices.Clone(modifiers)
	for i := range modifiers {
		modifiers[i].Caps = UnchangedFactor
	}
	return modifiers
}
