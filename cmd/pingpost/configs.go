package main

import (
	"errors"
	"fmt"
	"os"

	"pingpost/cmd/pingpost/client"
	"pingpost/cmd/pingpost/terminal"
	"pingpost/config"
	"pingpost/config/canonical"
	"pingpost/config/syntax"
	"pingpost/exchange"
)

type validateConfigCmd struct {
	File   string `arg:"" type:"path" help:"Configuration file, YAML or JSON."`
	Strict bool   `help:"Exit with 1 for a warning too, for example in CI."`
}

// Help returns the text that --help shows after the usage line.
func (validateConfigCmd) Help() string {
	return `A mistake is a part that can never work. A warning is a part that is allowed but
probably not intended. The exit code is 1 with a mistake, and 0 with warnings only.`
}

// Run checks the configuration file and the files that it names, and prints mistakes and
// warnings.
func (c *validateConfigCmd) Run() error {
	source, err := config.Load(c.File, os.LookupEnv)
	var built *config.CompiledDocument
	if err == nil {
		built, err = source.Compile()
	}
	var problems *syntax.Problems
	if errors.As(err, &problems) {
		return printMistakesAsExitError(*problems)
	}
	if err != nil {
		return err
	}
	if err := exchange.CheckCertificateFiles(&built.Settings); err != nil {
		return err
	}
	unreadable, err := exchange.CheckClusterCertificateFiles(&built.Settings)
	if err != nil {
		return err
	}
	wrong, warnings := exchange.CheckInitialListFiles(built)
	warnings = append(built.Warnings, warnings...)
	if unreadable != nil {
		warnings = append(warnings, syntax.Problem{File: c.File, Path: "cluster.tls", Message: unreadable.Error()})
	}
	colors := terminal.ColorsOf(os.Stderr)
	fmt.Fprint(os.Stderr, colors.PaintLines(warnings.FormatAsWarnings(), map[string]func(string) string{"warning: ": colors.Yellow}))
	if len(wrong) > 0 {
		return printMistakesAsExitError(wrong)
	}
	if c.Strict && len(warnings) > 0 {
		return terminal.ExitCodeError(1)
	}
	fmt.Println(c.File + ": good")
	return nil
}

// printMistakesAsExitError prints the mistakes on standard error. It returns an error that ends the
// program with exit code 1.
func printMistakesAsExitError(problems syntax.Problems) error {
	colors := terminal.ColorsOf(os.Stderr)
	for _, problem := range problems {
		fmt.Fprintln(os.Stderr, colors.Red(problem.Error()))
	}
	return terminal.ExitCodeError(1)
}

type diffConfigCmd struct {
	client.AdminFlags
	File string `arg:"" type:"existingfile" help:"Configuration file, YAML or JSON."`
}

// Help returns the text that --help shows after the usage line.
func (diffConfigCmd) Help() string {
	return `A line begins with + for an added part, - for a removed part and ~ for a change. !
marks a difference that apply does not change either: a file gives only the initial
value of secrets and balances, and the exchange has another value now.

The exit code is 2 if a line begins with +, - or ~, otherwise 0.`
}

// Run prints the changes that the file would make in the running exchange. The exit code is 2
// if there are any.
func (c *diffConfigCmd) Run() error {
	would, err := uploadConfig(&c.AdminFlags, c.File, true)
	if err != nil {
		return err
	}
	fmt.Print(would.format(terminal.ColorsOf(os.Stdout)))
	if len(would.Changes) > 0 {
		return terminal.ExitCodeError(2)
	}
	fmt.Println("no difference")
	return nil
}

type applyConfigCmd struct {
	client.AdminFlags
	File string `arg:"" type:"existingfile" help:"Configuration file, YAML or JSON."`
}

// Help returns the text that --help shows after the usage line.
func (applyConfigCmd) Help() string {
	return `The command reads the variables that the file names (${NAME}) from its own
environment and sends their values with the file. The exchange seals the values of
secrets and addresses. A variable that is not set here keeps the value that the
exchange has sealed. The output has the lines of pingpost diff.

With provisioning: seed, the exchange keeps the entries of the file that you apply, and
removes none. Its settings apply until the next start. The command does not change the
file with which the exchange was started. With provisioning: enforce, that file applies
again at the next start, so make the same change there.`
}

// Run makes the running exchange apply the file and prints the changes.
func (c *applyConfigCmd) Run() error {
	did, err := uploadConfig(&c.AdminFlags, c.File, false)
	if err != nil {
		return err
	}
	fmt.Print(did.format(terminal.ColorsOf(os.Stdout)))
	fmt.Println("applied")
	return nil
}

type exportConfigCmd struct {
	client.AdminFlags
}

// Run prints the running exchange's configuration as YAML.
func (c *exportConfigCmd) Run() error {
	text, err := c.Call("GET", "/admin/v1/config", nil)
	if err != nil {
		return err
	}
	text, err = canonical.ExportYAML(text)
	if err != nil {
		return err
	}
	_, err = os.Stdout.Write(text)
	return err
}
