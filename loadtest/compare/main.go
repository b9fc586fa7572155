// Command compare measures the working tree against another revision and reports
// each benchmark that became slower or faster. `make bench-compare BASE=rev` runs it.
//
// It builds both sides first. Then the sides take turns, base and head, one round of
// one package at a time, so that a slowdown of the machine affects both. Only
// benchmarks that both sides have are compared. With --macro, loadtest/bench also
// measures the served exchanges against each other, as processes on separate cores.
//
// The Mann-Whitney test compares the samples, because it makes no assumption about
// their distribution. The p-values are judged together by the rule of Benjamini and
// Hochberg, so that about one in twenty of the reported differences is chance. A
// difference below --least is not reported.
//
// Rejected: a fixed percentage alone, which reports everything or nothing on a noisy
// machine; a separate test of each figure, which reports five false differences in a
// hundred figures.
//
// The samples remain in tmp/compare/base.txt and head.txt, in the format of benchstat.
package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"

	"github.com/alecthomas/kong"
)

type flags struct {
	Base   string   `required:"true" placeholder:"REV" help:"Revision to compare the working tree with."`
	Count  int      `default:"8" help:"Rounds of each side (${default}). Fewer than 6 cannot show a difference."`
	Bench  string   `default:"." placeholder:"REGEXP" help:"Benchmarks to run."`
	Pkg    []string `default:"./..." placeholder:"PKG" help:"Packages whose benchmarks run."`
	Time   string   `default:"200ms" placeholder:"T" help:"Duration of a benchmark in one round, or its number of iterations, as 100x (${default})."`
	Micro  bool     `default:"true" negatable:"" help:"Compare the packages' benchmarks."`
	Macro  bool     `help:"Compare the served exchanges too. Takes some minutes more."`
	Least  float64  `default:"0.03" help:"Smallest difference to report, as a share (${default})."`
	Strict bool     `help:"Exit with 1 if a benchmark became slower."`
}

func main() { os.Exit(run(os.Args[1:], os.Stdout, os.Stderr)) }

func run(args []string, out, progress io.Writer) int {
	var f flags
	parser, err := kong.New(&f, kong.Name("compare"), kong.Writers(out, progress),
		kong.Description("Reports which benchmarks are slower in the working tree than in another revision."))
	if err == nil {
		_, err = parser.Parse(args)
	}
	slower := false
	if err == nil {
		slower, err = f.run(out, progress)
	}
	if err != nil {
		fmt.Fprintln(progress, "compare: "+err.Error())
	}
	if err != nil || slower && f.Strict {
		return 1
	}
	return 0
}

// sideNames are the two sides, in the order in which they run.
var sideNames = [2]string{"base", "head"}

// comparison is one run of the program.
type comparison struct {
	*flags
	ctx      context.Context
	progress io.Writer
	work     string    // folder of test binaries and samples
	trees    [2]string // source trees of the sides
	samples  [2]bytes.Buffer
}

func (f *flags) run(out, progress io.Writer) (slower bool, err error) {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	wanted, err := regexp.Compile(f.Bench)
	if err != nil {
		return false, fmt.Errorf("--bench: %w", err)
	}
	if f.Count < 1 {
		return false, errors.New("--count must be at least 1")
	}
	top, err := exec.CommandContext(ctx, "git", "rev-parse", "--show-toplevel").Output()
	if err != nil {
		return false, fmt.Errorf("run this inside the repository: %w", err)
	}
	root := strings.TrimSpace(string(top))
	c := &comparison{flags: f, ctx: ctx, progress: progress, work: filepath.Join(root, "tmp", "compare")}
	c.trees = [2]string{filepath.Join(c.work, "base"), root}
	if err := c.checkOut(root); err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(c.trees[0])) }()
	if f.Micro {
		if err := c.measurePackages(wanted); err != nil {
			return false, err
		}
	}
	if f.Macro {
		if err := c.measureServed(); err != nil {
			return false, err
		}
	}
	for side, name := range sideNames {
		if err := os.WriteFile(filepath.Join(c.work, name+".txt"), c.samples[side].Bytes(), 0o644); err != nil {
			return false, err
		}
	}
	rows, err := judge(c.samples[0].Bytes(), c.samples[1].Bytes(), f.Least)
	if err != nil {
		return false, err
	}
	fmt.Fprintf(out, "The working tree against %s: %s", f.Base, table(rows))
	return count(rows, slowerVerdict) > 0, nil
}

// checkOut unpacks the base revision. It does not use git worktree, because a killed
// run would leave an entry in the repository.
func (c *comparison) checkOut(root string) error {
	dir := c.trees[0]
	if err := errors.Join(os.RemoveAll(dir), os.MkdirAll(dir, 0o755)); err != nil {
		return err
	}
	var trouble bytes.Buffer
	archive := exec.CommandContext(c.ctx, "git", "-C", root, "archive", "--format=tar", "--end-of-options", c.Base)
	archive.Stderr = &trouble
	unpack := exec.CommandContext(c.ctx, "tar", "-x", "-C", dir)
	text, err := archive.Output()
	if err != nil {
		return fmt.Errorf("cannot check out revision %q: %w: %s", c.Base, err, trouble.Bytes())
	}
	unpack.Stdin = bytes.NewReader(text)
	if said, err := unpack.CombinedOutput(); err != nil {
		return fmt.Errorf("cannot unpack revision %q: %w: %s", c.Base, err, said)
	}
	return nil
}

