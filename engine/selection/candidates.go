package selection

import (
	"pingpost/engine/bitset"
	"pingpost/engine/market"
)

// Candidates tracks, for one decision, the filter sets that are still eligible and the
// outcome of each excluded one. Every filter set is in exactly one of these sets.
// Decisions reuse it.
type Candidates struct {
	In  bitset.Set
	Out [market.OutcomeCount]bitset.Set // by outcome; nil or zero if no filter set has it

	scratch bitset.Set
	used    [market.OutcomeCount]bool
}

// Begin makes every filter set a candidate.
func (c *Candidates) Begin(l *FilterSets) {
	words := len(l.all)
	c.In = fit(c.In, words)
	c.scratch = fit(c.scratch, words)
	copy(c.In, l.all)
	c.ClearOutcomes()
}

// ClearOutcomes empties every outcome.
func (c *Candidates) ClearOutcomes() {
	for outcome, used := range c.used {
		if used {
			clear(c.Out[outcome])
			c.used[outcome] = false
		}
	}
}

func fit(b bitset.Set, words int) bitset.Set {
	if cap(b) < words {
		return make(bitset.Set, words)
	}
	return b[:words]
}

// KeepOnly keeps the given filter sets; the other candidates get the outcome.
func (c *Candidates) KeepOnly(sets bitset.Set, outcome market.Outcome) {
	for i, in := range c.In {
		if fell := in &^ sets[i]; fell != 0 {
			c.excluded(outcome)[i] |= fell
			c.In[i] = in & sets[i]
		}
	}
}

// ExcludeAll excludes the given filter sets; those that were candidates get the outcome.
func (c *Candidates) ExcludeAll(sets bitset.Set, outcome market.Outcome) {
	for i, in := range c.In {
		if fell := in & sets[i]; fell != 0 {
			c.excluded(outcome)[i] |= fell
			c.In[i] = in &^ sets[i]
		}
	}
}

// Exclude excludes one filter set.
func (c *Candidates) Exclude(index int, outcome market.Outcome) {
	c.In.Remove(index)
	c.excluded(outcome).Add(index)
}

// ChangeOutcome replaces the outcome of a filter set.
func (c *Candidates) ChangeOutcome(index int, from, to market.Outcome) {
	c.Out[from].Remove(index)
	c.excluded(to).Add(index)
}

// OutcomeOf returns the outcome of a filter set, or OutcomeNone if it is still a
// candidate.
func (c *Candidates) OutcomeOf(index int) market.Outcome {
	for outcome, used := range c.used {
		if used && c.Out[outcome].Has(index) {
			return market.Outcome(outcome)
		}
	}
	return market.OutcomeNone
}

func (c *Candidates) excluded(outcome market.Outcome) bitset.Set {
	if !c.used[outcome] {
		c.used[outcome] = true
		c.Out[outcome] = fit(c.Out[outcome], len(c.In))
		clear(c.Out[outcome])
	}
	return c.Out[outcome]
}

// EachOutcome calls f for every outcome that a filter set has.
func (c *Candidates) EachOutcome(f func(outcome market.Outcome, sets bitset.Set)) {
	for outcome, used := range c.used {
		if used && c.Out[outcome].Next(0) >= 0 {
			f(market.Outcome(outcome), c.Out[outcome])
		}
	}
}

// Reason returns the reason of the furthest stage that a candidate reached, for an unsold
// lead.
func (c *Candidates) Reason() market.Reason {
	reason := market.ReasonNoBuyer
	for outcome, used := range c.used {
		if used && c.Out[outcome].Next(0) >= 0 {
			reason = reason.Furthest(market.Outcome(outcome).Reason())
		}
	}
	return reason
}
