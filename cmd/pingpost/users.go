package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/url"
	"strings"
	"text/tabwriter"
	"time"

	"pingpost/cmd/pingpost/client"
)

// usersCmd lists and changes the accounts of operators.
type usersCmd struct {
	List     usersListCmd     `cmd:"" default:"withargs" help:"List the accounts (default)."`
	Add      usersAddCmd      `cmd:"" help:"Create an account."`
	Role     usersRoleCmd     `cmd:"" help:"Change the role of an account. This ends its sessions and tokens."`
	Password usersPasswordCmd `cmd:"" help:"Change the password of an account. This ends its sessions and tokens."`
	Remove   usersRemoveCmd   `cmd:"" help:"Remove an account. This ends its sessions and tokens."`
	Invite   usersInviteCmd   `cmd:"" help:"Print a link with which one person can open an account."`
}

// operatorAccount is an operator's account as the admin API's JSON describes it.
type operatorAccount struct {
	Name     string     `json:"name"`
	Role     string     `json:"role"`
	Created  time.Time  `json:"created_at"`
	LastSeen *time.Time `json:"last_seen"`
}

// fetchAccounts returns the operators' accounts from the admin API, and the JSON text of the
// answer.
func fetchAccounts(f *client.AdminFlags) (accounts []operatorAccount, responseBody []byte, err error) {
	var answer struct {
		Users []operatorAccount `json:"users"`
	}
	responseBody, err = f.CallJSON("GET", "/admin/v1/users", nil, &answer)
	return answer.Users, responseBody, err
}

// accountExists reports whether an operator's account has this name, in upper or lower case.
func accountExists(f *client.AdminFlags, name string) (found bool, err error) {
	list, _, err := fetchAccounts(f)
	for i := range list {
		if strings.EqualFold(list[i].Name, name) {
			return true, err
		}
	}
	return false, err
}

// checkAccountExists returns an error if no account has this name, because a PUT would create one.
func checkAccountExists(f *client.AdminFlags, name string) error {
	exists, err := accountExists(f, name)
	if err == nil && !exists {
		err = fmt.Errorf("there is no user %q; run pingpost users to list the accounts", name)
	}
	return err
}

func accountAPIPath(name string) string { return "/admin/v1/users/" + url.PathEscape(name) }

// usersListCmd prints the accounts of operators.
type usersListCmd struct {
	client.AdminFlags
	JSON bool `name:"json" help:"Print the admin API's answer unchanged."`
}

// Run fetches the accounts from the exchange and prints them.
func (c *usersListCmd) Run(out io.Writer) error {
	list, text, err := fetchAccounts(&c.AdminFlags)
	if err != nil {
		return err
	}
	if c.JSON {
		_, err := out.Write(text)
		return err
	}
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	for i := range list {
		seen := "not seen since the exchange's start"
		if at := list[i].LastSeen; at != nil {
			seen = "seen " + at.UTC().Format(time.RFC3339)
		}
		fmt.Fprintf(table, "%s\t%s\tmade %s\t%s\n", list[i].Name, list[i].Role, list[i].Created.UTC().Format(time.RFC3339), seen)
	}
	return table.Flush()
}

// usersRemoveCmd removes an operator's account.
type usersRemoveCmd struct {
	client.AdminFlags
	Name string `arg:"" help:"The account's name."`
}

// Run removes the account and prints its name.
func (c *usersRemoveCmd) Run(out io.Writer) error {
	if _, err := c.Call("DELETE", accountAPIPath(c.Name), nil); err != nil {
		return err
	}
	_, err := fmt.Fprintf(out, "removed  %s\n", c.Name)
	return err
}

// usersInviteCmd creates an invitation and prints its link.
type usersInviteCmd struct {
	client.AdminFlags
	Name      string `arg:"" optional:"" help:"The account's name. Without it the invited person chooses it."`
	Role      string `required:"true" enum:"viewer,operator,admin" placeholder:"ROLE" help:"Rights of the account: viewer, operator or admin."`
	ExpiresIn string `name:"expires-in" default:"72h" placeholder:"TIME" help:"How long the link works: 1m to 30d (default 72h)."`
}

// Help returns the text that --help shows after the usage line.
func (*usersInviteCmd) Help() string {
	return `The link works once. Any holder can open the account, so send it over a private channel.
An API token cannot invite: use --user, or the exchange's admin.password.

  pingpost users invite anna --role operator
  pingpost users invite --role viewer --expires-in 7d`
}

// Run creates the invitation and prints its link and its end.
func (c *usersInviteCmd) Run(out io.Writer) error {
	wanted := map[string]string{"role": c.Role, "expires_in": c.ExpiresIn}
	if c.Name != "" {
		wanted["name"] = c.Name
	}
	body, err := json.Marshal(wanted)
	if err != nil {
		return err
	}
	var made struct {
		Link    string    `json:"link"`
		URL     string    `json:"url"`
		Expires time.Time `json:"expires_at"`
	}
	if _, err := c.CallJSON("POST", "/admin/v1/invitations", body, &made); err != nil {
		return err
	}
	link := made.URL
	if link == "" {
		link = strings.TrimSuffix(c.Admin, "/") + made.Link
	}
	_, err = fmt.Fprintf(out, "%s\nuntil  %s\n", link, made.Expires.UTC().Format(time.RFC3339))
	return err
}
