//go:build linux

package main

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"pingpost/fuzz/witness"
	"pingpost/wal"
)

// Leads that are let in before each fault, at least and at most, those of which some
// must be answered after it, and reports.
const (
	fewest, most = 60, 160
	few          = 20
	reports      = 25
)

// torture is one run.
type torture struct {
	*witness.Harness
	clerk   *clerk
	chance  *rand.Rand
	dir     string
	program string
	began   time.Time
	mounted bool
	aside   string        // what is mounted read-only; empty: nothing
	topped  chan struct{} // closed when this round's top-up is answered
	span    time.Duration // in which faults are injected

	rounds  int
	records map[*fault]*record
	hashes  []witness.Position
	tally   witness.Tally
}

// record is what became of a fault.
type record struct {
	injected, survived, idle int
	lacks                    string
	took                     time.Duration // until the exchange served again, in all
}

// play does the faults in their turns until the time is up, and has everything come to
// its end after that.
func (t *torture) play(span time.Duration, all []*fault) {
	t.clerk.Cleanup(t.salvage)
	t.span = span
	all = t.possible(all)
	for time.Since(t.began) < span {
		for _, f := range deck(t, all) {
			if time.Since(t.began) >= span {
				break
			}
			t.round(f)
			if len(t.clerk.findings()) > 0 {
				t.clerk.Fatalf("found after round %d, %s; the exchange's last words:\n%s", t.rounds, f.name, lastLines(t.LastLines(), 15))
			}
		}
	}
	t.end()
}

// possible leaves out what the machine does not permit.
func (t *torture) possible(all []*fault) (some []*fault) {
	for _, f := range all {
		r := &record{}
		t.records[f] = r
		if f.lacks != nil {
			r.lacks = f.lacks(t)
		}
		if r.lacks == "" {
			some = append(some, f)
		}
	}
	return some
}

// round lets leads in, does one fault somewhere among them, and audits.
func (t *torture) round(f *fault) {
	t.rounds++
	r := t.records[f]
	leads := fewest + t.chance.IntN(most-fewest)
	until := t.Suppliers.Answered() + t.chance.IntN(leads/2)
	t.Suppliers.SendLeads(leads)
	t.answered(until)
	t.topped = make(chan struct{})
	go func() {
		t.TopUp()
		close(t.topped)
	}()
	began := time.Now()
	if f.strike(t) {
		r.injected++
	} else {
		r.idle++
	}
	r.took += time.Since(began)
	<-t.topped
	t.audit()
	if len(t.clerk.findings()) == 0 && r.injected > r.survived {
		r.survived++
	}
	t.clerk.say("%7s  round %d, %s: %d answered", sinceStart(t.began), t.rounds, f.name, t.Suppliers.Answered())
}

// audit holds all witnesses against the log, and the log against the live state.
func (t *torture) audit() {
	p := t.CollectEvidence()
	t.Audit(p)
	t.AdminEditor.Check()
	t.tally = p.Tally()
	t.AdminEditor.AddTo(t.tally)
	t.hashes = append(t.hashes, t.Hash())
	t.CheckReplayHash(t.hashes[len(t.hashes)-1])
	t.Verify()
	t.Suppliers.RepeatRequests(10, t.chance)
	t.ResolveDeliveries(t.chance)
	t.DecideReturns(t.chance)
	t.SendStatusReports(p, reports, t.chance)
	if t.rounds%4 == 0 {
		t.AwaitAnswers(t.chance)
	}
}

// end waits until all has come to its end, and audits that.
func (t *torture) end() {
	t.clerk.say("%7s  no more faults; what is under way comes to its end", sinceStart(t.began))
	t.AdminEditor.Close()
	t.SettleDeliveries(t.chance)
	t.DrainWebhooks()
	t.AdminEditor.Check()
	p := t.CollectEvidence()
	p.WebhooksDrained = true
	t.Audit(p)
	t.tally = p.Tally()
	t.AdminEditor.AddTo(t.tally)
	for i := 0; i < len(t.hashes); i += 1 + len(t.hashes)/5 {
		t.CheckReplayHash(t.hashes[i]) // of before the newest snapshot, too
	}
	t.CheckRestart(t.chance)
	t.CheckKeys()
	t.CheckRestores(t.hashes[0], t.hashes[t.chance.IntN(len(t.hashes))], t.hashes[len(t.hashes)-1])
}

func (t *torture) answered(until int) {
	witness.Await(t.clerk, "suppliers are answered", func() bool {
		if end := t.ExitReport(); end != "" {
			t.clerk.Fatal(end)
		}
		return t.Suppliers.Answered() >= until
	})
}

// segment is the log's last one.
func (t *torture) segment() string {
	segments, err := wal.Segments(t.DataDir())
	if err != nil || len(segments) == 0 {
		t.clerk.Fatal(fmt.Errorf("the log has no segments: %w", err))
	}
	return segments[len(segments)-1].Path
}

// newestSnapshot is the entry that it stands at; 0: there is none.
func newestSnapshot(dir string) (newest uint64) {
	entries, _ := os.ReadDir(filepath.Join(dir, "snapshot"))
	for _, e := range entries {
		if seq, err := strconv.ParseUint(strings.TrimSuffix(e.Name(), ".snap"), 10, 64); err == nil {
			newest = max(newest, seq)
		}
	}
	return newest
}

func lastLines(text string, n int) string {
	lines := strings.Split(text, "\n")
	return strings.Join(lines[max(0, len(lines)-n):], "\n")
}
