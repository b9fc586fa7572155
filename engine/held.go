package engine

import (
	"pingpost/engine/bitset"
	"pingpost/engine/market"
)

// Held is an auction as it is noted, when the last answer is in or the deadline
// has passed: before anything is sold. It tells nobody's token.
type Held struct {
	Reason   market.Reason            // why there is no bid; ReasonNone: there is one
	Outcomes [market.OutcomeCount]int // how many seats came to each
	Pings    []Pinged                 // one for each buyer that was asked
	Elapsed  int64                    // nanoseconds
	Test     bool                     // of a test lead
}

// Pinged is one buyer's answer as it is noted.
type Pinged struct {
	Buyer   *market.Buyer
	Outcome market.Outcome
	Fault   market.Fault
	Elapsed int64 // nanoseconds from the auction's start
}

// note tells of the auction. The best bid that stands has won by now, whatever
// becomes of its sale.
func (a *auction) note(supplier *market.Supplier) {
	h := &a.noted
	h.Reason, h.Outcomes, h.Pings = market.ReasonNone, [market.OutcomeCount]int{}, h.Pings[:0]
	h.Test = a.open.test
	h.Elapsed = max(0, a.engine.opt.Clock.Now()-a.began)
	a.candidates.EachOutcome(func(outcome market.Outcome, seats bitset.Set) { h.Outcomes[outcome] = seats.Count() })
	if len(a.offers) == 0 {
		h.Reason = a.reason()
	} else {
		h.Outcomes[market.OutcomeWon], h.Outcomes[market.OutcomeLost] = 1, len(a.offers)-1
	}
	for i := range a.offers {
		outcome := market.OutcomeLost
		if i == 0 {
			outcome = market.OutcomeWon
		}
		bid := a.bid(a.offers[i].FilterSet)
		a.noteBid(a.offers[i].FilterSet, outcome, bid.Fault, bid.Elapsed)
	}
	for i := range a.others {
		bid := &a.others[i]
		a.noteBid(int(bid.FilterSet), a.candidates.OutcomeOf(int(bid.FilterSet)), bid.Fault, bid.Elapsed)
	}
	a.engine.opt.Note.Held(a.open.Campaign, supplier, h)
}

func (a *auction) noteBid(seat int, outcome market.Outcome, fault market.Fault, elapsed int64) {
	a.noted.Pings = append(a.noted.Pings, Pinged{
		Buyer: a.open.Campaign.FilterSets[seat].Buyer, Outcome: outcome, Fault: fault, Elapsed: elapsed,
	})
}
