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

// Minimum and maximum number of leads before each fault, number of leads after it, and number
// of status reports.
const (
	minLeads, maxLeads = 60, 160
	fewLeads           = 20
	statusReports      = 25
)

// torture is one run.
type torture struct {
	*witness.Harness
	reporter    *reporter
	random      *rand.Rand
	dir         string
	program     string
	began       time.Time
	mounted     bool
	readOnlyDir string        // directory that is mounted read-only, or ""
	topUpDone   chan struct{} // closed when this round's top-up is answered
	span        time.Duration // time in which faults are injected

	rounds  int
	records map[*fault]*faultRecord
	hashes  []witness.Position
	tally   witness.Tally
}

// faultRecord counts a fault's results.
type faultRecord struct {
	injected, survived, noOccasion int
	missing                        string
	duration                       time.Duration // total time until the exchange served again
}

// injectFaults injects faults until the time is up, and then runs the final audit.
func (t *torture) injectFaults(span time.Duration, all []*fault) {
	t.reporter.Cleanup(t.saveDataDir)
	t.span = span
	all = t.permittedFaults(all)
	for time.Since(t.began) < span {
		for _, f := range drawFaults(t, all) {
			if time.Since(t.began) >= span {
				break
			}
			t.runRound(f)
			if len(t.reporter.findingsSoFar()) > 0 {
				t.reporter.Fatalf("stopped after round %d, %s; last output of the exchange:\n%s", t.rounds, f.name, lastLines(t.LastLines(), 15))
			}
		}
	}
	t.finish()
}

// permittedFaults returns the faults that the machine permits.
func (t *torture) permittedFaults(all []*fault) (some []*fault) {
	for _, f := range all {
		r := &faultRecord{}
		t.records[f] = r
		if f.missing != nil {
			r.missing = f.missing(t)
		}
		if r.missing == "" {
			some = append(some, f)
		}
	}
	return some
}

// runRound sends leads, injects one fault among them, and audits.
func (t *torture) runRound(f *fault) {
	t.rounds++
	r := t.records[f]
	leads := minLeads + t.random.IntN(maxLeads-minLeads)
	until := t.Suppliers.Answered() + t.random.IntN(leads/2)
	t.Suppliers.SendLeads(leads)
	t.awaitAnswered(until)
	t.topUpDone = make(chan struct{})
	go func() {
		t.TopUp()
		close(t.topUpDone)
	}()
	began := time.Now()
	if f.inject(t) {
		r.injected++
	} else {
		r.noOccasion++
	}
	r.duration += time.Since(began)
	<-t.topUpDone
	t.audit()
	if len(t.reporter.findingsSoFar()) == 0 && r.injected > r.survived {
		r.survived++
	}
	t.reporter.logf("%7s  round %d, %s: %d answered", sinceStart(t.began), t.rounds, f.name, t.Suppliers.Answered())
}

// audit compares all sources with the log, and the log with the live state.
func (t *torture) audit() {
	p := t.CollectEvidence()
	t.Audit(p)
	t.AdminEditor.Check()
	t.tally = p.Tally()
	t.AdminEditor.AddTo(t.tally)
	t.hashes = append(t.hashes, t.Hash())
	t.CheckReplayHash(t.hashes[len(t.hashes)-1])
	t.Verify()
	t.Suppliers.RepeatRequests(10, t.random)
	t.ResolveDeliveries(t.random)
	t.DecideReturns(t.random)
	t.SendStatusReports(p, statusReports, t.random)
	if t.rounds%4 == 0 {
		t.AwaitAnswers(t.random)
	}
}

// finish waits until all work is done, and runs the final audit.
func (t *torture) finish() {
	t.reporter.logf("%7s  no more faults; waiting for open work", sinceStart(t.began))
	t.AdminEditor.Close()
	t.SettleDeliveries(t.random)
	t.DrainWebhooks()
	t.AdminEditor.Check()
	p := t.CollectEvidence()
	p.WebhooksDrained = true
	t.Audit(p)
	t.tally = p.Tally()
	t.AdminEditor.AddTo(t.tally)
	for i := 0; i < len(t.hashes); i += 1 + len(t.hashes)/5 {
		t.CheckReplayHash(t.hashes[i]) // also before the newest snapshot
	}
	t.CheckRestart(t.random)
	t.CheckKeys()
	t.CheckRestores(t.hashes[0], t.hashes[t.random.IntN(len(t.hashes))], t.hashes[len(t.hashes)-1])
}

func (t *torture) awaitAnswered(until int) {
	witness.Await(t.reporter, "suppliers are answered", func() bool {
		if end := t.ExitReport(); end != "" {
			t.reporter.Fatal(end)
		}
		return t.Suppliers.Answered() >= until
	})
}

// lastSegment returns the path of the log's last segment.
func (t *torture) lastSegment() string {
	segments, err := wal.Segments(t.DataDir())
	if err != nil || len(segments) == 0 {
		t.reporter.Fatal(fmt.Errorf("the log has no segments: %w", err))
	}
	return segments[len(segments)-1].Path
}

// newestSnapshot returns the position of the newest snapshot, or 0.
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
