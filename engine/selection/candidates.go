package selection

import (
	"pingpost/engine/bitset"
	"pingpost/engine/market"
)

// Candidates divides a campaign's filter sets (the buyers' entries) during one decision into
// eligible and excluded ones. Each is in Eligible, or in Excluded under its outcome until
// ClearOutcomes. The next decision reuses the memory.
type Candidates struct {
	Eligible bitset.Set
	Excluded [market.OutcomeCount]bitset.Set // by outcome; nil or zero if no filter set has it

	scratch bitset.Set
	used    [market.OutcomeCount]bool
}

// ResetToAll makes every filter set of the campaign a candidate, at the beginning of a decision.
func (c *Candidates) ResetToAll(l *CompiledFilterSets) {
	words := len(l.all)
	c.Eligible = resizeWithoutClearing(c.Eligible, words)
	c.scratch = resizeWithoutClearing(c.scratch, words)
	copy(c.Eligible, l.all)
	c.ClearOutcomes()
}

// ClearOutcomes removes all filter sets from Excluded. It does not change Eligible.
func (c *Candidates) ClearOutcomes() {
	for outcome, used := range c.used {
		if used {
			clear(c.Excluded[outcome])
			c.used[outcome] = false
		}
	}
}

func resizeWithoutClearing(b bitset.Set, words int) bitset.Set {
	if cap(b) < words {
		return make(bitset.Set, words)
	}
	return b[:words]
}

// ExcludeAllExcept excludes every candidate that is not in kept, with the given outcome.
func (c *Candidates) ExcludeAllExcept(kept bitset.Set, outcome market.BuyerOutcome) {
	for i, in := range c.Eligible {
		if fell := in &^ kept[i]; fell != 0 {
			c.getOrAddExcludedSet(outcome)[i] |= fell
			c.Eligible[i] = in & kept[i]
		}
	}
}

// ExcludeAll excludes every candidate that is in sets, with the given outcome. Filter sets that
// are excluded already keep their outcome.
func (c *Candidates) ExcludeAll(sets bitset.Set, outcome market.BuyerOutcome) {
	for i, in := range c.Eligible {
		if fell := in & sets[i]; fell != 0 {
			c.getOrAddExcludedSet(outcome)[i] |= fell
			c.Eligible[i] = in &^ sets[i]
		}
	}
}

// Exclude excludes the candidate with this index, with the given outcome.
func (c *Candidates) Exclude(filterSetIndex int, outcome market.BuyerOutcome) {
	c.Eligible.Remove(filterSetIndex)
	c.getOrAddExcludedSet(outcome).Add(filterSetIndex)
}

// ChangeOutcome replaces the outcome of an excluded filter set, for example when its buyer has
// refused the post.
func (c *Candidates) ChangeOutcome(filterSetIndex int, from, to market.BuyerOutcome) {
	c.Excluded[from].Remove(filterSetIndex)
	c.getOrAddExcludedSet(to).Add(filterSetIndex)
}

// OutcomeOf returns the outcome with which a filter set was excluded. It returns OutcomeNone if the
// filter set is still a candidate, or if ClearOutcomes has removed its outcome.
func (c *Candidates) OutcomeOf(filterSetIndex int) market.BuyerOutcome {
	for outcome, used := range c.used {
		if used && c.Excluded[outcome].Has(filterSetIndex) {
			return market.BuyerOutcome(outcome)
		}
	}
	return market.OutcomeNone
}

func (c *Candidates) getOrAddExcludedSet(outcome market.BuyerOutcome) bitset.Set {
	if !c.used[outcome] {
		c.used[outcome] = true
		c.Excluded[outcome] = resizeWithoutClearing(c.Excluded[outcome], len(c.Eligible))
		clear(c.Excluded[outcome])
	}
	return c.Excluded[outcome]
}

// EachOutcomeInUse calls f for every outcome with which a filter set was excluded. sets has these
// filter sets; f must not change it.
func (c *Candidates) EachOutcomeInUse(f func(outcome market.BuyerOutcome, sets bitset.Set)) {
	for outcome, used := range c.used {
		if used && c.Excluded[outcome].NextFrom(0) >= 0 {
			f(market.BuyerOutcome(outcome), c.Excluded[outcome])
		}
	}
}

// UnsoldReasonOfLatestStage returns the reason that the supplier gets for an unsold lead: that of the
// furthest stage that a filter set reached. Without an excluded filter set it is ReasonNoBuyer.
func (c *Candidates) UnsoldReasonOfLatestStage() market.UnsoldReason {
	reason := market.ReasonNoBuyer
	for outcome, used := range c.used {
		if used && c.Excluded[outcome].NextFrom(0) >= 0 {
			reason = reason.LaterStageReason(market.BuyerOutcome(outcome).UnsoldReasonForSupplier())
		}
	}
	return reason
}
