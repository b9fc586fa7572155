package state

import (
	"fmt"

	"pingpost/engine/event"
)

// LogReplay applies log entries to a state at a start of the process. It collects several entries
// and prefetches the memory that all of them will change before it applies the first. Nearly each
// access is a cache miss. Independent misses overlap, so they take a fraction of the time of the
// same misses in a row. The prefetch changes no result: Apply determines the effects and their
// order.
//
// (Rejected: one goroutine for each range of shards. It would be as good for rows, but posts and
// the global state need the order of the log.)
//
// QueueEntry does not touch the state. So while one goroutine applies the entries of a LogReplay,
// another one can queue the following entries in a second LogReplay of the same state. A single
// LogReplay is used by one goroutine at a time, and no other goroutine uses the state meanwhile.
type LogReplay struct {
	state   *State
	entries []queuedReplayEntry // the first n are queued; the others keep the memory of their decoders
	n       int
	records []byte // the data of the queued entries, to which the events refer
}

// queuedReplayEntry is a log entry that LogReplay has decoded and not applied yet.
type queuedReplayEntry struct {
	decoder event.Decoder
	seq     uint64
	at      int64
	event   event.Event
	isLong  bool
}

const (
	// A queue is full with replayQueueEntries entries, or with entries of replayQueueBytes bytes. Its entries take half
	// a millisecond to apply, and waking the goroutine that applies them takes about ten microseconds. Shorter queues
	// would wake it more often.
	replayQueueEntries = 512
	replayQueueBytes   = 1 << 20

	// A decoder keeps the memory of its largest event for later events. After a record of more than this many bytes,
	// a new decoder replaces it, so that a few large events do not fill the memory.
	longReplayRecord = 4 << 10

	// prefetchAhead is the number of entries whose memory is prefetched before the first of them is applied. It is
	// high enough that cache misses overlap, and low enough that the prefetched memory is still in the cache when it
	// is used.
	prefetchAhead = 32
)

// NewLogReplay returns a LogReplay. Its first entry must be the one after the state's position.
func (s *State) NewLogReplay() *LogReplay { return &LogReplay{state: s} }

// QueueEntry decodes the log entry seq and queues it; record is the entry's data, which it copies. If it
// cannot decode record, it returns an error and queues no entry. hasRoomForMore is false if the queue is
// full: the caller must then call ApplyQueuedEntries before the next QueueEntry.
func (r *LogReplay) QueueEntry(seq uint64, batchUnixNanos int64, record []byte) (hasRoomForMore bool, err error) {
	if r.n == len(r.entries) {
		r.entries = append(r.entries, queuedReplayEntry{decoder: event.Decoder{ForReplay: true}})
	}
	next, before := &r.entries[r.n], len(r.records)
	r.records = append(r.records, record...) // a larger array leaves the old one to the events that refer to it
	decoded, err := next.decoder.Decode(r.records[before:len(r.records):len(r.records)])
	if err != nil {
		r.records = r.records[:before]
		return false, fmt.Errorf("cannot replay log entry %d: %w", seq, err)
	}
	next.seq, next.at, next.event, next.isLong = seq, batchUnixNanos, decoded, len(record) > longReplayRecord
	r.n++
	return r.n < replayQueueEntries && len(r.records) < replayQueueBytes, nil
}

// ApplyQueuedEntries applies all queued entries in order and empties the queue.
func (r *LogReplay) ApplyQueuedEntries() {
	r.state.applying.Lock()
	defer r.state.applying.Unlock()
	for queued := r.entries[:r.n]; len(queued) > 0; {
		next := min(prefetchAhead, len(queued))
		r.prefetchAndApply(queued[:next])
		queued = queued[next:]
	}
	r.n, r.records = 0, r.records[:0]
}

// prefetchAndApply applies the entries in order. The caller holds the state's lock.
func (r *LogReplay) prefetchAndApply(entries []queuedReplayEntry) {
	for i := range entries {
		r.state.prefetched += r.state.prefetchRowsOfEvent(entries[i].event)
	}
	for i := range entries {
		w := &entries[i]
		r.state.applyLocked(w.seq, w.at, w.event)
		if w.isLong {
			w.decoder, w.event = event.Decoder{ForReplay: true}, nil
		}
	}
}

// PrefetchIntoCPUCache loads the memory that Apply of e will change into the CPU cache: the index
// entries of its rows, and the memory of new rows. A caller that prefetches several events before
// the first Apply lets their cache misses overlap.
//
// Only Apply's goroutine may call it. It takes no lock of a shard, because no reader uses unused memory of a list.
func (s *State) PrefetchIntoCPUCache(e event.Event) {
	s.applying.Lock()
	defer s.applying.Unlock()
	s.prefetched += s.prefetchRowsOfEvent(e)
}

// prefetchRowsOfEvent reads the index entries of the event's rows, and writes the memory of their
// next new rows. The sum has no meaning: returning it keeps the compiler from removing the reads.
func (s *State) prefetchRowsOfEvent(e event.Event) (unusedSum uint32) {
	switch e := e.(type) {
	case *event.LeadDecided:
		unusedSum = s.leadShardOf(&e.Lead).table.prefetchForPut((*[16]byte)(&e.Lead))
		unusedSum += s.idempotency[shardIndex(&e.Idempotency.Key)].table.prefetchForPut(&e.Idempotency.Key)
		unusedSum += s.prefetchDuplicateRows(e.Sale.Duplicates)
	case *event.PostSettled:
		unusedSum = s.leadShardOf(&e.Lead).table.prefetchForPut((*[16]byte)(&e.Lead))
		unusedSum += s.prefetchDuplicateRows(e.Sale.Duplicates)
	case *event.PingAuctionCompleted:
		unusedSum = s.auctionShardOf(&e.Name).table.prefetchForPut(&e.Name)
		unusedSum += s.idempotency[shardIndex(&e.Idempotency.Key)].table.prefetchForPut(&e.Idempotency.Key)
	case *event.LeadStatusChangesDecided:
		for i := range e.Changes {
			lead := &e.Changes[i].Lead
			unusedSum += s.leadShardOf(lead).table.prefetchForPut((*[16]byte)(lead))
		}
	}
	return unusedSum
}

// prefetchDuplicateRows reads the index entries of duplicate values. The sum has no meaning:
// returning it keeps the compiler from removing the reads.
func (s *State) prefetchDuplicateRows(dups []event.DuplicateCheckValue) (unusedSum uint32) {
	for i := range dups {
		key := (*[16]byte)(&dups[i].Key)
		unusedSum += s.duplicates[shardIndex(key)].table.prefetchForPut(key)
	}
	return unusedSum
}
