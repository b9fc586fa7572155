package main

import (
	"bufio"
	"fmt"
	"io"
	"net/url"
	"os"
	"strings"
)

// reportCmd prints a report, or makes the exchange rebuild the report's database.
type reportCmd struct {
	Show    reportShowCmd    `cmd:"" default:"withargs" help:"Print a report (the default)."`
	Rebuild reportRebuildCmd `cmd:"" help:"Have the exchange build the report's file anew from its log."`
}

// reportShowCmd prints a report.
type reportShowCmd struct {
	adminFlags
	By       []string `placeholder:"NAME" help:"What a row is of, in this order: some of hour, day, supplier, buyer, campaign, source, state, reason. One row of all where it is not given."`
	From     string   `placeholder:"TIME" help:"Its first instant: a day (2026-11-01, in the zone) or a time at a full quarter of an hour (2026-11-01T08:15:00Z). The beginning of the running month by default."`
	To       string   `placeholder:"TIME" help:"Where it ends; that instant is not in it. The end of the running month by default."`
	Zone     string   `placeholder:"ZONE" help:"Of days and hours, such as America/New_York; UTC by default."`
	Supplier string   `placeholder:"ID" help:"Of this supplier alone."`
	Buyer    string   `placeholder:"ID" help:"Of this buyer alone."`
	Campaign string   `placeholder:"ID" help:"Of this campaign alone."`
	Source   string   `placeholder:"TEXT" help:"Of leads from this source alone."`
	State    string   `placeholder:"CODE" help:"Of leads of this state alone."`
	Reason   string   `placeholder:"NAME" help:"Of what came to nothing for this reason alone."`
	Format   string   `enum:"csv,ndjson,parquet" default:"csv" placeholder:"FORM" help:"csv (the default), ndjson or parquet."`
}

// Help returns the text of --help after the usage line.
func (*reportShowCmd) Help() string {
	return `What was asked, bid, sold, refused and returned in a time, added up by whatever
you ask by:

  pingpost report --by buyer
  pingpost report --by campaign,reason --from 2026-11-01 --to 2026-12-01
  pingpost report --by day,supplier --zone America/New_York > november.csv
  pingpost report --by hour --buyer buy_vault --format ndjson
  pingpost report --by hour,buyer --format parquet > november.parquet

Money counts when it moved, as in statements. Test leads are in no report.`
}

// Run asks the exchange and prints.
func (c *reportShowCmd) Run() error { return c.run(os.Stdout) }

func (c *reportShowCmd) run(out io.Writer) error {
	query := url.Values{"format": {c.Format}}
	for name, value := range map[string]string{
		"by": strings.Join(c.By, ","), "from": c.From, "to": c.To, "zone": c.Zone, "supplier": c.Supplier, "buyer": c.Buyer,
		"campaign": c.Campaign, "source": c.Source, "state": c.State, "reason": c.Reason,
	} {
		if value != "" {
			query.Set(name, value)
		}
	}
	answer, err := c.sendAdminRequest(0, "GET", "/admin/v1/report?"+query.Encode(), nil)
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

// reportRebuildCmd has the report's file built anew.
type reportRebuildCmd struct{ adminFlags }

// Help returns the text of --help after the usage line.
func (*reportRebuildCmd) Help() string {
	return `The exchange throws the file away and reads its log from the beginning, as far back
as that goes (history), while it goes on serving. It does so by itself where the file
is gone or damaged. The metric pingpost_report_lag_entries says how much is left.`
}

// Run asks for it.
func (c *reportRebuildCmd) Run() error { return c.run(os.Stdout) }

func (c *reportRebuildCmd) run(out io.Writer) error {
	if _, err := c.callAdminAPI("POST", "/admin/v1/report/rebuild", nil); err != nil {
		return err
	}
	_, err := fmt.Fprintln(out, "The report is being built anew.")
	return err
}
