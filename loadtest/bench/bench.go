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

// bench is one run of the program.
type bench struct {
	ctx      context.Context
	flags    *flags
	progress io.Writer
	root     string // of the repository
	dir      string // temporary folder of this run
	exchange string // path of the built program
	cores    cores
	guard    *noiseGuard
	size     sizes
}

// sizes sets how much each measurement does.
type sizes struct {
	runs                 int
	warmup, duration     time.Duration
	campaigns, buyers    int // in the large catalogs
	suppressedNumbers    int
	replayedLeads        int
	commitLeads          int // leads in memory while commits are measured
	memoryMin, memoryMax int // numbers of leads in the memory measurement
	commitRate           int // commits a second
	idle                 time.Duration
	connections          []int // of the ingest measurement
	growthConnections    int
	calibration          time.Duration
	retries              int // repetitions of a run during which other load was too high

	auctionBuyers []int // numbers of buyers whose CPU time is measured
	openBuyers    int   // buyers of the open-loop auctions
	salesBuyers   int   // buyers of the auctions that end in a sale
	openDuration  time.Duration
	salesDuration time.Duration

	heldLeads           int           // leads in the exchange whose start is measured
	coldLeads           int           // closed leads in the files of an exchange
	soakLeads           uint64        // leads in the exchange whose resident memory is measured
	memoryLimitDuration time.Duration // duration of the run under a memory limit
	committerLeads      int           // leads of a run of the committer alone
	reportLeads         int           // leads of the report whose rebuild is measured
	pageLeads           int           // leads of the report whose dashboard queries are measured
	viewers             viewers       // dashboard viewers of the exchange with a report
	alertRules          int           // of the exchange with viewers

	endpoints, webhooksEach int // webhook endpoints, and webhooks that are due at once for each
	seedCalls               int // calls of one run

	kills, stops     int // of a cluster's leader
	handOverDuration time.Duration
	handOverEvery    time.Duration // time between two hand-overs
}

var full = sizes{
	warmup: time.Second, campaigns: 10_000, buyers: 1_000, suppressedNumbers: 10_000_000, replayedLeads: 2_000_000,
	commitLeads: 1_000_000, memoryMin: 500_000, memoryMax: 2_000_000, commitRate: 5_000, idle: 5 * time.Second,
	connections: []int{64, 256}, growthConnections: 64, calibration: time.Second, retries: 3,
	auctionBuyers: []int{1, 4, 8}, openBuyers: 8, salesBuyers: 10, openDuration: 10 * time.Second, salesDuration: time.Minute,
	heldLeads: 10_000_000, coldLeads: 100_000_000, soakLeads: 400_000, memoryLimitDuration: 2 * time.Minute, committerLeads: 500_000, reportLeads: 200_000, pageLeads: 10_000_000, viewers: viewers{5, time.Second}, alertRules: 20,
	endpoints: 100, webhooksEach: 100,
	seedCalls: 200,
	stops:     5, handOverDuration: 3 * time.Second, handOverEvery: time.Second,
}

var quick = sizes{
	warmup: 200 * time.Millisecond, campaigns: 200, buyers: 100, suppressedNumbers: 20_000, replayedLeads: 20_000,
	commitLeads: 10_000, memoryMin: 20_000, memoryMax: 40_000, commitRate: 1_000, idle: 500 * time.Millisecond,
	connections: []int{64, 256}, growthConnections: 64, calibration: 300 * time.Millisecond,
	auctionBuyers: []int{1, 4, 8}, openBuyers: 8, salesBuyers: 10, openDuration: 2 * time.Second, salesDuration: 2 * time.Second,
	heldLeads: 50_000, coldLeads: 200_000, soakLeads: 30_000, memoryLimitDuration: 2 * time.Second, committerLeads: 20_000, reportLeads: 5_000, pageLeads: 200, viewers: viewers{5, time.Second}, alertRules: 20,
	endpoints: 10, webhooksEach: 20,
	seedCalls: 20,
	kills:     1, stops: 1, handOverDuration: time.Second, handOverEvery: 500 * time.Millisecond,
}

const maxKills = 100

func newBench(ctx context.Context, f *flags, progress io.Writer) (*bench, error) {
	b := &bench{ctx: ctx, flags: f, progress: progress, size: full, cores: allCores()}
	if f.Quick {
		b.size = quick
		b.size.runs, b.size.duration = 1, time.Second
	} else {
		b.size.runs, b.size.duration, b.size.kills = f.Runs, time.Duration(f.Seconds*float64(time.Second)), f.Kills
	}
	if b.size.runs < 1 || b.size.duration <= 0 {
		return nil, errors.New("--runs and --seconds must be more than zero")
	}
	if f.Append && (len(f.Only) == 0 || f.Quick || f.Out != "") {
		return nil, errors.New("--append needs --only, and neither --quick nor --out")
	}
	if b.size.kills < 1 || b.size.kills > maxKills {
		return nil, fmt.Errorf("--kills must be from 1 to %d", maxKills)
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
	b.guard = &noiseGuard{share: f.Noise, retries: b.size.retries, logf: b.logf}
	return b, nil
}

func (b *bench) close() error { return os.RemoveAll(b.dir) }

func (b *bench) logf(format string, args ...any) {
	fmt.Fprintf(b.progress, "bench: "+format+"\n", args...)
}

// folder makes a folder for the data of one measurement.
func (b *bench) folder(name string) (string, error) {
	dir := filepath.Join(b.dir, name)
	return dir, os.MkdirAll(dir, 0o755)
}

// build builds the exchange once, with the flags of a release.
func (b *bench) build() (string, error) {
	if b.exchange != "" {
		return b.exchange, nil
	}
	path := filepath.Join(b.dir, "pingpost")
	cmd := exec.CommandContext(b.ctx, "go", "build", "-trimpath", "-o", path, "./cmd/pingpost")
	cmd.Dir, cmd.Env = b.root, append(os.Environ(), "CGO_ENABLED=0")
	if output, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("cannot build the exchange: %w\n%s", err, output)
	}
	b.exchange = path
	return path, nil
}

// findRoot returns the folder with go.mod, at or above the working directory.
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
			return "", fmt.Errorf("no go.mod at or above %s: run this in the repository", dir)
		}
	}
}
