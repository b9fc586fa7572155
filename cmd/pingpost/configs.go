package main

import (
	"errors"
	"fmt"
	"os"

	"pingpost/cmd/pingpost/exchange"
	"pingpost/server/config"
)

type validateCmd struct {
	File string `arg:"" type:"path" help:"Configuration file, YAML or JSON."`
}

// Run checks the file.
func (c *validateCmd) Run() error {
	source, err := config.Load(c.File, os.LookupEnv)
	var built *config.Exchange
	if err == nil {
		built, err = source.Compile()
	}
	var problems *config.Problems
	if errors.As(err, &problems) {
		for _, problem := range *problems {
			fmt.Fprintln(os.Stderr, problem.Error())
		}
		return exitCode(1)
	}
	if err != nil {
		return err
	}
	if err := exchange.CheckCertificates(&built.Settings); err != nil {
		return err
	}
	fmt.Fprint(os.Stderr, built.Warnings.Print())
	fmt.Println(c.File + ": good")
	return nil
}

type diffCmd struct {
	adminFlags
	File string `arg:"" type:"existingfile" help:"Configuration file, YAML or JSON."`
}

// Help is the long form.
func (diffCmd) Help() string {
	return `Lines begin with + for what is new, - for what is gone and ~ for what changes. !
marks what apply would not change either: values that a file gives the first of,
such as secrets and balances, where the exchange has others by now.

The exit code is 2 when there are lines without a !, and 0 when there are none.`
}

// Run says what the file would change; exit 2 when it would change something.
func (c *diffCmd) Run() error {
	would, err := c.putConfig(c.File, true)
	if err != nil {
		return err
	}
	fmt.Print(would)
	if len(would.Changes) > 0 {
		return exitCode(2)
	}
	fmt.Println("no difference")
	return nil
}

type applyCmd struct {
	adminFlags
	File string `arg:"" type:"existingfile" help:"Configuration file, YAML or JSON."`
}

// Help is the long form.
func (applyCmd) Help() string {
	return `The exchange reads the variables that the file names (${NAME}) from its own
environment. The file it was started with is not written: make the same change
there, or it has the word again at the next start. Lines are those of pingpost
diff.`
}

// Run puts the file into force.
func (c *applyCmd) Run() error {
	did, err := c.putConfig(c.File, false)
	if err != nil {
		return err
	}
	fmt.Print(did)
	fmt.Println("applied")
	return nil
}

type exportCmd struct {
	adminFlags
}

// Run prints the configuration in force as YAML.
func (c *exportCmd) Run() error {
	canonical, err := c.call("GET", "/admin/v1/config", nil)
	if err != nil {
		return err
	}
	text, err := config.Export(canonical)
	if err != nil {
		return err
	}
	_, err = os.Stdout.Write(text)
	return err
}
