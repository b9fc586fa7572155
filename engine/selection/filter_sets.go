package selection

import (
	"encoding/binary"
	"hash/fnv"
	"math/bits"

	"pingpost/engine/bitset"
	"pingpost/engine/market"
)

// CompiledFilterSets is a campaign's filter sets, compiled when the configuration changes. It has
// the filter sets that accept each state, an index of their filters by field, and the caps that a
// sale to each filter set uses. A decision then costs a few bit operations for every 64 filter sets
// instead of a check of each one. So a lead in a campaign with a thousand buyers costs little
// more than with one buyer.
//
// The value is immutable and shared by all requests.
type CompiledFilterSets struct {
	Campaign *market.Campaign
	Weights  []int32 // by filter set

	pricesAndCaps    [][]PriceAndCaps // by filter set: without a modifier, and then with each of its modifiers
	rotationKey      uint64           // hash of the buyers, their order and their weights
	all              bitset.Set
	byState          []bitset.Set // by market.USState; NoState's has the filter sets that accept any state
	filters          *market.FilterIndex
	suppressionLists []filterSetsUsingSuppressionList

	// setsOfSameBuyer has, by filter set, all filter sets of its buyer, or nil if it is the only one. The
	// slice is nil if no buyer has several filter sets in the campaign.
	setsOfSameBuyer []bitset.Set

	// The filter sets that accept each supplier that a filter set names, and those that accept every
	// other supplier. Both are nil if all filter sets accept all suppliers.
	bySupplier    map[market.SupplierID]bitset.Set
	otherSupplier bitset.Set
}

// filterSetsUsingSuppressionList are the filter sets of a campaign whose buyers use the same
// suppression list.
type filterSetsUsingSuppressionList struct {
	list *market.SuppressionListDefinition
	sets bitset.Set
}

// CompileFilterSets compiles a campaign's filter sets, once for each configuration.
func CompileFilterSets(c *market.Campaign) *CompiledFilterSets {
	n := len(c.FilterSets)
	l := &CompiledFilterSets{
		Campaign: c, Weights: make([]int32, n), pricesAndCaps: make([][]PriceAndCaps, n),
		all: bitset.New(n),
	}
	l.all.ResetToAllBelow(n)
	filters := make([][]market.Filter, n)
	for i := range c.FilterSets {
		set := &c.FilterSets[i]
		filters[i] = set.Filters
		l.Weights[i] = 1
		if c.Method == market.Weighted {
			l.Weights[i] = int32(set.Weight)
		}
		l.pricesAndCaps[i] = compilePricesAndCaps(c, set)
		for _, list := range set.Buyer.Suppression {
			l.getOrAddFilterSetsOfSuppressionList(list).Add(i)
		}
	}
	l.filters = market.NewFilterIndex(filters)
	l.byState = filterSetsByUSState(c)
	l.setsOfSameBuyer = findSetsOfSameBuyer(c)
	l.bySupplier, l.otherSupplier = filterSetsBySupplier(c)
	l.rotationKey = l.hashBuyersAndWeights()
	return l
}

// WithTerms returns the filter sets of the campaign's copy with an entry of its terms. They differ in the
// campaign and the caps, and share the rest.
func (l *CompiledFilterSets) WithTerms(index int) *CompiledFilterSets {
	limited := *l
	limited.Campaign = l.Campaign.WithTerms(index)
	if len(l.Campaign.Terms[index].Caps) > 0 {
		limited.pricesAndCaps = make([][]PriceAndCaps, len(l.pricesAndCaps))
		for i := range limited.pricesAndCaps {
			limited.pricesAndCaps[i] = compilePricesAndCaps(limited.Campaign, &limited.Campaign.FilterSets[i])
		}
	}
	return &limited
}

func (l *CompiledFilterSets) getOrAddFilterSetsOfSuppressionList(list *market.SuppressionListDefinition) bitset.Set {
	for _, known := range l.suppressionLists {
		if known.list == list {
			return known.sets
		}
	}
	sets := bitset.New(len(l.Campaign.FilterSets))
	l.suppressionLists = append(l.suppressionLists, filterSetsUsingSuppressionList{list, sets})
	return sets
}

// filterSetsByUSState returns, by the number of each US state, the filter sets that accept a lead
// from that state. Element 0, for a lead without a state, has only the filter sets for all
// states.
func filterSetsByUSState(c *market.Campaign) []bitset.Set {
	byState := make([]bitset.Set, bits.Len64(uint64(market.AllStates)))
	for state := range byState {
		byState[state] = bitset.New(len(c.FilterSets))
		for i := range c.FilterSets {
			states := c.FilterSets[i].States
			if states == market.AllStates || (state > 0 && states.Has(market.USState(state))) {
				byState[state].Add(i)
			}
		}
	}
	return byState
}

