package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"time"
)

// bench is one run of the program: where it works, and how much it does.
type bench struct {
	ctx      context.Context
	flags    *flags
	progress io.Writer
	root     string // of the repository
	dir      string // of this run, removed at its end
	exchange string // the built program
	cores    cores
	guard    guard
	size     sizes
}

// sizes are how much of everything.
type sizes struct {
	runs              int
	warmup, lasting   time.Duration
	campaigns, buyers int // of the catalogs that grow
	suppressed        int
	replayed          int
	leads             int // in memory while commits are measured
	smallest, largest int // leads when memory is measured
	commitRate        int // a second
	idle              time.Duration
	connections       []int // of the ingest
	growthConnections int
	calibration       time.Duration
	retries           int // of a run that other load has spoiled

	auctionBuyers []int // of the auctions whose processor time is measured
	openBuyers    int   // of those that come at a rate
	postBuyers    int   // of those that end in a sale
	openLasting   time.Duration
	postsLasting  time.Duration

	held         int           // leads in the memory of an exchange that is started, and measured
	tightLasting time.Duration // of leads under a limit of memory
	committed    int           // leads of a run of the committer alone
	reported     int           // of a report that is built anew
	paged        int           // of one whose pages are turned
	viewers      viewers       // of one that is looked at

	endpoints, hooksEach int // of webhooks; how many each of them is owed at once
	seedCalls            int // of a run
}

var full = sizes{
	warmup: time.Second, campaigns: 10_000, buyers: 1_000, suppressed: 10_000_000, replayed: 2_000_000,
	leads: 1_000_000, smallest: 500_000, largest: 2_000_000, commitRate: 5_000, idle: 5 * time.Second,
	connections: []int{64, 256}, growthConnections: 64, calibration: time.Second, retries: 3,
	auctionBuyers: []int{1, 4, 8}, openBuyers: 8, postBuyers: 10, openLasting: 10 * time.Second, postsLasting: time.Minute,
	held: 10_000_000, tightLasting: 2 * time.Minute, committed: 500_000, reported: 200_000, paged: 10_000_000, viewers: viewers{2, time.Second},
	endpoints: 100, hooksEach: 100,
	seedCalls: 200,
}

var quick = sizes{
	warmup: 200 * time.Millisecond, campaigns: 200, buyers: 100, suppressed: 20_000, replayed: 20_000,
	leads: 10_000, smallest: 20_000, largest: 40_000, commitRate: 1_000, idle: 500 * time.Millisecond,
	connections: []int{64, 256}, growthConnections: 64, calibration: 300 * time.Millisecond,
	auctionBuyers: []int{1, 4, 8}, openBuyers: 8, postBuyers: 10, openLasting: 2 * time.Second, postsLasting: 2 * time.Second,
	held: 50_000, tightLasting: 2 * time.Second, committed: 20_000, reported: 5_000, paged: 5_000, viewers: viewers{2, time.Second},
	endpoints: 10, hooksEach: 20,
	seedCalls: 20,
}

func newBench(ctx context.Context, f *flags, progress io.Writer) (*bench, error) {
	b := &bench{ctx: ctx, flags: f, progress: progress, size: full, cores: allCores()}
	if f.Quick {
		b.size = quick
		b.size.runs, b.size.lasting = 1, time.Second
	} else {
		b.size.runs, b.size.lasting = f.Runs, time.Duration(f.Seconds*float64(time.Second))
	}
	if b.size.runs < 1 || b.size.lasting <= 0 {
		return nil, errors.New("--runs and --seconds must be more than zero")
	}
	var err error
	if b.root, err = findRoot(); err != nil {
		return nil, err
	}
	dir := f.Dir
	if dir == "" {
		dir = filepath.Join(b.root, "tmp")
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, fmt.Errorf("cannot make the data folder: %w", err)
	}
	if b.dir, err = os.MkdirTemp(dir, "bench-"); err != nil {
		return nil, fmt.Errorf("cannot make the data folder: %w", err)
	}
	b.guard = guard{share: f.Noise, retries: b.size.retries, say: b.say}
	return b, nil
}

func (b *bench) close() error { return os.RemoveAll(b.dir) }

func (b *bench) say(format string, args ...any) {
	fmt.Fprintf(b.progress, "bench: "+format+"\n", args...)
}

// folder makes a folder for one measurement's data.
func (b *bench) folder(name string) (string, error) {
	dir := filepath.Join(b.dir, name)
	return dir, os.MkdirAll(dir, 0o755)
}

// build builds the exchange as it is shipped, once.
func (b *bench) build() (string, error) {
	if b.exchange != "" {
		return b.exchange, nil
	}
	path := filepath.Join(b.dir, "pingpost")
	cmd := exec.CommandContext(b.ctx, "go", "build", "-trimpath", "-o", path, "./cmd/pingpost")
	cmd.Dir, cmd.Env = b.root, append(os.Environ(), "CGO_ENABLED=0")
	if said, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("cannot build the exchange: %w\n%s", err, said)
	}
	b.exchange = path
	return path, nil
}

// findRoot is the folder with go.mod, at or above the working directory.
func findRoot() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for at := dir; ; at = filepath.Dir(at) {
		if _, err := os.Stat(filepath.Join(at, "go.mod")); err == nil {
			return at, nil
		}
		if at == filepath.Dir(at) {
			return "", fmt.Errorf("there is no go.mod at or above %s: run this in the repository", dir)
		}
	}
}
