// Command targets runs every fuzz target of the module for a fixed time each, one after
// another, and prints a table of results. A failing target does not stop the others; the exit
// status is 1 if any failed.
//
//	make fuzz FUZZTIME=10m
//	make fuzz ARGS='--only server'
//
// Test binaries and the fuzzer's corpus are in bin/fuzz and are not committed. The go command
// writes a failing input into the package's testdata/fuzz. `go test` runs all inputs there.
package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"regexp"
	"strconv"
	"time"

	"github.com/alecthomas/kong"
)

type options struct {
	Time     time.Duration `default:"30s" help:"Time for each target."`
	Parallel int           `default:"2" help:"Workers of each target."`
	Only     string        `help:"Run only targets whose package and name, such as keys/token.FuzzRead, match this regular expression."`
	Out      string        `default:"bin/fuzz" type:"path" help:"Directory for test binaries and corpora."`

	executions int // replaces Time in tests: a busy machine may execute nothing in a short time
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
	targets, err := findTargets(ctx, root, only)
	if err != nil {
		return false, err
	}
	if len(targets) == 0 {
		return false, fmt.Errorf("no fuzz target matches %q", o.Only)
	}
	_, _ = fmt.Fprintf(out, tableRow, "target", "executions", "interesting", "result")
	for i := range targets {
		if ctx.Err() != nil {
			return true, ctx.Err()
		}
		t := &targets[i]
		o.runTarget(ctx, t)
		_, _ = fmt.Fprintf(out, tableRow, t, t.executions, t.interesting, t.result)
		if t.failed {
			failed = true
			_, _ = fmt.Fprintf(out, "\n%s\n", t.output)
		}
	}
	return failed, nil
}

const tableRow = "%-44s %12s %12s  %s\n"

// fuzzTime returns the limit for one target, in the form of go test -fuzztime.
func (o *options) fuzzTime() string {
	if o.executions > 0 {
		return strconv.Itoa(o.executions) + "x"
	}
	return o.Time.String()
}
