//go:build unix

package crash

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"pingpost/fuzz/witness"
)

// The exchange dies after fewest to most leads, and kills times in a run.
const (
	fewest, most = 100, 200
	kills        = 20
)

// run is one test: the stage, and who kills on it.
type run struct {
	*killer
	hashes []witness.Position // of the live exchange
	enough int                // kills
}

// TestKilledUnderLoad kills the exchange twenty times under load, restarts it
// each time, and audits it: nothing that was acknowledged is lost or told
// otherwise, nothing is sold twice, no cap and no account is exceeded, and the
// log replays to the very state that the live exchange has.
func TestKilledUnderLoad(t *testing.T) {
	p := newRun(t, witness.NewFixedPriceConfig, raceDetector).play()
	if reports := p.Tally().Of("report"); reports == 0 {
		t.Error("no buyer has reported on a lead")
	}
}

// TestKilledUnderAuctions does the same where every price is a bid, and most leads
// come by a ping and a post: answers to pings are as good as those to leads, each
// auction sells one lead at most, at the price that was promised and to the buyer
// that made it. The program is built without the race detector, which the other
// test has it under.
func TestKilledUnderAuctions(t *testing.T) {
	p := newRun(t, witness.NewAuctionConfig, false).play()
	tally := p.Tally()
	sold := tally["post"]["ACCEPTED"]
	if sold == 0 || sold == tally.Of("post") || tally.Of("ingest") == 0 {
		t.Error("leads did not come, or end, in every way")
	}
}

// play kills, restarts and audits, to the last act, and returns the picture of all
// at rest.
func (s *run) play() *witness.Evidence {
	t := s.t
	for s.kills < s.enough {
		for _, how := range deck(s.chance) {
			if s.kills >= s.enough {
				break
			}
			s.round(how)
			if t.Failed() {
				t.Fatalf("after %d kills, the last of them %s; the exchange's last words:\n%s", s.kills, how, s.LastLines())
			}
		}
	}
	s.AwaitAnswers(s.chance)
	s.AwaitDeliveries(s.chance)
	s.DrainWebhooks()
	p := s.CollectEvidence()
	p.WebhooksDrained = true
	s.Audit(p)
	for i := 0; i < len(s.hashes); i += 3 {
		s.CheckReplayHash(s.hashes[i]) // of before the newest snapshot, too
	}
	s.CheckRestart(s.chance)
	t.Logf("killed: %v", s.tally)
	t.Logf("%d kills in %d lives: %v", s.kills, s.Starts(), p.Tally())
	if idle := p.UnreachedLimits(); len(idle) > 0 {
		t.Errorf("what was not used up cannot have been exceeded: %q", idle)
	}
	return p
}

// newRun sets the stage for terms; detector: the program is to look for races.
func newRun(t *testing.T, termsFor func(leads int64, hourly, daily string) *witness.Config, detector bool) *run {
	t.Helper()
	if testing.Short() {
		t.Skip("long: make test-long kills the exchange")
	}
	seed := uint64(time.Now().UnixNano())
	if text := os.Getenv("SEED"); text != "" {
		var err error
		if seed, err = strconv.ParseUint(text, 10, 64); err != nil {
			t.Fatalf("SEED: %v", err)
		}
	}
	t.Logf("SEED=%d repeats this run", seed)
	hourly, daily := witness.ZonesAt(time.Now())
	terms := termsFor(int64(kills*(fewest+most)*3/8), hourly, daily)
	program := filepath.Join(t.TempDir(), "pingpost")
	witness.Build(t, program, detector)
	scene := witness.NewHarness(t, program, t.ArtifactDir(), terms, seed)
	return &run{killer: &killer{Harness: scene, t: t, chance: rand.New(rand.NewPCG(seed, 1<<32)), tally: map[manner]int{}}, enough: kills}
}

// round lets leads in, ends the exchange's life somewhere among them, begins
// the next one and audits it while the suppliers go on.
func (s *run) round(how manner) {
	s.t.Helper()
	leads := fewest + s.chance.IntN(most-fewest)
	until := s.Suppliers.Answered() + s.chance.IntN(leads/2)
	s.Suppliers.SendLeads(leads)
	witness.Await(s.t, "suppliers are answered", func() bool {
		if end := s.ExitReport(); end != "" {
			s.t.Fatal(end)
		}
		return s.Suppliers.Answered() >= until
	})
	added := make(chan struct{})
	go func() {
		s.TopUp()
		close(added)
	}()
	s.within(8 * time.Millisecond)
	s.end(how)
	<-added
	s.Start()
	s.Audit(s.CollectEvidence())
	s.hashes = append(s.hashes, s.Hash())
	s.CheckReplayHash(s.hashes[len(s.hashes)-1])
	s.Verify()
	if how == orderly || how == thawed {
		s.AwaitAnswers(s.chance)
	}
	s.Suppliers.RepeatRequests(10, s.chance)
}
