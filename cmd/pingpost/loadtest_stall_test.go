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

// stall is for how long the exchange of the test below stands still.
const stall = 500 * time.Millisecond

// stalls halts the exchange's process for a while, some time from now.
func (t *temporaryExchange) stalls(test *testing.T, after time.Duration) {
	process := t.exchange
	time.AfterFunc(after, func() {
		if process.Signal(syscall.SIGSTOP) != nil {
			return // the test has ended
		}
		time.Sleep(stall)
		if err := process.Signal(syscall.SIGCONT); err != nil {
			test.Error(err)
		}
	})
}

// TestAStallIsReported: an exchange that stands still for half a second. Of a hundred
// requests a second some fifty come in it; each has waited for what was left of it, so half
// of them have waited for half of it, and the p99 is of these.
func TestAStallIsReported(t *testing.T) {
	t.Setenv(asProgram, "1")
	s := must.Value(scenario.Parse("stall.yaml", []byte(`name: stall
kinds: {ingest: 1}
phases: [{name: steady, for: 3s, rate: 100, arrival: fixed}]
campaigns: [{method: round_robin}]
buyers: [{recorded: true}]
limits: {latency: {ingest: {p99: 200ms}}, late: 5s}
`)))(t)
	house, err := startTemporaryExchange(t.Context(), s, 1)
	t.Cleanup(func() { house.stopAndRemoveFolder() })
	must.Succeed(t, err)
	house.stalls(t, time.Second)
	r := must.Value(trial.Run(t.Context(), s, house.target, trial.Options{Seed: 1}))(t)
	if took := r.Latencies[0]; took.Max < stall*9/10 || took.P99 < stall/2 {
		t.Errorf("p99 %s, max %s", took.P99, took.Max)
	}
	if r.Held() || r.Limits[0].Held || r.Limits[0].What != "p99 of ingest" {
		t.Errorf("the limit of p99 is held: %+v", r.Limits)
	}
	if len(r.Account.Mismatches) > 0 {
		t.Error(r.Account.Mismatches)
	}
}
