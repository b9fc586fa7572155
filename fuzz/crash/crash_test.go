//go:build unix

package crash

import (
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"testing"
	"time"

	"pingpost/engine/market"
)

// Leads that are let in before each death, at least and at most, and the kills
// of a whole run and of a short one.
const (
	fewest, most = 100, 200
	allKills     = 20
	shortKills   = 5
)

// scene is all that takes part.
type scene struct {
	*killer
	buyers *buyers
	told   *receiver
	crowd  *crowd
	added  []market.Money // top-ups that were acknowledged
	seen   []string       // the log's dump, as it was last
	hashes []position     // of the live exchange
	asked  int            // top-ups
	enough int            // kills
}

// TestKilledUnderLoad kills the exchange twenty times under load, restarts it
// each time, and audits it: nothing that was acknowledged is lost or told
// otherwise, nothing is sold twice, no cap and no account is exceeded, and the
// log replays to the very state that the live exchange has.
func TestKilledUnderLoad(t *testing.T) {
	p := newScene(t, newTerms, raceDetector).play()
	t.Logf("%d reports on leads", len(p.reports))
	if len(p.reports) == 0 {
		t.Error("no buyer has reported on a lead")
	}
}

// TestKilledUnderAuctions does the same where every price is a bid, and most leads
// come by a ping and a post: answers to pings are as good as those to leads, each
// auction sells one lead at most, at the price that was promised and to the buyer
// that made it. The program is built without the race detector, which the other
// test has it under.
func TestKilledUnderAuctions(t *testing.T) {
	p := newScene(t, newAuctionTerms, false).play()
	sold := 0
	for _, told := range p.answers {
		if told.path == pathPost {
			sold++
		}
	}
	t.Logf("%d pings, %d of them sold, %d refused, %d too late", len(p.pings), sold, len(p.refused), len(p.late))
	if sold == 0 || len(p.refused) == 0 || len(p.answers) == sold {
		t.Error("leads did not come, or end, in every way")
	}
}

// play kills, restarts and audits, to the last act, and returns the picture of all
// at rest.
func (s *scene) play() *picture {
	t := s.t
	for s.kills < s.enough {
		for _, how := range deck(s.chance) {
			if s.kills >= s.enough {
				break
			}
			s.round(how)
			if t.Failed() {
				t.Fatalf("after %d kills, the last of them %s; the exchange's last words:\n%s", s.kills, how, s.life.lines())
			}
		}
	}
	s.rest()
	s.drain()
	p := s.picture()
	p.drained = true
	s.check(p)
	for i := 0; i < len(s.hashes); i += 3 {
		s.replays(s.hashes[i]) // of before the newest snapshot, too
	}
	s.farewell()
	t.Logf("killed: %v", s.tally)
	t.Logf("%d kills in %d lives, %d leads, %d answers only by asking again, %d log entries", s.kills, s.lives, len(p.answers), s.crowd.ledger.lost, len(s.seen))
	t.Logf("webhooks: %+v", p.hooks)
	if idle := p.unfilled(); len(idle) > 0 && !testing.Short() {
		t.Errorf("what was not used up cannot have been exceeded: %q", idle)
	}
	return p
}

// newScene sets the stage for terms; detector: the program is to look for races.
func newScene(t *testing.T, termsFor func(leads int64, hourly, daily string) *terms, detector bool) *scene {
	seed := uint64(time.Now().UnixNano())
	if text := os.Getenv("SEED"); text != "" {
		var err error
		if seed, err = strconv.ParseUint(text, 10, 64); err != nil {
			t.Fatalf("SEED: %v", err)
		}
	}
	t.Logf("SEED=%d repeats this run", seed)
	kills := allKills
	if testing.Short() {
		kills = shortKills
	}
	hourly, daily := zonesAt(time.Now())
	terms := termsFor(int64(kills*(fewest+most)*3/8), hourly, daily)
	program := build(t, detector)
	x := &exchange{t: t, program: program, dir: t.ArtifactDir(), door: newDoor()}
	b, r := startBuyers(t, program, terms, seed), startReceiver(t, program, seed)
	terms.hooks = r.at()
	k := &killer{exchange: x, terms: terms, endpoints: b.endpoints, chance: rand.New(rand.NewPCG(seed, 1<<32)), tally: map[manner]int{}}
	x.configure(terms.document(b.endpoints, 0))
	x.start()
	token := ""
	if terms.auctioned(terms.campaigns[0].id) {
		token = x.token(clientID, "ping post")
	}
	reporters := map[string]string{}
	for i := range terms.buyers {
		if b := &terms.buyers[i]; !b.posting() {
			reporters[b.id] = x.token(b.id, "webhook")
		}
	}
	s := &scene{killer: k, buyers: b, told: r, crowd: gather(terms, x.door, token, reporters, seed), enough: kills}
	t.Cleanup(s.crowd.dismiss)
	return s
}

