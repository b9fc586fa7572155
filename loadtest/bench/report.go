package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"pingpost/loadtest/bench/child"
)

// report compares the ingest latency of three exchanges: with a report, with a report and
// dashboard viewers, and without a report. Leads arrive at a fixed rate. In a closed loop
// the report would only take CPU time from the leads.
func (b *bench) report() ([]row, error) {
	kept := catalogWithCampaigns(10)
	kept.Report = object{"keep": "90d"}
	with, err := b.startPaused("reported", kept)
	if err != nil {
		return nil, err
	}
	without, err := b.startPaused("unreported", catalogWithCampaigns(10))
	if err != nil {
		return nil, err
	}
	one := func(s *ingestTarget) func() (child.LoadResult, error) {
		return rerunWhileNoisy(b.guard, func() (r child.LoadResult, err error) {
			err = s.whileResumed(func() (err error) {
				r, err = b.sendAtRate(s, steadyRate, b.size.warmup, b.size.openDuration)
				return err
			})
			return r, err
		})
	}
	all, err := alternate(b.size.runs, b.withViewers(with, one(with)), one(with), one(without))
	if err != nil {
		return nil, err
	}
	return []row{
		reportRow("a report is kept", all[1], all[2]),
		reportRow(fmt.Sprintf("a report is kept and %d viewers have the dashboard open", b.size.viewers.number), all[0], all[2]),
	}, nil
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

func reportRow(while string, with, without []child.LoadResult) row {
	p99 := func(r *child.LoadResult) float64 { return float64(r.Latency.P99) / 1e6 }
	label := fmt.Sprintf("ingest p99 while %s, over that without, %d leads/s, open loop", while, steadyRate)
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

// pages measures the queries of the dashboard's pages on a large report. The report is
// built from generated events of a month.
func (b *bench) pages() ([]row, error) {
	dir, err := b.folder("pages")
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.RemoveAll(dir) }() // close removes the folder of the run as well
	var result child.PagesResult
	spec := child.PagesSpec{Dir: dir, Leads: b.size.pageLeads, Runs: b.size.runs}
	if err := runChild(b.ctx, nil, []string{gcSetting, processors}, "role-pages", spec, &result); err != nil {
		return nil, err
	}
	for _, page := range result.Pages {
		b.logf("%s: %.1f ms", page.Name, series(page.Milliseconds).median())
	}
	slowest := result.Pages[0]
	for _, page := range result.Pages {
		if series(page.Milliseconds).median() > series(slowest.Milliseconds).median() {
			slowest = page
		}
	}
	return []row{{
		label:    fmt.Sprintf("data of a page of the dashboard from a report of %d leads of a month, the slowest of %d pages", b.size.pageLeads, len(result.Pages)),
		measured: fmt.Sprintf("%.0f ms: %s", series(slowest.Milliseconds).median(), slowest.Name), rangeText: series(slowest.Milliseconds).rangeText("%.0f"),
		goal: "300 ms", verdict: atMost(series(slowest.Milliseconds).median(), 300, 300),
	}}, nil
}

// viewers have the dashboard open. Each follows the overview stream, as the first page
// does, and requests a report at an interval.
type viewers struct {
	number int
	every  time.Duration // interval between report requests
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
		all.Go(func() { errs[2*i+1] = v.pollReport(ctx, p, &got.reports) })
	}
	return func() (*viewerCounts, error) {
		cancel()
		all.Wait()
		return got, errors.Join(errs...)
	}
}

// pollReport requests today's report by hour and buyer. It ignores errors before the
// first success, because a new exchange may still be building the report.
func (v viewers) pollReport(ctx context.Context, p *process, answers *atomic.Int64) error {
	for seen := false; ; {
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(v.every):
		}
		err := p.getAdmin(ctx, "/admin/v1/report?by=hour,buyer", io.Discard)
		if ctx.Err() != nil {
			return nil //nolint:nilerr // the caller ended the request
		}
		switch {
		case err == nil:
			answers.Add(1)
			seen = true
		case seen:
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
