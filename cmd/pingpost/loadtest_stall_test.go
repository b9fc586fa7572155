//go:build unix

package main

import (
	"syscall"
	"testing"
	"time"

	"pingpost/internal/must"
	"pingpost/loadtest/scenario"
	"pingpost/loadtest/trial"
)

// pauseDuration is the length of the exchange's stall.
const pauseDuration = 500 * time.Millisecond

// pause stops the exchange's process for pauseDuration, some time from now.
func (t *temporaryExchange) pause(tb testing.TB, after time.Duration) {
	process := t.exchange
	time.AfterFunc(after, func() {
		if process.Signal(syscall.SIGSTOP) != nil {
			return // the test has ended
		}
		time.Sleep(pauseDuration)
		if err := process.Signal(syscall.SIGCONT); err != nil {
			tb.Error(err)
		}
	})
}

// TestLoadtestReportsStall stops an exchange for half a second. At 100 requests a second,
// about fifty requests wait for the rest of the stall. Half of them wait for at least half
// of it, so the p99 is at least that long.
func TestLoadtestReportsStall(t *testing.T) {
	t.Setenv(asProgram, "1")
	s := must.Value(scenario.Parse("stall.yaml", []byte(`name: stall
kinds: {ingest: 1}
phases: [{name: steady, for: 3s, rate: 100, arrival: fixed}]
campaigns: [{method: round_robin}]
buyers: [{recorded: true}]
limits: {latency: {ingest: {p99: 200ms}}, late: 5s}
`)))(t)
	exchange, err := startTemporaryExchange(t.Context(), s, 1)
	t.Cleanup(func() { exchange.stopAndRemoveFolder() })
	must.Succeed(t, err)
	exchange.pause(t, time.Second)
	r := must.Value(trial.Run(t.Context(), s, exchange.target, trial.Options{Seed: 1}))(t)
	if latency := r.Latencies[0]; latency.Max < pauseDuration*9/10 || latency.P99 < pauseDuration/2 {
		t.Errorf("p99 %s, max %s", latency.P99, latency.Max)
	}
	if r.Held() || r.Limits[0].Held || r.Limits[0].What != "p99 of ingest" {
		t.Errorf("the limit of p99 is reported as held: %+v", r.Limits)
	}
	if len(r.Account.Mismatches) > 0 {
		t.Error(r.Account.Mismatches)
	}
}
