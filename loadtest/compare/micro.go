package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// bench is one package's benchmarks on both sides.
type bench struct {
	pkg        string
	dirs       [2]string // where each side's runs: testdata is found from there
	binaries   [2]string
	expression string // the benchmarks that both sides have
}

// micro runs the packages' own benchmarks, the sides in turn.
func (f *flags) micro(ctx context.Context, root, base string, into *samples, say func(string, ...any)) error {
	wanted, err := regexp.Compile(f.Bench)
	if err != nil {
		return fmt.Errorf("--bench: %w", err)
	}
	packages, err := listed(ctx, root, f.Pkg)
	if err != nil {
		return err
	}
	var benches []*bench
	for _, pkg := range packages {
		b, err := buildBench(ctx, root, base, pkg, filepath.Dir(base), wanted)
		if err != nil {
			return err
		}
		if b != nil {
			benches = append(benches, b)
		}
	}
	if len(benches) == 0 {
		return errors.New("no package has a benchmark of that name on both sides")
	}
	for round := range f.Count {
		say("round %d of %d, %d packages", round+1, f.Count, len(benches))
		for _, b := range benches {
			for side := range sideNames {
				if err := b.run(ctx, side, f.Time, into); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// listed are the packages, as paths from the root, that have a benchmark in
// their text.
func listed(ctx context.Context, root string, patterns []string) ([]string, error) {
	cmd := exec.CommandContext(ctx, "go", append([]string{"list", "-f", "{{.Dir}}"}, patterns...)...)
	cmd.Dir = root
	text, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("cannot list %v: %w", patterns, err)
	}
	var packages []string
	for dir := range strings.Lines(string(text)) {
		dir = strings.TrimSpace(dir)
		if len(benchmarksIn(dir)) == 0 {
			continue
		}
		relative, err := filepath.Rel(root, dir)
		if err != nil {
			return nil, err
		}
		packages = append(packages, relative)
	}
	return packages, nil
}

var benchmark = regexp.MustCompile(`(?m)^func (Benchmark\w+)\(`)

// benchmarksIn are the names of the benchmarks in a folder's tests.
func benchmarksIn(dir string) (names []string) {
	files, _ := filepath.Glob(filepath.Join(dir, "*_test.go"))
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			continue
		}
		for _, found := range benchmark.FindAllSubmatch(text, -1) {
			names = append(names, string(found[1]))
		}
	}
	slices.Sort(names)
	return names
}

// buildBench builds both sides of a package; nil where they share no benchmark
// that is wanted.
func buildBench(ctx context.Context, root, base, pkg, work string, wanted *regexp.Regexp) (*bench, error) {
	b := &bench{pkg: pkg, dirs: [2]string{filepath.Join(base, pkg), filepath.Join(root, pkg)}}
	before := benchmarksIn(b.dirs[0])
	var both []string
	for _, name := range benchmarksIn(b.dirs[1]) {
		if slices.Contains(before, name) && wanted.MatchString(name) {
			both = append(both, name)
		}
	}
	if len(both) == 0 {
		return nil, nil
	}
	b.expression = "^(" + strings.Join(both, "|") + ")$"
	for side, tree := range [2]string{base, root} {
		b.binaries[side] = filepath.Join(work, sideNames[side]+"-"+strings.ReplaceAll(pkg, "/", "-")+".test")
		if err := build(ctx, tree, b.binaries[side], "test", "-c", "./"+pkg); err != nil {
			return nil, err
		}
	}
	return b, nil
}

// run is one round of one side.
func (b *bench) run(ctx context.Context, side int, lasting string, into *samples) error {
	cmd := exec.CommandContext(ctx, b.binaries[side],
		"-test.run=^$", "-test.bench="+b.expression, "-test.benchtime="+lasting, "-test.benchmem", "-test.count=1")
	cmd.Dir = b.dirs[side]
	var out, trouble bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &trouble
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("the benchmarks of %s (%s) failed: %w\n%s%s", b.pkg, sideNames[side], err, out.Bytes(), trouble.Bytes())
	}
	return into.add(side, b.pkg, out.Bytes())
}
