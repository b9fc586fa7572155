package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"pingpost/cmd/pingpost/client"
	"pingpost/cmd/pingpost/terminal"
)

// eraseContactDataCmd makes the exchange erase contact data: of the one lead with an id, or of all
// leads with a phone number or an e-mail address.
type eraseContactDataCmd struct {
	client.AdminFlags
	Lead  string `arg:"" optional:"" xor:"who" help:"Erase only the lead with this id. Alternatives:"`
	Phone string `xor:"who" help:"Erase all leads with this phone number." placeholder:"NUMBER"`
	Email string `xor:"who" help:"Erase all leads with this e-mail address." placeholder:"ADDRESS"`
}

// Help returns the text that --help shows after the usage line.
func (*eraseContactDataCmd) Help() string {
	return `Erasing deletes the keys that encrypt the contact data of leads. It cannot be undone.
Decisions, money and statuses stay, without the person.

A lead id erases this lead only. The person's other leads stay: give --phone or
--email to erase all leads of a person. A lead with another phone number or e-mail
address needs a second call. pingpost find shows the leads of a person.

  pingpost erase lead_01jd…
  pingpost erase --phone "+1 415 555 0132"
  pingpost erase --email ann@example.com

For a phone number or an e-mail address, the exchange reads its whole log, which takes
time. The command prints how many leads were erased, and which were not: under_way is a
lead whose delivery did not end within half a minute (erase again later); unsealed is a
lead that an earlier version logged in plaintext, which disappears when history ends;
unreadable is a lead with a missing or damaged key file (restore it from a backup).
The exit code is 2 if a lead was not erased. You can erase again at any time.`
}

// Run sends the erasure to the exchange and prints how many leads were erased.
func (c *eraseContactDataCmd) Run(out io.Writer) error {
	if c.Lead == "" && c.Phone == "" && c.Email == "" {
		return errors.New("name the person to erase: give --phone NUMBER or --email ADDRESS for all leads of the person, or the id of one lead")
	}
	requestBody, err := json.Marshal(map[string]string{"lead": c.Lead, "phone": c.Phone, "email": c.Email})
	if err != nil {
		return err
	}
	response, err := c.Send(0, "POST", "/admin/v1/erase", requestBody) // a long log takes its time
	if err != nil {
		return err
	}
	defer response.Body.Close()
	var result struct {
		Erased int `json:"erased"`
		Left   int `json:"left"`
		Leads  []struct {
			Lead   string `json:"lead_id"`
			Reason string `json:"reason"`
		} `json:"left_leads"`
	}
	if err := json.NewDecoder(response.Body).Decode(&result); err != nil {
		return fmt.Errorf("cannot read the exchange's answer: %w", err)
	}
	fmt.Fprintf(out, "erased  %d\n", result.Erased)
	if result.Left == 0 {
		return nil
	}
	fmt.Fprintf(out, "left    %d\n", result.Left)
	for _, lead := range result.Leads {
		fmt.Fprintf(out, "  %s  %s\n", lead.Lead, lead.Reason)
	}
	return terminal.ExitCodeError(2)
}
