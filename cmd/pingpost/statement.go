package main

import (
	"bufio"
	"fmt"
	"io"
	"net/url"

	"pingpost/cmd/pingpost/client"
)

// statementCmd prints the account statement of a buyer or a supplier: its purchases or
// payouts in a period.
type statementCmd struct {
	client.AdminFlags
	Buyer    string `xor:"whose" required:"true" placeholder:"ID" help:"Print the statement of this buyer."`
	Supplier string `xor:"whose" required:"true" placeholder:"ID" help:"Print the statement of this supplier."`
	From     string `placeholder:"TIME" help:"Start: a day (2026-11-01, in UTC) or a time (2026-11-01T08:00:00Z). By default the start of this month."`
	To       string `placeholder:"TIME" help:"End (exclusive). By default the end of this month."`
	Format   string `enum:"text,json,csv,parquet" default:"text" placeholder:"FORM" help:"text (a table, the default), json (all of it), or csv or parquet (the entries)."`
}

// Help returns the text that --help shows after the usage line.
func (*statementCmd) Help() string {
	return `A buyer's statement has its opening balance, its deposits, purchases and credits for
returned leads, and its closing balance. The entries add up exactly, to a millionth. A
supplier's statement lists its payouts and their reversals. A sale counts when the buyer
has the lead; for a buyer without an endpoint, at once. Statements exclude test leads.

  pingpost statement --buyer buy_vault
  pingpost statement --supplier sup_acme --from 2026-11-01 --to 2026-12-01
  pingpost statement --buyer buy_vault --from 2026-11-19 --format csv > day.csv

The exchange reads it from its log, as far back as history reaches.`
}

// Run fetches the statement from the exchange and prints it.
func (c *statementCmd) Run(out io.Writer) error {
	query := url.Values{}
	for name, value := range map[string]string{"buyer": c.Buyer, "supplier": c.Supplier, "from": c.From, "to": c.To} {
		if value != "" {
			query.Set(name, value)
		}
	}
	if c.Format == "csv" || c.Format == "parquet" {
		query.Set("format", c.Format)
	}
	answer, err := c.Send(0, "GET", "/admin/v1/statement?"+query.Encode(), nil) // a long one takes its time
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	buffered := bufio.NewWriter(out)
	if c.Format == "text" {
		err = printStatement(answer.Body, buffered)
	} else {
		_, err = io.Copy(buffered, answer.Body)
	}
	if err != nil {
		_ = buffered.Flush()
		return fmt.Errorf("the statement is incomplete; run the command again: %w", err)
	}
	return buffered.Flush()
}
