// Package operate has commands for operators that ask a running exchange through its admin API: the
// audit log, alerts, the leads of a person, and dry runs of leads.
package operate

import (
	"fmt"
	"io"
	"net/url"
	"strconv"

	"pingpost/cmd/pingpost/client"
	"pingpost/cmd/pingpost/terminal"
	"pingpost/server/admin/audit"
)

// AuditCommand prints the audit log of a running exchange.
type AuditCommand struct {
	client.AdminFlags
	Actor      string `help:"Only actions of this operator." placeholder:"NAME"`
	Operation  string `help:"Only this operation: method and route, such as 'POST /admin/v1/campaigns/{id}/pause'." placeholder:"TEXT"`
	TargetKind string `help:"Only actions on this kind of target, such as buyer, campaign or user." placeholder:"KIND"`
	Target     string `help:"Only actions on the target with this id." placeholder:"ID"`
	Outcome    string `enum:",done,failed,unknown" default:"" help:"Only actions with this outcome: done, failed or unknown." placeholder:"NAME"`
	Text       string `help:"Only entries that contain this text." placeholder:"TEXT"`
	From       string `help:"Start: a day (2026-11-01) or a time (2026-11-01T08:15:00Z)." placeholder:"TIME"`
	To         string `help:"End (exclusive)." placeholder:"TIME"`
	Limit      int    `help:"Number of entries, the newest first (${default}); without effect on --format." default:"50" placeholder:"COUNT"`
	Format     string `enum:"text,csv,ndjson" default:"text" help:"csv or ndjson: all matching entries, with the target before and after." placeholder:"FORM"`
	JSON       bool   `name:"json" help:"Print the admin API's answer unchanged."`
}

// Help returns the text that --help shows after the usage line.
func (*AuditCommand) Help() string {
	return `Prints who changed what, newest first: each operator's action with its outcome and the
client's address.

  pingpost audit --from 2026-11-30
  pingpost audit --actor ann --target-kind buyer --json
  pingpost audit --from 2026-11-01 --to 2026-12-01 --format csv > november.csv`
}

// Run fetches the entries from the exchange and prints them.
func (c *AuditCommand) Run(out io.Writer) error {
	path := "/admin/v1/audit?" + c.query().Encode()
	if c.Format == "csv" || c.Format == "ndjson" {
		answer, err := c.Send(0, "GET", path, nil) // a long one takes its time
		if err != nil {
			return err
		}
		defer answer.Body.Close()
		if _, err := io.Copy(out, answer.Body); err != nil {
			return fmt.Errorf("the audit log broke off and is incomplete; try again, or ask for a shorter time: %w", err)
		}
		return nil
	}
	var page struct {
		Entries []audit.Entry `json:"entries"`
		Next    *string       `json:"next"`
	}
	document, err := c.CallJSON("GET", path, nil, &page)
	if err != nil {
		return err
	}
	if c.JSON {
		_, err = out.Write(document)
		return err
	}
	table := &terminal.Table{}
	for i := range page.Entries {
		e := &page.Entries[i]
		target := textOr(e.TargetKind, "")
		if e.Target != nil {
			target += " " + *e.Target
		}
		addPrintableRow(table, e.At, textOr(e.Actor, "-"), textOr(e.Address, "-"), describeOutcome(e), e.Operation, target)
	}
	text := table.String()
	switch {
	case len(page.Entries) == 0:
		text = "no entries\n"
	case page.Next != nil:
		text += "There are more entries; give --from and --to, a greater --limit, or --format csv.\n"
	}
	_, err = io.WriteString(out, text)
	return err
}

// query returns the query of GET audit.
func (c *AuditCommand) query() url.Values {
	query := url.Values{}
	if c.Format == "csv" || c.Format == "ndjson" {
		query.Set("format", c.Format)
	} else {
		query.Set("limit", strconv.Itoa(c.Limit))
	}
	setNonEmpty(query, map[string]string{
		"actor": c.Actor, "operation": c.Operation, "target_kind": c.TargetKind, "target": c.Target, "outcome": c.Outcome, "q": c.Text, "from": c.From, "to": c.To,
	})
	return query
}

// addPrintableRow adds a row of texts from outside to a table. It replaces their unprintable characters.
func addPrintableRow(table *terminal.Table, cells ...string) {
	for i := range cells {
		cells[i] = terminal.ReplaceUnprintable(cells[i])
	}
	table.Row(cells...)
}

func setNonEmpty(query url.Values, values map[string]string) {
	for name, value := range values {
		if value != "" {
			query.Set(name, value)
		}
	}
}

// describeOutcome returns the outcome of an action, with the status of a failed one.
func describeOutcome(e *audit.Entry) string {
	if e.Outcome == audit.OutcomeFailed && e.Status != nil {
		return e.Outcome + " " + strconv.Itoa(*e.Status)
	}
	return e.Outcome
}

// textOr returns the text, or the other one for nil.
func textOr(text *string, other string) string {
	if text == nil {
		return other
	}
	return *text
}
