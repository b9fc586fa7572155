package main

import (
	"bufio"
	"fmt"
	"io"
	"net/url"
	"strings"

	"pingpost/cmd/pingpost/client"
)

// reportCmd prints a report of the exchange, or makes the exchange rebuild the report's
// database.
type reportCmd struct {
	Show    reportShowCmd    `cmd:"" default:"withargs" help:"Print a report (the default)."`
	Rebuild reportRebuildCmd `cmd:"" help:"Make the exchange build the report's database again from its log."`
}

// reportShowCmd prints a report of the exchange, such as the sales by buyer and day.
type reportShowCmd struct {
	client.AdminFlags
	By       []string `placeholder:"NAME" help:"The columns that a row has, in this order: some of hour, day, supplier, buyer, campaign, source, state, reason. Without this flag, one row has the total."`
	From     string   `placeholder:"TIME" help:"Start: a day (2026-11-01, in the zone) or a time on a quarter of an hour (2026-11-01T08:15:00Z). By default the start of this month."`
	To       string   `placeholder:"TIME" help:"End (exclusive). By default the end of this month."`
	Zone     string   `placeholder:"ZONE" help:"Time zone of days and hours, such as America/New_York; by default that of the exchange."`
	Supplier string   `placeholder:"ID" help:"Only figures of this supplier."`
	Buyer    string   `placeholder:"ID" help:"Only figures of this buyer."`
	Campaign string   `placeholder:"ID" help:"Only figures of this campaign."`
	Source   string   `placeholder:"TEXT" help:"Only figures of leads from this source."`
	State    string   `placeholder:"CODE" help:"Only figures of leads of this state."`
	Reason   string   `placeholder:"NAME" help:"Only figures with this reason."`
	Format   string   `enum:"csv,ndjson,parquet" default:"csv" placeholder:"FORM" help:"csv (the default), ndjson or parquet."`
}

// Help returns the text that --help shows after the usage line.
func (*reportShowCmd) Help() string {
	return `Adds up pings, bids, sales, rejections and returns of a period, by the columns of
--by:

  pingpost report --by buyer
  pingpost report --by campaign,reason --from 2026-11-01 --to 2026-12-01
  pingpost report --by day,supplier --zone America/New_York > november.csv
  pingpost report --by hour --buyer buy_vault --format ndjson
  pingpost report --by hour,buyer --format parquet > november.parquet

Money counts at the time when it moves, as in statements. Reports exclude test leads.`
}

// Run fetches the report from the exchange and prints it.
func (c *reportShowCmd) Run(out io.Writer) error {
	query := url.Values{"format": {c.Format}}
	for name, value := range map[string]string{
		"by": strings.Join(c.By, ","), "from": c.From, "to": c.To, "zone": c.Zone, "supplier": c.Supplier, "buyer": c.Buyer,
		"campaign": c.Campaign, "source": c.Source, "state": c.State, "reason": c.Reason,
	} {
		if value != "" {
			query.Set(name, value)
		}
	}
	answer, err := c.Send(0, "GET", "/admin/v1/report?"+query.Encode(), nil)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	buffered := bufio.NewWriter(out)
	if _, err := io.Copy(buffered, answer.Body); err != nil {
		_ = buffered.Flush()
		return fmt.Errorf("the report broke off and is incomplete; try again, or ask for a shorter time or fewer --by columns: %w", err)
	}
	return buffered.Flush()
}

// reportRebuildCmd makes the exchange build the report's database again.
type reportRebuildCmd struct{ client.AdminFlags }

// Help returns the text that --help shows after the usage line.
func (*reportRebuildCmd) Help() string {
	return `The exchange deletes the report's database and builds it again from its log, as far
back as history reaches, while it continues to serve. It also does this when the file is
missing or damaged. The metric pingpost_report_lag_entries is the number of entries left.`
}

// Run requests the rebuild and prints that it has begun.
func (c *reportRebuildCmd) Run(out io.Writer) error {
	if _, err := c.Call("POST", "/admin/v1/report/rebuild", nil); err != nil {
		return err
	}
	_, err := fmt.Fprintln(out, "The exchange is rebuilding the report.")
	return err
}
