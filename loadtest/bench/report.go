package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"pingpost/loadtest/bench/child"
	"pingpost/loadtest/bench/console"
)

// ingestBesideViewers compares the ingest latency of three exchanges: with a report, dashboard viewers
// and alert rules, with a report only, and without a report. Leads arrive at a fixed rate. In a closed
// loop the report would only take CPU time from the leads.
func (b *bench) ingestBesideViewers() ([]row, error) {
	kept := catalogWithCampaigns(10)
	watched, err := b.startPaused("watched", kept)
	if err != nil {
		return nil, err
	}
	if err := b.addAlertRules(watched); err != nil {
		return nil, err
	}
	with, err := b.startPaused("reported", kept)
	if err != nil {
		return nil, err
	}
	without, err := b.startPaused("unreported", catalogWithCampaigns(10).withoutReport())
	if err != nil {
		return nil, err
	}
	lags := map[*ingestTarget]series{} // of the report at the end of each run, in seconds
	one := func(s *ingestTarget) func() (child.LoadResult, error) {
		return rerunWhileNoisy(b.guard, func() (r child.LoadResult, err error) {
			err = s.whileResumed(func() (err error) {
				if r, err = b.sendAtRate(s, steadyRate, b.size.warmup, b.size.openDuration); err != nil || s == without {
					return err
				}
				lag, err := s.metric(b.ctx, "pingpost_report_lag_seconds")
				lags[s] = append(lags[s], lag)
				return err
			})
			return r, err
		})
	}
	all, err := alternate(b.size.runs, b.withViewers(watched, one(watched)), one(with), one(without))
	if err != nil {
		return nil, err
	}
	watching := fmt.Sprintf("%d viewers have the dashboard open and %d alert rules are evaluated", b.size.viewers.number, b.size.alertRules)
	return []row{
		reportRow("a report is kept", "without", all[1], all[2]),
		reportRow("a report is kept, "+watching, "without all three", all[0], all[2]),
		reportRow(watching, "without both", all[0], all[1]),
		lagRow("", lags[with]),
		lagRow(" while "+watching, lags[watched]),
	}, nil
}

func lagRow(while string, lags series) row {
	return row{
		label:    fmt.Sprintf("the report's delay behind the log at %d leads/s%s", steadyRate, while),
		measured: fmt.Sprintf("at most %.2f s, %.2f s in the median", slices.Max(lags), lags.median()),
		goal:     "1 s", verdict: atMost(slices.Max(lags), 1, 1),
	}
}

// addAlertRules adds rules of the kinds that measure most to a paused exchange. Their thresholds fire
// for no value.
func (b *bench) addAlertRules(s *ingestTarget) error {
	rules := []string{
		`{"kind":"cap_used","threshold":100}`, `{"kind":"sold_rate","threshold":0,"minimum":1}`, `{"kind":"campaign_sold_rate","threshold":0,"minimum":1}`,
		`{"kind":"buyer_failures","threshold":100,"minimum":1}`, `{"kind":"accept_rate","threshold":0,"minimum":1}`,
	}
	return s.whileResumed(func() error {
		for i := range b.size.alertRules {
			path := fmt.Sprintf("/admin/v1/alerts/rules/bench_%d", i)
			if err := s.callAdmin(b.ctx, "PUT", path, rules[i%len(rules)], io.Discard, "If-None-Match", "*"); err != nil {
				return err
			}
		}
		return nil
	})
}

// withViewers runs a side while viewers have its dashboard open.
func (b *bench) withViewers(s *ingestTarget, side func() (child.LoadResult, error)) func() (child.LoadResult, error) {
	return func() (r child.LoadResult, err error) {
		err = s.whileResumed(func() error {
			stop := b.size.viewers.start(b.ctx, s.process)
			r, err = side()
			err = errors.Join(err, resume(s.cmd.Process)) // the side has paused it
			got, watching := stop()
			if err = errors.Join(err, watching); err == nil && (got.events.Load() == 0 || got.reports.Load() == 0) {
				err = errors.New("the dashboard viewers received no overview or no report")
			}
			return err
		})
		return r, err
	}
}

func reportRow(while, compared string, with, without []child.LoadResult) row {
	p99 := func(r *child.LoadResult) float64 { return float64(r.Latency.P99) / 1e6 }
	label := fmt.Sprintf("ingest p99 while %s, over that %s, %d leads/s, open loop", while, compared, steadyRate)
	return timesRow(label, collect(with, p99), collect(without, p99), "%.2f and %.2f ms").withGoal("at most 1.2 times", 1.2, 1.2)
}

