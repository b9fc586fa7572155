// Command pingpost is a lead exchange in one program: it serves one, checks and
// applies its configuration, reads its log, and brings what is needed to try it
// out: a reference buyer, a sender of leads, a demonstration.
package main

import (
	"errors"
	"fmt"
	"os"
	_ "time/tzdata" // zones and their rules, where the machine has none

	"github.com/alecthomas/kong"

	"pingpost/cmd/pingpost/seller"
	"pingpost/cmd/pingpost/terminal"
	"pingpost/internal/redact"
)

// version is set when the program is built.
var version = "unversioned"

type commands struct {
	Serve     serveCmd           `cmd:"" help:"Serve one or several exchanges."`
	Health    healthCmd          `cmd:"" help:"Say whether an exchange takes requests; for service managers and containers."`
	Validate  validateCmd        `cmd:"" help:"Check a configuration: every mistake at once, each with its line."`
	Diff      diffCmd            `cmd:"" help:"Say what a configuration would change in a running exchange."`
	Apply     applyCmd           `cmd:"" help:"Put a configuration into force in a running exchange."`
	Export    exportCmd          `cmd:"" help:"Print a running exchange's configuration, without its secrets."`
	Buyer     buyerCmd           `cmd:"" help:"Run a reference buyer's endpoint, to test an exchange against."`
	Receiver  receiverCmd        `cmd:"" help:"Run a reference receiver of webhooks, to test an exchange against."`
	Send      seller.SendCommand `cmd:"" help:"Send leads from a file to an exchange."`
	Ping      seller.PingCommand `cmd:"" help:"Ask an exchange what it bids for a lead."`
	Post      seller.PostCommand `cmd:"" help:"Post a lead to an exchange that has bid for it."`
	Explain   explainCmd         `cmd:"" help:"Tell what became of a lead or an auction, and why: every candidate, every try."`
	Statement statementCmd       `cmd:"" help:"Say what became of a buyer's or a supplier's money in a period."`
	Report    reportCmd          `cmd:"" help:"Say what was asked, bid, sold, refused and returned in a period, and by whom."`
	Users     usersCmd           `cmd:"" help:"See to the accounts of operators: list, add, role, password, remove."`
	Erase     eraseCmd           `cmd:"" help:"Make sure that nobody can know any more who a person was."`
	Log       logCmd             `cmd:"" help:"Look into an exchange's log: dump, verify, hash."`
	Loadtest  loadtestCmd        `cmd:"" help:"Test an exchange under load, and hold it to a scenario's limits."`
	Backup    backupCmd          `cmd:"" help:"Back an exchange up, once or continuously; list and verify backups; make a key."`
	Restore   restoreCmd         `cmd:"" help:"Make an exchange's data directory from a backup, as it was at an entry or a time."`
	Demo      demoCmd            `cmd:"" help:"Start an exchange and nine buyers, sell leads, show what became of them."`
	Version   versionCmd         `cmd:"" help:"Print the program's version."`

	LoadtestBuyers loadtestBuyersCmd `cmd:"" hidden:""`
}

type versionCmd struct{}

// Run prints the version.
func (versionCmd) Run() error {
	fmt.Println("pingpost " + version)
	return nil
}

func main() {
	redact.Restore()
	var cli commands
	ctx := kong.Parse(&cli,
		kong.Name("pingpost"),
		kong.Description("A lead exchange: takes sales leads, sells each to one buyer, loses none.\n\nBegin with: pingpost demo"),
		kong.UsageOnError(),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true}),
	)
	err := ctx.Run()
	var code terminal.ExitCode
	switch {
	case err == nil:
	case errors.As(err, &code):
		os.Exit(int(code))
	default:
		fmt.Fprintln(os.Stderr, "pingpost: "+err.Error())
		os.Exit(1)
	}
}
