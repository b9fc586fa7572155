package main

import (
	"strings"
	"testing"
	"time"
)

// TestWhatNeedsServersIsMeasured: each measurement comes to its rows, with real
// processes and sizes that only show that it works.
func TestWhatNeedsServersIsMeasured(t *testing.T) {
	for name, test := range map[string]struct {
		measure func(*bench) ([]row, error)
		want    []string
	}{
		"posted": {(*bench).posted, []string{
			"a lead posted to a buyer, 64 connections: req/s over the ceiling's, which does the same two commits and one call: ",
			"processor time of a lead: ",
		}},
		"tight":     {(*bench).tight, []string{"leads/s for 400ms under GOMEMLIMIT=128MiB: p99 over that without the limit: ", "resident at its end: "}},
		"committer": {(*bench).committer, []string{"the committer alone: leads that it writes, fsyncs and applies: "}},
		"start": {(*bench).start, []string{
			"start with nothing, until it serves: ", "start with 2000 leads in a snapshot of 0 MB, until it serves: ",
			"2000 leads held instead of none: p50: ",
		}},
	} {
		t.Run(name, func(t *testing.T) {
			b := small(t)
			b.size.held, b.size.tightLasting, b.size.committed = 2000, 400*time.Millisecond, 2000
			rows, err := test.measure(b)
			if err != nil {
				t.Fatal(err)
			}
			var said strings.Builder
			for _, r := range rows {
				said.WriteString(r.what + ": " + r.measured + "\n")
			}
			for _, want := range test.want {
				if !strings.Contains(said.String(), want) {
					t.Errorf("no %q in\n%s", want, said.String())
				}
			}
			if err := b.close(); err != nil {
				t.Error(err)
			}
		})
	}
}
