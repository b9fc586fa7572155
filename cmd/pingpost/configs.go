package main

import (
	"errors"
	"fmt"
	"os"

	"pingpost/cmd/pingpost/terminal"
	"pingpost/config"
	"pingpost/config/canonical"
	"pingpost/config/syntax"
	"pingpost/exchange"
)

type validateConfigCmd struct {
	File   string `arg:"" type:"path" help:"Configuration file, YAML or JSON."`
	Strict bool   `help:"Exit with 1 where there is a warning too, for a CI."`
}

// Help is the long form.
func (validateConfigCmd) Help() string {
	return `What can never work is a mistake. What is allowed and most likely not meant is a
warning. The exit code is 1 with a mistake, and 0 with warnings alone.`
}

// Run checks the file, and the files that it names.
func (c *validateConfigCmd) Run() error {
	source, err := config.Load(c.File, os.LookupEnv)
	var built *config.Compiled
	if err == nil {
		built, err = source.Compile()
	}
	var problems *syntax.Problems
	if errors.As(err, &problems) {
		return printMistakes(*problems)
	}
	if err != nil {
		return err
	}
	if err := exchange.CheckCertificates(&built.Settings); err != nil {
		return err
	}
	wrong, warnings := exchange.CheckLists(built)
	warnings = append(built.Warnings, warnings...)
	fmt.Fprint(os.Stderr, warnings.FormatWarnings())
	if len(wrong) > 0 {
		return printMistakes(wrong)
	}
	if c.Strict && len(warnings) > 0 {
		return terminal.ExitCode(1)
	}
	fmt.Println(c.File + ": good")
	return nil
}

// printMistakes prints problems.
func printMistakes(problems syntax.Problems) error {
	for _, problem := range problems {
		fmt.Fprintln(os.Stderr, problem.Error())
	}
	return terminal.ExitCode(1)
}

type diffConfigCmd struct {
	adminFlags
	File string `arg:"" type:"existingfile" help:"Configuration file, YAML or JSON."`
}

// Help is the long form.
func (diffConfigCmd) Help() string {
	return `Lines begin with + for what is new, - for what is gone and ~ for what changes. !
marks what apply would not change either: values that a file gives the first of,
such as secrets and balances, where the exchange has others by now.

The exit code is 2 when there are lines without a !, and 0 when there are none.`
}

// Run prints the changes that the file would make. The exit code is 2 if there are any.
func (c *diffConfigCmd) Run() error {
	would, err := c.uploadConfig(c.File, true)
	if err != nil {
		return err
	}
	fmt.Print(would)
	if len(would.Changes) > 0 {
		return terminal.ExitCode(2)
	}
	fmt.Println("no difference")
	return nil
}

type applyConfigCmd struct {
	adminFlags
	File string `arg:"" type:"existingfile" help:"Configuration file, YAML or JSON."`
}

// Help is the long form.
func (applyConfigCmd) Help() string {
	return `The command reads the variables that the file names (${NAME}) from its own
environment and sends their values beside the file. The exchange seals those of
secrets and addresses, and keeps the names; a variable that is not set here keeps
the value that the exchange has sealed. The file it was started with is not written: make the same change
there, or it has the word again at the next start. Lines are those of pingpost
diff.`
}

// Run puts the file into force.
func (c *applyConfigCmd) Run() error {
	did, err := c.uploadConfig(c.File, false)
	if err != nil {
		return err
	}
	fmt.Print(did)
	fmt.Println("applied")
	return nil
}

type exportConfigCmd struct {
	adminFlags
}

// Run prints the configuration in force as YAML.
func (c *exportConfigCmd) Run() error {
	text, err := c.callAdminAPI("GET", "/admin/v1/config", nil)
	if err != nil {
		return err
	}
	text, err = canonical.Export(text)
	if err != nil {
		return err
	}
	_, err = os.Stdout.Write(text)
	return err
}
