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

// Minimum and maximum number of leads before a kill, and number of kills in a run.
const (
	minLeads, maxLeads = 100, 200
	kills              = 20
)

// run is one test with its harness.
type run struct {
	*killer
	hashes []witness.Position // of the live exchange
	enough int                // number of kills
}

// TestKilledUnderLoad kills the exchange twenty times under load, restarts it each time, and
// audits it. Acknowledged data must be present and unchanged, leads must be sold once, caps and
// accounts must hold, and the log must replay to the live state.
func TestKilledUnderLoad(t *testing.T) {
	p := newRun(t, witness.NewFixedPriceConfig, raceDetector).killAndAudit()
	if reports := p.Tally().Of("report"); reports == 0 {
		t.Error("no buyer has sent a status report")
	}
}

// TestKilledUnderAuctions does the same with auctions, where most leads arrive by ping and
// post. Answers to pings count like those to leads. Each auction sells at most one lead, at the
// promised price and to the bidding buyer. The program has no race detector here; the other
// test uses it.
func TestKilledUnderAuctions(t *testing.T) {
	p := newRun(t, witness.NewAuctionConfig, false).killAndAudit()
	tally := p.Tally()
	sold := tally["post"]["ACCEPTED"]
	if sold == 0 || sold == tally.Of("post") || tally.Of("ingest") == 0 {
		t.Error("the run lacks a kind of request or outcome")
	}
}

// killAndAudit kills, restarts and audits, and returns the evidence at the end.
func (s *run) killAndAudit() *witness.Evidence {
	t := s.t
	for s.kills < s.enough {
		for _, how := range deck(s.random) {
			if s.kills >= s.enough {
				break
			}
			s.round(how)
			if t.Failed() {
				t.Fatalf("after %d kills, the last of them %s; last output of the exchange:\n%s", s.kills, how, s.LastLines())
			}
		}
	}
	s.AwaitAnswers(s.random)
	s.AwaitDeliveries(s.random)
	s.DrainWebhooks()
	p := s.CollectEvidence()
	p.WebhooksDrained = true
	s.Audit(p)
	for i := 0; i < len(s.hashes); i += 3 {
		s.CheckReplayHash(s.hashes[i]) // also before the newest snapshot
	}
	s.CheckRestart(s.random)
	t.Logf("killed: %v", s.tally)
	t.Logf("%d kills in %d lives: %v", s.kills, s.Starts(), p.Tally())
	if idle := p.UnreachedLimits(); len(idle) > 0 {
		t.Errorf("these limits were not reached, so the run does not test them: %q", idle)
	}
	return p
}

// newRun starts a harness for the configuration, with or without the race detector.
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
	terms := termsFor(int64(kills*(minLeads+maxLeads)*3/8), hourly, daily)
	program := filepath.Join(t.TempDir(), "pingpost")
	witness.Build(t, program, detector)
	scene := witness.NewHarness(t, program, t.ArtifactDir(), terms, seed)
	return &run{killer: &killer{Harness: scene, t: t, random: rand.New(rand.NewPCG(seed, 1<<32)), tally: map[manner]int{}}, enough: kills}
}

// round sends leads, ends the exchange somewhere among them, restarts it, and audits it while
// the suppliers continue.
func (s *run) round(how manner) {
	s.t.Helper()
	leads := minLeads + s.random.IntN(maxLeads-minLeads)
	until := s.Suppliers.Answered() + s.random.IntN(leads/2)
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
	s.sleepUpTo(8 * time.Millisecond)
	s.end(how)
	<-added
	s.Start()
	s.Audit(s.CollectEvidence())
	s.hashes = append(s.hashes, s.Hash())
	s.CheckReplayHash(s.hashes[len(s.hashes)-1])
	s.Verify()
	if how == orderly || how == thawed {
		s.AwaitAnswers(s.random)
	}
	s.Suppliers.RepeatRequests(10, s.random)
}
