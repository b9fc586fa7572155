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

// leadsASecond is about how many come, which caps and funds are made for.
const leadsASecond = 20

// options are a run's.
type options struct {
	span    time.Duration
	seed    uint64
	only    string // parts of faults' names, with commas; empty: all
	program string // that is tried; empty: it is built
	dir     string
}

func main() {
	var o options
	minutes := flag.Float64("minutes", 10, "how long faults are injected")
	short := flag.Bool("short", false, "40 seconds of faults, for a check of every change")
	seed := flag.String("seed", os.Getenv("SEED"), "repeats the choices of a run; from the clock by default, or SEED")
	flag.StringVar(&o.only, "only", "", "inject only faults whose name contains one of these, with commas between")
	flag.StringVar(&o.program, "program", "", "the pingpost to try; built by default")
	flag.Parse()
	o.span = time.Duration(*minutes * float64(time.Minute))
	if *short {
		o.span = 40 * time.Second
	}
	o.seed = uint64(time.Now().UnixNano())
	if *seed != "" {
		n, err := strconv.ParseUint(*seed, 10, 64)
		if err != nil {
			fmt.Fprintln(os.Stderr, "torture: a seed is a number:", err)
			os.Exit(2)
		}
		o.seed = n
	}
	os.Exit(run(&o))
}

// means tells whether a fault is to be injected.
func (o *options) means(f *fault) bool {
	return slices.ContainsFunc(strings.Split(o.only, ","), func(part string) bool { return strings.Contains(f.name, part) })
}

// run is one run, and its exit code.
func run(o *options) int {
	said, ok := try(o, func(format string, args ...any) { fmt.Printf(format+"\n", args...) })
	fmt.Print(said)
	if !ok {
		return 1
	}
	return 0
}

// try runs, and tells the table; false: something was wrong, and all is kept.
func try(o *options, say func(format string, args ...any)) (said string, ok bool) {
	var out strings.Builder
	var t *torture
	c := &clerk{ctx: context.Background(), say: say}
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
			witness.Build(c, program, false)
		}
		chosen := slices.DeleteFunc(slices.Clone(faults), func(f *fault) bool { return !o.means(f) })
		if len(chosen) == 0 {
			c.Fatalf("no fault is called %q", o.only)
		}
		hourly, daily := witness.ZonesAt(time.Now())
		terms := witness.NewFullConfig(int64(o.span.Seconds())*leadsASecond, hourly, daily)
		t = &torture{
			clerk: c, chance: rand.New(rand.NewPCG(o.seed, 1<<33)), dir: dir, program: program,
			began: time.Now(), records: map[*fault]*record{},
		}
		t.Harness = witness.NewHarness(c, program, dir, terms, o.seed)
		t.play(o.span, chosen)
	})
	if t != nil && t.Harness != nil {
		out.WriteByte('\n')
		t.table(&out, t.Starts(), t.Downtime())
	}
	if found := c.findings(); len(found) > 0 {
		fmt.Fprintf(&out, "\n%d findings, the first: %s\nSEED=%d; everything is kept in %s\n", len(found), found[0], o.seed, dir)
		return out.String(), false
	}
	if err := os.RemoveAll(dir); err != nil {
		say("cannot remove %s: %v", dir, err)
	}
	return out.String(), true
}
