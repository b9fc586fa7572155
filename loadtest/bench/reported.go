package main

import (
	"errors"
	"fmt"
	"time"
)

// reported compares what leads take in an exchange that keeps a report, and in one whose
// dashboard is looked at too, with what they take in one that keeps none. They come at a rate, since where clients wait for each
// other's answers a report takes its share of the processor from the leads.
func (b *bench) reported() ([]row, error) {
	kept := catalogOf(10)
	kept.Report = object{"keep": "90d"}
	with, err := b.startHalted("reported", kept)
	if err != nil {
		return nil, err
	}
	defer with.end()
	without, err := b.startHalted("unreported", catalogOf(10))
	if err != nil {
		return nil, err
	}
	defer without.end()
	live := []*process{with.process, without.process}
	one := func(s *seller) func() (supplyResult, error) {
		return func() (r supplyResult, err error) {
			err = b.guard.measure(live, func() (err error) {
				r, err = b.supplyTo(s, tightRate, b.size.warmup, b.size.openLasting)
				return err
			})
			return r, err
		}
	}
	all, err := alternate(b.size.runs, b.watched(with, one(with)), one(with), one(without))
	if err != nil {
		return nil, err
	}
	return []row{
		reportedRow("a report is kept", all[1], all[2]),
		reportedRow(fmt.Sprintf("a report is kept and %d viewers have the dashboard open", b.size.viewers.number), all[0], all[2]),
	}, nil
}

// watched is a side at whose dashboard there are viewers.
func (b *bench) watched(s *seller, side func() (supplyResult, error)) func() (supplyResult, error) {
	return func() (r supplyResult, err error) {
		if err := proceed(s.cmd.Process); err != nil {
			return r, fmt.Errorf("the server is gone: %w", err)
		}
		stop := b.size.viewers.watch(b.ctx, s.process)
		r, err = side()
		if err := proceed(s.cmd.Process); err != nil {
			return r, fmt.Errorf("the server is gone: %w", err)
		}
		got, watching := stop()
		if err = errors.Join(err, watching); err == nil && (got.events.Load() == 0 || got.reports.Load() == 0) {
			err = errors.New("who had the dashboard open saw nothing")
		}
		return r, errors.Join(err, halt(s.cmd.Process))
	}
}

func reportedRow(while string, with, without []supplyResult) row {
	p99 := func(r *supplyResult) float64 { return float64(r.Took.P99) / 1e6 }
	a, z := pick(with, p99), pick(without, p99)
	ratio := a.over(z)
	return row{
		what:     fmt.Sprintf("ingest p99 while %s, over that without, %d leads/s, open loop", while, tightRate),
		measured: fmt.Sprintf("%.2f times (%.2f and %.2f ms)", ratio.median(), a.median(), z.median()),
		spread:   ratio.spread("%.2f"), goal: "at most 1.2 times", verdict: atMost(ratio.median(), 1.2, 1.2),
	}
}

// supplyTo is supplyAt to a server that is halted before and after.
func (b *bench) supplyTo(s *seller, rate float64, warmup, lasting time.Duration) (r supplyResult, err error) {
	if err := proceed(s.cmd.Process); err != nil {
		return r, fmt.Errorf("the server is gone: %w", err)
	}
	r, err = b.supplyAt(s, rate, warmup, lasting)
	if err == nil && r.Done == 0 {
		err = fmt.Errorf("nothing was answered in %s", lasting)
	}
	return r, errors.Join(err, halt(s.cmd.Process))
}
