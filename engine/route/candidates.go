package route

import "pingpost/engine/market"

// Candidates is one decision's view of a lineup: who is still in, and why each
// of the others is out. Every seat is in exactly one of these sets. Reused from
// decision to decision.
type Candidates struct {
	In  market.Bits
	Out [market.Outcomes]market.Bits // empty (nil or zero) where no seat came to that

	scratch market.Bits
	used    [market.Outcomes]bool
}

// Begin makes every seat of the lineup a candidate.
func (c *Candidates) Begin(l *Lineup) {
	words := len(l.all)
	c.In = fit(c.In, words)
	c.scratch = fit(c.scratch, words)
	copy(c.In, l.all)
	c.Forget()
}

// Forget empties every outcome: no candidate came to anything yet.
func (c *Candidates) Forget() {
	for outcome, used := range c.used {
		if used {
			clear(c.Out[outcome])
			c.used[outcome] = false
		}
	}
}

func fit(b market.Bits, words int) market.Bits {
	if cap(b) < words {
		return make(market.Bits, words)
	}
	return b[:words]
}

// Keep leaves only seats in; those that fall came to outcome.
func (c *Candidates) Keep(seats market.Bits, outcome market.Outcome) {
	for i, in := range c.In {
		if fell := in &^ seats[i]; fell != 0 {
			c.out(outcome)[i] |= fell
			c.In[i] = in & seats[i]
		}
	}
}

// Drop takes seats out; those of them that were in came to outcome.
func (c *Candidates) Drop(seats market.Bits, outcome market.Outcome) {
	for i, in := range c.In {
		if fell := in & seats[i]; fell != 0 {
			c.out(outcome)[i] |= fell
			c.In[i] = in &^ seats[i]
		}
	}
}

// DropOne takes one seat out.
func (c *Candidates) DropOne(seat int, outcome market.Outcome) {
	c.In.Clear(seat)
	c.out(outcome).Set(seat)
}

// Move gives a seat that came to one outcome another one.
func (c *Candidates) Move(seat int, from, to market.Outcome) {
	c.Out[from].Clear(seat)
	c.out(to).Set(seat)
}

// Of is what a seat came to, or OutcomeNone: it is still in.
func (c *Candidates) Of(seat int) market.Outcome {
	for outcome, used := range c.used {
		if used && c.Out[outcome].Has(seat) {
			return market.Outcome(outcome)
		}
	}
	return market.OutcomeNone
}

func (c *Candidates) out(outcome market.Outcome) market.Bits {
	if !c.used[outcome] {
		c.used[outcome] = true
		c.Out[outcome] = fit(c.Out[outcome], len(c.In))
		clear(c.Out[outcome])
	}
	return c.Out[outcome]
}

// Each calls f for every outcome that some seat came to.
func (c *Candidates) Each(f func(outcome market.Outcome, seats market.Bits)) {
	for outcome, used := range c.used {
		if used && c.Out[outcome].Next(0) >= 0 {
			f(market.Outcome(outcome), c.Out[outcome])
		}
	}
}

// Reason is the furthest stage that any candidate reached, for a lead that
// found no buyer.
func (c *Candidates) Reason() market.Reason {
	reason := market.ReasonNoBuyer
	for outcome, used := range c.used {
		if used && c.Out[outcome].Next(0) >= 0 {
			reason = reason.Further(market.Outcome(outcome).Reason())
		}
	}
	return reason
}
