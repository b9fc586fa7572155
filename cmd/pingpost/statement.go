package main

import (
	"bufio"
	"fmt"
	"io"
	"net/url"
	"os"
)

// statementCmd prints the account statement of a buyer or a supplier.
type statementCmd struct {
	adminFlags
	Buyer    string `xor:"whose" required:"true" placeholder:"ID" help:"Whose statement it is: a buyer's…"`
	Supplier string `xor:"whose" required:"true" placeholder:"ID" help:"…or a supplier's."`
	From     string `placeholder:"TIME" help:"Its first instant: a day (2026-11-01, in UTC) or a time (2026-11-01T08:00:00Z). The beginning of the running month by default."`
	To       string `placeholder:"TIME" help:"Where it ends; that instant is not in it. The end of the running month by default."`
	Format   string `enum:"text,json,csv,parquet" default:"text" placeholder:"FORM" help:"text (a table, the default), json (all of it), or csv or parquet (the entries)."`
}

// Help returns the text of --help after the usage line.
func (*statementCmd) Help() string {
	return `A buyer's statement begins with its balance, lists what it paid in, what it
bought and what came back for leads that it returned, and ends with its balance:
the sums agree to the last millionth. A supplier's lists what it earned, and what
was taken back. A sale counts when it was settled: at once where the lead is only
recorded, else when the buyer has it. Test leads are in no statement.

  pingpost statement --buyer buy_vault
  pingpost statement --supplier sup_acme --from 2026-11-01 --to 2026-12-01
  pingpost statement --buyer buy_vault --from 2026-11-19 --format csv > day.csv

The exchange reads it from its log, as far back as that goes (history).`
}

// Run asks the exchange and prints.
func (c *statementCmd) Run() error { return c.run(os.Stdout) }

func (c *statementCmd) run(out io.Writer) error {
	query := url.Values{}
	for name, value := range map[string]string{"buyer": c.Buyer, "supplier": c.Supplier, "from": c.From, "to": c.To} {
		if value != "" {
			query.Set(name, value)
		}
	}
	if c.Format == "csv" || c.Format == "parquet" {
		query.Set("format", c.Format)
	}
	answer, err := c.sendAdminRequest(0, "GET", "/admin/v1/statement?"+query.Encode(), nil) // a long one takes its time
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
