package witness

import (
	"slices"

	"pingpost/engine/market"
)

// checkIdleLog checks, when idle, that each lead in the log was sent by a supplier and that no
// delivery is open.
func (p *Evidence) checkIdleLog() (found findings) {
	asked := map[string]bool{}
	for _, t := range p.answers {
		asked[t.parsed.Data.ID] = true
	}
	for _, t := range p.rejectedPosts {
		asked[p.model.leadByRequest[t.RequestID]] = true
	}
	for id, e := range p.model.leads {
		if !asked[id] {
			found.add("lead %s is in the log, but no supplier sent it", id)
		}
		if e.state == stateOpen || e.state == statePending {
			found.add("lead %s: its delivery to %s is still open although the exchange is idle", id, e.buyer)
		}
	}
	return found
}

// checkIdleMoney compares, when idle, the log's sums with each buyer's own revenue and with the
// exchange's accounts.
func (p *Evidence) checkIdleMoney() (found findings) {
	earned, doubtful := map[string]market.Money{}, map[string]market.Money{}
	for _, e := range p.model.leads {
		switch e.state {
		case stateDelivered:
			earned[e.endpointName()] += e.price
		case stateUnknown:
			doubtful[e.endpointName()] += e.price
		}
	}
	for endpoint, stats := range p.buyerStats {
		if less, more := earned[endpoint], earned[endpoint]+doubtful[endpoint]; stats.Revenue < less || stats.Revenue > more {
			found.add("endpoint %s counts revenue of %v, but the log allows %v to %v", endpoint, stats.Revenue, less, more)
		}
	}
	for _, b := range p.config.buyers {
		booked, balance := p.accounts[b.id], p.model.balance[b.id]
		if !b.funded {
			balance = 0 // a buyer without an account has no balance
		}
		if market.Money(booked.Balance) != balance || booked.Held != p.model.reserved[b.id] {
			found.add("account of %s: the exchange shows balance %v, held %v; the log has balance %v, held %v", b.id, market.Money(booked.Balance), booked.Held, balance, p.model.reserved[b.id])
		}
		if p.model.reserved[b.id] != doubtful[b.id] {
			found.add("%v of %s's money is held, but its unconfirmed leads cost %v", p.model.reserved[b.id], b.id, doubtful[b.id])
		}
	}
	slices.Sort(found)
	return found
}

// accountStatement is an account statement of the admin API.
type accountStatement struct {
	Buyer    string `json:"buyer_id"`
	Supplier string `json:"supplier_id"`
	AsOf     struct {
		Entry uint64 `json:"entry"`
	} `json:"as_of"`
	Opening *accountBalance `json:"opening"`
	Closing *accountBalance `json:"closing"`
	Totals  []struct {
		Kind   string       `json:"kind"`
		Count  int          `json:"count"`
		Amount signedAmount `json:"amount"`
	} `json:"totals"`
	Count   int `json:"count"`
	Entries []struct {
		Entry    uint64        `json:"entry"`
		Kind     string        `json:"kind"`
		Lead     string        `json:"lead_id"`
		Campaign string        `json:"campaign_id"`
		Amount   signedAmount  `json:"amount"`
		Balance  *signedAmount `json:"balance"`
	} `json:"entries"`
}

type accountBalance struct {
	Balance signedAmount `json:"balance"`
	Held    market.Money `json:"held"`
}

// checkStatements checks that a statement lists every payment in the log up to its position, in
// order, and that its sums are exact.
func (p *Evidence) checkStatements() (found findings) {
	for _, s := range p.statements {
		who := s.Buyer + s.Supplier
		if s.AsOf.Entry < p.sinceSeq || s.AsOf.Entry > p.model.seq {
			found.add("statement of %s: as of entry %d, expected between %d and %d", who, s.AsOf.Entry, p.sinceSeq, p.model.seq)
		}
		want := p.model.statementLines(who, s.AsOf.Entry)
		if len(s.Entries) != len(want) || s.Count != len(want) {
			found.add("statement of %s: %d entries listed, count %d; the log has %d", who, len(s.Entries), s.Count, len(want))
			continue
		}
		found = append(found, p.checkStatement(s, who, want)...)
	}
	return found
}

func (p *Evidence) checkStatement(s *accountStatement, who string, want []statementLine) (found findings) {
	buyer := p.config.buyerByID(who)
	account := buyer != nil && buyer.funded
	sums, balanced := map[string]market.Money{}, market.Money(0)
	for i, m := range want {
		got := &s.Entries[i]
		if got.Entry != m.seq || got.Kind != m.kind || got.Lead != m.lead || got.Campaign != m.campaign || market.Money(got.Amount) != m.amount {
			found.add("statement of %s: entry %+v, but the log has %+v", who, *got, m)
		}
		balanced += m.amount
		sums[m.kind] += m.amount
		if (got.Balance != nil) != account || account && market.Money(*got.Balance) != balanced {
			found.add("statement of %s: balance in %+v after entry %d, but the log has %v", who, got, m.seq, balanced)
		}
	}
	for _, total := range s.Totals {
		sums[total.Kind] -= market.Money(total.Amount)
	}
	for kind, off := range sums {
		if off != 0 {
			found.add("statement of %s: the total of %s is wrong by %v", who, kind, off)
		}
	}
	switch held := p.model.reservedAfter(who, s.AsOf.Entry); {
	case !account && s.Closing != nil:
		found.add("statement of %s: closing balance %+v without an account", who, *s.Closing)
	case account && (s.Closing == nil || market.Money(s.Closing.Balance) != balanced || s.Closing.Held != held || *s.Opening != accountBalance{}):
		found.add("statement of %s: opening %+v, closing %+v; the log has opening 0, closing %v, held %v", who, s.Opening, s.Closing, balanced, held)
	}
	return found
}
