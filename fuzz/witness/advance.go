//go:build unix

package witness

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
)

// batchShare of the reports, in percent, come in one request with others.
const batchShare = 50

// Advance sends desks to report on some leads of a picture, each as the buyer that
// has it: one step further each, half of them in batches, some with a return.
func (s *Scene) Advance(p *Picture, leads int, chance *rand.Rand) {
	batches := map[string][]reportOf{}
	for _, e := range s.movable(p, leads, chance) {
		further := e.further()
		r := reportOf{Lead: e.id, Status: further[chance.IntN(len(further))]}
		if r.Status == "returned" {
			r.Reason = "wrong number"
		}
		if chance.IntN(100) < batchShare {
			batches[e.buyer] = append(batches[e.buyer], r)
			continue
		}
		s.errand(e.buyer, reportPath(e.id), object{"status": r.Status, "reason": r.Reason})
	}
	for _, buyer := range slices.Sorted(maps.Keys(batches)) {
		s.errand(buyer, pathBatch, object{"changes": batches[buyer]})
	}
}

func (s *Scene) errand(buyer, path string, body object) {
	s.said++
	if body["reason"] == "" {
		delete(body, "reason")
	}
	o := &order{path: path, token: s.Crowd.reporters[buyer], key: fmt.Sprintf("report-%d", s.said), clashes: true, body: encode(body)}
	s.Crowd.let(func(ctx context.Context, call *caller) bool { return s.Crowd.bring(ctx, call, &s.Crowd.reports, o) })
}

// movable are leads that are with their buyers, by these buyers' own word where they
// are posted to, and not at their end.
func (s *Scene) movable(p *Picture, limit int, chance *rand.Rand) []*entry {
	held := map[string]bool{}
	for _, leads := range p.before {
		for _, lead := range leads {
			held[lead.LeadUUID] = true
		}
	}
	var all []*entry
	for _, id := range slices.Sorted(maps.Keys(p.book.leads)) {
		e := p.book.leads[id]
		if (e.standing == recorded || e.standing == delivered && held[id]) && len(e.further()) > 0 {
			all = append(all, e)
		}
	}
	chance.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	return all[:min(limit, len(all))]
}
