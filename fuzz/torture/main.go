//go:build linux

package main

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"pingpost/fuzz/witness"
)

// leadsASecond is the approximate rate of leads. Caps and funds are sized for it.
const leadsASecond = 20

// options are the options of a run.
type options struct {
	span    time.Duration
	seed    uint64
	only    string // parts of fault names, separated by commas; empty: all faults
	program string // the program to test; empty: build it
	dir     string
	race    bool // build the program with the race detector
}

func main() {
	var o options
	minutes := flag.Float64("minutes", 10, "time of fault injection")
	short := flag.Bool("short", false, "inject faults for 40 seconds, as a check of every change")
	seed := flag.String("seed", os.Getenv("SEED"), "repeats the choices of a run (default: SEED, or the clock)")
	flag.StringVar(&o.only, "only", "", "inject only faults whose name contains one of these words, separated by commas")
	flag.StringVar(&o.program, "program", "", "the pingpost binary to test (default: build it)")
	flag.Parse()
	o.span = time.Duration(*minutes * float64(time.Minute))
	if *short {
		o.span = 40 * time.Second
	}
	o.seed = uint64(time.Now().UnixNano())
	if *seed != "" {
		n, err := strconv.ParseUint(*seed, 10, 64)
		if err != nil {
			fmt.Fprintln(os.Stderr, "torture: --seed must be a number:", err)
			os.Exit(2)
		}
		o.seed = n
	}
	os.Exit(run(&o))
}

// isSelected reports whether the fault is selected by --only.
func (o *options) isSelected(f *fault) bool {
	return slices.ContainsFunc(strings.Split(o.only, ","), func(part string) bool { return strings.Contains(f.name, part) })
}

// run runs the torture and returns its exit code.
func run(o *options) int {
	said, ok := runTorture(o, func(format string, args ...any) { fmt.Printf(format+"\n", args...) })
	fmt.Print(said)
	if !ok {
		return 1
	}
	return 0
}

// runTorture runs the torture and returns its table. After a finding, ok is false and all files
// are kept.
func runTorture(o *options, say func(format string, args ...any)) (said string, ok bool) {
	var out strings.Builder
	var t *torture
	c := &reporter{ctx: context.Background(), logf: say}
	dir := o.dir
	if dir == "" {
		var err error
		if dir, err = os.MkdirTemp("", "torture"); err != nil {
			return err.Error() + "\n", false
		}
	}
	say("SEED=%d repeats this run's choices", o.seed)
	c.run(func() {
		program := o.program
		if program == "" {
			program = filepath.Join(dir, "pingpost")
			witness.Build(c, program, o.race)
		}
		chosen := slices.DeleteFunc(slices.Clone(faults), func(f *fault) bool { return !o.isSelected(f) })
		if len(chosen) == 0 {
			c.Fatalf("--only: no fault's name contains %q", o.only)
		}
		hourly, daily := witness.ZonesAt(time.Now())
		terms := witness.NewConfig(int64(o.span.Seconds())*leadsASecond, hourly, daily)
		t = &torture{
			reporter: c, random: rand.New(rand.NewPCG(o.seed, 1<<33)), dir: dir, program: program,
			began: time.Now(), records: map[*fault]*faultRecord{},
		}
		t.Harness = witness.NewHarness(c, program, dir, terms, o.seed)
		t.injectFaults(o.span, chosen)
	})
	if t != nil && t.Harness != nil {
		out.WriteByte('\n')
		t.table(&out, t.Starts(), t.Downtime())
	}
	if found := c.findingsSoFar(); len(found) > 0 {
		fmt.Fprintf(&out, "\n%d findings, the first: %s\nSEED=%d; all files are kept in %s\n", len(found), found[0], o.seed, dir)
		return out.String(), false
	}
	if err := os.RemoveAll(dir); err != nil {
		say("cannot remove %s: %v", dir, err)
	}
	return out.String(), true
}
