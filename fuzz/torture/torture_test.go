//go:build linux

package main

import (
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"pingpost/fuzz/witness"
)

// newTestTorture returns a run without an exchange, with the given seed.
func newTestTorture(seed uint64) *torture {
	return &torture{
		reporter: &reporter{logf: func(string, ...any) {}}, random: rand.New(rand.NewPCG(seed, 0)),
		records: map[*fault]*faultRecord{}, began: time.Now(),
	}
}

// A seed's choices depend only on the fault names, so they must be unique and sorted.
func TestFaultsAreSorted(t *testing.T) {
	seen := map[string]bool{}
	for i, f := range faults {
		if f.name == "" || f.weight < 1 || f.inject == nil || seen[f.name] {
			t.Errorf("fault %d: %+v", i, f)
		}
		seen[f.name] = true
		if i > 0 && faults[i-1].name > f.name {
			t.Errorf("%s stands before %s", faults[i-1].name, f.name)
		}
	}
	for _, promised := range []string{
		"killed", "held for seconds", "stopped in order", "log's end torn", "bit flipped in the log", "disk full",
		"EIO from a write", "EIO from an fsync", "ENOSPC from a write", "ENOSPC from an fsync", "short write", "neighbor silent for seconds",
		"buyer paused over a kill", "person erased", "killed while it erases", "disk lost", "disk lost after an orderly stop", "backup's disk read-only",
	} {
		if !seen[promised] {
			t.Errorf("there is no fault %q", promised)
		}
	}
}

// The same seed draws the same faults, another seed others, each as often as its weight.
func TestSeedRepeatsChoices(t *testing.T) {
	deal := func(seed uint64, rounds int) (names []string) {
		run := newTestTorture(seed)
		run.rounds = rounds
		for _, f := range drawFaults(run, faults) {
			names = append(names, f.name)
		}
		return names
	}
	one, again, other := deal(1, 9), deal(1, 9), deal(2, 9)
	if !slices.Equal(one, again) || slices.Equal(one, other) {
		t.Errorf("%v\n%v\n%v", one, again, other)
	}
	first := deal(1, 0)
	if slices.Sort(first); len(first) != len(faults) || len(slices.Compact(first)) != len(faults) {
		t.Errorf("the first deck has not each fault once: %v", first)
	}
	for _, f := range faults {
		n := 0
		for _, name := range one {
			if name == f.name {
				n++
			}
		}
		if n != f.weight {
			t.Errorf("%s is dealt %d times, and weighs %d", f.name, n, f.weight)
		}
	}
}

// The run skips unsupported faults, and the table gives the reason.
func TestUnsupportedFaultsAreSkipped(t *testing.T) {
	run := newTestTorture(1)
	can := &fault{name: "can", missing: func(*torture) string { return "" }}
	cannot := &fault{name: "cannot", missing: func(*torture) string { return "root is missing" }}
	always := &fault{name: "always"}
	some := run.permittedFaults([]*fault{can, cannot, always})
	if len(some) != 2 || some[0] != can || some[1] != always || run.records[cannot].missing != "root is missing" {
		t.Errorf("%v, %+v", some, run.records[cannot])
	}
}

func TestOnlySelectsFaults(t *testing.T) {
	for only, want := range map[string]string{
		"":             "killed|disk full|EIO from a write",
		"killed":       "killed",
		"full,from a ": "disk full|EIO from a write",
		"nothing":      "",
	} {
		o, meant := options{only: only}, []string{}
		for _, name := range []string{"killed", "disk full", "EIO from a write"} {
			if o.isSelected(&fault{name: name}) {
				meant = append(meant, name)
			}
		}
		if got := strings.Join(meant, "|"); got != want {
			t.Errorf("only %q: %s, want %s", only, got, want)
		}
	}
}

// Fatal ends the run at once, and cleanups run in reverse order.
func TestReporterEndsTheRun(t *testing.T) {
	var said, order []string
	c := &reporter{logf: func(format string, args ...any) { said = append(said, fmt.Sprintf(format, args...)) }}
	c.run(func() {
		c.Cleanup(func() { order = append(order, "first") })
		c.Cleanup(func() { order = append(order, "second") })
		c.Errorf("one %d", 1)
		c.Error("two", 2)
		c.Fatalf("three")
		t.Error("a run went on after its end")
	})
	if found := c.findingsSoFar(); !slices.Equal(found, []string{"one 1", "two2", "three"}) || len(said) != 3 {
		t.Errorf("found %q, said %q", found, said)
	}
	if !slices.Equal(order, []string{"second", "first"}) {
		t.Errorf("cleaned up: %q", order)
	}
	c.run(func() { c.Fatal("four") })
	if found := c.findingsSoFar(); found[len(found)-1] != "four" {
		t.Errorf("found %q", found)
	}
}

// Each fault has a row, and answers are listed with the most frequent first.
func TestTable(t *testing.T) {
	run := newTestTorture(1)
	for _, f := range faults {
		run.records[f] = &faultRecord{injected: 4, survived: 4, duration: 10 * time.Second}
	}
	run.records[faults[0]].missing = "strace is not installed"
	run.records[faults[1]] = nil
	run.records[faults[2]].survived = 3
	run.tally = witness.Tally{"ingest": {"caps_full": 2, "ACCEPTED": 5, "duplicate": 2}}
	var out strings.Builder
	run.table(&out, 12, 3*time.Second)
	text := out.String()
	for _, want := range []string{
		faults[0].name + "  ", "skipped: strace is not installed", "2.5s", "ingest   9       ACCEPTED 5, caps_full 2, duplicate 2", "12 starts of the exchange, 3s of downtime",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("nothing of %q in\n%s", want, text)
		}
	}
	if strings.Contains(text, faults[1].name+" ") {
		t.Errorf("a fault that was not meant has a row:\n%s", text)
	}
	if got := mean(0, 0); got != 0 {
		t.Errorf("the mean of nothing is %v", got)
	}
}

// The exchange survives kills. With the race detector in the test, the exchange and
// the buyers have it too, and a race ends them.
func TestExchangeSurvivesKills(t *testing.T) {
	if testing.Short() {
		t.Skip("long: make test-long kills the exchange")
	}
	o := &options{span: 90 * time.Second, seed: uint64(time.Now().UnixNano()), only: "killed,stopped in order", dir: t.ArtifactDir(), race: raceDetector}
	if table, ok := runTorture(o, t.Logf); !ok {
		t.Error(table)
	}
}

// Only files with a snapshot's name count, and the newest one wins.
func TestNewestSnapshot(t *testing.T) {
	dir := t.TempDir()
	if got := newestSnapshot(dir); got != 0 {
		t.Errorf("%d without one", got)
	}
	if err := os.MkdirAll(dir+"/snapshot", 0o700); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"00000000000000000017.snap", "00000000000000000123.snap", "next.tmp"} {
		if err := os.WriteFile(dir+"/snapshot/"+name, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if got := newestSnapshot(dir); got != 123 {
		t.Errorf("the newest is %d", got)
	}
	if got := lastLines("a\nb\nc", 2); got != "b\nc" {
		t.Errorf("last lines %q", got)
	}
}
