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
	"strings"
	"syscall"
	_ "time/tzdata" // time zones for machines without a database of them

	"github.com/alecthomas/kong"
	kongcompletion "github.com/jotaen/kong-completion"

	"pingpost/cmd/pingpost/clustercmd"
	"pingpost/cmd/pingpost/operate"
	"pingpost/cmd/pingpost/seller"
	"pingpost/cmd/pingpost/terminal"
	"pingpost/internal/librarylog"
	"pingpost/internal/version"
)

type commands struct {
	Serve    serveCmd          `cmd:"" group:"run" help:"Serve one or several exchanges."`
	Health   healthCmd         `cmd:"" group:"run" help:"Check whether an exchange accepts requests; for service managers and containers."`
	Validate validateConfigCmd `cmd:"" group:"run" help:"Check a configuration file and print every mistake with its line."`

	Demo     demoCmd            `cmd:"" group:"try" help:"Start a demo exchange with nine buyers, sell leads and show the results."`
	Send     seller.SendCommand `cmd:"" group:"try" help:"Send leads from a file to an exchange."`
	Ping     seller.PingCommand `cmd:"" group:"try" help:"Ask an exchange for a bid on a lead."`
	Post     seller.PostCommand `cmd:"" group:"try" help:"Post a lead to an exchange that has bid for it."`
	Buyer    referenceBuyerCmd  `cmd:"" group:"try" help:"Run a reference buyer's endpoint, to test an exchange against."`
	Receiver webhookReceiverCmd `cmd:"" group:"try" help:"Run a reference receiver of webhooks, to test an exchange against."`
	Loadtest loadtestCmd        `cmd:"" group:"try" help:"Test an exchange under load, and check a scenario's limits."`

	Explain   explainCmd            `cmd:"" group:"inspect" help:"Show the course of a lead or an auction with reasons: every buyer, every attempt."`
	Find      operate.FindCommand   `cmd:"" group:"inspect" help:"Find the leads of a person by phone number or e-mail address, with masked contact data."`
	DryRun    operate.DryRunCommand `cmd:"" group:"inspect" help:"Show how an exchange would decide about a lead: each buyer, with the rule that excludes it."`
	Report    reportCmd             `cmd:"" group:"inspect" help:"Report pings, bids, sales, refusals and returns of a period, per buyer, supplier or campaign."`
	Statement statementCmd          `cmd:"" group:"inspect" help:"Print the account statement of a buyer or a supplier for a period."`
	Audit     operate.AuditCommand  `cmd:"" group:"inspect" help:"Print the audit log: who changed what."`
	Alerts    operate.AlertsCommand `cmd:"" group:"inspect" help:"Print the alerts that fire, and the history of alerts."`
	Log       logCmd                `cmd:"" group:"inspect" help:"Inspect an exchange's log: dump, verify, hash."`
	Version   versionCmd            `cmd:"" group:"inspect" help:"Print the program's version."`

	Diff    diffConfigCmd       `cmd:"" group:"operate" help:"Show what a configuration file would change in a running exchange."`
	Apply   applyConfigCmd      `cmd:"" group:"operate" help:"Apply a configuration file to a running exchange."`
	Config  configCmd           `cmd:"" group:"operate" help:"Compare the configuration file of a running exchange with the exchange, and take one side."`
	Export  exportConfigCmd     `cmd:"" group:"operate" help:"Print a running exchange's configuration, without its secrets."`
	Users   usersCmd            `cmd:"" group:"operate" help:"Manage the accounts of operators: list, add, role, password, remove."`
	Cluster clustercmd.Command  `cmd:"" group:"operate" help:"Show the nodes of a cluster, and change them: status, add, remove, handover."`
	Erase   eraseContactDataCmd `cmd:"" group:"operate" help:"Erase a person: delete the keys of the person's leads for good."`
	Backup  backupCmd           `cmd:"" group:"operate" help:"Back up an exchange once or continuously; list and verify backups; create a key."`
	Restore restoreCmd          `cmd:"" group:"operate" help:"Restore an exchange's data directory from a backup, as of an entry or a time."`

	Completion kongcompletion.Completion `cmd:"" group:"inspect" help:"Show how to switch on completion of commands in bash, zsh or fish."`

	LoadtestBuyers loadtestBuyersCmd `cmd:"" hidden:""`
}

type versionCmd struct{}

// Run prints the program's version.
func (versionCmd) Run() error {
	fmt.Println("pingpost " + version.String())
	return nil
}

// newSignalContext returns the context of commands that end in order. It ends with the first SIGINT or
// SIGTERM. The second one ends the program at once.
func newSignalContext() (ctx context.Context, alwaysNil error) {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop)
	return ctx, nil
}

// commandGroups are the headings of the list of commands, in this order.
var commandGroups = []kong.Group{
	{Key: "run", Title: "Run:"},
	{Key: "try", Title: "Try:"},
	{Key: "inspect", Title: "Inspect:"},
	{Key: "operate", Title: "Operate:"},
}

func main() {
	librarylog.RestoreLogOutput()
	var cli commands
	parser := kong.Must(&cli,
		kong.Name("pingpost"),
		kong.Description("A lead exchange: it accepts sales leads and sells each to one buyer, without losing any.\n\nBegin with: pingpost demo"),
		kong.ExplicitGroups(commandGroups),
		kong.Bind(os.Stdin),
		kong.BindToProvider(newSignalContext),
		kong.BindTo(os.Stdout, (*io.Writer)(nil)),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true}),
	)
	kongcompletion.Register(parser)
	args := os.Args[1:]
	switch {
	case len(args) == 0:
		args = []string{"--help"}
	case len(args) == 1 && args[0] == "--version":
		args = []string{"version"}
	}
	ctx, err := parser.Parse(args)
	if err != nil {
		printUsageError(err)
		os.Exit(usageExitCode)
	}
	os.Exit(printUnlessExitCode(ctx.Run()))
}

// usageExitCode is the exit code for a wrong command line. It differs from the codes that commands
// use for their results.
const usageExitCode = 80

// printUsageError prints what is wrong with the command line, and where to find its help. A wrong
// word after a command with a default subcommand is probably meant as a subcommand, so it lists these.
func printUsageError(err error) {
	command := "pingpost"
	var parse *kong.ParseError
	if errors.As(err, &parse) && parse.Context.Selected() != nil {
		selected := parse.Context.Selected()
		command = selected.FullPath()
		if selected.Parent.DefaultCmd == selected && strings.HasPrefix(err.Error(), "unexpected argument ") {
			command = selected.Parent.FullPath()
			names := make([]string, 0, len(selected.Parent.Children))
			for _, child := range selected.Parent.Children {
				names = append(names, child.Name)
			}
			err = fmt.Errorf("%w; the commands of %s are %s", err, command, strings.Join(names, ", "))
		}
	}
	printError(err)
	fmt.Fprintf(os.Stderr, "Run %q to see how to use it.\n", command+" --help")
}

// printUnlessExitCode returns the program's exit code after a command. It prints the command's error,
// unless the error has only an exit code.
func printUnlessExitCode(err error) int {
	var code terminal.ExitCodeError
	switch {
	case err == nil:
		return 0
	case errors.As(err, &code):
		return int(code)
	}
	printError(err)
	return 1
}

func printError(err error) {
	fmt.Fprintln(os.Stderr, terminal.ColorsOf(os.Stderr).Red("pingpost:")+" "+err.Error())
}
