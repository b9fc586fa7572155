package main

import (
	"math"
	"slices"
)

// endWait adds the lead's wait at this offer, if it waited, to the durations.
func (p *partition) endWait(l *lead, durations *[]int64) {
	if l.since != 0 {
		*durations = append(*durations, p.sim.now-l.since)
		l.since = 0
		l.waits++
	}
}

// addUse measures the demand, and asks early if little is left.
func (p *partition) addUse(o *offer) {
	for _, r := range o.buyer.resources {
		h := &p.holdings[r.index]
		h.addUse(r.need(o.price), p.sim.now)
		if r.owner != p.id && p.sim.policy.early && !p.isKnownToLack(r) && !h.recalled && p.free(r) < max(r.need(o.price), h.expectedUse(p.sim.now)/100) {
			p.ask(r, 0, 0)
		}
	}
}

// wait lets the lead wait for the buyer's resources, and asks for those that it lacks. A waiting lead has no
// reservations.
func (p *partition) wait(l *lead, o *offer) {
	ref := o.buyer.Ref
	p.waiting[ref] = append(p.waiting[ref], l)
	if l.since == 0 {
		l.since, l.waited = p.sim.now, true
		wait := l.waits
		p.later(p.sim.now+int64(p.sim.options.MaxWait), func() {
			if l.since != 0 && l.waits == wait {
				p.giveUp(l, o)
			}
		})
	}
	for _, r := range o.buyer.resources {
		free := p.free(r)
		if free >= r.need(o.price) {
			continue
		}
		need, least := int64(0), int64(math.MaxInt64)
		for _, other := range p.waiting[ref] {
			// The others lack another resource. If they counted, the owner would wake them again and again.
			if one := r.need(other.campaign.offers[other.next].price); one > free {
				need, least = need+one, min(least, one)
			}
		}
		if r.owner == p.id {
			p.addWant(r, want{p.id, need, least, 0})
		} else {
			p.ask(r, need-max(0, free), least-max(0, free)) // the free rest is of use together with the grant
		}
	}
}

// giveUp ends a wait without an answer. The owner counts as silent for a second.
func (p *partition) giveUp(l *lead, o *offer) {
	p.waiting[o.buyer.Ref] = slices.DeleteFunc(p.waiting[o.buyer.Ref], func(other *lead) bool { return other == l })
	var lacking []*resource
	for _, r := range o.buyer.resources {
		if p.free(r) < r.need(o.price) {
			lacking = append(lacking, r)
			if r.owner != p.id && p.sim.now-p.heardAt[r.owner] > int64(p.sim.options.MaxWait) {
				p.silentUntil[r.owner] = p.sim.now + silence
			}
		}
	}
	p.sim.audit.addRefusal(p, lacking, o.price)
	p.sim.figures.gaveUp++
	p.endWait(l, &p.sim.figures.waitsBeforeRefusal)
	l.next++
	p.sell(l)
}

// wake offers the leads that wait for the buyer again, the oldest first.
func (p *partition) wake(b *buyer) {
	all := p.waiting[b.Ref]
	delete(p.waiting, b.Ref)
	for _, l := range all {
		p.sell(l)
	}
}
