package main

import (
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"pingpost/loadtest/bench/child"
)

// start measures the time from start to readiness of an empty exchange and of an exchange
// with many leads. Then it compares the ingest of the two.
func (b *bench) start() ([]row, error) {
	seconds, err := runEachRepetition(b, func() (float64, error) {
		return b.startSeconds(fmt.Sprintf("start-%d", b.guard.runs))
	})
	if err != nil {
		return nil, err
	}
	began := collect(seconds, func(s *float64) float64 { return *s * 1e3 })
	rows, err := b.startFull()
	return append(rows, row{
		label: "start with an empty data directory, until it serves", measured: fmt.Sprintf("%.0f ms", began.median()),
		rangeText: began.rangeText("%.0f"), goal: "100 ms", verdict: atMost(began.median(), 100, 100),
	}), err
}

// startTimed starts an exchange with a small catalog.
func (b *bench) startTimed(name string) (s *ingestTarget, took time.Duration, err error) {
	if _, err := b.build(); err != nil {
		return nil, 0, err
	}
	began := time.Now()
	s, err = b.startExchange(name, catalogWithCampaigns(10))
	return s, time.Since(began), err
}

// startSeconds returns the seconds to the start of an exchange, and kills it. The guard would count an
// exchange that survives the measurement as other load.
func (b *bench) startSeconds(name string) (float64, error) {
	s, took, err := b.startTimed(name)
	if err == nil {
		s.kill()
	}
	return took.Seconds(), err
}

// fullFolder is the folder of the exchange with many leads.
const fullFolder = "held"

// startFull starts an exchange from a snapshot of many leads, and compares its ingest with
// that of an empty one.
func (b *bench) startFull() ([]row, error) {
	snapshot, err := b.fillExchange()
	if err != nil {
		return nil, err
	}
	measured, err := runEachRepetition(b, func() (float64, error) { return b.startSeconds(fullFolder) })
	if err != nil {
		return nil, err
	}
	ready := series(measured)
	unpinned := *b
	unpinned.cores = cores{}
	onAll, err := runEachRepetition(b, func() (float64, error) { return unpinned.startSeconds(fullFolder) })
	if err != nil {
		return nil, err
	}
	readyOnAll := series(onAll)
	full, _, err := b.startTimed(fullFolder)
	if err != nil {
		return nil, err
	}
	resident, err := full.resident()
	if err != nil {
		return nil, err
	}
	if err := pause(full.cmd.Process); err != nil {
		return nil, err
	}
	rows := []row{{
		label:     fmt.Sprintf("start with %d leads in a snapshot of %d MB, until it serves", b.size.heldLeads, snapshot>>20),
		measured:  fmt.Sprintf("%.2f s; then %.1f GB resident", ready.median(), float64(resident)/1e9),
		rangeText: ready.rangeText("%.2f"), goal: "15 s", verdict: atMost(ready.median(), 15, 15),
	}, {
		label:     fmt.Sprintf("start with %d leads in that snapshot on all cores, until it serves", b.size.heldLeads),
		measured:  fmt.Sprintf("%.2f s, %.2f times that on the cores of servers", readyOnAll.median(), readyOnAll.ratioTo(ready).median()),
		rangeText: readyOnAll.rangeText("%.2f"), goal: "3 s", verdict: atMost(readyOnAll.median(), 3, 3),
	}}
	empty, err := b.startPaused("empty", catalogWithCampaigns(10))
	if err != nil {
		return nil, err
	}
	return b.growthRows(rows, full, empty, fmt.Sprintf("%d leads held instead of 0", b.size.heldLeads), 0)
}

// fillExchange starts an exchange, appends many leads to its log, lets it replay them, and
// stops it in an orderly way, so that it leaves a snapshot. It returns the snapshot's
// size.
func (b *bench) fillExchange() (snapshot int64, err error) {
	s, _, err := b.startTimed(fullFolder)
	if err != nil {
		return 0, err
	}
	if err := s.stop(); err != nil {
		return 0, err
	}
	var written child.LogResult
	err = runChild(b.ctx, nil, nil, "role-write", child.LogSpec{Dir: s.data, Leads: b.size.heldLeads, Append: true}, &written)
	if err != nil {
		return 0, err
	}
	b.logf("wrote %d MB of leads in %.1f s", written.Bytes>>20, written.Seconds)
	s, took, err := b.startTimed(fullFolder)
	if err != nil {
		return 0, err
	}
	b.logf("replayed them in %s", took.Round(100*time.Millisecond))
	if err := s.stop(); err != nil {
		return 0, err
	}
	files, err := filepath.Glob(filepath.Join(s.data, "snapshot", "*"))
	if err != nil {
		return 0, err
	}
	for _, file := range files {
		if info, err := os.Stat(file); err == nil {
			snapshot = max(snapshot, info.Size())
		}
	}
	return snapshot, nil
}

