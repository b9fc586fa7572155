// Command pingpost is a lead exchange in one program. It serves an exchange, checks and applies
// its configuration, and reads its log. For trials it has a reference buyer, a sender of leads
// and a demo.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
	_ "time/tzdata" // time zones for machines without a database of them

	"github.com/alecthomas/kong"

	"pingpost/cmd/pingpost/seller"
	"pingpost/cmd/pingpost/terminal"
	"pingpost/internal/librarylog"
)

// version is set when the program is built.
var version = "unversioned"

type commands struct {
	Serve     serveCmd           `cmd:"" help:"Serve one or several exchanges."`
	Health    healthCmd          `cmd:"" help:"Check whether an exchange accepts requests; for service managers and containers."`
	Validate  validateConfigCmd  `cmd:"" help:"Check a configuration file and print every mistake with its line."`
	Diff      diffConfigCmd      `cmd:"" help:"Show what a configuration file would change in a running exchange."`
	Apply     applyConfigCmd     `cmd:"" help:"Apply a configuration file to a running exchange."`
	Export    exportConfigCmd    `cmd:"" help:"Print a running exchange's configuration, without its secrets."`
	Buyer     referenceBuyerCmd  `cmd:"" help:"Run a reference buyer's endpoint, to test an exchange against."`
	Receiver  webhookReceiverCmd `cmd:"" help:"Run a reference receiver of webhooks, to test an exchange against."`
	Send      seller.SendCommand `cmd:"" help:"Send leads from a file to an exchange."`
	Ping      seller.PingCommand `cmd:"" help:"Ask an exchange for a bid on a lead."`
	Post      seller.PostCommand `cmd:"" help:"Post a lead to an exchange that has bid for it."`
	Explain   explainCmd         `cmd:"" help:"Show the course of a lead or an auction with reasons: every buyer, every attempt."`
	Statement statementCmd       `cmd:"" help:"Print the account statement of a buyer or a supplier for a period."`
	Report    reportCmd          `cmd:"" help:"Report pings, bids, sales, refusals and returns of a period, per buyer, supplier or campaign."`
	Users     usersCmd           `cmd:"" help:"Manage the accounts of operators: list, add, role, password, remove."`
	Erase     erasePersonCmd     `cmd:"" help:"Erase a person: delete the keys of the person's leads for good."`
	Log       logCmd             `cmd:"" help:"Inspect an exchange's log: dump, verify, hash."`
	Loadtest  loadtestCmd        `cmd:"" help:"Test an exchange under load, and check a scenario's limits."`
	Backup    backupCmd          `cmd:"" help:"Back up an exchange once or continuously; list and verify backups; create a key."`
	Restore   restoreCmd         `cmd:"" help:"Restore an exchange's data directory from a backup, as of an entry or a time."`
	Demo      demoCmd            `cmd:"" help:"Start a demo exchange with nine buyers, sell leads and show the results."`
	Version   versionCmd         `cmd:"" help:"Print the program's version."`

	LoadtestBuyers loadtestBuyersCmd `cmd:"" hidden:""`
}

type versionCmd struct{}

// Run prints the program's version.
func (versionCmd) Run() error {
	fmt.Println("pingpost " + version)
	return nil
}

// newSignalContext returns the context of commands that end in order. It ends with the first SIGINT or
// SIGTERM. The second one ends the program at once.
func newSignalContext() (context.Context, error) {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop)
	return ctx, nil
}

func main() {
	librarylog.RestoreLogOutput()
	var cli commands
	ctx := kong.Parse(&cli,
		kong.Name("pingpost"),
		kong.Description("A lead exchange: it accepts sales leads and sells each to one buyer, without losing any.\n\nBegin with: pingpost demo"),
		kong.UsageOnError(),
		kong.Bind(os.Stdin),
		kong.BindToProvider(newSignalContext),
		kong.BindTo(os.Stdout, (*io.Writer)(nil)),
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
