package exchange

import (
	"fmt"

	"pingpost/engine/event"
	"pingpost/engine/market"
)

// aftermath is what followed a lead's decision: its tries, what its posts came to,
// what its buyer reported of it, and how its supplier was told of that.
type aftermath struct {
	facts     []*entry // in order, without a gap
	end       *entry   // where they end too early: the one in which the last post ended, read by itself
	truncated bool     // there may be more than these
}

// afterwards reads on from a lead's decision, until all is seen that memory says
// there is: the entry in which its last post ended, and what sequel looks for. What
// memory has nothing of is looked for as far as a search goes.
//
// Memory knows the end of a delivery of a lead without an open post; of one with,
// it knows the end of the post before. So it is asked for the open post first: a
// lead that has none gets none any more.
func (e *explainer) afterwards(decided *entry) (after aftermath, err error) {
	lead := decided.lead().Lead
	last, delivered := uint64(0), decided.lead().Post.URL == "" // zero: not known
	if e.state.Post(lead) == nil {
		row, _ := e.state.Lead(lead)
		last = row.Settled
	}
	sequel := e.newSequel(decided)
	if delivered && sequel.complete() {
		return after, nil
	}
	reader, err := e.log.NewReader(decided.seq + 1)
	if err != nil {
		return after, fmt.Errorf("cannot search the log: %w", err)
	}
	defer reader.Close()
	until := func() int64 {
		if sequel.known && !sequel.complete() {
			return forEver
		}
		return decided.at + int64(e.reach.later)
	}
	all := false
	ended, err := e.read(reader, marks{lead[:]}, 0, until, func(next *entry) bool {
		if isOf(next.fact, lead) {
			after.facts = append(after.facts, next)
			sequel.see(next.fact)
			delivered = delivered || next.seq == last
		}
		all = delivered && sequel.complete()
		return !all && len(after.facts) < e.reach.facts
	})
	if err != nil || all || ended == endOfLog {
		return after, err
	}
	after.truncated = true
	if last != 0 && !delivered {
		after.end, err = e.at(last)
	}
	return after, err
}

// isOf tells whether a fact is of what followed a lead's decision.
func isOf(fact event.Event, lead market.LeadID) bool {
	switch fact := fact.(type) {
	case *event.PostTried:
		return fact.Lead == lead
	case *event.PostSettled:
		return fact.Lead == lead
	case *event.StatusChanged:
		return changeOf(fact, lead) != nil
	case *event.HookTried:
		return fact.Lead == lead
	}
	return false
}

// changeOf is what a report says of a lead, or nil.
func changeOf(fact *event.StatusChanged, lead market.LeadID) *event.Change {
	for i := range fact.Changes {
		if fact.Changes[i].Lead == lead {
			return &fact.Changes[i]
		}
	}
	return nil
}
