package operate

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"golang.org/x/term"

	"pingpost/cmd/pingpost/client"
	"pingpost/cmd/pingpost/terminal"
	"pingpost/engine/market"
)

// FindCommand prints the leads of a person. No argument takes the phone number or the address, because
// other users of the machine can read command lines, and the shell keeps them.
type FindCommand struct {
	client.AdminFlags
	Limit int    `help:"Number of leads, the newest first (${default}, at most 200)." default:"50" placeholder:"COUNT"`
	After string `help:"Continue after this lead, the last one of the output before." placeholder:"LEAD_ID"`
	JSON  bool   `name:"json" help:"Print the admin API's answer unchanged."`
}

// Help returns the text that --help shows after the usage line.
func (*FindCommand) Help() string {
	return `Reads a phone number or an e-mail address from standard input, as one line, or asks
for it at the terminal. It finds the leads that have it, and prints them with masked
contact data. A text with an @ is an e-mail address. The audit log records the search
with the masked value.

  pingpost find
  pingpost find < number.txt

The exit code is 2 if there is no such lead, otherwise 0.`
}

// maxPersonLine limits the line of input. It is above the exchange's limits.
const maxPersonLine = 1024

// findByPhoneOrEmailBody is the body of POST leads/find.
type findByPhoneOrEmailBody struct {
	Phone string `json:"phone,omitempty"`
	Email string `json:"email,omitempty"`
	Limit int    `json:"limit"`
	After string `json:"after,omitempty"`
}

// foundLead is the part of a found lead that the command prints.
type foundLead struct {
	ID       string            `json:"id"`
	At       string            `json:"at"`
	Contact  map[string]string `json:"contact"` // masked
	Campaign *string           `json:"campaign"`
	Buyer    *string           `json:"buyer"`
	Status   string            `json:"status"`
	Reason   *string           `json:"reason"`
	Price    *market.Money     `json:"price"`
	Currency *string           `json:"currency"`
	Test     bool              `json:"test"`
}

// Run reads the phone number or the address from in, and prints the leads of the person.
func (c *FindCommand) Run(in *os.File, out io.Writer) error {
	value, err := readPhoneOrEmail(in)
	if err != nil {
		return err
	}
	query := findByPhoneOrEmailBody{Limit: c.Limit, After: c.After}
	if strings.Contains(value, "@") {
		query.Email = value
	} else {
		query.Phone = value
	}
	body, err := json.Marshal(query)
	if err != nil {
		return err
	}
	var page struct {
		Leads        []foundLead `json:"leads"`
		Next         *string     `json:"next"`
		Complete     bool        `json:"complete"`
		SearchedFrom *string     `json:"searched_from"`
	}
	document, err := c.CallJSON("POST", "/admin/v1/leads/find", body, &page)
	if err != nil {
		return err
	}
	text := string(document)
	if !c.JSON {
		text = formatFoundLeads(page.Leads)
		if page.Next != nil {
			text += "There are more leads: --after " + *page.Next + "\n"
		}
		if !page.Complete {
			text += "The report is still reading the newest leads, so some can be missing. Search again later.\n"
		}
		if page.SearchedFrom != nil {
			text += "Leads before " + *page.SearchedFrom + " are not found.\n"
		}
	}
	if _, err := io.WriteString(out, text); err != nil {
		return err
	}
	if len(page.Leads) == 0 {
		return terminal.ExitCodeError(2)
	}
	return nil
}

// readPhoneOrEmail returns the first line of in, or the line that it asks for at a terminal.
func readPhoneOrEmail(in *os.File) (string, error) {
	if term.IsTerminal(int(in.Fd())) {
		fmt.Fprint(os.Stderr, "Phone number or e-mail address: ")
	}
	line, err := bufio.NewReader(io.LimitReader(in, maxPersonLine)).ReadString('\n')
	if err != nil && !errors.Is(err, io.EOF) {
		return "", fmt.Errorf("cannot read the phone number or the e-mail address: %w", err)
	}
	if line = strings.TrimSpace(line); line == "" {
		return "", errors.New("standard input is empty; write a phone number or an e-mail address to it as one line")
	}
	return line, nil
}

// formatFoundLeads returns a line for each lead, with its masked contact data.
func formatFoundLeads(leads []foundLead) string {
	if len(leads) == 0 {
		return "no lead of this person\n"
	}
	table := &terminal.Table{}
	for i := range leads {
		l := &leads[i]
		outcome := l.Status
		switch {
		case l.Buyer != nil && l.Price != nil:
			outcome += " " + *l.Buyer + " " + terminal.FormatMoney(*l.Price) + " " + textOr(l.Currency, "")
		case l.Reason != nil:
			outcome += " " + *l.Reason
		}
		if l.Test {
			outcome += " (test)"
		}
		addPrintableRow(table, l.ID, l.At, textOr(l.Campaign, "-"), outcome, joinNamePhoneAndEmail(l.Contact))
	}
	return table.String()
}

// joinNamePhoneAndEmail returns a lead's masked first name, last name, phone number and e-mail address,
// as far as the lead has them.
func joinNamePhoneAndEmail(contact map[string]string) string {
	var shown []string
	for _, name := range []string{"first_name", "last_name", "phone", "email"} {
		if value := contact[name]; value != "" {
			shown = append(shown, value)
		}
	}
	return strings.Join(shown, " ")
}
