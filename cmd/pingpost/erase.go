package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	"pingpost/cmd/pingpost/terminal"
)

// erasePersonCmd has a person erased.
type erasePersonCmd struct {
	adminFlags
	Lead  string `arg:"" optional:"" xor:"who" help:"The id of the lead whose person is to be erased; or in its place:"`
	Phone string `xor:"who" help:"All leads with this phone number." placeholder:"NUMBER"`
	Email string `xor:"who" help:"All leads with this e-mail address." placeholder:"ADDRESS"`
}

// Help returns the text of --help after the usage line.
func (*erasePersonCmd) Help() string {
	return `Erasing drops the keys that a person's leads are sealed with. It cannot be taken
back. What was decided, paid and told stays, and says no more of whom.

  pingpost erase lead_01jd…
  pingpost erase --phone "+1 415 555 0132"
  pingpost erase --email ann@example.com

By a number or an address the exchange reads its log, all of it, without hurry. It
says how many leads were erased, and which could not be: one that is being delivered
is waited for, for half a minute (under_way: erase again later); one that an earlier
program took lies open in the log until history ends (unsealed). The exit code is 2
where one was left. To erase again does no harm.`
}

// Run asks the exchange and prints.
func (c *erasePersonCmd) Run() error { return c.run(os.Stdout) }

func (c *erasePersonCmd) run(out io.Writer) error {
	if c.Lead == "" && c.Phone == "" && c.Email == "" {
		return errors.New("name the person to erase: give a lead id, --phone NUMBER or --email ADDRESS")
	}
	asked, err := json.Marshal(map[string]string{"lead": c.Lead, "phone": c.Phone, "email": c.Email})
	if err != nil {
		return err
	}
	answer, err := c.sendAdminRequest(0, "POST", "/admin/v1/erase", asked) // a long log takes its time
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	var said struct {
		Erased int `json:"erased"`
		Left   int `json:"left"`
		Leads  []struct {
			Lead   string `json:"lead_id"`
			Reason string `json:"reason"`
		} `json:"left_leads"`
	}
	if err := json.NewDecoder(answer.Body).Decode(&said); err != nil {
		return fmt.Errorf("cannot read the exchange's answer: %w", err)
	}
	fmt.Fprintf(out, "erased  %d\n", said.Erased)
	if said.Left == 0 {
		return nil
	}
	fmt.Fprintf(out, "left    %d\n", said.Left)
	for _, lead := range said.Leads {
		fmt.Fprintf(out, "  %s  %s\n", lead.Lead, lead.Reason)
	}
	return terminal.ExitCode(2)
}
