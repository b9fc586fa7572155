package main

import (
	"errors"
	"fmt"
	"runtime"
	"sync"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

	"pingpost/engine/event"
	"pingpost/engine/state"
	"pingpost/loadtest/load"
	"pingpost/wal"
)

// commitSpec is stretches of commits: alone, beside snapshots, beside snapshots and a
// backup, and beside these and a report.
type commitSpec struct {
	Dir     string
	Leads   int // that memory holds
	Rate    int // commits a second
	Lasting time.Duration
}

type commitResult struct {
	Alone, Beside, Shipped, Reported stretch
	Snapshots                        int
	SnapshotBytes                    uint64
	ShippedBytes                     int64
	ReportBehind                     time.Duration
}

// stretch is what commits took. Times are in nanoseconds.
type stretch struct {
	P50, P99, P999 int64
	Commits        int64
}

// processors is the exchange's own default too: one more than cores, since an
// fsync occupies one until the runtime notices.
var processors = fmt.Sprintf("GOMAXPROCS=%d", runtime.NumCPU()+1)

// commit compares the commits' p99 while a snapshot is written with the one
// without.
func (b *bench) commit() ([]row, error) {
	results := make([]commitResult, b.size.runs)
	for i := range results {
		err := b.guard.measure(nil, func() error {
			dir, err := b.folder(fmt.Sprintf("commit-%d-%d", i, b.guard.runs))
			if err != nil {
				return err
			}
			results[i] = commitResult{}
			return child(b.ctx, nil, []string{collector, processors}, "role-commit", commitSpec{
				Dir: dir, Leads: b.size.leads, Rate: b.size.commitRate, Lasting: b.size.lasting,
			}, &results[i])
		})
		if err != nil {
			return nil, err
		}
	}
	beside := pick(results, func(r *commitResult) float64 { return float64(r.Beside.P99) / 1e6 })
	alone := pick(results, func(r *commitResult) float64 { return float64(r.Alone.P99) / 1e6 })
	shipped := pick(results, func(r *commitResult) float64 { return float64(r.Shipped.P99) / 1e6 })
	reported := pick(results, func(r *commitResult) float64 { return float64(r.Reported.P99) / 1e6 })
	last := results[len(results)-1]
	against := func(while string, with series) row {
		ratio := with.over(alone)
		return row{
			what:     fmt.Sprintf("commit p99 while %s, over that without, %d commits/s, open loop", while, b.size.commitRate),
			measured: fmt.Sprintf("%.2f times (%.2f and %.2f ms)", ratio.median(), with.median(), alone.median()),
			spread:   ratio.spread("%.2f"), goal: "at most 1.5 times", verdict: atMost(ratio.median(), 1.5, 1.5),
		}
	}
	snapshot := fmt.Sprintf("a snapshot of %d leads (%d MB) is written", b.size.leads, last.SnapshotBytes>>20)
	backup := fmt.Sprintf("a backup to the same disk goes on (%d MB shipped)", last.ShippedBytes>>20)
	return []row{
		against(snapshot, beside),
		against(snapshot+" and "+backup, shipped),
		against(fmt.Sprintf("%s, %s and a report is kept (%.1f s behind at the end)", snapshot, backup, last.ReportBehind.Seconds()), reported),
	}, nil
}

