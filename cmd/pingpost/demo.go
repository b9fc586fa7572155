package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"pingpost/cmd/pingpost/terminal"
	"pingpost/cmd/pingpost/timeline"
	"pingpost/engine/market"
	"pingpost/exchange/explain"
	"pingpost/internal/timer"
	"pingpost/loadtest/report"
	"pingpost/loadtest/trial"
)

// demoCmd runs a demonstration: an exchange with buyers on this machine, to which it sends
// leads.
type demoCmd struct {
	Dir   string  `type:"path" placeholder:"DIR" help:"New folder for the configuration, the data and the log (./data/demo-TIME)."`
	Once  bool    `help:"Stop after the figures. The exit code is 0 if every lead is accounted for and the buyers' own counts agree, else 1."`
	Leads int     `default:"1000" placeholder:"NUMBER" help:"Leads to send by ingest; one tenth as many go by ping and post (${default})."`
	Rate  float64 `default:"250" placeholder:"NUMBER" help:"Leads a second (${default})."`
	Seed  uint64  `default:"1" placeholder:"NUMBER" help:"Seed of the leads: the same seed makes the same leads (${default})."`
}

// Help returns the text that --help shows after the usage line.
func (*demoCmd) Help() string {
	return `Starts an exchange and nine reference buyers on free ports of 127.0.0.1, sends
leads into four campaigns over HTTP, and prints the results: by campaign, by buyer
beside the buyer's own count, by reason, and the latencies.

Three campaigns have fixed prices. The fourth holds an auction for each lead among
six buyers: one is slow, one answers only some pings a second, one sends malformed
bids at times. A seller also pings for bids and posts leads to the winner. Some
auctions are drawn at the end. Caps and funds run out on the way.

The supplier receives a webhook for each lead. A sandbox runs beside the exchange:
a second tenant without real sales, which makes leads up on request.

Everything keeps running until Ctrl-C, so that you can try it. The folder remains.`
}

// maxDemoRate is below the supplier's limit, so that no lead is answered 429.
const maxDemoRate = 2500

// Run starts the demonstration, sends the leads, prints the results and waits for Ctrl-C.
func (c *demoCmd) Run() error {
	if c.Leads < 1 || c.Leads > 1_000_000 || !(c.Rate > 0 && c.Rate <= maxDemoRate) {
		return fmt.Errorf("demo: give --leads from 1 to 1000000, and --rate above 0 and up to %d", maxDemoRate)
	}
	ctx, release := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer release()
	dir, err := c.createDemoFolder()
	if err != nil {
		return err
	}
	stopTuning := setGoRuntimeDefaults()
	defer stopTuning()
	x, err := startDemo(dir)
	if err == nil {
		err = c.sendLeadsPrintResultsAndWait(ctx, x)
	}
	if err != nil && ctx.Err() != nil { // the error of a request that the signal ended says less
		err = errDemoInterrupted
	}
	return errors.Join(err, x.stopAllServers())
}

// createDemoFolder creates a new folder for the demonstration and returns its path. It fails if
// the folder of --dir exists.
func (c *demoCmd) createDemoFolder() (string, error) {
	if c.Dir != "" {
		if err := os.MkdirAll(filepath.Dir(c.Dir), 0o755); err != nil {
			return "", err
		}
		if err := os.Mkdir(c.Dir, 0o700); err != nil {
			return "", fmt.Errorf("demo: --dir must name a folder that does not exist yet: %w", err)
		}
		return c.Dir, nil
	}
	name := "demo-" + time.Now().Format("20060102-150405")
	dir := filepath.Join("data", name)
	if os.MkdirAll("data", 0o755) == nil && os.Mkdir(dir, 0o700) == nil {
		return filepath.Abs(dir)
	}
	return os.MkdirTemp("", name+"-") // the working directory is read-only
}

var errDemoInterrupted = errors.New("demo: interrupted before the results")

