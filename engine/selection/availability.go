package selection

import (
	"pingpost/engine/bitset"
	"pingpost/engine/market"
)

// ExcludeByLead excludes the filter sets that the lead itself rules out: by state, then by
// filter. Availability covers the conditions that depend on the moment.
func (l *CompiledFilterSets) ExcludeByLead(lead *market.Lead, c *Candidates) {
	c.KeepOnly(l.byState[lead.USState()], market.OutcomeWrongState)
	copy(c.scratch, c.Eligible)
	l.filters.ClearFailing(lead, c.scratch)
	c.KeepOnly(c.scratch, market.OutcomeFiltered)
}

// ExcludeSuppressed excludes the filter sets whose buyers suppress this lead. listed reports
// whether the lead is on a list; Suppress calls it once for each relevant list.
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

// UnavailableFilterSets holds the filter sets that are unavailable at the moment, for any lead,
// each under the first reason. It is immutable.
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

// NewUnavailableFilterSets returns an Availability without unavailable filter sets.
func NewUnavailableFilterSets(l *CompiledFilterSets) *UnavailableFilterSets {
	n := l.Len()
	return &UnavailableFilterSets{
		BelowFloor: bitset.New(n), Closed: bitset.New(n), Capped: bitset.New(n),
		NoFunds: bitset.New(n), Paused: bitset.New(n), Unhealthy: bitset.New(n),
	}
}

// ExcludeFrom excludes the unavailable filter sets, in the order of the stages.
func (d *UnavailableFilterSets) ExcludeFrom(c *Candidates) {
	c.ExcludeAll(d.Closed, market.OutcomeClosed)
	c.ExcludeAll(d.Capped, market.OutcomeCapped)
	d.excludeAfterCaps(c)
}

// ExcludeFromExceptCaps is Exclude for a lead that holds capacity in caps itself. The caller
// checks caps one by one, because that reservation alone may fill them.
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
