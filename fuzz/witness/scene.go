//go:build unix

package witness

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"

	"pingpost/engine/market"
)

// Scene is all that takes part: an exchange with those who deal with it, and what
// was seen of it so far.
type Scene struct {
	*Exchange
	Crowd     *Crowd
	Office    *Office // nil: only where every kind of request is sent there is one
	terms     *Terms
	buyers    *buyers
	told      *receiver
	added     []market.Money // top-ups that were acknowledged
	seen      []string       // the log's dump, as it was last
	asked     int            // top-ups
	ruled     []ruling       // likewise, the operator's words on leads
	pauses    []pause
	forgotten []string // likewise, leads that were erased
	said      int      // errands of reports
	reader    *rand.Rand
	readings  Tally
}

// Set sets the stage: the buyers and the receiver of webhooks begin, then the
// exchange in the folder dir, and the crowd waits to be let in.
func Set(t Clerk, program, dir string, terms *Terms, seed uint64) *Scene {
	t.Helper()
	x := NewExchange(t, program, dir)
	if terms.full {
		x.BackUp()
	}
	b, r := startBuyers(t, program, terms, seed), startReceiver(t, program, terms, seed)
	terms.hooks, terms.endpoints = r.at(), b.endpoints
	x.Configure(terms.document(0))
	x.Start()
	token := ""
	if terms.sellers() {
		token = x.token(clientID, "ping", "post")
	}
	reporters := map[string]string{}
	for i := range terms.buyers {
		if b := &terms.buyers[i]; terms.reports(b) {
			reporters[b.id] = x.token(b.id, "webhook")
		}
	}
	s := &Scene{Exchange: x, terms: terms, buyers: b, told: r, Crowd: gather(terms, x.door, token, reporters, seed), reader: rand.New(rand.NewPCG(seed, 1<<34)), readings: Tally{}}
	t.Cleanup(s.Crowd.Dismiss)
	if terms.full {
		s.Office = openOffice(x, seed)
	}
	return s
}

// TopUp adds to an account, by an amount that never comes again.
func (s *Scene) TopUp() {
	s.asked++
	amount := market.Money(s.asked)
	status, _, err := s.Operate("POST", "/admin/v1/buyers/"+toppedUp+"/funds", fmt.Sprintf(`{"amount":%v,"note":"top-up %d"}`, amount, s.asked))
	if err == nil && status == 200 {
		s.added = append(s.added, amount)
	}
}

// Revise writes a later revision of the configuration, which a reload brings into
// force.
func (s *Scene) Revise() []byte {
	s.t.Helper()
	s.terms.revision++
	document := s.terms.document(s.terms.revision)
	s.Configure(document)
	return document
}

// Idle waits until no request is under way: then nothing may be reserved.
func (s *Scene) Idle() {
	s.t.Helper()
	Await(s.t, "every lead is answered", func() bool {
		if end := s.Ended(); end != "" {
			s.t.Fatal(end)
		}
		return s.Crowd.IsIdle()
	})
	if left := s.Metric("pingpost_reservations"); left != "0" {
		s.t.Errorf("nothing is under way, and %s reservations are out", left)
	}
}

// Rest waits until all deliveries have come to their end, too.
func (s *Scene) Rest(chance *rand.Rand) {
	s.t.Helper()
	s.Idle()
	Await(s.t, "every delivery is settled, or waits for the operator", func() bool {
		open := s.Metric("pingpost_open_deliveries") // first: what is unknown is open no more
		unknown, total := s.deliveries()
		return len(unknown) == total && open == "0"
	})
	s.Crowd.AskAgain(0, chance)
}

// deliveries are the leads of which nobody knows whether their buyer has them, and
// how many are open in all.
func (s *Scene) deliveries() (unknown []string, total int) {
	s.t.Helper()
	var all struct {
		Total      int `json:"total"`
		Deliveries []struct {
			Lead  string `json:"lead_id"`
			State string `json:"state"`
		} `json:"deliveries"`
	}
	s.Ask("/admin/v1/deliveries", &all)
	for _, d := range all.Deliveries {
		if d.State == "unknown" {
			unknown = append(unknown, d.Lead)
		}
	}
	return unknown, all.Total
}

// Picture asks all witnesses, in the order that a picture needs.
func (s *Scene) Picture() *Picture {
	s.t.Helper()
	p := &Picture{terms: s.terms, atRest: s.Crowd.IsIdle() && s.Metric("pingpost_open_deliveries") == "0"}
	p.added, p.ruled, p.forgotten = slices.Clone(s.added), slices.Clone(s.ruled), slices.Clone(s.forgotten)
	p.pauses = slices.Clone(s.pauses)
	p.reports, _ = s.Crowd.reports.page()
	answers, _ := s.Crowd.ledger.page()
	p.sort(answers, s.Crowd.ledger.tooLate())
	p.before = s.buyers.leads()
	p.events, p.hooks = s.told.heard()
	p.looks = s.Crowd.looks.take()
	s.read(p)
	s.readings.read(p)
	p.readings = s.readings
	if s.Office != nil {
		p.sums = s.readSums(p.atRest)
	}
	dump := s.Dump()
	p.after, p.stats = s.buyers.leads(), s.buyers.stats()
	p.book = readBook(s.terms, dump)
	if p.atRest {
		p.funds = map[string]account{}
		for i := range s.terms.buyers {
			var booked account
			s.Ask("/admin/v1/buyers/"+s.terms.buyers[i].id+"/funds", &booked)
			p.funds[s.terms.buyers[i].id] = booked
		}
	}
	return p
}

// shown is how many findings of one audit are told.
const shown = 20

// Check audits a picture, and all that was noted by the way.
func (s *Scene) Check(p *Picture) {
	s.t.Helper()
	found := p.audit()
	_, told := s.Crowd.ledger.page()
	_, reports := s.Crowd.reports.page()
	found = slices.Concat(found, told, reports, s.Faults())
	if !grew(s.seen, p.book.text) {
		found = append(found, "the log has lost entries, or changed them")
	}
	s.seen = p.book.text
	for _, text := range found[:min(len(found), shown)] {
		s.t.Error(text)
	}
	if len(found) > shown {
		s.t.Errorf("and %d findings more", len(found)-shown)
	}
}

// Farewell stops the exchange in order and starts it once more, from the snapshot
// that it left: it must be as if nothing had been.
func (s *Scene) Farewell(chance *rand.Rand) {
	s.t.Helper()
	before := s.Hash()
	s.Stop()
	s.Verify()
	s.Replays(before)
	s.Start()
	if after := s.Hash(); after != before {
		s.t.Errorf("the state was %+v before an orderly stop, and is %+v after it", before, after)
	}
	s.Crowd.AskAgain(200, chance)
	s.Check(s.Picture())
	s.Stop()
}

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

// Drain has every event delivered that is owed. What failed would be tried again
// after a minute, and then after six; an operator does not have to wait: switched
// off, what waits becomes dead letters, and these are resent.
func (s *Scene) Drain() {
	s.t.Helper()
	owed := func() (n int) {
		var standing struct{ Pending, Dead int }
		s.Ask(webhook, &standing)
		return standing.Pending + standing.Dead
	}
	must := func(word string) {
		if !s.Switch(word) {
			s.t.Fatalf("the webhook cannot be switched: %s", word)
		}
	}
	Await(s.t, "every event is delivered", func() bool {
		if owed() == 0 {
			return true
		}
		must("off")
		must("on")
		must("resend")
		left := owed()
		Await(s.t, "what was resent is tried", func() bool {
			now := owed()
			stuck := now == left
			left = now
			return now == 0 || stuck
		})
		return false
	})
}
