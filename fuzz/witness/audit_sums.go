package witness

import (
	"slices"

	"pingpost/engine/market"
)

// sales are those that somebody other than the exchange can tell of: the
// suppliers of leads that are only recorded, the buyers of the others.
func (p *Picture) sales(each func(campaign, buyer string, price market.Money, returned bool)) {
	held := map[string]bool{}
	for _, leads := range p.before {
		for _, lead := range leads {
			held[lead.LeadUUID] = true
		}
	}
	for _, t := range p.answers {
		said := &t.said.Data
		if b := p.terms.buyer(said.BuyerID); t.accepted() && !t.test && b != nil && (!b.posting() || held[said.ID]) {
			price, _ := p.priceOf(t)
			e := p.book.leads[said.ID]
			each(t.campaign, said.BuyerID, price, e != nil && e.returned())
		}
	}
}

// counted: no cap is exceeded, and no account, by the count of those outside.
func (p *Picture) counted() (found findings) {
	sold := make([]market.Money, len(p.terms.caps))
	spent := map[string]market.Money{}
	p.sales(func(campaign, buyer string, price market.Money, returned bool) {
		if !returned {
			spent[buyer] += price
		} else if p.terms.campaign(campaign).capBack {
			return
		}
		for i := range p.terms.caps {
			c := &p.terms.caps[i]
			if (c.campaign != "" && c.campaign != campaign) || (c.buyer != "" && c.buyer != buyer) {
				continue
			}
			if c.money != 0 {
				sold[i] += price
			} else {
				sold[i]++
			}
		}
	})
	for i := range p.terms.caps {
		if c := &p.terms.caps[i]; sold[i] > max(c.money, market.Money(c.count)) {
			found.add("suppliers and buyers count %v over the %v", sold[i], c)
		}
	}
	for i := range p.terms.buyers {
		b := &p.terms.buyers[i]
		if b.funded && spent[b.id] > b.balance+b.credit+p.moved(b.id) {
			found.add("suppliers and buyers count %v spent by %s, which had %v and %v credit", spent[b.id], b.id, b.balance, b.credit)
		}
	}
	return found
}

// toppedUp is the buyer whose account is topped up while the exchange dies.
const toppedUp = "rec_beta"

func (p *Picture) moved(buyer string) (sum market.Money) {
	if buyer == toppedUp {
		for _, amount := range p.book.moved {
			sum += amount
		}
	}
	return sum
}

// topUps: each that was acknowledged is in the log once. No two are of the same
// amount, so that they can be told apart.
func (p *Picture) topUps() (found findings) {
	seen := map[market.Money]bool{}
	for _, amount := range p.book.moved {
		if seen[amount] {
			found.add("the top-up of %v is in the log twice", amount)
		}
		seen[amount] = true
	}
	for _, amount := range p.added {
		if !seen[amount] {
			found.add("the top-up of %v was acknowledged and is lost", amount)
		}
	}
	return found
}

// complete: what is in the log was asked for, and what it sold has arrived.
func (p *Picture) complete() (found findings) {
	asked := map[string]bool{}
	for _, t := range p.answers {
		asked[t.said.Data.ID] = true
	}
	for _, t := range p.refused {
		asked[p.book.requests[t.Request]] = true
	}
	found = append(found, p.heard()...)
	for id, e := range p.book.leads {
		if !asked[id] {
			found.add("lead %s is in the log, and no supplier knows of it", id)
		}
		if e.standing == open || e.standing == pending {
			found.add("lead %s is still on its way to %s", id, e.buyer)
		}
	}
	return found
}

// owed: the log's sums are what each buyer owes by its own word, and what the
// live exchange has booked.
func (p *Picture) owed() (found findings) {
	earned, doubtful := map[string]market.Money{}, map[string]market.Money{}
	for _, e := range p.book.leads {
		switch e.standing {
		case delivered:
			earned[e.endpoint()] += e.price
		case uncertain:
			doubtful[e.endpoint()] += e.price
		}
	}
	for endpoint, stats := range p.stats {
		if less, more := earned[endpoint], earned[endpoint]+doubtful[endpoint]; stats.Revenue < less || stats.Revenue > more {
			found.add("%s owes %v, and by the log between %v and %v", endpoint, stats.Revenue, less, more)
		}
	}
	for _, b := range p.terms.buyers {
		booked := p.funds[b.id]
		if market.Money(booked.Balance) != p.book.balance[b.id] || booked.Held != p.book.taken[b.id] {
			found.add("%s has %v, of which %v is held, and by the log %v and %v", b.id, market.Money(booked.Balance), booked.Held, p.book.balance[b.id], p.book.taken[b.id])
		}
		if p.book.taken[b.id] != doubtful[b.id] {
			found.add("%v of %s's money is held for %v of uncertain leads", p.book.taken[b.id], b.id, doubtful[b.id])
		}
	}
	slices.Sort(found)
	return found
}

// Unfilled lists the caps that never came near their limit, and the accounts
// that were never used up: a run in which they did not shows little.
func (p *Picture) Unfilled() []string {
	var found findings
	for i := range p.terms.caps {
		c, step := &p.terms.caps[i], market.Money(1)
		if c.money != 0 {
			step = 13 * unit // no price is higher
		}
		if p.book.peak[i]+step <= max(c.money, market.Money(c.count)) {
			found.add("%v: at most %v", c, p.book.peak[i])
		}
	}
	for _, b := range p.terms.buyers {
		if b.funded && p.book.balance[b.id]+b.credit >= 13*unit {
			found.add("%s has %v left", b.id, p.book.balance[b.id])
		}
	}
	return found
}
