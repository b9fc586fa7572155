package route

import "pingpost/engine/market"

// Screen takes out the seats that the lead itself rules out: by state, then by
// filter. What depends on the moment is the doors' matter.
func (l *Lineup) Screen(lead *market.Lead, c *Candidates) {
	c.Keep(l.byState[lead.State()], market.OutcomeWrongState)
	copy(c.scratch, c.In)
	l.filters.Pass(lead, c.scratch)
	c.Keep(c.scratch, market.OutcomeFiltered)
}

// Suppress takes out the seats whose buyers do not want this lead; listed tells
// whether the lead is on a list, and is asked once for each list that matters.
func (l *Lineup) Suppress(c *Candidates, listed func(*market.List) bool) {
	for _, known := range l.lists {
		if intersect(known.seats, c.In) && listed(known.list) {
			c.Drop(known.seats, market.OutcomeSuppressed)
		}
	}
}

func intersect(a, b market.Bits) bool {
	for i := range b {
		if a[i]&b[i] != 0 {
			return true
		}
	}
	return false
}

// Doors are the seats that are shut at the moment, whatever lead comes, each
// for the first reason that shuts it. Immutable.
type Doors struct {
	BelowFloor market.Bits // the seat's price is under the campaign's floor, or under a fixed payout
	Closed     market.Bits // outside the buyer's or the seat's hours
	Capped     market.Bits
	NoFunds    market.Bits
	Paused     market.Bits
	Unhealthy  market.Bits // too many leads whose fate at the buyer nobody knows

	Version uint64 // of the facts that were looked at
	Until   int64  // Unix nanoseconds: good before that
}

// NewDoors returns doors that are all open, for a lineup.
func NewDoors(l *Lineup) *Doors {
	n := l.Seats()
	return &Doors{
		BelowFloor: market.NewBits(n), Closed: market.NewBits(n), Capped: market.NewBits(n),
		NoFunds: market.NewBits(n), Paused: market.NewBits(n), Unhealthy: market.NewBits(n),
	}
}

// Pass takes out the seats whose doors are shut, in the order of the stages.
func (d *Doors) Pass(c *Candidates) {
	c.Drop(d.Closed, market.OutcomeClosed)
	c.Drop(d.Capped, market.OutcomeCapped)
	d.passMoney(c)
}

// PassAgain is Pass for a lead that holds room in caps itself: those are asked
// one by one, for they may be full by that hold alone.
func (d *Doors) PassAgain(c *Candidates) {
	c.Drop(d.Closed, market.OutcomeClosed)
	d.passMoney(c)
}

func (d *Doors) passMoney(c *Candidates) {
	c.Drop(d.NoFunds, market.OutcomeNoFunds)
	c.Drop(d.Paused, market.OutcomePaused)
	c.Drop(d.Unhealthy, market.OutcomeUnhealthy)
	c.Drop(d.BelowFloor, market.OutcomeBelowFloor)
}
