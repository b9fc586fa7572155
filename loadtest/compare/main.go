package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"

	"github.com/alecthomas/kong"
)

// flags are the command line.
type flags struct {
	Base   string   `required:"true" placeholder:"REV" help:"The revision to compare the working tree with."`
	Count  int      `default:"8" help:"How often each side runs (${default}). Fewer than 6 can prove nothing."`
	Bench  string   `default:"." placeholder:"REGEXP" help:"Which benchmarks."`
	Pkg    []string `default:"./..." placeholder:"PKG" help:"Of which packages."`
	Time   string   `default:"200ms" placeholder:"T" help:"How long a benchmark runs at a time, or how often: 100x (${default})."`
	Micro  bool     `default:"true" negatable:"" help:"The packages' own benchmarks."`
	Macro  bool     `help:"Also the served exchange: some minutes more."`
	Least  float64  `default:"0.02" help:"The least difference that is told, as a share (${default})."`
	Strict bool     `help:"Exit with 1 where something got slower."`
}

func main() { os.Exit(run(os.Args[1:], os.Stdout, os.Stderr)) }

func run(args []string, out, progress io.Writer) int {
	var f flags
	parser, err := kong.New(&f, kong.Name("compare"), kong.Writers(out, progress),
		kong.Description("Says what got slower between a revision and the working tree."))
	if err == nil {
		_, err = parser.Parse(args)
	}
	slower := false
	if err == nil {
		slower, err = f.run(out, progress)
	}
	switch {
	case err != nil:
		fmt.Fprintln(progress, "compare: "+err.Error())
		return 1
	case slower && f.Strict:
		return 1
	}
	return 0
}

func (f *flags) run(out, progress io.Writer) (slower bool, err error) {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if f.Count < 1 {
		return false, errors.New("--count must be at least 1")
	}
	root, err := findRoot()
	if err != nil {
		return false, err
	}
	work := filepath.Join(root, "tmp", "compare")
	if err := os.MkdirAll(work, 0o755); err != nil {
		return false, err
	}
	base, err := checkOut(ctx, root, f.Base, filepath.Join(work, "base"))
	if err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, base.remove()) }()
	sides, err := newSamples(work)
	if err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, sides.close()) }()
	say := func(format string, args ...any) { fmt.Fprintf(progress, "compare: "+format+"\n", args...) }
	if f.Micro {
		if err := f.micro(ctx, root, base.dir, sides, say); err != nil {
			return false, err
		}
	}
	if f.Macro {
		if err := f.macro(ctx, root, base.dir, sides, say); err != nil {
			return false, err
		}
	}
	compared, err := sides.compare(f.Least)
	if err != nil {
		return false, err
	}
	fmt.Fprint(out, compared.table(f.Base))
	return compared.slower() > 0, nil
}

// findRoot is the folder with go.mod, at or above the working directory.
func findRoot() (string, error) {
	dir, err := os.Getwd()
	for at := dir; err == nil; at = filepath.Dir(at) {
		if _, missing := os.Stat(filepath.Join(at, "go.mod")); missing == nil {
			return at, nil
		}
		if at == filepath.Dir(at) {
			return "", fmt.Errorf("there is no go.mod at or above %s: run this in the repository", dir)
		}
	}
	return "", err
}
