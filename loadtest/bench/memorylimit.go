package main

import (
	"fmt"

	"pingpost/loadtest/bench/child"
)

// These are the rate of the leads and the memory limit of the Go runtime.
const (
	steadyRate  = 1000
	memoryLimit = "GOMEMLIMIT=128MiB"
)

// memoryLimited compares ingest in a process with a small memory limit with ingest in a
// process without one. Both receive leads for the same time.
func (b *bench) memoryLimited() ([]row, error) {
	limited, err := b.runLimited("tight", memoryLimit)
	if err != nil {
		return nil, err
	}
	free, err := b.runLimited("roomy")
	if err != nil {
		return nil, err
	}
	ms := func(ns int64) float64 { return float64(ns) / 1e6 }
	ratio := ms(limited.Latency.P99) / ms(free.Latency.P99)
	what := fmt.Sprintf("%d leads/s for %s under %s: ", steadyRate, b.size.memoryLimitDuration, memoryLimit)
	return []row{
		{
			label:    what + "p99 over that without the limit",
			measured: fmt.Sprintf("%.2f times (%.2f and %.2f ms; p50 %.2f and %.2f)", ratio, ms(limited.Latency.P99), ms(free.Latency.P99), ms(limited.Latency.P50), ms(free.Latency.P50)),
			goal:     "at most 2 times", verdict: atMost(ratio, 2, 2),
		},
		{
			label:    what + "resident at its end",
			measured: fmt.Sprintf("%.0f MB with %d leads, %.0f MB without the limit", float64(limited.resident)/1e6, limited.Done, float64(free.resident)/1e6),
		},
	}, nil
}

// limitedRun is the latency of the leads and the resident memory at the end.
type limitedRun struct {
	child.LoadResult
	resident int
}

// runLimited sends leads at the steady rate to a new exchange.
func (b *bench) runLimited(name string, env ...string) (r limitedRun, err error) {
	s, err := b.startExchange(name, catalogWithCampaigns(10), env...)
	if err != nil {
		return r, err
	}
	defer s.kill()
	r.LoadResult, err = rerunWhileNoisy(b.guard, func() (child.LoadResult, error) {
		return b.sendAtRate(s, steadyRate, limiterFillTime, b.size.memoryLimitDuration)
	})()
	if err != nil {
		return r, err
	}
	if want := uint64(0.9 * steadyRate * b.size.memoryLimitDuration.Seconds()); r.Done < want {
		return r, fmt.Errorf("%d leads were answered, fewer than %d", r.Done, want)
	}
	r.resident, err = s.resident()
	return r, err
}
