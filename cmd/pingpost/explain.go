package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/url"
	"os"

	"pingpost/cmd/pingpost/timeline"
	"pingpost/exchange/explain"
)

// explainCmd prints the explanation of a lead, an auction or a request.
type explainCmd struct {
	adminFlags
	ID       string `arg:"" help:"Of a lead (lead_…), an auction (auc_…), a ping (ping_…) or a request (req_…, as every answer's X-Request-Id has it), or a seller's own id of its auction."`
	Supplier string `help:"Whose auction it is, where ID is a seller's own and several have one of that id." placeholder:"ID"`
	JSON     bool   `name:"json" help:"Print what the admin API answers, as it is."`
}

// Help returns the text of --help after the usage line.
func (*explainCmd) Help() string {
	return `Prints a timeline, in milliseconds from the request's arrival: who was not
asked and why, what each buyer answered and how long that took (the bar is full
at the deadline), each try to post the lead, what came of it, and what the
supplier was told. Above it stands why the lead was sold, or was not, and of a
ping what it offered and who took that up.

The exchange reads it from its log, as far back as that goes (history). Contact
data is in none of it.`
}

// Run fetches the explanation and prints it.
func (c *explainCmd) Run() error { return c.run(os.Stdout) }

func (c *explainCmd) run(out io.Writer) error {
	query := url.Values{"id": {c.ID}}
	if c.Supplier != "" {
		query.Set("supplier", c.Supplier)
	}
	document, err := c.callAdminAPI("GET", "/admin/v1/explain?"+query.Encode(), nil)
	if err != nil {
		return err
	}
	if c.JSON {
		_, err = out.Write(document)
		return err
	}
	var told explain.Explanation
	if err := json.Unmarshal(document, &told); err != nil {
		return fmt.Errorf("cannot read the exchange's answer: %w", err)
	}
	_, err = io.WriteString(out, timeline.FormatExplanation(&told))
	return err
}
