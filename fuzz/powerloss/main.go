// Command powerloss simulates power losses of an exchange at thousands of instants.
//
// A killed process loses no data that it wrote, because the system still has its page cache. A
// power loss does lose unsynced data. This program records the real exchange (package strace)
// while it serves. The record has, in one order, every call that changes its directory or makes
// it durable, and every answer, post and event that it sends. The exchange is stopped in order,
// killed, and restarted; some lifetimes start on the result of a power loss. Afterwards the
// program rebuilds the directory as it could be after a power loss at some instant (package
// disk), and opens it. Each time it checks:
//
//   - The directory opens without an operator.
//   - The log starts like the written log. It has every entry that an earlier output relies
//     on, and no entry that was never written.
//   - The state from snapshot and log equals the state from the log alone. Every file with a
//     snapshot's name is a valid snapshot.
//   - The key, the configurations and the lists that the log names are present and intact. The
//     active configuration is not older than the promised one.
//   - Entries that are appended afterwards are present at the next start.
//
// The exchange backs itself up to another folder. At some of these instants the program also
// rebuilds the backup, on a disk that lost power in the same way or on another machine's disk,
// which lost no data. It checks:
//
//   - The backup lists and verifies, and has one generation.
//   - It contains everything that the exchange reported as backed up, and nothing that the log
//     has lost.
//   - A restore as of the end, and as of any earlier entry, gives the exchange of that moment:
//     entries, state hash and keys. Erased persons stay erased.
//   - The rebuilt exchange can continue the backup, which then has the new entries too.
//
// At some instants the program starts the real exchange, sometimes on a restored backup only.
// It must give its earlier answers byte by byte, accept new leads, and have the objects that
// operators created. Its sales report, damaged and repaired, must match the ledger.
//
// With --cluster it records three nodes at once, which replicate the log, and takes the power from one or
// all of them. See cluster_check.go for these checks.
//
// The recording is verified too: after each lifetime the model's folder is compared with the
// real one, byte by byte.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/alecthomas/kong"

	"pingpost/fuzz/powerloss/strace"
)

// flags is the command line.
type flags struct {
	Seed    uint64  `env:"SEED" placeholder:"NUMBER" help:"Seed of all random choices; drawn if missing. It cannot repeat the machine's timing."`
	Minutes float64 `default:"5" help:"Make and check recordings for this many minutes (${default})."`
	Points  int     `default:"1000" help:"Power losses to check in each recording (${default})."`
	Backups int     `default:"250" help:"Power losses that also check the backup (${default})."`
	Lives   int     `default:"7" help:"Starts of the exchange in each recording (${default})."`
	Serve   int     `default:"50" help:"Start the exchange at every n-th power loss (${default})."`
	Short   bool    `help:"Make one short recording, within half a minute."`
	Cluster bool    `help:"Record three nodes of a cluster, with Raft's log and the exchange's log."`
	Mutants bool    `help:"Run programs that break one promise each, and fail unless each is detected."`
	Only    string  `placeholder:"WORDS" help:"Run only mutants whose name contains these words."`
	Program string  `placeholder:"FILE" help:"Test this program, which has the shorter limits, instead of building one."`
	Root    string  `default:"." placeholder:"DIR" help:"The repository."`
	Dir     string  `placeholder:"DIR" help:"Create the recordings' folder here (default: the system's temporary directory). It is removed unless a check fails."`
}

func main() { os.Exit(run(os.Args[1:], os.Stdout, os.Stderr)) }

// run runs the program and returns its exit code.
func run(args []string, out, progress io.Writer) int {
	var f flags
	parser, err := kong.New(&f, kong.Name("powerloss"), kong.Writers(out, progress),
		kong.Description("Simulates power losses of an exchange at thousands of instants, and checks that no acknowledged data is lost."))
	if err == nil {
		_, err = parser.Parse(args)
	}
	if err == nil {
		err = f.run(out, progress)
	}
	if err != nil {
		_, _ = fmt.Fprintln(progress, "powerloss: "+err.Error())
		return 1
	}
	return 0
}

func (f *flags) run(out, progress io.Writer) error {
	if err := strace.CheckAvailable(); err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if f.Seed == 0 {
		f.Seed = uint64(time.Now().UnixNano())
	}
	if f.Short {
		f.Minutes, f.Points, f.Backups, f.Lives, f.Serve = 0, 250, 40, 4, 84
		if f.Cluster {
			f.Points, f.Lives, f.Serve = 150, 2, 75
		}
	}
	_, _ = fmt.Fprintf(progress, "SEED=%d\n", f.Seed)
	s, err := newSession(f, progress)
	if err != nil {
		return err
	}
	if f.Mutants {
		err = s.detectMutants(ctx)
	} else {
		err = s.recordUntilDone(ctx)
	}
	_, _ = fmt.Fprint(out, s.table())
	if err == nil {
		err = s.close()
	} else {
		err = errors.Join(err, os.RemoveAll(s.memory)) // the failed folder is in s.dir
	}
	if err == nil && ctx.Err() != nil {
		err = errors.New("interrupted")
	}
	return err
}
