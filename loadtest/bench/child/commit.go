package child

import (
	"errors"
	"path/filepath"
	"sync"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

	"pingpost/engine/event"
	"pingpost/engine/state"
	"pingpost/loadtest/load"
	"pingpost/wal"
)

// CommitSpec describes measurements of commits: alone, and then either beside merges of cold files, or beside snapshots,
// beside snapshots and a backup, and beside snapshots, a backup and a report.
type CommitSpec struct {
	Dir      string
	Merges   bool
	Leads    int // leads in memory
	Rate     int // commits a second
	Duration time.Duration
}

type CommitResult struct {
	Alone, Merge, Snapshot, Backup, Report time.Duration // p99 of the latency

	MergedBytes   int64
	SnapshotBytes uint64
	ShippedBytes  int64
	ReportBehind  time.Duration
}

// measureCommits fills a state, opens a log, and measures commits alone and beside the
// background work.
func measureCommits(spec *CommitSpec) (result *CommitResult, err error) {
	c := &commitLoad{applier: applier{state: state.New()}, events: newLeadEvents(time.Now().UnixNano())}
	c.state.Apply(1, c.events.now, c.events.namesGiven())
	for i := range spec.Leads {
		c.state.Apply(uint64(i+2), c.events.now, c.events.leadDecided(i))
	}
	c.before = uint64(spec.Leads + 1)
	if c.log, err = wal.Open(spec.Dir, wal.Options{}); err != nil {
		return nil, err
	}
	if err := writeExchangeKey(spec.Dir); err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, c.log.Close()) }()
	result = new(CommitResult)
	if result.Alone, err = c.run(spec.Rate, spec.Duration, func(time.Time) error { return nil }); err != nil {
		return nil, err
	}
	if spec.Merges {
		return result, c.besideMerges(spec, result)
	}
	return result, c.besideSnapshots(spec, result)
}

// besideMerges measures commits while two files with the leads are merged again and again.
func (c *commitLoad) besideMerges(spec *CommitSpec, result *CommitResult) (err error) {
	first, second := filepath.Join(spec.Dir, "cold", "first"), filepath.Join(spec.Dir, "cold", "second")
	for _, path := range []string{first, second} {
		if _, err := writeColdFile(path, spec.Leads/2); err != nil {
			return err
		}
	}
	merges := func(end time.Time) (err error) {
		for err == nil && time.Now().Before(end) {
			var merged int64
			merged, err = mergeColdFiles(filepath.Join(spec.Dir, "cold", "merged"), first, second)
			result.MergedBytes += merged
		}
		return err
	}
	result.Merge, err = c.run(spec.Rate, spec.Duration, merges)
	return err
}

// besideSnapshots measures commits beside snapshots, beside snapshots and a backup, and beside these and a report.
func (c *commitLoad) besideSnapshots(spec *CommitSpec, result *CommitResult) (err error) {
	snapshots := func(end time.Time) (err error) {
		for err == nil && time.Now().Before(end) {
			result.SnapshotBytes, err = c.snapshot()
		}
		return err
	}
	if result.Snapshot, err = c.run(spec.Rate, spec.Duration, snapshots); err != nil {
		return err
	}
	backup := func(end time.Time) (err error) {
		stop, err := c.startBackup(spec.Dir + "-backup")
		if err != nil {
			return err
		}
		defer func() {
			shipped, ending := stop()
			result.ShippedBytes, err = shipped, errors.Join(err, ending)
			if err == nil && shipped == 0 {
				err = errors.New("the backup shipped nothing")
			}
		}()
		return snapshots(end)
	}
	if result.Backup, err = c.run(spec.Rate, spec.Duration, backup); err != nil {
		return err
	}
	kept, stop := startReport(logSource{c.log, c.state}, spec.Dir)
	defer stop()
	if err := waitUntilCurrent(kept); err != nil {
		return err
	}
	result.Report, err = c.run(spec.Rate, spec.Duration, backup)
	result.ReportBehind = kept.ProgressStatus().Lag
	return err
}

// commitLoad commits leads at a fixed rate, independent of their completion, and applies
// them as the exchange does.
type commitLoad struct {
	applier
	events *leadEvents
	log    *wal.Log
	sent   int
}

// pollInterval is the interval at which the generator sends the commits that are due.
const pollInterval = 200 * time.Microsecond

// run commits for the duration, and longer if background takes longer. A commit's latency
// counts from its due time, so that a late start counts too.
func (c *commitLoad) run(rate int, duration time.Duration, background func(end time.Time) error) (p99 time.Duration, err error) {
	var pending sync.WaitGroup
	latency := hdrhistogram.New(1000, int64(time.Minute), 3)
	begin := time.Now()
	end := begin.Add(duration)
	ended := make(chan error, 1)
	go func() { ended <- background(end) }()
	interval := time.Second / time.Duration(rate)
	due := begin
	for done := false; !done; {
		for ; err == nil && !due.After(time.Now()); due = due.Add(interval) {
			pending.Add(1)
			err = c.append(&pendingCommit{pendingLead: pendingLead{applier: &c.applier, pending: &pending}, due: due, latency: latency})
		}
		select {
		case backgroundErr := <-ended:
			ended = nil
			if err == nil {
				err = backgroundErr
			}
		default:
		}
		done = err != nil || (ended == nil && time.Now().After(end))
		load.Sleep(min(pollInterval, time.Until(due)))
	}
	if err != nil {
		return 0, err
	}
	pending.Wait()
	return time.Duration(latency.ValueAtPercentile(99)), nil
}

func (c *commitLoad) append(w *pendingCommit) error {
	lead := c.events.leadDecided(c.sent)
	c.sent++
	w.data = event.AppendRecord(nil, lead)
	return c.log.Append(w.data, w)
}

// pendingCommit is a commit that is not yet durable.
type pendingCommit struct {
	pendingLead
	due     time.Time
	latency *hdrhistogram.Histogram // written by the committer's goroutine only
}

// Committed applies the lead and records the latency.
func (w *pendingCommit) Committed(seq uint64, at int64) {
	w.apply(seq, at, w.data)
	if err := w.latency.RecordValue(int64(time.Since(w.due))); err != nil {
		panic("BUG: a commit that took over a minute: " + err.Error())
	}
	w.pending.Done()
}

func (c *commitLoad) snapshot() (bytes uint64, err error) {
	w, err := c.log.BeginSnapshot(wal.SnapshotRateOptions{})
	if err != nil {
		return 0, err
	}
	defer w.Abort()
	oldest, newest, err := c.state.WriteSnapshot(w, nil)
	if err != nil {
		return 0, err
	}
	info, err := w.Commit(oldest, newest, nil)
	return info.Bytes, err
}
