//go:build unix

package history

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"pingpost/fuzz/witness"
)

// Options of a run.
var (
	histories = flag.Int("histories", 0, "number of histories; 0: a handful, or none with -short")
	seed      = flag.String("seed", os.Getenv("SEED"), "repeats the choices of a run (default: SEED, or the clock)")
	only      = flag.String("only", "", "inject only the fault with this name")
	allowed   = flag.Int("violations", 5, "stop after this number of histories with a violation")
	tested    = flag.String("program", "", "the pingpost binary to test (default: build it)")
)

const handful = 4

// TestHistories runs concurrent clients against a cluster, with one fault in each history, and checks that
// the answers are those of one exchange. After a violation it keeps all files.
func TestHistories(t *testing.T) {
	count := *histories
	if count == 0 {
		if testing.Short() {
			t.Skip("long: make histories")
		}
		count = handful
	}
	number := uint64(time.Now().UnixNano())
	if *seed != "" {
		var err error
		if number, err = strconv.ParseUint(*seed, 10, 64); err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("SEED=%d repeats this run's choices", number)
	dir, err := os.MkdirTemp("", "histories") //nolint:usetesting // it is kept after a violation
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("SEED=%d; all files are kept in %s", number, dir)
		} else if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	program := *tested
	if program == "" {
		program = filepath.Join(dir, "pingpost")
		witness.Build(t, program, raceDetector)
	}
	r := &run{t: t, program: program, dir: dir, random: rand.New(rand.NewPCG(number, 1)), tallies: map[string]*tally{}, results: outcomes{}}
	r.runHistories(count)
}

// run is a run of histories.
type run struct {
	t             *testing.T
	program, dir  string
	random        *rand.Rand
	cluster       *cluster
	order         []*fault // of the next histories
	tallies       map[string]*tally
	results       outcomes
	violatedCount int
}

// runHistories runs histories. A cluster serves several of them.
func (r *run) runHistories(count int) {
	defer func() { r.t.Logf("\n%s\n%v", formatTable(r.tallies), r.results) }()
	for i := range count {
		if i%historiesPerCluster == 0 {
			r.startCluster(i / historiesPerCluster)
		}
		if len(r.order) == 0 {
			r.order = shuffledFaults(r.random)
		}
		f := r.order[0]
		r.order = r.order[1:]
		r.runHistory(i, f)
		if r.violatedCount == *allowed {
			r.t.Fatalf("%d histories have a violation", r.violatedCount)
		}
	}
	r.cluster.stop()
}

func (r *run) startCluster(number int) {
	if r.cluster != nil {
		r.cluster.stop()
	}
	r.cluster = startCluster(r.t, r.program, filepath.Join(r.dir, fmt.Sprintf("cluster%d", number)))
}

// runHistory runs and checks one history.
func (r *run) runHistory(i int, f *fault) {
	c := r.cluster
	h := c.newHistory(fmt.Sprintf("h%d", i), i%historiesPerCluster)
	if err := h.fetchTokens(r.t.Context(), c.AwaitLeader().Address()); err != nil {
		r.t.Fatal(err)
	}
	killed := h.run(r.random, c, f)
	ended := time.Now()
	broken := c.heal(killed)
	if broken == nil {
		h.readBudgets(c)
	}
	healed := time.Now()
	valid := checkHistory(r.t, r.dir, h.id, h.all)
	if err := c.checkBuyer(h.all); err != nil {
		valid = false
		r.t.Error(err)
	}
	if r.tallies[f.name] == nil {
		r.tallies[f.name] = &tally{}
	}
	r.tallies[f.name].add(h.all, valid)
	r.results.add(h.all)
	r.t.Logf("history %d, %s: %d operations; healed in %v, checked in %v", i, f.name, len(h.all), healed.Sub(ended).Round(time.Millisecond), time.Since(healed).Round(time.Millisecond))
	if broken != nil {
		r.t.Fatal(broken)
	}
	if !valid {
		r.violatedCount++
		r.t.Errorf("history %d with the fault %q has a violation", i, f.name)
	}
}

// shuffledFaults returns all selected faults in random order.
func shuffledFaults(random *rand.Rand) []*fault {
	var selected []*fault
	for _, f := range faults {
		if *only == "" || *only == f.name {
			selected = append(selected, f)
		}
	}
	random.Shuffle(len(selected), func(i, j int) { selected[i], selected[j] = selected[j], selected[i] })
	return selected
}
