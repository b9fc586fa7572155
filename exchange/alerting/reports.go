package alerting

import (
	"context"
	"errors"
	"io"
	"time"

	"pingpost/engine/market"
	"pingpost/report"
)

// throttledReportCache has the report's recent answers. It pauses after each query for a minute or twenty
// times the query's duration, so that alerts take a small share of the report's time.
type throttledReportCache struct {
	ask     func(ctx context.Context, from *report.Report, q reportQuestion, nowUnixNanos int64) (sums map[string]reportSums, ok bool)
	answers map[reportQuestion]*reportAnswer
}

type reportQuestion struct {
	by     report.Dimension
	window time.Duration
}

type reportAnswer struct {
	next int64 // Unix nanoseconds: time of the next query
	sums map[string]reportSums
	ok   bool
}

// reportSums are the figures of one buyer or campaign.
type reportSums struct {
	leads, sales int64
	revenue      market.Money
}

const (
	reportPause   = time.Minute
	reportRest    = 20              // pause after a query, as a multiple of its duration
	reportTimeout = 2 * time.Second // longest duration of a query
	quarter       = 15 * time.Minute
)

// sums returns the figures of the last window, by the ids of buyers or campaigns. The beginning of
// the window is a full quarter of an hour. It returns false if there is no report, or if it cannot
// answer now.
func (c *throttledReportCache) sums(ctx context.Context, from *report.Report, by report.Dimension, window time.Duration, nowUnixNanos int64) (sums map[string]reportSums, ok bool) {
	if from == nil {
		return nil, false
	}
	question := reportQuestion{by, window}
	answer := c.answers[question]
	if answer == nil {
		answer = &reportAnswer{}
		if c.answers == nil || len(c.answers) > 100 {
			c.answers = make(map[reportQuestion]*reportAnswer)
		}
		c.answers[question] = answer
	}
	if nowUnixNanos >= answer.next {
		began := time.Now()
		answer.sums, answer.ok = c.ask(ctx, from, question, nowUnixNanos)
		answer.next = nowUnixNanos + int64(max(reportPause, reportRest*time.Since(began)))
	}
	return answer.sums, answer.ok
}

// askReport queries the report. It gives up after reportTimeout, or when ctx ends.
func askReport(ctx context.Context, from *report.Report, q reportQuestion, nowUnixNanos int64) (sums map[string]reportSums, ok bool) {
	ctx, cancel := context.WithTimeout(ctx, reportTimeout)
	defer cancel()
	now := time.Unix(0, nowUnixNanos).UTC()
	answer, err := from.Ask(ctx, report.Question{
		By: []report.Dimension{q.by}, From: now.Add(-q.window).Truncate(quarter).UnixNano(), To: now.Truncate(quarter).Add(quarter).UnixNano(), Since: true,
	})
	if err != nil {
		return nil, false
	}
	defer answer.Close()
	sums = make(map[string]reportSums)
	for {
		row, err := answer.Next()
		if errors.Is(err, io.EOF) {
			return sums, true
		}
		if err != nil {
			return nil, false
		}
		id := row.Names[q.by]
		s := sums[id]
		s.leads, s.sales = s.leads+row.MeasureNamed("leads"), s.sales+row.MeasureNamed("sales")
		s.revenue += market.Money(row.MeasureNamed("revenue"))
		sums[id] = s
	}
}
