package main

import (
	"errors"
	"fmt"
	"sync"
	"time"

	"pingpost/engine/event"
	"pingpost/engine/state"
	"pingpost/loadtest/load"
	"pingpost/wal"
)

// committer measures the one thing of which an exchange has one, however many
// cores it runs on: how many leads a second its committer writes, fsyncs and
// applies when it never waits for one. The facts are encoded beforehand.
func (b *bench) committer() ([]row, error) {
	results := make([]committerResult, b.size.runs)
	for i := range results {
		err := b.guard.measure(nil, func() error {
			dir, err := b.folder(fmt.Sprintf("committer-%d-%d", i, b.guard.runs))
			if err != nil {
				return err
			}
			return child(b.ctx, nil, []string{collector, processors}, "role-committer", logSpec{Dir: dir, Leads: b.size.committed}, &results[i])
		})
		if err != nil {
			return nil, err
		}
	}
	rate := pick(results, func(r *committerResult) float64 { return r.Rate })
	batch := pick(results, func(r *committerResult) float64 { return r.Batch })
	return []row{{
		what: "the committer alone: leads that it writes, fsyncs and applies", figure: figureCommitter, value: rate.median(),
		measured: fmt.Sprintf("%.0f leads/s, %.0f a batch", rate.median(), batch.median()), spread: rate.spread("%.0f"),
	}}, nil
}

// committerResult is what the committer did: leads a second, and leads a batch.
type committerResult struct{ Rate, Batch float64 }

// commitAll hands the log so many leads as fast as it takes them.
func commitAll(spec *logSpec) (result *committerResult, err error) {
	f := newFacts(time.Now().UnixNano())
	s := state.New()
	s.Apply(1, f.now, f.names())
	log, err := wal.Open(spec.Dir, wal.Options{})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, log.Close()) }()
	waiters := make([]committed, spec.Leads)
	var waiting sync.WaitGroup
	for i := range waiters {
		waiters[i] = committed{state: s, data: event.Append(nil, f.lead(i)), waiting: &waiting}
	}
	waiting.Add(len(waiters))
	began := time.Now()
	for i := range waiters {
		for err = log.Append(waiters[i].data, &waiters[i]); errors.Is(err, wal.ErrBusy); err = log.Append(waiters[i].data, &waiters[i]) {
			load.Nap(pace / 4)
		}
		if err != nil {
			return nil, err
		}
	}
	waiting.Wait()
	took, stats := time.Since(began), log.Stats()
	if s.LeadCount() != spec.Leads {
		return nil, fmt.Errorf("%d leads are held of %d", s.LeadCount(), spec.Leads)
	}
	return &committerResult{Rate: float64(spec.Leads) / took.Seconds(), Batch: float64(stats.Entries) / float64(stats.Batches)}, nil
}

// committed is one lead on its way.
type committed struct {
	state   *state.State
	data    []byte
	waiting *sync.WaitGroup
}

// committedDecoder is the committer's goroutine's alone.
var committedDecoder event.Decoder

// Committed applies the fact.
func (c *committed) Committed(seq uint64, at int64) {
	fact, err := committedDecoder.Decode(c.data)
	if err != nil {
		panic("BUG: an event that was just encoded cannot be decoded: " + err.Error())
	}
	c.state.Apply(seq+1, at, fact)
	c.waiting.Done()
}

// Failed ends the measurement: the log's own error is told.
func (c *committed) Failed(error) { c.waiting.Done() }
