package main

import (
	"fmt"
	"runtime"

	"pingpost/loadtest/bench/child"
)

// processors is also the exchange's default: one more than cores, because an fsync
// occupies a processor until the runtime notices.
var processors = fmt.Sprintf("GOMAXPROCS=%d", runtime.NumCPU()+1)

// commitBesideMerges compares the p99 of commits with and without a merge of cold files in the background.
func (b *bench) commitBesideMerges() ([]row, error) {
	results, err := b.measureCommits(true)
	if err != nil {
		return nil, err
	}
	merge := fmt.Sprintf("cold files of %d leads are merged (%d MB written)", b.size.commitLeads, results[len(results)-1].MergedBytes>>20)
	beside := b.commitRow(merge, results, func(r *child.CommitResult) float64 { return float64(r.Merge) / 1e6 })
	return []row{beside.withGoal("at most 1.2 times", 1.2, 1.2)}, nil
}

// commitBesideSnapshots compares the p99 of commits with and without a snapshot, a backup and a report in the
// background.
func (b *bench) commitBesideSnapshots() ([]row, error) {
	results, err := b.measureCommits(false)
	if err != nil {
		return nil, err
	}
	last := results[len(results)-1]
	snapshot := fmt.Sprintf("a snapshot of %d leads (%d MB) is written", b.size.commitLeads, last.SnapshotBytes>>20)
	backup := fmt.Sprintf("a backup to the same disk goes on (%d MB shipped)", last.ShippedBytes>>20)
	report := fmt.Sprintf("%s, %s and a report is kept (%.1f s behind at the end)", snapshot, backup, last.ReportBehind.Seconds())
	return []row{
		b.commitRow(snapshot, results, func(r *child.CommitResult) float64 { return float64(r.Snapshot) / 1e6 }),
		b.commitRow(snapshot+" and "+backup, results, func(r *child.CommitResult) float64 { return float64(r.Backup) / 1e6 }),
		b.commitRow(report, results, func(r *child.CommitResult) float64 { return float64(r.Report) / 1e6 }),
	}, nil
}

func (b *bench) measureCommits(besideMerges bool) ([]child.CommitResult, error) {
	return repeatChild[child.CommitResult](b, "role-commit", func(dir string) (any, error) {
		return child.CommitSpec{Dir: dir, Merges: besideMerges, Leads: b.size.commitLeads, Rate: b.size.commitRate, Duration: b.size.duration}, nil
	})
}

// commitRow compares the p99 of commits beside work with the p99 without it.
func (b *bench) commitRow(work string, results []child.CommitResult, beside func(*child.CommitResult) float64) row {
	alone := func(r *child.CommitResult) float64 { return float64(r.Alone) / 1e6 }
	label := fmt.Sprintf("commit p99 while %s, over that without, %d commits/s, open loop", work, b.size.commitRate)
	return timesRow(label, collect(results, beside), collect(results, alone), "%.2f and %.2f ms").withGoal("at most 1.5 times", 1.5, 1.5)
}

// committer measures how many leads a second the committer writes, fsyncs and applies when
// it never waits for input. An exchange has one committer on any number of cores. The
// events are encoded beforehand.
func (b *bench) committer() ([]row, error) {
	results, err := repeatChild[child.CommitterResult](b, "role-committer", func(dir string) (any, error) {
		return child.LogSpec{Dir: dir, Leads: b.size.committerLeads}, nil
	})
	if err != nil {
		return nil, err
	}
	rate := collect(results, func(r *child.CommitterResult) float64 { return r.Rate })
	batch := collect(results, func(r *child.CommitterResult) float64 { return r.Batch })
	return []row{{
		label: "the committer alone: leads that it writes, fsyncs and applies", figure: figureCommitter, value: rate.median(),
		measured: fmt.Sprintf("%.0f leads/s, %.0f a batch", rate.median(), batch.median()), rangeText: rate.rangeText("%.0f"),
	}}, nil
}

// repeatChild runs a role once for each run, each time in a new folder. prepare returns
// the role's specification for that folder.
func repeatChild[R any](b *bench, role string, prepare func(dir string) (any, error)) ([]R, error) {
	return runEachRepetition(b, func() (result R, err error) {
		dir, err := b.folder(fmt.Sprintf("%s-%d", role, b.guard.runs))
		if err != nil {
			return result, err
		}
		spec, err := prepare(dir)
		if err != nil {
			return result, err
		}
		err = runChild(b.ctx, nil, []string{gcSetting, processors}, role, spec, &result)
		return result, err
	})
}

// replay measures the replay of a log on one core and on two, and compares it with a scan of its files.
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
	run := func(role string, cores []int, processors string) func() (child.LogResult, error) {
		return rerunWhileNoisy(b.guard, func() (r child.LogResult, err error) {
			err = runChild(b.ctx, cores, []string{processors, gcSetting}, role, spec, &r)
			return r, err
		})
	}
	all, err := alternate(b.size.runs, run("role-replay", one, "GOMAXPROCS=1"), run("role-scan", one, "GOMAXPROCS=1"), run("role-replay", nil, "GOMAXPROCS=2"))
	if err != nil {
		return nil, err
	}
	replays, scans := all[0], all[1]
	perSecond := func(r *child.LogResult) float64 { return float64(r.Events) / r.Seconds }
	rate, fast := collect(replays, perSecond), collect(all[2], perSecond)
	took := collect(replays, func(r *child.LogResult) float64 { return r.Seconds })
	scanned := collect(scans, func(r *child.LogResult) float64 { return r.Seconds })
	gigabytes := collect(scans, func(r *child.LogResult) float64 { return float64(r.Bytes) / r.Seconds / 1e9 })
	ratio := took.ratioTo(scanned)
	return []row{
		{
			label:     fmt.Sprintf("replay of %d leads on one core", b.size.replayedLeads),
			measured:  fmt.Sprintf("%.0f events/s", rate.median()),
			rangeText: rate.rangeText("%.0f"),
			figure:    figureReplay, value: rate.median(),
		},
		{
			label:     fmt.Sprintf("replay of %d leads on two cores", b.size.replayedLeads),
			measured:  fmt.Sprintf("%.0f events/s, %.2f times the rate of one core", fast.median(), fast.ratioTo(rate).median()),
			rangeText: fast.rangeText("%.0f"), goal: "1,000,000 events/s", verdict: atLeast(fast.median(), 1e6, 1e6),
		},
		{
			label: "replay over a bare CRC-32C scan of the same files",
			measured: fmt.Sprintf("%.1f times (%.2f and %.2f s; the scan reads %.1f GB/s)",
				ratio.median(), took.median(), scanned.median(), gigabytes.median()),
			rangeText: ratio.rangeText("%.1f"),
		},
	}, nil
}
