package selection

import (
	"slices"

	"pingpost/engine/market"
)

// PriceAndCaps has the price and caps of a filter set under one of its modifiers, or without a modifier.
type PriceAndCaps struct {
	Price      market.Money  // for the methods without an auction
	Caps       []*market.Cap // the campaign's, the buyer's, the pair's, in that order
	NoCapacity bool          // the modifier's factor for caps is 0, also without a cap of the pair
}

// PriceAndCapsAt returns the price and caps of a filter set at the instant nowNanos. They may change at
// mayChangeAtNanos. Both are in Unix nanoseconds. The result is shared and immutable.
func (l *CompiledFilterSets) PriceAndCapsAt(filterSetIndex int, nowNanos int64) (current *PriceAndCaps, mayChangeAtNanos int64) {
	modifier, until := l.Campaign.FilterSets[filterSetIndex].ModifierAt(nowNanos)
	return &l.pricesAndCaps[filterSetIndex][1+modifier], until
}

// compilePricesAndCaps returns the price and caps of a filter set without a modifier, and then with each of its
// modifiers. Modified caps have the numbers of the configured ones, and so share their counters.
func compilePricesAndCaps(c *market.Campaign, set *market.FilterSet) []PriceAndCaps {
	shared := slices.Concat(c.Caps, set.Buyer.Caps)
	all := make([]PriceAndCaps, 0, 1+len(set.Modifiers))
	all = append(all, PriceAndCaps{Price: set.Price, Caps: slices.Concat(shared, set.Caps)})
	for i := range set.Modifiers {
		m := &set.Modifiers[i]
		all = append(all, PriceAndCaps{Price: m.ModifiedPrice(set.Price), Caps: slices.Concat(shared, m.ModifiedCaps(set.Caps)), NoCapacity: m.Caps == 0})
	}
	return all
}
