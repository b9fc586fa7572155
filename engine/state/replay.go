package state

import (
	"fmt"

	"pingpost/engine/event"
)

// A Replay applies entries of a log to a state at a start. It gathers some,
// and looks at the places in memory that all of them will change before it
// applies the first: nearly each place is a cache miss, and misses that do not
// wait for one another take a fraction of the time that the same ones take in
// a row. What is applied, and in which order, is Apply's alone.
//
// (Rejected: one goroutine a range of shards. It would be as good for rows, but
// posts and the ledger need the order of the log.)
//
// One goroutine uses it, and nobody else the state meanwhile.
type Replay struct {
	state   *State
	waiting [replayAhead]waiting
	n       int
}

type waiting struct {
	decoder event.Decoder
	seq     uint64
	at      int64
	fact    event.Event
}

// replayAhead is how many entries are gathered: enough that misses overlap, few
// enough that what was looked at is still near when it is applied.
const replayAhead = 32

// NewReplay begins to apply what follows the state's position.
func (s *State) NewReplay() *Replay {
	r := &Replay{state: s}
	for i := range r.waiting {
		r.waiting[i].decoder.Brief = true
	}
	return r
}

// Add takes the next entry, whose data must stay as it is until Flush. It
// tells whether there is room for another; where there is none, call Flush.
func (r *Replay) Add(seq uint64, at int64, data []byte) (more bool, err error) {
	next := &r.waiting[r.n]
	fact, err := next.decoder.Decode(data)
	if err != nil {
		return false, fmt.Errorf("cannot replay entry %d: %w", seq, err)
	}
	next.seq, next.at, next.fact = seq, at, fact
	r.n++
	return r.n < replayAhead, nil
}

// Flush applies all that Add has taken.
func (r *Replay) Flush() {
	for i := range r.waiting[:r.n] {
		r.state.Look(r.waiting[i].fact)
	}
	r.state.applying.Lock()
	defer r.state.applying.Unlock()
	for i := range r.waiting[:r.n] {
		w := &r.waiting[i]
		r.state.applyLocked(w.seq, w.at, w.fact)
	}
	r.n = 0
}

// Look brings near what Apply of a fact will change: it reads the index where the
// fact's rows are found, and clears the places that new ones take. To look for some
// facts before the first of them is applied lets their cache misses overlap. It is
// for Apply's own goroutine, and takes no lock: tables are changed by Apply alone,
// and a place that is free is nobody's.
func (s *State) Look(e event.Event) { s.seen += s.look(e) }

func (s *State) look(e event.Event) (seen uint32) {
	switch e := e.(type) {
	case *event.LeadDecided:
		seen = s.leadShard(&e.Lead).table.look((*[16]byte)(&e.Lead))
		seen += s.keys[shardOf(&e.Idempotency.Key)].table.look(&e.Idempotency.Key)
		seen += s.lookDups(e.Sale.Dups)
	case *event.PostSettled:
		seen = s.leadShard(&e.Lead).table.look((*[16]byte)(&e.Lead))
		seen += s.lookDups(e.Sale.Dups)
	case *event.AuctionHeld:
		seen = s.auctionShard(&e.Name).table.look(&e.Name)
		seen += s.keys[shardOf(&e.Idempotency.Key)].table.look(&e.Idempotency.Key)
	case *event.StatusChanged:
		for i := range e.Changes {
			lead := &e.Changes[i].Lead
			seen += s.leadShard(lead).table.look((*[16]byte)(lead))
		}
	}
	return seen
}

func (s *State) lookDups(dups []event.Dup) (seen uint32) {
	for i := range dups {
		key := (*[16]byte)(&dups[i].Key)
		seen += s.dups[shardOf(key)].table.look(key)
	}
	return seen
}
