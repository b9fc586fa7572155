package cluster

import (
	"sync"
	"time"

	"github.com/hashicorp/raft"
)

// retention decides how long the Raft log keeps entries for nodes that were down. Such a node needs a copy of
// another node's data only if its next entry was deleted.
//
// Raft deletes entries by their number. Under full load that many arrive within seconds. So an entry also
// stays while it is younger than keepFor, and the entries after it have fewer than keepBytes.
type retention struct {
	keepFor   time.Duration
	keepBytes int

	mu    sync.Mutex
	spans []span // in order; together they cover the log
}

// span is a number of consecutive entries of about the same time.
type span struct {
	last         uint64
	began, ended time.Time // of the first and of the last entry
	bytes        int
}

// maxSpans is about the number of spans in keepFor, and in keepBytes.
const maxSpans = 1024

// add remembers the time and the size of entries that were stored.
func (r *retention) add(logs []*raft.Log, now time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, l := range logs {
		r.addSpan(span{l.Index, now, now, len(l.Data)})
	}
}

func (r *retention) addSpan(s span) {
	if n := len(r.spans); n > 0 {
		last := &r.spans[n-1]
		if s.began.Sub(last.began) < r.keepFor/maxSpans && last.bytes < r.keepBytes/maxSpans {
			last.last, last.ended, last.bytes = s.last, s.ended, last.bytes+s.bytes
			return
		}
	}
	r.spans = append(r.spans, s)
}

// load reads a sample of the entries of a Raft log, which may have a gigabyte.
func (r *retention) load(logs raft.LogStore, now time.Time) error {
	first, err := logs.FirstIndex()
	if err != nil {
		return err
	}
	last, err := logs.LastIndex()
	if err != nil || last == 0 {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	step := (last-first)/maxSpans + 1
	for i := first; i <= last; i += step {
		var l raft.Log
		if err := logs.GetLog(i, &l); err != nil {
			return err
		}
		at := l.AppendedAt
		if at.After(now) || at.IsZero() {
			at = now
		}
		covered := min(i+step, last+1) - i
		r.addSpan(span{i + covered - 1, at, at, len(l.Data) * int(covered)})
	}
	return nil
}

// deletable returns the last entry that may be deleted if Raft wants to delete all up to last; 0 means none.
func (r *retention) deletable(last uint64, now time.Time) uint64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	bytes := 0
	for i := len(r.spans) - 1; i >= 0; i-- {
		if now.Sub(r.spans[i].ended) > r.keepFor || bytes >= r.keepBytes {
			return min(last, r.spans[i].last)
		}
		bytes += r.spans[i].bytes
	}
	return 0
}

// deletedTo forgets the entries up to last.
func (r *retention) deletedTo(last uint64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for len(r.spans) > 0 && r.spans[0].last <= last {
		r.spans = r.spans[1:]
	}
}

// deletedFrom forgets the entries from first on.
func (r *retention) deletedFrom(first uint64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for i := range r.spans {
		r.spans[i].last = min(r.spans[i].last, first-1)
	}
}
