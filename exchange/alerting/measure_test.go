package alerting

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"pingpost/engine/alert"
	"pingpost/engine/market"
	"pingpost/engine/market/calendar"
	"pingpost/report"
	"pingpost/server/metrics"
)

const minute = int64(time.Minute)

// counted is a measurer with readings of the counters of buyer "acme", one a minute.
type counted struct {
	measurer
	total metrics.BuyerCounts
	leads uint64
	sold  uint64
}

// The text of an alert tells a cap by total from others by this part of its note.
func TestNoteOfTotalCap(t *testing.T) {
	for _, period := range []calendar.Period{calendar.Hour, calendar.Day, calendar.Week, calendar.Month, calendar.Total} {
		note := describeCapUse(&market.Cap{Limit: 50, Period: period}, 41, "in all campaigns")
		if got := strings.Contains(note, alert.TotalCapNote); got != (period == calendar.Total) {
			t.Errorf("%s: the note %q of a cap by total: %t", period, note, got)
		}
	}
}

func newCounted() *counted {
	c := &counted{}
	c.catalog = &market.Catalog{Buyers: map[market.BuyerID]*market.Buyer{"acme": {ID: "acme"}}}
	c.sources.Counts = func() metrics.TradeCounts {
		return metrics.TradeCounts{Leads: c.leads, Sold: c.sold, Buyers: map[string]metrics.BuyerCounts{"acme": c.total}}
	}
	c.sources.Catalog = func() *market.Catalog { return c.catalog }
	c.beginEvaluation(0)
	return c
}

// minutesOf adds this many minutes with failures among requests, a lead each and a sale of each
// second one.
func (c *counted) minutesOf(minutes int, failures, requests uint64) {
	for range minutes {
		c.total.Failures += failures
		c.total.Requests += requests
		c.total.Decisions += requests
		c.total.Accepted += requests - failures
		c.leads += requests
		c.sold += requests / 2
		c.beginEvaluation(c.now + minute)
	}
}

func describe(samples []alert.Sample, ok bool) string {
	var all []string
	for _, s := range samples {
		state := s.Value.String()
		if s.Quiet {
			state = "quiet"
		}
		if s.Unknown {
			state = "unknown"
		}
		all = append(all, strings.TrimSpace(s.Subject+" "+state))
	}
	return fmt.Sprint(ok, " ", strings.Join(all, ", "))
}

// A window of five minutes with at least 50 requests.
func TestRatesOfWindow(t *testing.T) {
	for name, test := range map[string]struct {
		trade func(*counted)
		kind  alert.KindName
		want  string
	}{
		"all of it":                          {func(c *counted) { c.minutesOf(10, 3, 30) }, alert.BuyerFailures, "true acme 10"},
		"accepted":                           {func(c *counted) { c.minutesOf(10, 3, 30) }, alert.AcceptRate, "true acme 90"},
		"sold":                               {func(c *counted) { c.minutesOf(10, 3, 30) }, alert.SoldRate, "true 50"},
		"old failures do not count":          {func(c *counted) { c.minutesOf(10, 30, 30); c.minutesOf(5, 0, 30) }, alert.BuyerFailures, "true acme 0"},
		"new failures count at once":         {func(c *counted) { c.minutesOf(4, 0, 30); c.minutesOf(1, 30, 30) }, alert.BuyerFailures, "true acme 20"},
		"too few requests":                   {func(c *counted) { c.minutesOf(60, 9, 9) }, alert.BuyerFailures, "true acme quiet"},
		"too few requests just after start":  {func(c *counted) { c.minutesOf(1, 9, 9) }, alert.BuyerFailures, "true acme unknown"},
		"enough requests just after a start": {func(c *counted) { c.minutesOf(1, 40, 80) }, alert.BuyerFailures, "true acme 50"},
		"no request at all":                  {func(c *counted) { c.minutesOf(90, 0, 0) }, alert.SoldRate, "true quiet"},
		"a long pause between evaluations":   {func(c *counted) { c.minutesOf(5, 0, 50); c.beginEvaluation(c.now + 70*minute); c.minutesOf(5, 20, 50) }, alert.BuyerFailures, "true acme 40"},
		"more parts than wholes":             {func(c *counted) { c.minutesOf(9, 30, 30); c.total.Failures += 100; c.beginEvaluation(c.now + minute) }, alert.BuyerFailures, "true acme 100"},
	} {
		c := newCounted()
		test.trade(c)
		if got := describe(c.measure(t.Context(), &alert.Rule{Kind: test.kind, Window: 300, Minimum: 50})); got != test.want {
			t.Errorf("%s: %s, want %s", name, got, test.want)
		}
	}
}

func TestCountHistoryIsBounded(t *testing.T) {
	c := newCounted()
	for range 10_000 {
		c.beginEvaluation(c.now + 15*int64(time.Second))
	}
	if n := len(c.counts.kept); n < 60 || n > 62 {
		t.Errorf("%d readings", n)
	}
}

func TestProcessValues(t *testing.T) {
	c := newCounted()
	lag, hasBackup := 90*time.Second, true
	c.sources.DiskFree = func() uint64 { return 12_345_678_901 }
	c.sources.BackupLag = func() (time.Duration, string, bool) { return lag, "refused", hasBackup }
	if got := describe(c.measure(t.Context(), &alert.Rule{Kind: alert.DiskFree})); got != "true 12.345678" {
		t.Error(got)
	}
	if got := describe(c.measure(t.Context(), &alert.Rule{Kind: alert.BackupAge})); got != "true 1.5" {
		t.Error(got)
	}
	hasBackup = false
	if got := describe(c.measure(t.Context(), &alert.Rule{Kind: alert.BackupAge})); got != "true " {
		t.Error(got)
	}
	if got := describe(c.measure(t.Context(), &alert.Rule{Kind: "of a newer release"})); got != "false " {
		t.Error(got)
	}
}

// Rules from the report keep their state while it is off.
func TestReportIsOff(t *testing.T) {
	c := newCounted()
	c.sources.Report = func() *report.Report { return nil }
	for _, kind := range []alert.KindName{alert.BuyerDaysLeft, alert.CampaignSoldRate} {
		if got := describe(c.measure(t.Context(), &alert.Rule{Kind: kind, Window: 900})); got != "false " {
			t.Errorf("%s: %s", kind, got)
		}
	}
}
