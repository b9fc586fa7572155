package selection

import (
	"pingpost/engine/bitset"
	"pingpost/engine/market"
)

// ExcludeByLead excludes the filter sets that do not accept the lead's state, and then those
// whose filters reject the lead. It ignores opening hours, caps and funds: see
// UnavailableFilterSets.
func (l *CompiledFilterSets) ExcludeByLead(lead *market.Lead, c *Candidates) {
	c.KeepOnly(l.byState[lead.USState()], market.OutcomeWrongState)
	copy(c.scratch, c.Eligible)
	l.filters.ClearFailingSets(lead, c.scratch)
	c.KeepOnly(c.scratch, market.OutcomeFiltered)
}

// ExcludeSuppressed excludes the filter sets whose buyers have the lead on a suppression list.
// isListed reports whether a list has the lead; ExcludeSuppressed calls it at most once for each
// list.
func (l *CompiledFilterSets) ExcludeSuppressed(c *Candidates, isListed func(*market.SuppressionList) bool) {
	for _, entry := range l.lists {
		if hasCommonBit(entry.sets, c.Eligible) && isListed(entry.list) {
			c.ExcludeAll(entry.sets, market.OutcomeSuppressed)
		}
	}
}

func hasCommonBit(a, b bitset.Set) bool {
	for i := range b {
		if a[i]&b[i] != 0 {
			return true
		}
	}
	return false
}

// UnavailableFilterSets holds the filter sets of a campaign that no lead can be sold to at the
// moment. A filter set is in the set of each reason that applies. The value is immutable once it
// is complete.
type UnavailableFilterSets struct {
	BelowFloor bitset.Set // the filter set's price is below the campaign's floor, or below a fixed payout
	Closed     bitset.Set // outside the buyer's or the filter set's hours
	Capped     bitset.Set
	NoFunds    bitset.Set
	Paused     bitset.Set
	Unhealthy  bitset.Set // too many leads whose delivery to the buyer is unknown

	Version uint64 // State.AvailabilityVersion at the computation
	Until   int64  // Unix nanoseconds: valid before that
}

// NewUnavailableFilterSets returns empty sets of the right size for a campaign. The caller adds
// the unavailable filter sets.
func NewUnavailableFilterSets(l *CompiledFilterSets) *UnavailableFilterSets {
	n := l.Len()
	return &UnavailableFilterSets{
		BelowFloor: bitset.New(n), Closed: bitset.New(n), Capped: bitset.New(n),
		NoFunds: bitset.New(n), Paused: bitset.New(n), Unhealthy: bitset.New(n),
	}
}

// ExcludeFrom excludes the unavailable filter sets from the candidates. If several reasons apply,
// the first counts: hours, caps, funds, pause, health, floor.
func (d *UnavailableFilterSets) ExcludeFrom(c *Candidates) {
	c.ExcludeAll(d.Closed, market.OutcomeClosed)
	c.ExcludeAll(d.Capped, market.OutcomeCapped)
	d.excludeAfterCaps(c)
}

// ExcludeFromExceptCaps excludes the unavailable filter sets from the candidates, except for
// those with a full cap. It is for a lead that has reserved capacity in caps itself: that
// reservation alone may fill a cap. The caller therefore checks the caps one by one.
func (d *UnavailableFilterSets) ExcludeFromExceptCaps(c *Candidates) {
	c.ExcludeAll(d.Closed, market.OutcomeClosed)
	d.excludeAfterCaps(c)
}

func (d *UnavailableFilterSets) excludeAfterCaps(c *Candidates) {
	c.ExcludeAll(d.NoFunds, market.OutcomeNoFunds)
	c.ExcludeAll(d.Paused, market.OutcomePaused)
	c.ExcludeAll(d.Unhealthy, market.OutcomeUnhealthy)
	c.ExcludeAll(d.BelowFloor, market.OutcomeBelowFloor)
}
