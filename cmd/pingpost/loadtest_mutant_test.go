package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"pingpost/fuzz/mutant"
	"pingpost/internal/must"
)

// tooManyRequests is a scenario above the supplier's ping rate.
const tooManyRequests = `name: hurried
about: more pings than the supplier's rate limit allows
kinds: {pingpost: 1}
phases: [{name: steady, for: 1s, rate: 40}]
supplier: {ping_rate: 10}
campaigns: [{method: ping_post}]
buyers: [{latency: 1ms}]
limits: {refused: 1, late: 10s}
`

// TestLoadtestDetectsMutants: each mutated program fails its own load test with a message
// about the fault; the unmutated program passes.
func TestLoadtestDetectsMutants(t *testing.T) {
	scenario := filepath.Join(t.TempDir(), "hurried.yaml")
	writeFile(t, scenario, tooManyRequests)
	for _, test := range []struct {
		name         string
		mutations    []mutant.Mutation
		wantMessages []string
	}{
		{"unmutated", nil, nil},
		{"reports sales that it does not make", []mutant.Mutation{{
			Name: "no post is sent", File: "engine/delivery/delivery.go",
			Old: "	return d.all.opt.Buyers.Post(req)", New: "	_ = req\n	return market.BuyerPostResult{Verdict: market.VerdictAccepted, Status: 201}",
		}}, []string{"mismatch: buy_1 does not have ", "not held: mismatches"}},
		{"reports a wrong price, and no Retry-After", []mutant.Mutation{{
			Name: "price plus one cent", File: "server/wire/value.go",
			Old: "body = amount.AppendJSON(", New: "body = (amount + 10_000).AppendJSON(",
		}, {
			Name: "no Retry-After header", File: "server/httperror/write.go",
			Old: `Header.SetBytesV("Retry-After",`, New: `Header.SetBytesV("X-Later",`,
		}}, []string{"mismatch: buy_1 owes ", "had no Retry-After", "not held: mismatches"}},
	} {
		must.Value(mutant.WriteOverlay("../..", t.TempDir(), test.mutations...))(t) // in short runs as well, because renames change the texts
		if testing.Short() {
			continue // long: make test-long builds the three programs
		}
		program := filepath.Join(t.TempDir(), "pingpost")
		must.Succeed(t, mutant.Build(t.Context(), "../..", "./cmd/pingpost", program, nil, test.mutations...))
		cmd := exec.Command(program, "loadtest", scenario)
		cmd.Env = append(os.Environ(), "TMPDIR="+t.TempDir())
		var errs strings.Builder
		cmd.Stderr = &errs
		err := cmd.Run()
		if (err == nil) != (test.mutations == nil) {
			t.Errorf("%s: %v: %s", test.name, err, errs.String())
		}
		for _, words := range test.wantMessages {
			if !strings.Contains(errs.String(), words) {
				t.Errorf("%s: no %q in %s", test.name, words, errs.String())
			}
		}
	}
}
