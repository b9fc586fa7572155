// Command powerloss takes the power from an exchange, at thousands of instants.
//
// A process that is killed leaves its page cache to the system, and so nothing is
// lost by that which it wrote and never synced. Here the real program is recorded
// (package strace) while it serves: every call that changes its folder or makes it
// durable, and in one order with them every answer, post and event that it sends.
// It is stopped in order, killed, started again, and now and then the next life
// begins with what a loss of power left. Then the folder is rebuilt as it could be
// after a loss of power at some instant (package disk), and opened. At each:
//
//   - it opens, without a question to the operator;
//   - its log begins as the log that was written, and has every entry on which
//     something told before that instant rests, and none that was never written;
//   - the state from snapshot and log is that of the log alone, and no file has a
//     snapshot's name that is none;
//   - the key, the configurations and the lists that the log names are there and
//     whole, and no configuration is in force that is older than one told to be;
//   - what is appended then is there at the next start.
//
// The exchange backs itself up to another folder, which is rebuilt at some of these
// instants: on a disk that lost by the same manner, or on that of another machine, which
// lost nothing. There:
//
//   - it lists and verifies, and was never begun anew;
//   - it has what the exchange had said to be in it, and nothing that the log has lost;
//   - what it restores, as of its end and of any entry before, is the exchange as it was
//     there: entries, the state's hash, keys and all, and who was erased stays erased;
//   - what is left of the exchange goes on with it, and then it has that too.
//
// At some of them the program itself is started, now and then on what it restored alone:
// it gives the answers that it had given, to the byte, and takes new leads; what operators
// made is there; and its report, torn and mended, sums up to the ledger.
//
// That the recording is exact is not believed either: after each life the model's
// folder is compared with the real one, byte for byte.
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

// flags are the command line.
type flags struct {
	Seed    uint64  `env:"SEED" placeholder:"NUMBER" help:"Seed of all chance; drawn where there is none. What the machine does between two choices it cannot repeat."`
	Minutes float64 `default:"5" help:"How long recordings are made and tried, one after the other (${default})."`
	Points  int     `default:"1000" help:"Instants at which each recording is cut (${default})."`
	Backups int     `default:"250" help:"At so many of them the backup is rebuilt and restored too (${default})."`
	Lives   int     `default:"7" help:"Lives of the exchange in each recording (${default})."`
	Serve   int     `default:"50" help:"At each so many points the program itself is started (${default})."`
	Short   bool    `help:"One recording, within half a minute: to see that all of it works."`
	Mutants bool    `help:"Try programs that break a promise each, and see that each is found."`
	Only    string  `placeholder:"WORDS" help:"Of the mutants, those alone whose name has these words."`
	Root    string  `default:"." placeholder:"DIR" help:"The repository."`
	Dir     string  `placeholder:"DIR" help:"Where recordings go; a folder in it is made, and removed unless something fails. The system's own for such by default."`
}

func main() { os.Exit(run(os.Args[1:], os.Stdout, os.Stderr)) }

// run is the whole program.
func run(args []string, out, progress io.Writer) int {
	var f flags
	parser, err := kong.New(&f, kong.Name("powerloss"), kong.Writers(out, progress),
		kong.Description("Takes the power from an exchange at thousands of instants, and sees that nothing that was told is lost."))
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
	if err := strace.Here(); err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if f.Seed == 0 {
		f.Seed = uint64(time.Now().UnixNano())
	}
	if f.Short {
		f.Minutes, f.Points, f.Backups, f.Lives, f.Serve = 0, 250, 40, 4, 84
	}
	_, _ = fmt.Fprintf(progress, "SEED=%d\n", f.Seed)
	s, err := newSession(f, progress)
	if err != nil {
		return err
	}
	if f.Mutants {
		err = s.mutants(ctx)
	} else {
		err = s.record(ctx)
	}
	_, _ = fmt.Fprint(out, s.table())
	if err == nil {
		err = s.close()
	} else {
		err = errors.Join(err, os.RemoveAll(s.memory)) // what shows it is in the other
	}
	if err == nil && ctx.Err() != nil {
		err = errors.New("interrupted")
	}
	return err
}