// findSetsOfSameBuyer returns the value of CompiledFilterSets.setsOfSameBuyer.
func findSetsOfSameBuyer(c *market.Campaign) (byFilterSet []bitset.Set) {
	first := make(map[market.BuyerID]int, len(c.FilterSets))
	for i := range c.FilterSets {
		earlier, repeated := first[c.FilterSets[i].Buyer.ID]
		if !repeated {
			first[c.FilterSets[i].Buyer.ID] = i
			continue
		}
		if byFilterSet == nil {
			byFilterSet = make([]bitset.Set, len(c.FilterSets))
		}
		if byFilterSet[earlier] == nil {
			byFilterSet[earlier] = bitset.New(len(c.FilterSets))
			byFilterSet[earlier].Add(earlier)
		}
		byFilterSet[i] = byFilterSet[earlier]
		byFilterSet[i].Add(i)
	}
	return byFilterSet
}

// ExcludeAllButFirstOfEachBuyer excludes all candidates but the first filter set of each buyer: the one with the
// lowest priority number. An auction pings a buyer once.
func (l *CompiledFilterSets) ExcludeAllButFirstOfEachBuyer(c *Candidates) {
	if l.setsOfSameBuyer != nil {
		c.ExcludeAllExcept(l.FirstEligibleOfEachBuyer(c), market.OutcomeOtherSet)
	}
}

// FirstEligibleOfEachBuyer returns the first eligible filter set of each buyer, because a rotation gives a buyer one
// turn. The result is valid until the next call, and the caller must not change it.
func (l *CompiledFilterSets) FirstEligibleOfEachBuyer(c *Candidates) bitset.Set {
	if l.setsOfSameBuyer == nil {
		return c.Eligible
	}
	copy(c.scratch, c.Eligible)
	for i := c.scratch.NextFrom(0); i >= 0; i = c.scratch.NextFrom(i + 1) {
		if others := l.setsOfSameBuyer[i]; others != nil {
			c.scratch.RemoveAll(others)
			c.scratch.Add(i)
		}
	}
	return c.scratch
}

// ExcludeOthersOfBuyer excludes the candidates that belong to the buyer of this filter set.
func (l *CompiledFilterSets) ExcludeOthersOfBuyer(filterSetIndex int, c *Candidates) {
	if len(l.setsOfSameBuyer) > 0 && l.setsOfSameBuyer[filterSetIndex] != nil {
		c.ExcludeAll(l.setsOfSameBuyer[filterSetIndex], market.OutcomeOtherSet)
	}
}

// filterSetsBySupplier returns the filter sets that accept a lead of each supplier that a filter set
// names, and of any other supplier. Both are nil if no filter set names a supplier.
func filterSetsBySupplier(c *market.Campaign) (bySupplier map[market.SupplierID]bitset.Set, otherSupplier bitset.Set) {
	accepting := func(supplier market.SupplierID) bitset.Set {
		sets := bitset.New(len(c.FilterSets))
		for i := range c.FilterSets {
			if c.FilterSets[i].AcceptsSupplier(supplier) {
				sets.Add(i)
			}
		}
		return sets
	}
	for i := range c.FilterSets {
		for _, named := range [...]map[market.SupplierID]struct{}{c.FilterSets[i].Suppliers, c.FilterSets[i].NotSuppliers} {
			if named != nil && bySupplier == nil {
				bySupplier, otherSupplier = make(map[market.SupplierID]bitset.Set), accepting("") // no supplier has the id ""
			}
			for supplier := range named {
				if bySupplier[supplier] == nil {
					bySupplier[supplier] = accepting(supplier)
				}
			}
		}
	}
	return bySupplier, otherSupplier
}

// hashBuyersAndWeights returns a hash of the campaign's buyers, their order and their weights. Two
// campaigns with the same buyers, order and weights have equal hashes, and rotate among their
// filter sets in the same way.
func (l *CompiledFilterSets) hashBuyersAndWeights() uint64 {
	h := fnv.New64a()
	var word [8]byte
	for i := range l.Campaign.FilterSets {
		_, _ = h.Write([]byte(l.Campaign.FilterSets[i].Name()))
		binary.LittleEndian.PutUint64(word[:], uint64(l.Weights[i]))
		_, _ = h.Write(word[:])
	}
	return h.Sum64()
}

// RotationID returns the identifier of the rotation among these filter sets, which take turns in
// getting leads. It stays the same as long as buyers, order and weights do. It is never zero.
func (l *CompiledFilterSets) RotationID(sets bitset.Set) uint64 {
	name := l.rotationKey
	for _, word := range sets {
		name ^= word
		for range 2 { // after one round the next word could undo a change of a high bit
			name = (name ^ name>>32) * 0xd6e8feb86659fd93
		}
		name ^= name >> 32
	}
	return name | 1
}

// Len returns the number of filter sets in the campaign.
func (l *CompiledFilterSets) Len() int { return len(l.Campaign.FilterSets) }