// build runs the go command in a side's tree and writes its output to path.
func (c *comparison) build(side int, path string, args ...string) error {
	cmd := exec.CommandContext(c.ctx, "go", append([]string{args[0], "-o", path}, args[1:]...)...)
	cmd.Dir = c.trees[side]
	if said, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("cannot build %v of %s: %w\n%s", args, sideNames[side], err, said)
	}
	return nil
}

// testBinaries are a package's tests, built on both sides.
type testBinaries struct {
	pkg        string // path from the root
	paths      [2]string
	benchmarks string // expression that matches the benchmarks of both sides
}

// measurePackages runs the packages' benchmarks, the sides in turn.
func (c *comparison) measurePackages(wanted *regexp.Regexp) error {
	list := exec.CommandContext(c.ctx, "go", append([]string{"list", "-f", "{{.Dir}}"}, c.Pkg...)...)
	list.Dir = c.trees[1]
	text, err := list.Output()
	if err != nil {
		return fmt.Errorf("cannot list the packages %v: %w", c.Pkg, err)
	}
	var packages []*testBinaries
	for dir := range strings.Lines(string(text)) {
		pkg, err := filepath.Rel(c.trees[1], strings.TrimSpace(dir))
		if err != nil {
			return err
		}
		b, err := c.buildTests(pkg, wanted)
		if err != nil {
			return err
		}
		if b != nil {
			packages = append(packages, b)
		}
	}
	if len(packages) == 0 {
		return fmt.Errorf("no package of %v has a benchmark that matches %q on both sides", c.Pkg, c.Bench)
	}
	for round := range c.Count {
		fmt.Fprintf(c.progress, "compare: round %d of %d, %d packages\n", round+1, c.Count, len(packages))
		for _, b := range packages {
			for side := range sideNames {
				if err := c.runRound(b, side); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// buildTests builds both sides of a package; it returns nil if the sides share no
// wanted benchmark.
func (c *comparison) buildTests(pkg string, wanted *regexp.Regexp) (*testBinaries, error) {
	base := benchmarksIn(filepath.Join(c.trees[0], pkg))
	shared := slices.DeleteFunc(benchmarksIn(filepath.Join(c.trees[1], pkg)), func(name string) bool {
		return !slices.Contains(base, name) || !wanted.MatchString(name)
	})
	if len(shared) == 0 {
		return nil, nil
	}
	b := &testBinaries{pkg: pkg, benchmarks: "^(" + strings.Join(shared, "|") + ")$"}
	for side, name := range sideNames {
		b.paths[side] = filepath.Join(c.work, name+"-"+strings.ReplaceAll(pkg, "/", "-")+".test")
		if err := c.build(side, b.paths[side], "test", "-c", "./"+pkg); err != nil {
			return nil, err
		}
	}
	return b, nil
}

var benchmarkDecl = regexp.MustCompile(`(?m)^func (Benchmark\w+)\(`)

// benchmarksIn returns the names of the benchmarks in a folder's tests.
func benchmarksIn(dir string) (names []string) {
	files, _ := filepath.Glob(filepath.Join(dir, "*_test.go"))
	for _, file := range files {
		text, _ := os.ReadFile(file) // a missing file has no benchmark
		for _, found := range benchmarkDecl.FindAllSubmatch(text, -1) {
			names = append(names, string(found[1]))
		}
	}
	return names
}

// runRound runs a package's benchmarks once on one side.
func (c *comparison) runRound(b *testBinaries, side int) error {
	cmd := exec.CommandContext(c.ctx, b.paths[side],
		"-test.run=^$", "-test.bench="+b.benchmarks, "-test.benchtime="+c.Time, "-test.benchmem", "-test.count=1")
	cmd.Dir = filepath.Join(c.trees[side], b.pkg) // testdata is relative to it
	var out, trouble bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &trouble
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("the benchmarks of %s (%s) failed: %w\n%s%s", b.pkg, sideNames[side], err, out.Bytes(), trouble.Bytes())
	}
	c.add(side, b.pkg, out.Bytes())
	return nil
}

// add appends benchmark output to a side's samples.
func (c *comparison) add(side int, pkg string, text []byte) {
	fmt.Fprintf(&c.samples[side], "pkg: %s\n%s\n", pkg, text)
}

// measureServed runs loadtest/bench of the working tree against both exchanges.
func (c *comparison) measureServed() error {
	program, bench := filepath.Join(c.work, "base-pingpost"), filepath.Join(c.work, "bench")
	if err := c.build(0, program, "build", "-trimpath", "./cmd/pingpost"); err != nil {
		return err
	}
	if err := c.build(1, bench, "build", "./loadtest/bench"); err != nil {
		return err
	}
	paths := [2]string{filepath.Join(c.work, "served-base.txt"), filepath.Join(c.work, "served-head.txt")}
	cmd := exec.CommandContext(c.ctx, bench, "--against", program, "--runs", fmt.Sprint(c.Count), "--samples", paths[1], "--their-samples", paths[0])
	cmd.Dir, cmd.Stdout, cmd.Stderr = c.trees[1], c.progress, c.progress
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("loadtest/bench failed: %w", err)
	}
	for side, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		c.add(side, "served", text)
	}
	return nil
}
