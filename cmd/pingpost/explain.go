package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/url"
	"os"

	"pingpost/cmd/pingpost/exchange"
)

// explainCmd tells what became of a lead or an auction.
type explainCmd struct {
	adminFlags
	ID   string `arg:"" help:"Of a lead (lead_…), an auction (auc_…) or a ping (ping_…)."`
	JSON bool   `name:"json" help:"Print what the admin API answers, as it is."`
}

// Help is what --help says beyond the flags.
func (*explainCmd) Help() string {
	return `Prints a timeline, in milliseconds from the request's arrival: who was not
asked and why, what each buyer answered and how long that took (the bar is full
at the deadline), each try to post the lead, and what came of it. Above it
stands why the lead was sold, or was not.

The exchange reads it from its log, as far back as that goes (history). Contact
data is in none of it.`
}

// Run asks the exchange and prints.
func (c *explainCmd) Run() error { return c.run(os.Stdout) }

func (c *explainCmd) run(out io.Writer) error {
	document, err := c.call("GET", "/admin/v1/explain/"+url.PathEscape(c.ID), nil)
	if err != nil {
		return err
	}
	if c.JSON {
		_, err = out.Write(document)
		return err
	}
	var told exchange.Explanation
	if err := json.Unmarshal(document, &told); err != nil {
		return fmt.Errorf("cannot read the exchange's answer: %w", err)
	}
	_, err = io.WriteString(out, explained(&told))
	return err
}
