package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"

	"pingpost/cmd/pingpost/client"
)

// usersAddCmd creates an operator's account.
type usersAddCmd struct {
	client.AdminFlags
	passwordGenerationFlag
	Name string `arg:"" help:"Its name: up to 64 of a-z, 0-9 and . _ - @ +."`
	Role string `required:"true" enum:"viewer,operator,admin" placeholder:"ROLE" help:"Rights of the account: viewer, operator or admin."`
}

// Help returns the text that --help shows after the usage line.
func (*usersAddCmd) Help() string {
	return `The command asks for the new password at the terminal and does not show it. If the
input is not a terminal, its first line is the password. It needs at least 12 characters.
(--password is your own password, preferably in PINGPOST_ADMIN_PASSWORD.)

  pingpost users add anna --role operator
  pingpost users add bot --role viewer --generate
  pass show pingpost/anna | pingpost users add anna --role operator`
}

// Run reads the password, creates the account and prints it.
func (c *usersAddCmd) Run(in *os.File, out io.Writer) error {
	exists, err := accountExists(&c.AdminFlags, c.Name)
	if err != nil {
		return err
	}
	if exists {
		return fmt.Errorf("user %q exists already; change it with pingpost users role or pingpost users password", c.Name)
	}
	password, err := c.obtainNewPassword(in, c.Name)
	if err != nil {
		return err
	}
	account, err := createOrChangeAccount(&c.AdminFlags, c.Name, map[string]string{"role": c.Role, "password": password})
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "made  %s  %s\n", account.Name, account.Role)
	return c.printIfGenerated(out, password)
}

// createOrChangeAccount creates or changes an operator's account through the admin API and returns the
// result. changes are the values to set, such as the role.
func createOrChangeAccount(f *client.AdminFlags, name string, changes map[string]string) (account operatorAccount, err error) {
	body, err := json.Marshal(changes)
	if err != nil {
		return account, err
	}
	_, err = f.CallJSON("PUT", accountAPIPath(name), body, &account)
	return account, err
}

// usersRoleCmd changes the role of an operator's account.
type usersRoleCmd struct {
	client.AdminFlags
	Name string `arg:"" help:"The account's name."`
	Role string `arg:"" enum:"viewer,operator,admin" help:"Rights of the account: viewer, operator or admin."`
}

// Run changes the role and prints the account.
func (c *usersRoleCmd) Run(out io.Writer) error {
	if err := checkAccountExists(&c.AdminFlags, c.Name); err != nil {
		return err
	}
	is, err := createOrChangeAccount(&c.AdminFlags, c.Name, map[string]string{"role": c.Role})
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(out, "%s  %s\n", is.Name, is.Role)
	return err
}

// usersPasswordCmd changes the password of an operator's account.
type usersPasswordCmd struct {
	client.AdminFlags
	passwordGenerationFlag
	Name string `arg:"" help:"The account's name."`
}

// Help returns the text that --help shows after the usage line.
func (*usersPasswordCmd) Help() string {
	return `The command asks for the new password at the terminal and does not show it. If the
input is not a terminal, its first line is the password. All sessions and tokens of the
account end, so use this command also when a token was lost:

  pingpost users password anna --generate`
}

// Run reads the new password, sets it and prints the account's name.
func (c *usersPasswordCmd) Run(in *os.File, out io.Writer) error {
	if err := checkAccountExists(&c.AdminFlags, c.Name); err != nil {
		return err
	}
	password, err := c.obtainNewPassword(in, c.Name)
	if err != nil {
		return err
	}
	body, err := json.Marshal(map[string]string{"new": password})
	if err != nil {
		return err
	}
	if _, err := c.Call("PUT", accountAPIPath(c.Name)+"/password", body); err != nil {
		return err
	}
	fmt.Fprintf(out, "changed  %s\n", c.Name)
	return c.printIfGenerated(out, password)
}
