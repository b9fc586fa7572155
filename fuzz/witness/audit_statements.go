package witness

import (
	"slices"

	"pingpost/engine/market"
)

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