// stop stops a server in an orderly way.
func (p *process) stop() error {
	if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		return err
	}
	select {
	case <-p.ended:
		return nil
	case <-time.After(startTimeout):
		p.kill()
		return fmt.Errorf("%s does not stop", p.cmd.Path)
	}
}

// coldFolder is the folder of the exchange with cold leads.
const coldFolder = "cold"

// repeatedLeads are the leads whose keys are repeated after they have become cold, and repeatRate is the number of
// repeats a second.
const (
	repeatedLeads = 5000
	repeatRate    = 500
)

// coldLeads measures an exchange with many closed leads in files: its start and memory, the answer to the repeat of
// an old key, and ingest compared with an exchange without old leads.
func (b *bench) coldLeads() ([]row, error) {
	written, err := b.fillColdExchange()
	if err != nil {
		return nil, err
	}
	d := catalogWithCampaigns(10)
	d.HotFor = "1s"
	began := time.Now()
	full, err := b.startExchange(coldFolder, d)
	took := time.Since(began)
	if err != nil {
		return nil, err
	}
	repeats, err := b.runLoadClient(full.process, child.LoadSpec{
		Connections: 16, Rate: repeatRate, Even: true, Duration: repeatedLeads / repeatRate * time.Second, Campaigns: full.campaigns,
	}, new(uint64))
	if err != nil {
		return nil, err
	}
	*full.next = repeats.NextLead
	resident, err := full.resident()
	if err != nil {
		return nil, err
	}
	if err := pause(full.cmd.Process); err != nil {
		return nil, err
	}
	ms := func(ns int64) float64 { return float64(ns) / 1e6 }
	what := fmt.Sprintf("%d closed leads in files of %.1f GB", b.size.coldLeads, float64(written)/1e9)
	rows := []row{
		{
			label: what + ": start, until it serves", measured: fmt.Sprintf("%.2f s", took.Seconds()),
		},
		{
			label: what + ": resident", measured: fmt.Sprintf("%.2f GB", float64(resident)/1e9),
			goal: "2 GB or less", verdict: atMost(float64(resident), 2e9, 2e9),
		},
		{
			label:    what + fmt.Sprintf(": repeat of an old idempotency key, %d/s, p99", repeatRate),
			measured: fmt.Sprintf("%.2f ms (p50 %.2f, longest %.2f)", ms(repeats.Latency.P99), ms(repeats.Latency.P50), ms(repeats.Latency.Max)),
			goal:     "5 ms or less", verdict: atMost(ms(repeats.Latency.P99), 5, 5),
		},
	}
	empty, err := b.startPaused("without-cold", catalogWithCampaigns(10))
	if err != nil {
		return nil, err
	}
	rows, err = b.growthRows(rows, full, empty, what+" instead of 0", 0)
	if err != nil {
		return nil, err
	}
	last := len(rows) - 1
	rows[last] = rows[last].withGoal("at most 1.15 times", 1.15, 1.15)
	return rows, nil
}

// fillColdExchange makes an exchange send some leads to a cold file, and adds many others. It returns the size of the
// files.
func (b *bench) fillColdExchange() (bytes int64, err error) {
	d := catalogWithCampaigns(10)
	d.HotFor = "1s"
	s, err := b.startExchange(coldFolder, d)
	if err != nil {
		return 0, err
	}
	load := child.LoadSpec{Connections: 16, Rate: repeatRate, Even: true, Duration: repeatedLeads / repeatRate * time.Second, Campaigns: s.campaigns}
	if _, err := b.runLoadClient(s.process, load, s.next); err != nil {
		return 0, err
	}
	time.Sleep(2 * time.Second) // longer than hot_for
	if err := s.stop(); err != nil {
		return 0, err
	}
	began := time.Now()
	var filled child.ColdFillResult
	err = runChild(b.ctx, nil, nil, "role-cold-fill", child.ColdFillSpec{Dir: s.data, Leads: b.size.coldLeads, Files: 3}, &filled)
	b.logf("wrote %d MB of cold leads in %s", filled.Bytes>>20, time.Since(began).Round(time.Second))
	return filled.Bytes, err
}
