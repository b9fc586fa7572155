//go:build linux

package torture

import (
	"cmp"
	"flag"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"text/tabwriter"
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

// leadsASecond is the approximate rate of leads. Caps and funds are sized for it. The audits of three nodes
// take longer.
const leadsASecond, leadsASecondOfCluster = 20, 8

// Options of a run.
var (
	minutes = flag.Float64("minutes", 0, "time of fault injection; 0 skips the test")
	short   = flag.Bool("short", false, "inject faults for 40 seconds, as a check of every change")
	seed    = flag.String("seed", os.Getenv("SEED"), "repeats the choices of a run (default: SEED, or the clock)")
	only    = flag.String("only", "", "inject only faults whose name contains one of these words, separated by commas")
	tested  = flag.String("program", "", "the pingpost binary to test (default: build it)")
)

// TestTorture injects random faults.
func TestTorture(t *testing.T) {
	switch {
	case *minutes == 0:
		t.Skip("long: make torture")
	case *short:
		runTorture(t, 40*time.Second, *only, nil)
	default:
		runTorture(t, time.Duration(*minutes*float64(time.Minute)), *only, nil)
	}
}

// The exchange survives kills. With the race detector in the test, the exchange and
// the buyers have it too, and a race ends them.
func TestExchangeSurvivesKills(t *testing.T) {
	if testing.Short() {
		t.Skip("long: make test-long kills the exchange")
	}
	runTorture(t, 90*time.Second, "killed,stopped in order", nil)
}

// runTorture injects the faults whose name contains one of the words, until the time is up. After
// a finding it keeps all files. create creates a cluster; nil: a single exchange.
func runTorture(test *testing.T, span time.Duration, words string, create func(t *torture, program string, config *witness.Config, seed uint64)) {
	test.Helper()
	number := uint64(time.Now().UnixNano())
	var err error
	if *seed != "" {
		number, err = strconv.ParseUint(*seed, 10, 64)
	}
	t := &torture{test: test, random: rand.New(rand.NewPCG(number, 1<<33)), span: span, began: time.Now(), records: map[*fault]*faultCounts{}}
	t.failOnError(err)
	t.known, t.audit, t.auditAtEnd = faults, t.auditRound, t.runFinalAudit
	if create != nil {
		t.known, t.audit, t.auditAtEnd = clusterFaults, t.auditClusterRound, t.runFinalClusterAudit
	}
	chosen := slices.DeleteFunc(slices.Clone(t.known), func(f *fault) bool { return !isSelected(words, f) })
	if len(chosen) == 0 {
		test.Fatalf("--only: no fault's name contains %q", words)
	}
	t.dir, err = os.MkdirTemp("", "torture") //nolint:usetesting // it is kept after a finding
	t.failOnError(err)
	test.Logf("SEED=%d repeats this run's choices", number)
	test.Cleanup(func() {
		if test.Failed() {
			test.Logf("SEED=%d; all files are kept in %s", number, t.dir)
		} else if err := os.RemoveAll(t.dir); err != nil {
			test.Errorf("cannot remove %s: %v", t.dir, err)
		}
	})
	t.program = *tested
	if t.program == "" {
		t.program = filepath.Join(t.dir, "pingpost")
		witness.Build(test, t.program, raceDetector)
	}
	hourly, daily := witness.ZonesFarFromWindowEnd(time.Now())
	rate := int64(leadsASecond)
	if create != nil {
		rate = leadsASecondOfCluster
	}
	config := witness.NewConfig(int64(span.Seconds())*rate, hourly, daily)
	if create == nil {
		t.Harness = witness.NewHarness(test, t.program, t.dir, config, number)
	} else {
		create(t, t.program, config, number)
	}
	test.Cleanup(func() {
		var out strings.Builder
		t.printTable(&out, t.countStarts())
		test.Log("\n" + out.String())
	})
	test.Cleanup(t.saveDataDir)
	t.injectFaults(chosen)
}

// isSelected reports whether the fault's name contains one of the words.
func isSelected(words string, f *fault) bool {
	return slices.ContainsFunc(strings.Split(words, ","), func(part string) bool { return strings.Contains(f.name, part) })
}

// torture is one run.
type torture struct {
	*witness.Harness
	test        *testing.T
	known       []*fault // all faults, before the selection
	audit       func()   // after each round
	auditAtEnd  func()
	network     *clusterNetwork // of a cluster; nil: without partitions
	failovers   []time.Duration // from the kill of a leader until another node decides
	random      *rand.Rand
	dir         string
	program     string         // path of the tested binary
	clocks      *clockPrograms // nil: not begun
	began       time.Time
	mounted     bool
	readOnlyDir string        // directory that is mounted read-only, or ""
	topUpDone   chan struct{} // closed when this round's top-up is answered
	span        time.Duration // time in which faults are injected

	rounds  int
	records map[*fault]*faultCounts
	hashes  []witness.StateHash
	tally   witness.Tally
}

// faultCounts counts a fault's results.
type faultCounts struct {
	injected, survived, noOccasion int
	missing                        string
	attempts                       map[string]int // of a cluster's clients during the faults, by result
	duration                       time.Duration  // total time until the exchange served again
}

// injectFaults injects faults until the time is up, and then runs the final audit.
func (t *torture) injectFaults(all []*fault) {
	all = t.permittedFaults(all)
	for time.Since(t.began) < t.span {
		for _, f := range drawFaults(t, all) {
			if time.Since(t.began) >= t.span {
				break
			}
			t.runRound(f)
			if t.test.Failed() {
				t.test.Fatalf("stopped after round %d, %s; last output of the exchange:\n%s", t.rounds, f.name, lastLines(t.LastLines(), 15))
			}
		}
	}
	t.auditAtEnd()
}

// permittedFaults returns the faults that the machine permits.
func (t *torture) permittedFaults(all []*fault) (some []*fault) {
	for _, f := range all {
		r := &faultCounts{}
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

func (t *torture) elapsed() time.Duration { return time.Since(t.began).Round(100 * time.Millisecond) }

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
	if t.Cluster != nil {
		t.TakeAttempts()
	}
	if f.inject(t) {
		r.injected++
	} else {
		r.noOccasion++
	}
	r.duration += time.Since(began)
	t.countAttempts(r)
	<-t.topUpDone
	t.audit()
	if !t.test.Failed() && r.injected > r.survived {
		r.survived++
	}
	t.test.Logf("%7s  round %d, %s: %d answered", t.elapsed(), t.rounds, f.name, t.Suppliers.Answered())
}

// auditRound compares all sources with the log, and the log with the live state.
func (t *torture) auditRound() {
	p := t.CollectEvidence()
	t.Audit(p)
	t.AdminEditor.CheckEdits()
	t.tally = p.Tally()
	t.AdminEditor.AddCountsTo(t.tally)
	t.hashes = append(t.hashes, t.ReadStateHash())
	t.CheckReplayHash(t.hashes[len(t.hashes)-1])
	t.VerifyLog()
	t.Suppliers.RepeatRequests(10, t.random)
	t.ResolveDeliveries(t.random)
	t.DecideReturns(t.random)
	t.SendStatusReports(p, statusReports, t.random)
	if t.rounds%4 == 0 {
		t.AwaitAnswers(t.random)
	}
}

// runFinalAudit waits until all work is done, and runs the final audit.
func (t *torture) runFinalAudit() {
	t.test.Logf("%7s  no more faults; waiting for open work", t.elapsed())
	t.AdminEditor.Close()
	t.SettleDeliveries(t.random)
	t.DrainWebhooks()
	t.AdminEditor.CheckEdits()
	p := t.CollectEvidence()
	p.WebhooksDrained = true
	t.Audit(p)
	t.tally = p.Tally()
	t.AdminEditor.AddCountsTo(t.tally)
	for i := 0; i < len(t.hashes); i += 1 + len(t.hashes)/5 {
		t.CheckReplayHash(t.hashes[i]) // also before the newest snapshot
	}
	t.CheckRestart(t.random)
	t.CheckLeadKeys()
	t.CheckRestoredCopies(t.hashes[0], t.hashes[t.random.IntN(len(t.hashes))], t.hashes[len(t.hashes)-1])
}

func (t *torture) awaitAnswered(until int) {
	t.AwaitWhileRunning("suppliers are answered", func() bool { return t.Suppliers.Answered() >= until })
}

// lastSegmentPath returns the path of the log's last segment.
func (t *torture) lastSegmentPath() string {
	segments, err := wal.Segments(t.DataDir())
	if err != nil || len(segments) == 0 {
		t.test.Fatal(fmt.Errorf("the log has no segments: %w", err))
	}
	return segments[len(segments)-1].Path
}

// newestSnapshotSeq returns the position of the newest snapshot, or 0.
func newestSnapshotSeq(dir string) (newest uint64) {
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

// printTable prints the faults and the requests of the run.
func (t *torture) printTable(out io.Writer, starts int) {
	w := tabwriter.NewWriter(out, 0, 8, 2, ' ', 0)
	fmt.Fprintf(w, "FAULT\tinjected\tsurvived\tno occasion\tmean time\t\n")
	for _, f := range t.known {
		r := t.records[f]
		switch {
		case r == nil:
		case r.missing != "":
			fmt.Fprintf(w, "%s\t-\t-\t-\tskipped: %s\t\n", f.name, r.missing)
		default:
			fmt.Fprintf(w, "%s\t%d\t%d\t%d\t%v\t\n", f.name, r.injected, r.survived, r.noOccasion, meanDuration(r.duration, r.injected+r.noOccasion))
		}
	}
	_ = w.Flush()
	fmt.Fprintln(out)
	w = tabwriter.NewWriter(out, 0, 8, 2, ' ', 0)
	fmt.Fprintf(w, "REQUEST\tin all\tanswers\n")
	for _, kind := range slices.Sorted(maps.Keys(t.tally)) {
		fmt.Fprintf(w, "%s\t%d\t%s\n", kind, t.tally.CountOf(kind), formatAnswerCounts(t.tally[kind]))
	}
	_ = w.Flush()
	t.printClusterCounts(out)
	fmt.Fprintf(out, "\n%d rounds in %v; %d starts of the exchange\n", t.rounds, time.Since(t.began).Round(time.Second), starts)
}

func meanDuration(sum time.Duration, n int) time.Duration {
	return (sum / time.Duration(max(1, n))).Round(time.Millisecond)
}

// formatAnswerCounts lists answers, the most frequent first.
func formatAnswerCounts(answers map[string]int) string {
	names := slices.SortedFunc(maps.Keys(answers), func(a, b string) int {
		return cmp.Or(cmp.Compare(answers[b], answers[a]), cmp.Compare(a, b))
	})
	all := make([]string, len(names))
	for i, name := range names {
		all[i] = fmt.Sprintf("%s %d", name, answers[name])
	}
	return strings.Join(all, ", ")
}

// newTestTorture returns a run without an exchange, with the given seed.
func newTestTorture(t *testing.T, seed uint64) *torture {
	return &torture{test: t, random: rand.New(rand.NewPCG(seed, 0)), records: map[*fault]*faultCounts{}, began: time.Now()}
}

// The same seed draws the same faults, another seed others, each as often as its weight.
func TestSeedRepeatsChoices(t *testing.T) {
	draw := func(seed uint64, rounds int) (names []string) {
		run := newTestTorture(t, seed)
		run.rounds = rounds
		for _, f := range drawFaults(run, faults) {
			names = append(names, f.name)
		}
		return names
	}
	one, again, other := draw(1, 9), draw(1, 9), draw(2, 9)
	if !slices.Equal(one, again) || slices.Equal(one, other) {
		t.Errorf("%v\n%v\n%v", one, again, other)
	}
	first := draw(1, 0)
	if slices.Sort(first); len(first) != len(faults) || len(slices.Compact(first)) != len(faults) {
		t.Errorf("the first draw does not have each fault once: %v", first)
	}
	for _, f := range faults {
		n := 0
		for _, name := range one {
			if name == f.name {
				n++
			}
		}
		if n != f.weight {
			t.Errorf("%s is drawn %d times, want %d", f.name, n, f.weight)
		}
	}
}

// Only files with a snapshot's name count, and the newest one wins.
func TestNewestSnapshot(t *testing.T) {
	dir := t.TempDir()
	if got := newestSnapshotSeq(dir); got != 0 {
		t.Errorf("%d without a snapshot, want 0", got)
	}
	if err := os.MkdirAll(dir+"/snapshot", 0o700); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"00000000000000000017.snap", "00000000000000000123.snap", "next.tmp"} {
		if err := os.WriteFile(dir+"/snapshot/"+name, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if got := newestSnapshotSeq(dir); got != 123 {
		t.Errorf("the newest snapshot is %d, want 123", got)
	}
	if got := lastLines("a\nb\nc", 2); got != "b\nc" {
		t.Errorf("last lines %q", got)
	}
}
