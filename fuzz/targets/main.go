// Command targets runs every fuzz target of the module for a fixed time each, one
// after the other, and says in a table what each came to. A target that fails does
// not keep the rest from running; the exit status is 1 if any failed.
//
//	make fuzz FUZZTIME=10m
//	make fuzz ARGS='--only server --keep 8'
//
// Test binaries and what the fuzzer finds interesting lie in bin/fuzz and are not
// committed. An input that fails is written by the go command to the package's
// testdata/fuzz, where `go test` runs it from then on, and so are the inputs that
// --keep copies there.
package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"regexp"
	"time"

	"github.com/alecthomas/kong"
)

type options struct {
	Time     time.Duration `default:"30s" help:"How long each target is run."`
	Parallel int           `default:"2" help:"How many workers a target has."`
	Only     string        `help:"Run those only whose package and name, such as keys/token.FuzzRead, match this expression."`
	Keep     int           `help:"Afterwards, keep so many of the interesting inputs of each target under testdata/fuzz."`
	Out      string        `default:"bin/fuzz" type:"path" help:"Where test binaries, corpora and logs go."`
}

func main() {
	var opt options
	kong.Parse(&opt, kong.Name("targets"), kong.Description("Runs every fuzz target for a fixed time each."))
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	failed, err := opt.run(ctx, ".", os.Stdout)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
	if err != nil || failed {
		os.Exit(1)
	}
}

// run fuzzes the targets of the module at root.
func (o *options) run(ctx context.Context, root string, out io.Writer) (failed bool, err error) {
	only, err := regexp.Compile(o.Only)
	if err != nil {
		return false, fmt.Errorf("--only: %w", err)
	}
	targets, err := find(ctx, root, only)
	if err != nil {
		return false, err
	}
	if len(targets) == 0 {
		return false, fmt.Errorf("no fuzz target matches %q", o.Only)
	}
	_, _ = fmt.Fprintf(out, row, "target", "executions", "interesting", "result")
	for i := range targets {
		if ctx.Err() != nil {
			return true, ctx.Err()
		}
		t := &targets[i]
		o.fuzz(ctx, t)
		_, _ = fmt.Fprintf(out, row, t, t.executions, t.interesting, t.result)
		if t.failed {
			failed = true
			_, _ = fmt.Fprintf(out, "\n%s\n", t.said)
		}
		if o.Keep > 0 && !t.failed {
			if err := keep(filepath.Join(o.corpus(t), t.name), filepath.Join(t.dir, "testdata", "fuzz", t.name), o.Keep); err != nil {
				return failed, err
			}
		}
	}
	return failed, nil
}

const row = "%-44s %12s %12s  %s\n"
