package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/alecthomas/kong"

	"pingpost/loadtest/bench/child"
)

// flags are the command line.
type flags struct {
	Only         []string `placeholder:"NAME" enum:"${names}" help:"Measure only these. A name also selects all names that continue it with a hyphen. Names: ${names}. May be repeated."`
	Runs         int      `default:"5" help:"Number of runs of each pair (${default})."`
	Seconds      float64  `default:"4" help:"Duration of each run after its warm-up (${default})."`
	Kills        int      `default:"20" help:"Number of kills of a cluster's leader, at most 100 (${default})."`
	Dir          string   `placeholder:"DIR" help:"Parent of the temporary data folder. By default tmp/ of the repository, because /tmp is often in memory."`
	Out          string   `placeholder:"FILE" help:"File for the table. By default BENCHMARKS.md of the repository; with --only or --quick, the table only goes to the terminal."`
	Append       bool     `help:"With --only: add the table to BENCHMARKS.md, below the last full one, in place of an earlier one of the same measurements."`
	Quick        bool     `help:"Run everything in about a minute. This only shows that the benchmark works."`
	Noise        float64  `default:"0.04" help:"Repeat a run during which other programs used more than this share of the machine's time (${default})."`
	Soak         bool     `help:"In memory-resident, send the leads at 1000/s, which takes 400 s, and not in a closed loop."`
	Against      string   `placeholder:"PROGRAM" help:"Compare with this pingpost program instead of the ceilings, and write samples instead of a table. See loadtest/compare.sh."`
	Samples      string   `default:"ours.txt" placeholder:"FILE" help:"With --against: file for the samples of this revision (${default})."`
	TheirSamples string   `default:"theirs.txt" placeholder:"FILE" help:"With --against: file for the samples of the other program (${default})."`
	Prebid       string   `placeholder:"DIR" type:"existingdir" help:"Checkout of github.com/prebid/prebid-server, to compare auctions with it. See loadtest/README.md."`
	Profile      string   `placeholder:"FILE" help:"Write a CPU profile of the exchange under load to this file (ingest, 256 connections), and to FILE.auction (most buyers)."`
}

func main() { os.Exit(run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr)) }

// run is the whole program, also for children.
func run(args []string, in io.Reader, out, progress io.Writer) int {
	if len(args) > 0 {
		if play, ok := child.Roles[args[0]]; ok {
			return exitCode(progress, play(in, out))
		}
	}
	var f flags
	parser, err := kong.New(&f, kong.Name("bench"), kong.Writers(out, progress),
		kong.Vars{"names": strings.Join(measurementNames(), ", ")},
		kong.Description("Measures the exchange on this machine against ceilings, and writes a table."))
	if err == nil {
		_, err = parser.Parse(args)
	}
	if err == nil {
		err = f.run(out, progress)
	}
	return exitCode(progress, err)
}

func exitCode(progress io.Writer, err error) int {
	if err == nil {
		return 0
	}
	fmt.Fprintln(progress, "bench: "+err.Error())
	return 1
}

func (f *flags) run(out, progress io.Writer) (err error) {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	b, err := newBench(ctx, f, progress)
	if err != nil {
		return err
	}
	defer func() {
		if removing := b.close(); err == nil {
			err = removing
		}
	}()
	if f.Against != "" {
		return b.against()
	}
	t, err := b.table(measurements)
	text := t.markdown()
	fmt.Fprint(out, text)
	path := f.outputPath(b.root)
	switch {
	case err != nil:
		return err
	case f.Append:
		return appendTable(b.root+tablePath, strings.Join(f.Only, ", "), text)
	case path == "":
		return nil
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		return err
	}
	return t.figures().write(strings.TrimSuffix(path, ".md") + ".json")
}

// table runs the selected measurements. If one fails, its row and the returned error say
// why, and the others still run.
func (b *bench) table(all []measurement) (table, error) {
	t := table{machine: b.machine(), conditions: b.conditions()}
	var failed []error
	for _, m := range all {
		if !b.flags.selects(m.name) || b.ctx.Err() != nil {
			continue
		}
		began := time.Now()
		rows, err := m.measure(b)
		b.killServers()
		if err != nil {
			failed = append(failed, fmt.Errorf("%s: %w", m.name, err))
			rows = []row{{label: m.name, measured: "not measured: " + oneLine(err), verdict: failure}}
		}
		b.logf("%s: done in %s", m.name, time.Since(began).Round(time.Second))
		t.rows = append(t.rows, rows...)
	}
	t.notes = b.guard.notes()
	return t, errors.Join(append(failed, b.ctx.Err())...)
}

// measurement returns some rows of the table.
type measurement struct {
	name    string
	measure func(*bench) ([]row, error)
}

var measurements = []measurement{
	{"ingest", (*bench).ingest},
	{"scaling", (*bench).scaling},
	{"posted", (*bench).posted},
	{"auction-cpu", (*bench).auctionTime},
	{"auction-latency", (*bench).auctionLatency},
	{"auction-posts", (*bench).auctionPosts},
	{"prebid", (*bench).prebid},
	{"hooks", (*bench).webhooks},
	{"commit-merge", (*bench).commitBesideMerges},
	{"commit-snapshot", (*bench).commitBesideSnapshots},
	{"committer", (*bench).committer},
	{"report-viewers", (*bench).ingestBesideViewers},
	{"report-rebuild", (*bench).rebuild},
	{"report-pages", (*bench).pages},
	{"replay", (*bench).replay},
	{"memory", (*bench).memory},
	{"memory-pings", (*bench).pingMemory},
	{"memory-resident", (*bench).residentMemory},
	{"tight", (*bench).memoryLimited},
	{"growth", (*bench).growth},
	{"growth-caps", (*bench).fillingCaps},
	{"start", (*bench).start},
	{"cold", (*bench).coldLeads},
	{"seed", (*bench).seed},
	{"cluster-takeover", (*bench).takeover},
	{"cluster-handover", (*bench).handOver},
	{"cluster-load", (*bench).clusterLoad},
}

// measurementNames returns the names of the measurements and of their groups, in order and each once.
func measurementNames() (names []string) {
	for _, m := range measurements {
		group, _, isPart := strings.Cut(m.name, "-")
		if isPart && !slices.Contains(names, group) {
			names = append(names, group)
		}
		names = append(names, m.name)
	}
	return names
}

// selects reports whether the user asked for a measurement or for the group that it
// belongs to.
func (f *flags) selects(name string) bool {
	whole, _, _ := strings.Cut(name, "-")
	return len(f.Only) == 0 || slices.Contains(f.Only, name) || slices.Contains(f.Only, whole)
}

// outputPath returns the file for the table, or an empty string.
func (f *flags) outputPath(root string) string {
	switch {
	case f.Out != "":
		return f.Out
	case len(f.Only) > 0 || f.Quick:
		return ""
	}
	return root + tablePath
}

const tablePath = "/BENCHMARKS.md"