// sendLeadsPrintResultsAndWait sends the demonstration's leads and prints the results. With --once, it
// returns exit code 1 if a limit was not held. Otherwise it waits for a signal, or for a fatal error of
// the exchange.
func (c *demoCmd) sendLeadsPrintResultsAndWait(ctx context.Context, x *runningDemo) error {
	fmt.Printf("pingpost demo: %s leads and about %s ping-posts, %v a second\n\n%s", terminal.GroupThousands(c.Leads), terminal.GroupThousands(c.Leads/10), c.Rate, x.formatServerAddresses())
	target, err := x.newLoadTestTarget(ctx)
	if err != nil {
		return err
	}
	// The token buckets of the rate limits start empty and fill within a second.
	timer.WaitUntil(ctx, time.Now().Add(time.Second))
	// The goroutine that sleeps until the next arrival needs a processor.
	runtime.GOMAXPROCS(runtime.GOMAXPROCS(0) + 1)
	shown := newLoadTestProgress(os.Stderr)
	result, err := trial.Run(ctx, c.newScenario(), target, trial.Options{Seed: c.Seed, Progress: shown.showThrottled})
	shown.End()
	if err != nil {
		return err
	}
	if result.Interrupted {
		return errDemoInterrupted
	}
	auctions, err := x.chooseExampleAuctions()
	if err != nil {
		return err
	}
	campaigns, err := x.pollReportUntilSales(ctx, "campaign", result.Account.Sold)
	if err != nil {
		return err
	}
	buyers, err := x.pollReportUntilSales(ctx, "buyer", result.Account.Sold)
	if err != nil {
		return err
	}
	// How punctual the client was is of interest in load tests only.
	result.Limits = slices.DeleteFunc(result.Limits, func(l trial.Limit) bool {
		return strings.HasPrefix(l.What, "p99 of the client's own delay") || strings.HasPrefix(l.What, "arrivals that found")
	})
	result.Limits = append(result.Limits, compareRevenueWithBuyersOwnCounts(buyers, result.Account))
	fmt.Print("\nBY CAMPAIGN\n", formatCampaignReport(campaigns), "\nRESULTS\n", report.Table(result), "\nAUCTIONS, a few of them\n", formatAuctionTimelines(auctions))
	select {
	case err := <-x.fatalExchangeErrors():
		return err
	default:
	}
	switch {
	case c.Once && !result.Held():
		fmt.Fprint(os.Stderr, report.Missed(result), report.Refusals(result))
		return terminal.ExitCodeError(1)
	case c.Once:
		return nil
	}
	example := "LEAD"
	if len(auctions) > 0 {
		example = auctions[0].ID
	}
	fmt.Print(x.formatSuggestedCommands(example))
	select {
	case <-ctx.Done():
		fmt.Println("\nstopping")
		return nil
	case err := <-x.fatalExchangeErrors():
		return err
	}
}

// formatServerAddresses returns a table of the demonstration's running servers and their addresses.
func (x *runningDemo) formatServerAddresses() string {
	t := terminal.Table{Indent: "  "}
	t.Row("folder", x.dir, "log in exchange.log")
	t.Row("exchange", x.publicURL(), "for suppliers and buyers")
	t.Row("docs", x.publicURL()+"/docs", "documentation, for suppliers and buyers too")
	t.Row("operators", x.adminURL(), "any user name, password "+x.Password)
	t.Row("sandbox", "http://"+x.tenants[1].PublicAddress())
	t.Row("webhooks", x.Receiver, "receiver of the supplier")
	for i := range demoBuyers {
		b := &demoBuyers[i]
		t.Row(b.ID, x.URLs[b.ID], "price "+b.Bid+", answers in "+b.Latency)
	}
	return t.String()
}