// round lets leads in, ends the exchange's life somewhere among them, begins
// the next one and audits it while the suppliers go on.
func (s *scene) round(how manner) {
	s.t.Helper()
	leads := fewest + s.chance.IntN(most-fewest)
	until := s.crowd.answered() + s.chance.IntN(leads/2)
	s.crowd.grant(leads)
	await(s.t, "suppliers are answered", func() bool {
		if end := s.life.ended(); end != "" {
			s.t.Fatal(end)
		}
		return s.crowd.answered() >= until
	})
	added := make(chan struct{})
	go func() {
		s.topUp()
		close(added)
	}()
	s.within(8 * time.Millisecond)
	s.end(how)
	<-added
	s.start()
	s.check(s.picture())
	s.hashes = append(s.hashes, s.hash())
	s.replays(s.hashes[len(s.hashes)-1])
	s.verify()
	if how == orderly || how == thawed {
		s.idle()
	}
	s.crowd.askAgain(10, s.chance)
}

// topUp adds to an account, by an amount that never comes again.
func (s *scene) topUp() {
	s.asked++
	amount := market.Money(s.asked)
	status, _, err := s.operate("POST", "/admin/v1/buyers/"+toppedUp+"/funds", fmt.Sprintf(`{"amount":%v,"note":"top-up %d"}`, amount, s.asked))
	if err == nil && status == 200 {
		s.added = append(s.added, amount)
	}
}

// idle waits until no request is under way: then nothing may be reserved.
func (s *scene) idle() {
	s.t.Helper()
	await(s.t, "every lead is answered", func() bool {
		if end := s.life.ended(); end != "" {
			s.t.Fatal(end)
		}
		return s.crowd.isIdle()
	})
	if left := s.metric("pingpost_reservations"); left != "0" {
		s.t.Errorf("nothing is under way, and %s reservations are out", left)
	}
}

// rest waits until all deliveries have come to their end, too.
func (s *scene) rest() {
	s.t.Helper()
	s.idle()
	await(s.t, "every delivery is settled, or waits for the operator", func() bool {
		var all struct {
			Total      int `json:"total"`
			Deliveries []struct {
				State string `json:"state"`
			} `json:"deliveries"`
		}
		s.ask("/admin/v1/deliveries", &all)
		waiting := 0
		for _, d := range all.Deliveries {
			if d.State == "unknown" {
				waiting++
			}
		}
		return waiting == all.Total
	})
	if left := s.metric("pingpost_open_deliveries"); left != "0" {
		s.t.Errorf("every delivery is settled, and %s couriers are at work", left)
	}
	s.crowd.askAgain(0, s.chance)
}

// picture asks all witnesses, in the order that a picture needs.
func (s *scene) picture() *picture {
	s.t.Helper()
	p := &picture{terms: s.terms, atRest: s.crowd.isIdle() && s.metric("pingpost_open_deliveries") == "0"}
	p.added = slices.Clone(s.added)
	p.reports, _ = s.crowd.reports.page()
	answers, _ := s.crowd.ledger.page()
	p.sort(answers, s.crowd.ledger.tooLate())
	p.before = s.buyers.leads()
	p.events, p.hooks = s.told.heard()
	dump := s.dump()
	p.after, p.stats = s.buyers.leads(), s.buyers.stats()
	p.book = readBook(s.terms, dump)
	if p.atRest {
		p.funds = map[string]account{}
		for i := range s.terms.buyers {
			var booked account
			s.ask("/admin/v1/buyers/"+s.terms.buyers[i].id+"/funds", &booked)
			p.funds[s.terms.buyers[i].id] = booked
		}
	}
	return p
}

// reported is how many findings of one audit are shown.
const reported = 20

func (s *scene) check(p *picture) {
	s.t.Helper()
	found := p.audit()
	_, told := s.crowd.ledger.page()
	_, reports := s.crowd.reports.page()
	found = slices.Concat(found, told, reports, s.errors())
	if !grew(s.seen, p.book.lines) {
		found = append(found, "the log has lost entries, or changed them")
	}
	s.seen = p.book.lines
	for _, text := range found[:min(len(found), reported)] {
		s.t.Error(text)
	}
	if len(found) > reported {
		s.t.Errorf("and %d findings more", len(found)-reported)
	}
}

// farewell stops the exchange in order and starts it once more, from the
// snapshot that it left: it must be as if nothing had been.
func (s *scene) farewell() {
	s.t.Helper()
	before := s.hash()
	s.stop()
	s.verify()
	s.replays(before)
	s.start()
	if after := s.hash(); after != before {
		s.t.Errorf("the state was %+v before an orderly stop, and is %+v after it", before, after)
	}
	s.crowd.askAgain(200, s.chance)
	s.check(s.picture())
	s.stop()
}