// rebuild measures how fast a report is built from the log.
func (b *bench) rebuild() ([]row, error) {
	results, err := repeatChild[child.RebuildResult](b, "role-rebuild", func(dir string) (any, error) {
		spec := child.LogSpec{Dir: dir, Leads: b.size.reportLeads, Bids: child.ReportBids}
		return spec, runChild(b.ctx, nil, nil, "role-write", spec, new(child.LogResult))
	})
	if err != nil {
		return nil, err
	}
	rate := collect(results, func(r *child.RebuildResult) float64 { return r.Rate })
	return []row{{
		label:     fmt.Sprintf("report built anew from the log: %d leads with %d bids each", b.size.reportLeads, child.ReportBids),
		measured:  fmt.Sprintf("%.0f leads/s, %.0f bytes a lead", rate.median(), collect(results, func(r *child.RebuildResult) float64 { return r.Bytes }).median()),
		rangeText: rate.rangeText("%.0f"), goal: "20,000 leads/s", verdict: atLeast(rate.median(), 20_000, 20_000),
	}}, nil
}

// pages measures the operations by which the console's pages load their data, of an exchange with a
// large report. The report is built from generated events of a month.
func (b *bench) pages() ([]row, error) {
	catalog := catalogWithCampaigns(10)
	catalog.Report = object{"keep": "400d"}
	s, err := b.startExchange("console", catalog)
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.RemoveAll(filepath.Join(b.dir, "console")) }() // close removes the folder of the run as well
	if err := s.stop(); err != nil {
		return nil, err
	}
	var built child.MonthResult
	if err := runChild(b.ctx, nil, []string{gcSetting, processors}, "role-month", child.MonthSpec{Dir: s.data, Leads: b.size.pageLeads}, &built); err != nil {
		return nil, err
	}
	b.logf("built a report of %d leads, %.0f MB", b.size.pageLeads, built.Bytes/1e6)
	if s, err = b.startPaused("console", catalog); err != nil {
		return nil, err
	}
	if _, err := b.send(s, b.size.connections[0], 0, b.size.calibration); err != nil {
		return nil, err
	}
	var times []console.Times
	err = s.whileResumed(func() error {
		objects, err := b.findConsoleObjects(s)
		if err != nil {
			return err
		}
		times, err = console.Measure(console.Operations(objects), pageRepetitions*b.size.runs, func(o *console.Operation) error {
			return s.callAdmin(b.ctx, o.Method, o.Path, o.Body, io.Discard)
		})
		return err
	})
	if err != nil {
		return nil, err
	}
	return pageRows(times, b.size.pageLeads), nil
}

// pageRepetitions is the number of requests of each operation for each run of other measurements.
const pageRepetitions = 4

// pageRows returns a row for the slowest operation, and one for each.
func pageRows(times []console.Times, leads int) []row {
	slowest, rows := &times[0], make([]row, 0, len(times))
	for i := range times {
		t := &times[i]
		if t.Max() > slowest.Max() {
			slowest = t
		}
		rows = append(rows, row{
			label: fmt.Sprintf("console, %d leads in the report: %s", leads, t.Name), measured: fmt.Sprintf("p50 %.1f ms, max %.1f ms", t.Median(), t.Max()),
			rangeText: series(t.Milliseconds).rangeText("%.1f"), goal: "max 300 ms", verdict: atMost(t.Max(), 300, 300),
		})
	}
	return append([]row{{
		label:    fmt.Sprintf("data of a page of the console with %d leads of a month in the report, the slowest of %d operations", leads, len(times)),
		measured: fmt.Sprintf("max %.0f ms, p50 %.0f ms: %s", slowest.Max(), slowest.Median(), slowest.Name), rangeText: series(slowest.Milliseconds).rangeText("%.0f"),
		goal: "300 ms", verdict: atMost(slowest.Max(), 300, 300),
	}}, rows...)
}