// pollReportUntilSales returns the exchange's report by campaign or by buyer: a row of column names,
// then the values. The report follows the log with a delay of some tenths of a second, so the
// function waits until the report has all expectedSales, for at most ten seconds or until ctx ends.
// It then returns the rows that the report has.
func (x *runningDemo) pollReportUntilSales(ctx context.Context, groupBy string, expectedSales int) (headerAndRows [][]string, err error) {
	ask := reportShowCmd{AdminFlags: x.newAdminFlags(), By: []string{groupBy}, Format: "csv"}
	for limit := time.Now().Add(10 * time.Second); ; {
		var text bytes.Buffer
		if err := ask.Run(&text); err != nil {
			return nil, err
		}
		rows, err := csv.NewReader(&text).ReadAll()
		if err == nil && len(rows) == 0 {
			err = io.ErrUnexpectedEOF
		}
		if err != nil {
			return nil, fmt.Errorf("demo: cannot read the report by %s: %w", groupBy, err)
		}
		sales := 0
		for _, row := range rows[1:] {
			n, _ := strconv.Atoi(row[slices.Index(rows[0], "sales")])
			sales += n
		}
		if sales >= expectedSales || time.Now().After(limit) || !timer.WaitUntil(ctx, time.Now().Add(100*time.Millisecond)) {
			return rows, nil
		}
	}
}

// formatCampaignReport returns the rows of the report by campaign as a table for the
// terminal.
func formatCampaignReport(headerAndRows [][]string) string {
	t := terminal.Table{Indent: "  "}
	columns := []string{"campaign_id", "leads", "sales", "unmatched", "auctions", "bids", "revenue", "payout", "margin"}
	for _, row := range headerAndRows {
		cells := make([]string, 0, len(columns))
		for _, name := range columns {
			cells = append(cells, row[slices.Index(headerAndRows[0], name)])
		}
		t.Row(cells...)
	}
	return t.String()
}

// compareRevenueWithBuyersOwnCounts compares the revenue in the exchange's report by buyer with
// the buyers' own accounts. The result says whether all sums are equal.
func compareRevenueWithBuyersOwnCounts(buyerReport [][]string, buyersOwnAccount *trial.Account) trial.Limit {
	revenue := map[string]string{}
	for _, row := range buyerReport[1:] {
		revenue[row[slices.Index(buyerReport[0], "buyer_id")]] = row[slices.Index(buyerReport[0], "revenue")]
	}
	var differ []string
	for _, b := range buyersOwnAccount.Buyers {
		if got := cmp.Or(revenue[b.ID], "0"); got != b.Owes.String() {
			differ = append(differ, fmt.Sprintf("%s (%s, by its own count %s)", b.ID, got, b.Owes))
		}
	}
	return trial.Limit{What: "buyers that owe another sum by their own count", Got: cmp.Or(strings.Join(differ, ", "), "0"), Most: "0", Held: len(differ) == 0}
}

// chooseExampleAuctions returns up to two leads from auctions with the most varied outcomes, as
// examples to print: one by ingest, one by ping and post. It compares the first leads of each bidder.
func (x *runningDemo) chooseExampleAuctions() (chosen []*explain.Explanation, err error) {
	const explained = 40 // leads of each bidder
	flags := x.newAdminFlags()
	best := map[string]*explain.Explanation{}
	for _, id := range x.Bidders {
		leads := x.buyers[id].Leads()
		for _, lead := range leads[:min(explained, len(leads))] {
			e := new(explain.Explanation)
			if _, err := flags.CallJSON("GET", "/admin/v1/explain?id="+lead.LeadUUID, nil, e); err != nil {
				return nil, fmt.Errorf("demo: cannot read the explanation of lead %s: %w", lead.LeadUUID, err)
			}
			if old := best[e.Kind]; old == nil || scoreAsExample(e) > scoreAsExample(old) {
				best[e.Kind] = e
			}
		}
	}
	for _, e := range best {
		chosen = append(chosen, e)
	}
	slices.SortFunc(chosen, func(a, b *explain.Explanation) int { return cmp.Compare(a.Kind, b.Kind) })
	return chosen, nil
}