// commitPair fills a state, opens a log and commits, first alone, then while
// snapshots are written one after the other.
func commitPair(spec *commitSpec) (result *commitResult, err error) {
	c := &committing{state: state.New(), facts: newFacts(time.Now().UnixNano())}
	c.state.Apply(1, c.facts.now, c.facts.names())
	for i := range spec.Leads {
		c.state.Apply(uint64(i+2), c.facts.now, c.facts.lead(i))
	}
	c.before = uint64(spec.Leads + 1)
	if c.log, err = wal.Open(spec.Dir, wal.Options{}); err != nil {
		return nil, err
	}
	if err := foundKey(spec.Dir); err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, c.log.Close()) }()
	result = new(commitResult)
	if result.Alone, err = c.run(spec.Rate, spec.Lasting, func(time.Time) error { return nil }); err != nil {
		return nil, err
	}
	snapshots := func(end time.Time) (err error) {
		for ; err == nil && time.Now().Before(end); result.Snapshots++ {
			result.SnapshotBytes, err = c.snapshot()
		}
		return err
	}
	if result.Beside, err = c.run(spec.Rate, spec.Lasting, snapshots); err != nil {
		return nil, err
	}
	backup := func(end time.Time) (err error) {
		stop, err := c.ship(spec.Dir + "-backup")
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
	if result.Shipped, err = c.run(spec.Rate, spec.Lasting, backup); err != nil {
		return nil, err
	}
	kept, stop := follow(followed{c.log, c.state}, spec.Dir)
	defer stop()
	if err := caughtUp(kept); err != nil {
		return nil, err
	}
	result.Reported, err = c.run(spec.Rate, spec.Lasting, backup)
	result.ReportBehind = kept.Status().Lag
	return result, err
}

// committing commits leads at a fixed rate, whatever becomes of them, and
// applies them as the exchange does.
type committing struct {
	state  *state.State
	facts  *facts
	log    *wal.Log
	before uint64 // facts that the state has and the log has not
	sent   int

	decoder event.Decoder // the committer's goroutine alone uses it
}

// pace is how often the generator looks what is due.
const pace = 200 * time.Microsecond

// run commits for a time, and for as long as beside takes longer. Each commit's
// time counts from when it was due, not from when its turn came.
func (c *committing) run(rate int, lasting time.Duration, beside func(end time.Time) error) (stretch, error) {
	var waiting sync.WaitGroup
	latency := hdrhistogram.New(1000, int64(time.Minute), 3)
	begin := time.Now()
	end := begin.Add(lasting)
	ended := make(chan error, 1)
	go func() { ended <- beside(end) }()
	apart := time.Second / time.Duration(rate)
	due := begin
	var err error
	for over := false; !over; {
		for ; err == nil && !due.After(time.Now()); due = due.Add(apart) {
			waiting.Add(1)
			err = c.append(&commitWaiter{of: c, due: due, latency: latency, waiting: &waiting})
		}
		select {
		case besideErr := <-ended:
			ended = nil
			if err == nil {
				err = besideErr
			}
		default:
		}
		over = err != nil || (ended == nil && time.Now().After(end))
		load.Nap(min(pace, time.Until(due)))
	}
	if err != nil {
		return stretch{}, err
	}
	waiting.Wait()
	return stretch{
		P50: latency.ValueAtPercentile(50), P99: latency.ValueAtPercentile(99), P999: latency.ValueAtPercentile(99.9),
		Commits: latency.TotalCount(),
	}, nil
}

func (c *committing) append(w *commitWaiter) error {
	fact := c.facts.lead(c.sent)
	c.sent++
	w.data = event.Append(nil, fact)
	return c.log.Append(w.data, w)
}

// commitWaiter is one commit on its way.
type commitWaiter struct {
	of      *committing
	due     time.Time
	data    []byte
	latency *hdrhistogram.Histogram // the committer's goroutine alone writes it
	waiting *sync.WaitGroup
}

// Committed applies the fact, and counts.
func (w *commitWaiter) Committed(seq uint64, at int64) {
	fact, err := w.of.decoder.Decode(w.data)
	if err != nil {
		panic("BUG: an event that was just encoded cannot be decoded: " + err.Error())
	}
	w.of.state.Apply(w.of.before+seq, at, fact)
	if err := w.latency.RecordValue(int64(time.Since(w.due))); err != nil {
		panic("BUG: a commit that took over a minute: " + err.Error())
	}
	w.waiting.Done()
}

// Failed ends the measurement: the log takes nothing more.
func (w *commitWaiter) Failed(error) { w.waiting.Done() }

func (c *committing) snapshot() (bytes uint64, err error) {
	w, err := c.log.CreateSnapshot(wal.SnapshotOptions{})
	if err != nil {
		return 0, err
	}
	defer w.Abort()
	oldest, newest, err := c.state.WriteSnapshot(w)
	if err != nil {
		return 0, err
	}
	info, err := w.Commit(oldest, newest, nil)
	return info.Bytes, err
}
