package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
)

// usersAddCmd makes an account.
type usersAddCmd struct {
	adminFlags
	passwordSource
	Name string `arg:"" help:"Its name: up to 64 of a-z, 0-9 and . _ - @ +."`
	Role string `required:"true" enum:"viewer,operator,admin" placeholder:"ROLE" help:"What it may do: viewer, operator or admin."`
}

// Help returns the text of --help after the usage line.
func (*usersAddCmd) Help() string {
	return `The password is asked for at the terminal, and not shown; where the input is no
terminal it is its first line. It has at least 12 characters. (--password is the one
by which you are let in, and better in PINGPOST_ADMIN_PASSWORD.)

  pingpost users add anna --role operator
  pingpost users add bot --role viewer --generate
  pass show pingpost/anna | pingpost users add anna --role operator`
}

// Run asks for it.
func (c *usersAddCmd) Run() error { return c.run(os.Stdin, os.Stdout) }

func (c *usersAddCmd) run(in *os.File, out io.Writer) error {
	there, err := c.hasAccount(c.Name)
	if err != nil {
		return err
	}
	if there {
		return fmt.Errorf("user %q exists already; change it with pingpost users role or pingpost users password", c.Name)
	}
	password, err := c.readNewPassword(in, c.Name)
	if err != nil {
		return err
	}
	made, err := c.putAccount(c.Name, map[string]string{"role": c.Role, "password": password})
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "made  %s  %s\n", made.Name, made.Role)
	return c.printIfGenerated(out, password)
}

// putAccount creates or changes an account.
func (f *adminFlags) putAccount(name string, fields map[string]string) (account operatorAccount, err error) {
	body, err := json.Marshal(fields)
	if err != nil {
		return account, err
	}
	text, err := f.callAdminAPI("PUT", accountPath(name), body)
	if err != nil {
		return account, err
	}
	if err := json.Unmarshal(text, &account); err != nil {
		return account, fmt.Errorf("cannot read the exchange's answer: %w", err)
	}
	return account, nil
}

// usersRoleCmd gives one another role.
type usersRoleCmd struct {
	adminFlags
	Name string `arg:"" help:"The account's name."`
	Role string `arg:"" enum:"viewer,operator,admin" help:"What it may do: viewer, operator or admin."`
}

// Run asks for it.
func (c *usersRoleCmd) Run() error { return c.run(os.Stdout) }

func (c *usersRoleCmd) run(out io.Writer) error {
	if err := c.requireAccount(c.Name); err != nil {
		return err
	}
	is, err := c.putAccount(c.Name, map[string]string{"role": c.Role})
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(out, "%s  %s\n", is.Name, is.Role)
	return err
}

// usersPasswordCmd gives one another password.
type usersPasswordCmd struct {
	adminFlags
	passwordSource
	Name string `arg:"" help:"The account's name."`
}

// Help returns the text of --help after the usage line.
func (*usersPasswordCmd) Help() string {
	return `The new password is asked for at the terminal, and not shown; where the input is
no terminal it is its first line. All sessions and tokens of the account end, so this
is also how to end them where one was lost:

  pingpost users password anna --generate`
}

// Run asks for it.
func (c *usersPasswordCmd) Run() error { return c.run(os.Stdin, os.Stdout) }

func (c *usersPasswordCmd) run(in *os.File, out io.Writer) error {
	if err := c.requireAccount(c.Name); err != nil {
		return err
	}
	password, err := c.readNewPassword(in, c.Name)
	if err != nil {
		return err
	}
	body, err := json.Marshal(map[string]string{"new": password})
	if err != nil {
		return err
	}
	if _, err := c.callAdminAPI("PUT", accountPath(c.Name)+"/password", body); err != nil {
		return err
	}
	fmt.Fprintf(out, "changed  %s\n", c.Name)
	return c.printIfGenerated(out, password)
}
