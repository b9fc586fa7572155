package main

import (
	"fmt"

	"pingpost/loadtest/bench/child"
)

// replay compares the replay of a log with a scan of its files.
func (b *bench) replay() ([]row, error) {
	dir, err := b.folder("replay")
	if err != nil {
		return nil, err
	}
	spec := child.LogSpec{Dir: dir, Leads: b.size.replayedLeads}
	var written child.LogResult
	if err := runChild(b.ctx, nil, nil, "role-write", spec, &written); err != nil {
		return nil, err
	}
	b.logf("wrote a log of %d events, %d MB, in %.1f s", written.Events, written.Bytes>>20, written.Seconds)
	one := b.cores.servers[:min(1, len(b.cores.servers))]
	alone := []string{"GOMAXPROCS=1", gcSetting}
	run := func(role string) func() (child.LogResult, error) {
		return rerunWhileNoisy(b.guard, func() (r child.LogResult, err error) {
			err = runChild(b.ctx, one, alone, role, spec, &r)
			return r, err
		})
	}
	both, err := alternate(b.size.runs, run("role-replay"), run("role-scan"))
	if err != nil {
		return nil, err
	}
	replays, scans := both[0], both[1]
	rate := collect(replays, func(r *child.LogResult) float64 { return float64(r.Events) / r.Seconds })
	took := collect(replays, func(r *child.LogResult) float64 { return r.Seconds })
	scanned := collect(scans, func(r *child.LogResult) float64 { return r.Seconds })
	gigabytes := collect(scans, func(r *child.LogResult) float64 { return float64(r.Bytes) / r.Seconds / 1e9 })
	ratio := took.ratioTo(scanned)
	return []row{
		{
			label:     fmt.Sprintf("replay of %d leads on one core", b.size.replayedLeads),
			measured:  fmt.Sprintf("%.0f events/s", rate.median()),
			rangeText: rate.rangeText("%.0f"), goal: "1,000,000 events/s", verdict: atLeast(rate.median(), 1e6, 1e6),
			figure: figureReplay, value: rate.median(),
		},
		{
			label: "replay over a bare CRC-32C scan of the same files",
			measured: fmt.Sprintf("%.1f times (%.2f and %.2f s; the scan reads %.1f GB/s)",
				ratio.median(), took.median(), scanned.median(), gigabytes.median()),
			rangeText: ratio.rangeText("%.1f"),
		},
	}, nil
}