// findConsoleObjects waits until the exchange's report has all entries, and returns the newest lead and
// other objects. It returns an error if the exchange did not continue the report that was built for it.
func (b *bench) findConsoleObjects(s *ingestTarget) (*console.Objects, error) {
	for until := time.Now().Add(startTimeout); ; time.Sleep(50 * time.Millisecond) {
		var metrics strings.Builder
		if err := s.getAdmin(b.ctx, "/metrics", &metrics); err != nil {
			return nil, err
		}
		if !strings.Contains(metrics.String(), "\npingpost_report_rebuilds_total 0\n") {
			return nil, errors.New("the exchange rebuilds the report of the month")
		}
		if strings.Contains(metrics.String(), "\npingpost_report_lag_entries 0\n") {
			break
		}
		if time.Now().After(until) {
			return nil, errors.New("the report does not reach the end of the log")
		}
	}
	var found struct{ Leads []struct{ ID string } }
	var revealed struct{ Contact struct{ Phone string } }
	if err := b.readAdminJSON(s, "GET", "/admin/v1/leads?limit=1", "", &found); err != nil {
		return nil, err
	}
	if len(found.Leads) == 0 {
		return nil, errors.New("the report has no lead")
	}
	lead := found.Leads[0].ID
	if err := b.readAdminJSON(s, "POST", "/admin/v1/leads/"+lead+"/reveal", `{"reason":"benchmark"}`, &revealed); err != nil {
		return nil, err
	}
	return &console.Objects{
		Campaign: s.campaigns[0], Buyer: "buy_00007", Supplier: child.SupplierID, Lead: lead, Phone: revealed.Contact.Phone, Now: time.Now(),
	}, nil
}

// readAdminJSON sends a request to the admin API and decodes its answer.
func (b *bench) readAdminJSON(s *ingestTarget, method, path, body string, into any) error {
	var text bytes.Buffer
	if err := s.callAdmin(b.ctx, method, path, body, &text); err != nil {
		return err
	}
	return json.Unmarshal(text.Bytes(), into)
}

// viewers have the dashboard open. Each follows the overview stream, as the first page
// does, and requests the data of a page at an interval: a report, the newest leads or the alerts.
type viewers struct {
	number int
	every  time.Duration // interval between requests
}

// viewerCounts counts the answers that the viewers received.
type viewerCounts struct{ events, reports atomic.Int64 }

// start starts the viewers. stop ends them and returns their errors.
func (v viewers) start(ctx context.Context, p *process) (stop func() (*viewerCounts, error)) {
	ctx, cancel := context.WithCancel(ctx)
	got, errs := new(viewerCounts), make([]error, 2*v.number)
	var all sync.WaitGroup
	for i := range v.number {
		all.Go(func() { errs[2*i] = p.followOverview(ctx, &got.events) })
		all.Go(func() { errs[2*i+1] = v.pollPages(ctx, p, &got.reports) })
	}
	return func() (*viewerCounts, error) {
		cancel()
		all.Wait()
		return got, errors.Join(errs...)
	}
}

// polledPaths are the pages that a viewer reads in turn.
var polledPaths = []string{"/admin/v1/report?by=hour,buyer", "/admin/v1/leads?limit=50", "/admin/v1/alerts"}

// pollPages requests the data of the polled pages. Like the console, it asks again after a 503: the
// report may still be behind, or too many reports are being read. It ignores other errors of a page
// before its first success.
func (v viewers) pollPages(ctx context.Context, p *process, answers *atomic.Int64) error {
	seen := make([]bool, len(polledPaths))
	for n := 0; ; n = (n + 1) % len(polledPaths) {
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(v.every):
		}
		err := p.getAdmin(ctx, polledPaths[n], io.Discard)
		if ctx.Err() != nil {
			return nil //nolint:nilerr // the caller ended the request
		}
		switch {
		case err == nil:
			answers.Add(1)
			seen[n] = true
		case seen[n] && !strings.Contains(err.Error(), "status 503"):
			return err
		}
	}
}

// followOverview counts the overview events of the live stream.
func (p *process) followOverview(ctx context.Context, events *atomic.Int64) error {
	err := p.getAdmin(ctx, "/admin/v1/live", overviewCounter{events})
	if ctx.Err() != nil {
		return nil //nolint:nilerr // the caller ended the request
	}
	return errors.Join(errors.New("the overview stream ended early"), err)
}

// overviewCounter counts overview events in the written text. It may miss an event that
// is split between two writes; a count above 0 is enough.
type overviewCounter struct{ n *atomic.Int64 }

func (o overviewCounter) Write(text []byte) (int, error) {
	o.n.Add(int64(bytes.Count(text, []byte("event: overview"))))
	return len(text), nil
}
