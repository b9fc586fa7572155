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
		booked, balance := p.funds[b.id], p.book.balance[b.id]
		if !b.funded {
			balance = 0 // a buyer without an account has no balance
		}
		if market.Money(booked.Balance) != balance || booked.Held != p.book.taken[b.id] {
			found.add("%s has %v, of which %v is held, and by the log %v and %v", b.id, market.Money(booked.Balance), booked.Held, balance, p.book.taken[b.id])
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
		least, sold := p.book.least[b.id]
		if !sold {
			least = p.book.balance[b.id] + b.credit
		}
		if b.funded && least >= 13*unit {
			found.add("%s never had less than %v left", b.id, least)
		}
	}
	return found
}

// statement is what an operator reads of somebody's money.
type statement struct {
	Buyer    string `json:"buyer_id"`
	Supplier string `json:"supplier_id"`
	AsOf     struct {
		Entry uint64 `json:"entry"`
	} `json:"as_of"`
	Opening *statedAt `json:"opening"`
	Closing *statedAt `json:"closing"`
	Totals  []struct {
		Kind   string  `json:"kind"`
		Count  int     `json:"count"`
		Amount balance `json:"amount"`
	} `json:"totals"`
	Count   int `json:"count"`
	Entries []struct {
		Entry    uint64   `json:"entry"`
		Kind     string   `json:"kind"`
		Lead     string   `json:"lead_id"`
		Campaign string   `json:"campaign_id"`
		Amount   balance  `json:"amount"`
		Balance  *balance `json:"balance"`
	} `json:"entries"`
}

type statedAt struct {
	Balance balance      `json:"balance"`
	Held    market.Money `json:"held"`
}

// stated: a statement lists all that the log says of somebody's money up to the entry
// that it was read to, in its order, and adds up to the millionth.
func (p *Picture) stated() (found findings) {
	for _, s := range p.statements {
		who := s.Buyer + s.Supplier
		if s.AsOf.Entry < p.since || s.AsOf.Entry > p.book.seq {
			found.add("the statement of %s is read to entry %d, and was asked for between %d and %d", who, s.AsOf.Entry, p.since, p.book.seq)
		}
		want := slices.DeleteFunc(slices.Clone(p.book.lines[who]), func(m movement) bool { return m.seq > s.AsOf.Entry })
		if len(s.Entries) != len(want) || s.Count != len(want) {
			found.add("the statement of %s has %d entries, and says %d; by the log there are %d", who, len(s.Entries), s.Count, len(want))
			continue
		}
		found = append(found, p.adds(s, who, want)...)
	}
	return found
}

func (p *Picture) adds(s *statement, who string, want []movement) (found findings) {
	buyer := p.terms.buyer(who)
	account := buyer != nil && buyer.funded
	sums, balanced := map[string]market.Money{}, market.Money(0)
	for i, m := range want {
		got := &s.Entries[i]
		if got.Entry != m.seq || got.Kind != m.kind || got.Lead != m.lead || got.Campaign != m.campaign || market.Money(got.Amount) != m.amount {
			found.add("the statement of %s has %+v, and by the log it is %+v", who, *got, m)
		}
		balanced += m.amount
		sums[m.kind] += m.amount
		if (got.Balance != nil) != account || account && market.Money(*got.Balance) != balanced {
			found.add("the statement of %s has the balance of %+v after entry %d, and by the log it is %v", who, got, m.seq, balanced)
		}
	}
	for _, total := range s.Totals {
		sums[total.Kind] -= market.Money(total.Amount)
	}
	for kind, off := range sums {
		if off != 0 {
			found.add("in the statement of %s the total of %s is off by %v", who, kind, off)
		}
	}
	switch held := p.book.heldAt(who, s.AsOf.Entry); {
	case !account && s.Closing != nil:
		found.add("the statement of %s closes with %+v, and there is no account", who, *s.Closing)
	case account && (s.Closing == nil || market.Money(s.Closing.Balance) != balanced || s.Closing.Held != held || *s.Opening != statedAt{}):
		found.add("the statement of %s goes from %+v to %+v, and by the log from nothing to %v, %v held", who, s.Opening, s.Closing, balanced, held)
	}
	return found
}
