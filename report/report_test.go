package report

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"pingpost/engine/event"
	"pingpost/engine/market"
	"pingpost/internal/must"
)

// tradeRowsByBuyer are the sums of logTrade by buyer.
var tradeRowsByBuyer = []string{
	" : leads 4 unmatched 1 auctions 2",
	"buy_a USD: pings 1 bids 1 sales 1 revenue 12050001 payout 9640000 returns 1 credit 12050001 reversal 9640000",
	"buy_b USD: pings 2 bids 2 wins 2 posts 2 post_rejects 1 post_timeouts 1 sales 1 revenue 5000000 payout 4000000",
	"buy_c USD: pings 1 bids 1 posts 1 sales 1 revenue 8000000 payout 6400000",
	"buy_d : pings 1 timeouts 1",
}

func (r *testReport) wantRows(q Question, want []string) {
	r.t.Helper()
	if got := rowLines(q, r.rowsOf(q)); !slices.Equal(got, want) {
		r.t.Errorf("got rows\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func newTradeReport(t testing.TB) *testReport {
	t.Helper()
	log := newTestLog()
	logTrade(log)
	r := startReport(t, log, testOptions(log, t.TempDir()))
	r.waitCaughtUp()
	return r
}

func (r *testReport) restart() *testReport {
	r.t.Helper()
	r.stop()
	next := startReport(r.t, r.log, r.opt)
	next.waitCaughtUp()
	return next
}

// TestReportSumsByDimension also checks the sums after a restart.
func TestReportSumsByDimension(t *testing.T) {
	r := newTradeReport(t)
	for range 2 {
		r.wantRows(wholeTime(ByBuyer), tradeRowsByBuyer)
		r.wantRows(wholeTime(BySupplier, ByCampaign), []string{
			"sup_a cmp_a USD: leads 2 unmatched 1 sales 1 revenue 12050001 payout 9640000 returns 1 credit 12050001 reversal 9640000",
			"sup_b cmp_b USD: leads 2 auctions 2 pings 5 bids 4 wins 2 timeouts 1 posts 3 post_rejects 1 post_timeouts 1 sales 2 revenue 13000000 payout 10400000",
		})
		r.wantRows(wholeTime(ByState, BySource), []string{
			"  : auctions 1",
			"CA facebook USD: leads 2 pings 4 bids 3 wins 1 timeouts 1 posts 2 post_rejects 1 post_timeouts 1 sales 2 revenue 20050001 payout 16040000 returns 1 credit 12050001 reversal 9640000",
			"NV (other) : leads 1 unmatched 1",
			"TX search USD: leads 1 auctions 1 pings 1 bids 1 wins 1 posts 1 sales 1 revenue 5000000 payout 4000000",
		})
		r.wantRows(wholeTime(ByReason), []string{
			" USD: leads 4 auctions 1 pings 3 bids 3 wins 2 posts 3 post_timeouts 1 sales 3 revenue 25050001 payout 20040000 returns 1 credit 12050001 reversal 9640000",
			"below_floor : pings 1 bids 1",
			"caps_full : unmatched 1 auctions 1",
			"post_rejected : post_rejects 1",
			"timeout : pings 1 timeouts 1",
		})
		r = r.restart()
	}
}

// TestMoneyAfterRefusalAndMultipleReturns: after a refusal the next buyer pays, also without an
// endpoint. A request that returns several leads of a supplier reverses each payout once.
func TestMoneyAfterRefusalAndMultipleReturns(t *testing.T) {
	log := newTestLog()
	logTrade(log)
	log.log(104*time.Minute, &event.LeadDecided{
		Lead: leadID(6), Campaign: 1, Supplier: 1, Sale: sale(2, 9_000_000), Post: event.PostIntent{URL: "https://b.example"},
	})
	log.log(105*time.Minute, &event.PostSettled{
		Lead: leadID(6), Campaign: 1, Supplier: 1, Settlement: event.SettledRefused, Sale: sale(2, 9_000_000), Attempts: 1, Next: sale(4, 3_000_000),
	})
	log.log(106*time.Minute, &event.LeadDecided{Lead: leadID(7), Campaign: 1, Supplier: 1, Sale: sale(4, 2_000_000)})
	change := func(n int, price market.Money) event.DecidedLeadStatusChange {
		freed := event.MoneyAndCapsReversedByReturn{Campaign: 1, Credit: price, Reverse: price * 4 / 5, Currency: usd, Month: 1}
		return event.DecidedLeadStatusChange{Lead: leadID(n), Supplier: 1, Result: event.ChangeDone, To: market.StatusReturned, Return: freed}
	}
	log.log(107*time.Minute, &event.LeadStatusChangesDecided{Buyer: 4, Changes: []event.DecidedLeadStatusChange{change(6, 3_000_000), change(7, 2_000_000)}})
	r := startReport(t, log, testOptions(log, t.TempDir()))
	r.waitCaughtUp()
	q := wholeTime(ByBuyer)
	q.Only = map[Dimension]string{ByBuyer: "buy_d"}
	r.wantRows(q, []string{
		"buy_d USD: pings 1 timeouts 1 sales 2 revenue 5000000 payout 4000000 returns 2 credit 5000000 reversal 4000000",
	})
}

func TestTablesHaveLeadState(t *testing.T) {
	r := newTradeReport(t)
	for text, want := range map[string]string{
		"SELECT group_concat(status || '/' || delivery || '/' || buyer || '/' || posts || '/' || test || '/' || erased || '/' || state, ' ') FROM (SELECT * FROM leads ORDER BY id)": "6/0/1/0/0/0/CA 2/0/0/0/0/1/ 5/2/3/2/0/0/CA 1/2/2/1/0/0/TX 1/2/1/1/1/0/",
		"SELECT group_concat(nth || '/' || buyer || '/' || settlement || '/' || attempts || '/' || status, ' ') FROM (SELECT * FROM posts ORDER BY lead, nth)":                       "1/2/2/2/422 2/3/1/1/201 1/2/1/1/201 1/1/1/1/201",
		"SELECT group_concat(outcome || '/' || attempts || '/' || status, ' ') FROM (SELECT * FROM webhooks ORDER BY lead, type)":                                                    "1/1/200 0/0/0",
		"SELECT group_concat(buyer || '/' || outcome || '/' || amount, ' ') FROM (SELECT * FROM bids ORDER BY auction, seat)":                                                        "2/1/9000000 3/2/8000000 4/6/0 1/3/1000000 2/1/5000000",
		"SELECT group_concat((lead IS NULL) || '/' || asked || '/' || reason, ' ') FROM (SELECT * FROM auctions ORDER BY id)":                                                        "0/4/0 1/1/0 1/0/5",
		"SELECT group_concat(id, ' ') FROM (SELECT * FROM names ORDER BY kind, ref)":                                                                                                 "sup_a sup_b buy_a buy_b buy_c buy_d cmp_a cmp_b",
	} {
		if got := r.queryString(text); got != want {
			t.Errorf("%s\nreturns %s\nwant %s", text, got, want)
		}
	}
}

// queryString returns the single value of a query.
func (r *testReport) queryString(text string) (result string) {
	r.t.Helper()
	r.mu.Lock()
	f := r.file
	r.mu.Unlock()
	must.Succeed(r.t, f.readers.QueryRow(text).Scan(&result))
	return result
}

func (r *testReport) path() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.file == nil {
		return ""
	}
	return r.file.path
}

// TestFileContainsNoContactData: logTrade has the canary in every field that suppliers and buyers
// can write.
func TestFileContainsNoContactData(t *testing.T) {
	r := newTradeReport(t)
	r.stop()
	files := must.Value(os.ReadDir(r.opt.Dir))(t)
	all := ""
	for _, file := range files {
		bytes := must.Value(os.ReadFile(filepath.Join(r.opt.Dir, file.Name())))(t)
		all += string(bytes)
	}
	if !strings.Contains(all, "facebook") || strings.Contains(all, canary) {
		t.Errorf("%d bytes of files: source found %t (want true), canary found %t (want false)", len(all), strings.Contains(all, "facebook"), strings.Contains(all, canary))
	}
}
