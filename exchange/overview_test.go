package exchange

import (
	"bufio"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"pingpost/internal/must"
)

// overviewAnswer is the part of an overview that tests check.
type overviewAnswer struct {
	At, Tenant, Version string
	Ready, Sandbox      bool
	Rates               map[string]float64
	Today               []struct {
		Currency                string
		Leads, Sold             int
		Revenue, Payout, Margin json.Number
	}
	SellThrough *float64 `json:"sell_through"`
	Latency     map[string]*float64
	Buyers      []struct {
		ID, Health          string
		Paused              bool
		Asked, Posts, Sales int
	}
	Webhooks map[string]int
	Report   struct{ Kept bool }
	Backup   struct {
		Configured bool
		LastError  *string `json:"last_error"`
	}
	Log      struct{ Seq uint64 }
	DiskFree uint64 `json:"disk_free_bytes"`
}

// waitForOverview polls the overview until the condition is true. It waits longer than other tests,
// because the exchange repeats a failed query of the day's sums after 20 seconds.
func (r *testExchange) waitForOverview(matches func(*overviewAnswer) bool) (s overviewAnswer) {
	r.t.Helper()
	eventuallyWithin(r.t, time.Minute, "the overview has the expected values", func() bool {
		a := r.mustAdmin(200, "GET", "/admin/v1/overview", "")
		s = decode[overviewAnswer](r.t, a)
		return matches(&s) && a.header.Get("Content-Type") == jsonType
	})
	return s
}

// TestOverview: the report's sums of the day, and the state of the exchange.
func TestOverview(t *testing.T) {
	t.Parallel()
	x := start(t, newTestDir(t, reportConfig(baseConfig)))
	for i := range 3 {
		x.mustSell(leadBody(i, "state", `"CA"`))
	}
	x.ingest(leadBody(4, "state", `"TX"`))
	x.adminRequest("POST", "/admin/v1/buyers/buy_blue/pause", "")
	x.waitForReport("", func(rows []map[string]string) bool { return len(rows) == 1 && rows[0]["leads"] == "4" })
	s := x.waitForOverview(func(s *overviewAnswer) bool { return len(s.Today) == 1 && s.Today[0].Leads == 4 })
	if day := s.Today[0]; day.Sold != 3 || day.Currency != "USD" || day.Revenue != "36.15" || day.Payout != "28.92" || day.Margin != "7.23" {
		t.Errorf("today: %+v", day)
	}
	if !s.Ready || s.Sandbox || s.Log.Seq == 0 || s.DiskFree == 0 || !s.Report.Kept || s.At == "" || s.Backup.Configured || s.Backup.LastError != nil {
		t.Errorf("unexpected overview: %+v", s)
	}
	if s.SellThrough == nil || *s.SellThrough != 0.75 {
		t.Errorf("sell-through %v", s.SellThrough)
	}
	if len(s.Buyers) != 1 || s.Buyers[0].ID != "buy_blue" || !s.Buyers[0].Paused || s.Buyers[0].Health != "good" || s.Buyers[0].Sales != 3 {
		t.Errorf("unexpected buyers: %+v", s.Buyers)
	}
	off := start(t, newTestDir(t, baseConfig))
	if s := off.waitForOverview(func(*overviewAnswer) bool { return true }); s.Report.Kept || s.Today == nil || len(s.Today) > 0 || s.SellThrough != nil {
		t.Errorf("without a report: %+v", s)
	}
}

// TestOverviewCountsSalesWithoutPings: the overview counts the posts and sales of each buyer in a
// waterfall, the busiest buyer first. Right after the sales it has their rates and latencies.
func TestOverviewCountsSalesWithoutPings(t *testing.T) {
	t.Parallel()
	refusing := newFakeBuyer(t, reply(422, `{"error":"post_rejected"}`), reply(422, `{"error":"post_rejected"}`))
	x := start(t, newTestDir(t, deliveryConfig(refusing, newFakeBuyer(t))))
	for i := range 3 {
		x.mustSell(leadBody(i))
	}
	s := x.waitForOverview(func(s *overviewAnswer) bool { return len(s.Buyers) == 2 && s.Buyers[0].Sales+s.Buyers[1].Sales == 3 })
	blue, red := s.Buyers[0], s.Buyers[1]
	if blue.ID != "buy_blue" || blue.Asked != 0 || blue.Posts != 3 || blue.Sales != 1 || red.Posts != 2 || red.Sales != 2 {
		t.Errorf("unexpected buyers: %+v", s.Buyers)
	}
	if s.Rates["leads_s"] <= 0 || s.Rates["sold_s"] <= 0 || s.Latency["ingest_p99_ms"] == nil || s.Latency["commit_p99_ms"] == nil || s.Latency["auction_p99_ms"] != nil {
		t.Errorf("unexpected rates and latencies: %v %v", s.Rates, s.Latency)
	}
}

// TestOverviewCountsPostsOnce: posts at a bid count once, as sold or unsold, also if they are repeated.
func TestOverviewCountsPostsOnce(t *testing.T) {
	t.Parallel()
	x := start(t, newTestDir(t, strings.Replace(referenceConfig("ping_post", startReferenceBuyer(t, "10")), "duplicates: {window: 0s}", "duplicates: {window: 1d}", 1)))
	for i, person := range []int{1, 2, 2} { // the last one is a duplicate
		auction := fmt.Sprint("a", i)
		token := x.pingForBid("auto", auction)
		for range 2 {
			x.postToBid(auction, token, person)
		}
	}
	s := x.waitForOverview(func(s *overviewAnswer) bool { return len(s.Buyers) == 1 })
	if blue := s.Buyers[0]; blue.Sales != 2 || blue.Posts != 2 {
		t.Errorf("unexpected buyer: %+v", blue)
	}
	x.checkMetrics(`pingpost_leads_total{status="ACCEPTED",reason=""} 2`, `pingpost_leads_total{status="UNMATCHED",reason="duplicate"} 1`)
}

// TestLiveOverview: the stream has a lead as it is sold, and ends when the exchange stops.
func TestLiveOverview(t *testing.T) {
	t.Parallel()
	x := start(t, newTestDir(t, baseConfig))
	request := must.Value(http.NewRequest(http.MethodGet, "http://"+x.AdminAddress()+"/admin/v1/live", nil))(t)
	request.SetBasicAuth("op", adminPassword)
	response, err := http.DefaultClient.Do(request)
	must.Succeed(t, err)
	defer response.Body.Close()
	lines := bufio.NewScanner(response.Body)
	next := func() (seq uint64, more bool) {
		for lines.Scan() {
			if data, ok := strings.CutPrefix(lines.Text(), "data: "); ok {
				return decode[overviewAnswer](t, &answer{body: data}).Log.Seq, true
			}
		}
		return 0, false
	}
	before, _ := next()
	x.mustSell(leadBody(1))
	for seq := before; seq <= before; {
		var more bool
		if seq, more = next(); !more {
			t.Fatal("the stream ended before it had the lead")
		}
	}
	stopped := make(chan struct{})
	go func() {
		defer close(stopped)
		x.stop()
	}()
	for more := true; more; {
		_, more = next()
	}
	<-stopped
}
