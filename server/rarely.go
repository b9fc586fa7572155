package server

import (
	"sync/atomic"
	"time"
)

// rarely tells of what may happen thousands of times a second in the same way: at
// most once in tellEvery, with how often it did.
type rarely struct {
	untold atomic.Int64 // since the last line
	told   atomic.Int64 // Unix nanoseconds: when that line was written
}

// again counts one more. Where tell says so, a line is due: it is about so many.
func (r *rarely) again() (count int64, tell bool) {
	r.untold.Add(1)
	now, last := time.Now().UnixNano(), r.told.Load()
	if now-last < int64(tellEvery) || !r.told.CompareAndSwap(last, now) {
		return 0, false
	}
	return r.untold.Swap(0), true
}
