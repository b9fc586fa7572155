package child

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

// CommitterResult is the rate in leads a second and the average number of leads in a
// batch.
type CommitterResult struct{ Rate, Batch float64 }

// measureCommitter appends leads to the log as fast as it accepts them.
func measureCommitter(spec *LogSpec) (result *CommitterResult, err error) {
	f := newLeadEvents(time.Now().UnixNano())
	s := state.New()
	s.Apply(1, f.now, f.namesGiven())
	log, err := wal.Open(spec.Dir, wal.Options{})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, log.Close()) }()
	waiters := make([]pendingLead, spec.Leads)
	var pending sync.WaitGroup
	leads := &applier{state: s, before: 1}
	for i := range waiters {
		waiters[i] = pendingLead{applier: leads, data: event.AppendRecord(nil, f.leadDecided(i)), pending: &pending}
	}
	pending.Add(len(waiters))
	began := time.Now()
	for i := range waiters {
		for err = log.Append(waiters[i].data, &waiters[i]); errors.Is(err, wal.ErrBusy); err = log.Append(waiters[i].data, &waiters[i]) {
			load.Sleep(pollInterval / 4)
		}
		if err != nil {
			return nil, err
		}
	}
	pending.Wait()
	took, stats := time.Since(began), log.Stats()
	if s.LeadCountWithExpired() != spec.Leads {
		return nil, fmt.Errorf("%d leads are held of %d", s.LeadCountWithExpired(), spec.Leads)
	}
	return &CommitterResult{Rate: float64(spec.Leads) / took.Seconds(), Batch: float64(stats.Entries) / float64(stats.Batches)}, nil
}

// applier applies each durable lead. The committer's goroutine is its only user.
type applier struct {
	state   *state.State
	before  uint64 // number of events that the state has and the log does not have
	decoder event.Decoder
}

func (a *applier) apply(seq uint64, at int64, data []byte) {
	lead, err := a.decoder.Decode(data)
	if err != nil {
		panic("BUG: an event that was just encoded cannot be decoded: " + err.Error())
	}
	a.state.Apply(a.before+seq, at, lead)
}

// pendingLead is a lead that is not yet durable.
type pendingLead struct {
	*applier
	data    []byte
	pending *sync.WaitGroup
}

// Committed applies the lead.
func (c *pendingLead) Committed(seq uint64, at int64) {
	c.apply(seq, at, c.data)
	c.pending.Done()
}

// Failed counts down; the next append returns the log's error.
func (c *pendingLead) Failed(error) { c.pending.Done() }
