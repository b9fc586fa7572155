package selection

import (
	"pingpost/engine/bitset"
	"pingpost/engine/market"
)

// ExcludeByUSStateAndFilters excludes the filter sets that do not accept the lead's state, and then those
// whose filters reject the lead. It ignores opening hours, caps and funds: see
// UnavailableFilterSets.
func (l *CompiledFilterSets) ExcludeByUSStateAndFilters(lead *market.Lead, candidates *Candidates) {
	candidates.ExcludeAllExcept(l.byState[lead.USState()], market.OutcomeWrongState)
	copy(candidates.scratch, candidates.Eligible)
	l.filters.ClearFailingSets(lead, candidates.scratch)
	candidates.ExcludeAllExcept(candidates.scratch, market.OutcomeFiltered)
}

// ExcludeBySupplier excludes the filter sets that do not accept leads of the supplier.
func (l *CompiledFilterSets) ExcludeBySupplier(supplier market.SupplierID, candidates *Candidates) {
	if l.bySupplier == nil {
		return
	}
	accepting, named := l.bySupplier[supplier]
	if !named {
		accepting = l.otherSupplier
	}
	candidates.ExcludeAllExcept(accepting, market.OutcomeFiltered)
}

// ExcludeSuppressed excludes the filter sets whose buyers have the lead on a suppression list.
// isListed reports whether a list has the lead; ExcludeSuppressed calls it at most once for each
// list.
func (l *CompiledFilterSets) ExcludeSuppressed(candidates *Candidates, isListed func(*market.SuppressionListDefinition) bool) {
	for _, entry := range l.suppressionLists {
		if candidates.Eligible.HasAnyOf(entry.sets) && isListed(entry.list) {
			candidates.ExcludeAll(entry.sets, market.OutcomeSuppressed)
		}
	}
}

// UnavailableFilterSets holds the filter sets of a campaign that no lead can be sold to at the
// moment. A filter set is in the set of each reason that applies. The value is immutable once it
// is complete.
type UnavailableFilterSets struct {
	BelowFloor bitset.Set // the filter set's price is below the campaign's floor, or below a fixed payout
	Closed     bitset.Set // outside the hours of the campaign, the buyer or the filter set
	Capped     bitset.Set
	NoFunds    bitset.Set
	Paused     bitset.Set
	Unhealthy  bitset.Set // the buyer has too many unconfirmed deliveries

	Version uint64 // the campaign's State.BuyerAvailabilityVersion before the computation
	Until   int64  // Unix nanoseconds: valid before that
}

// NewEmptyUnavailableFilterSets returns empty sets of the right size for a campaign. The caller adds
// the unavailable filter sets.
func NewEmptyUnavailableFilterSets(l *CompiledFilterSets) *UnavailableFilterSets {
	n := l.Len()
	return &UnavailableFilterSets{
		BelowFloor: bitset.New(n), Closed: bitset.New(n), Capped: bitset.New(n),
		NoFunds: bitset.New(n), Paused: bitset.New(n), Unhealthy: bitset.New(n),
	}
}

// ExcludeFrom excludes the unavailable filter sets from the candidates. If several reasons apply,
// the first counts: hours, caps, funds, pause, health, floor.
func (d *UnavailableFilterSets) ExcludeFrom(candidates *Candidates) {
	candidates.ExcludeAll(d.Closed, market.OutcomeClosed)
	candidates.ExcludeAll(d.Capped, market.OutcomeCapped)
	d.excludeForFundsPauseHealthFloor(candidates)
}

// ExcludeFromExceptCaps excludes the unavailable filter sets from the candidates, but ignores full
// caps. It is for a lead whose refused post used capacity in caps. That use alone may fill a cap,
// and the refusal's event gives it back. The caller therefore checks the caps one by one.
func (d *UnavailableFilterSets) ExcludeFromExceptCaps(candidates *Candidates) {
	candidates.ExcludeAll(d.Closed, market.OutcomeClosed)
	d.excludeForFundsPauseHealthFloor(candidates)
}

func (d *UnavailableFilterSets) excludeForFundsPauseHealthFloor(candidates *Candidates) {
	candidates.ExcludeAll(d.NoFunds, market.OutcomeNoFunds)
	candidates.ExcludeAll(d.Paused, market.OutcomePaused)
	candidates.ExcludeAll(d.Unhealthy, market.OutcomeUnhealthy)
	candidates.ExcludeAll(d.BelowFloor, market.OutcomeBelowFloor)
}

// FixedPriceOrMinimumBid returns the lowest price at which a filter set can get a lead, for the checks of
// caps and funds. fixedPrice is its price for the methods without an auction. In a ping_post campaign
// the price is unknown before the bids. A buyer is therefore pinged if there is capacity for the
// lowest valid bid.
func FixedPriceOrMinimumBid(c *market.Campaign, fixedPrice market.Money) market.Money {
	if c.Method != market.PingPost {
		return fixedPrice
	}
	if c.Payout.IsFixed {
		return max(c.Floor, c.Payout.Fixed, 1)
	}
	return max(c.Floor, 1)
}
