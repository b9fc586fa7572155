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

// hurried asks for more than the supplier may.
const hurried = `name: hurried
about: more than the supplier may
kinds: {pingpost: 1}
phases: [{name: steady, for: 1s, rate: 40}]
supplier: {ping_rate: 10}
campaigns: [{method: ping_post}]
buyers: [{latency: 1ms}]
limits: {refused: 1, late: 10s}
`

// TestAnExchangeThatErrsIsSeen: programs that are broken in one place each fail their
// own load test, in words that say how; the one that is whole passes it.
func TestAnExchangeThatErrsIsSeen(t *testing.T) {
	scenario := filepath.Join(t.TempDir(), "hurried.yaml")
	rewrite(t, scenario, hurried)
	for _, test := range []struct {
		name   string
		broken []mutant.Mutation
		says   []string
	}{
		{"whole", nil, nil},
		{"it tells of sales that it does not make", []mutant.Mutation{{
			Name: "no post is sent", File: "engine/delivery/delivery.go",
			Old: "	return d.all.opt.Buyers.Post(req)", New: "	_ = req\n	return market.PostResult{Verdict: market.VerdictAccepted, Status: 201}",
		}}, []string{"mismatch: buy_1 does not have ", "not held: mismatches"}},
		{"it pays too much, and is rude", []mutant.Mutation{{
			Name: "a cent more is told", File: "server/wire/value.go",
			Old: "body = amount.AppendJSON(", New: "body = (amount + 10_000).AppendJSON(",
		}, {
			Name: "nobody is told when to come again", File: "server/httperror/write.go",
			Old: `Header.SetBytesV("Retry-After",`, New: `Header.SetBytesV("X-Later",`,
		}}, []string{"mismatch: buy_1 owes ", "had no Retry-After", "not held: mismatches"}},
	} {
		must.Value(mutant.WriteOverlay("../..", t.TempDir(), test.broken...))(t) // in short runs as well, because renames change the texts
		if testing.Short() {
			continue // long: make test-long builds the three programs
		}
		program := filepath.Join(t.TempDir(), "pingpost")
		must.Succeed(t, mutant.Build(t.Context(), "../..", "./cmd/pingpost", program, nil, test.broken...))
		cmd := exec.Command(program, "loadtest", scenario)
		cmd.Env = append(os.Environ(), "TMPDIR="+t.TempDir())
		var errs strings.Builder
		cmd.Stderr = &errs
		err := cmd.Run()
		if (err == nil) != (test.broken == nil) {
			t.Errorf("%s: %v: %s", test.name, err, errs.String())
		}
		for _, words := range test.says {
			if !strings.Contains(errs.String(), words) {
				t.Errorf("%s: no %q in %s", test.name, words, errs.String())
			}
		}
	}
}