// scoreAsExample returns a score by which chooseExampleAuctions compares auctions. It is higher
// for more different outcomes and more posts, and lower for each bidder that missed the deadline.
func scoreAsExample(e *explain.Explanation) (score int) {
	auction := e
	if e.Auction != nil {
		auction = e.Auction
	}
	seen := map[string]bool{}
	for i := range auction.Candidates {
		c := &auction.Candidates[i]
		if c.Outcome == market.OutcomeTimeout.String() {
			score -= 3
		} else if !seen[c.Outcome] {
			seen[c.Outcome] = true
			score += 2
		}
	}
	return score + len(e.Posts)
}

// formatAuctionTimelines returns the result and the timeline of each auction as text. For a lead that
// was posted after a ping, the ping's timeline comes first.
func formatAuctionTimelines(auctions []*explain.Explanation) string {
	const columns = 80
	var out strings.Builder
	for _, e := range auctions {
		method := "ingest"
		if e.Auction != nil {
			method = "ping and post"
		}
		fmt.Fprintf(&out, "  %s\n  by %s, %s: ", e.ID, method, strings.Trim(string(e.Fields["state"]), `"`))
		if e.Price == nil {
			fmt.Fprintf(&out, "not sold, %s\n", e.Reason)
		} else {
			fmt.Fprintf(&out, "sold to %s for %s, the supplier gets %s\n", e.Buyer, e.Price, e.Payout)
		}
		if e.Auction != nil {
			out.WriteString(timeline.FormatTimeline(e.Auction, columns))
		}
		out.WriteString(timeline.FormatTimeline(e, columns) + "\n")
	}
	return out.String()
}

// formatSuggestedCommands returns a text with commands to try while the demonstration keeps running.
// exampleLeadID is the lead that they explain. The commands' phone numbers belong to no lead of the
// demonstration.
func (x *runningDemo) formatSuggestedCommands(exampleLeadID string) string {
	return fmt.Sprintf(`
Everything keeps running.

  Dashboard: %[7]s/   sign in with any user name and the password %[8]s

Send a lead:

  curl -s %[1]s/api/v1/ingest -H 'x-api-key: %[2]s' \
    -H 'Content-Type: application/json' -d '{
    "campaign_id": "cmp_auto", "supplier_id": "sup_acme",
    "first_name": "Ada", "last_name": "Moore", "email": "ada@example.com",
    "phone": "907-555-0199", "state": "NY", "vehicle_count": 2}'

Or ask for a bid, and post the lead to the winner:

  export PINGPOST_CLIENT_ID=acme PINGPOST_CLIENT_SECRET=%[3]s
  %[4]s ping --url %[1]s \
    vertical=auto_insurance sub_vertical=standard state=CA zip3=941 tcpa_consent=true |
  %[4]s post --url %[1]s - \
    lead.first_name=Ann lead.last_name=Lee lead.email=ann@example.com \
    lead.phone=9075550132 lead.address.zip=94105

Or try the sandbox, a second tenant without real sales. It makes leads up, and sends
them to a campaign if the request names one:

  curl -s %[5]s/v1/dev/seed -H 'Authorization: Bearer %[6]s' \
    -H 'Content-Type: application/json' -d '{"count": 100,
    "vertical": "auto_insurance", "state": "CA", "campaign_id": "cmp_bids"}'

Operators use the dashboard, or these commands:

  export PINGPOST_ADMIN_PASSWORD=%[8]s
  %[4]s explain --admin %[7]s %[9]s
  %[4]s statement --admin %[7]s --supplier sup_acme
  curl -s -u op:%[8]s %[7]s/admin/v1/deliveries
  curl -s -u op:%[8]s %[7]s/admin/v1/webhooks
  curl -s %[7]s/metrics

Ctrl-C stops it.
`, x.publicURL(), x.APIKey, x.ClientSecret, os.Args[0], "http://"+x.tenants[1].PublicAddress(), x.SandboxToken, x.adminURL(), x.Password, exampleLeadID)
}
