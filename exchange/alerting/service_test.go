package alerting

import (
	"context"
	"log/slog"
	"sync/atomic"
	"testing"
	"time"

	"pingpost/engine/alert"
	"pingpost/engine/event"
	"pingpost/engine/market"
	"pingpost/engine/state"
	"pingpost/report"
	"pingpost/server/metrics"
)

// newReportService returns a service with two rules on the report, whose answers ask makes.
func newReportService(ask func(ctx context.Context) bool) *Service {
	s := New(Options{
		Sources: Sources{
			State: state.New(), Catalog: func() *market.Catalog { return &market.Catalog{} },
			Counts: func() metrics.TradeCounts { return metrics.TradeCounts{} }, Report: func() *report.Report { return new(report.Report) },
		},
		Now: func() int64 { return int64(time.Hour) }, Logger: slog.New(slog.DiscardHandler),
	})
	settings := &alert.Settings{Rules: []alert.Rule{{ID: "a", Kind: alert.CampaignSoldRate, Window: 900}, {ID: "b", Kind: alert.CampaignSoldRate, Window: 1800}}}
	s.table.ApplySettings(&event.AlertSettingsChanged{Document: settings.Encode()})
	s.measurer.reports.ask = func(ctx context.Context, _ *report.Report, _ reportQuestion, _ int64) (map[string]reportSums, bool) {
		return nil, ask(ctx)
	}
	return s
}

// Close cancels a query that hangs, and starts no other one.
func TestCloseCancelsEvaluation(t *testing.T) {
	asked := make(chan struct{})
	var questions atomic.Int64
	s := newReportService(func(ctx context.Context) bool {
		questions.Add(1)
		close(asked)
		<-ctx.Done()
		return true
	})
	s.Start()
	<-asked
	s.Close()
	if n := questions.Load(); n != 1 {
		t.Errorf("%d queries, want the one that hung", n)
	}
	if _, _, at := s.LastEvaluation(); at != 0 {
		t.Error("a cancelled evaluation is shown as complete")
	}
}

// An evaluation that is not cancelled asks each question and is shown.
func TestEvaluationIsShown(t *testing.T) {
	questions := 0
	s := newReportService(func(context.Context) bool {
		questions++
		return true
	})
	s.Evaluate(t.Context(), int64(time.Hour))
	if _, _, at := s.LastEvaluation(); at != int64(time.Hour) || questions != 2 {
		t.Errorf("evaluated at %d after %d queries", at, questions)
	}
}
