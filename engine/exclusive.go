package engine

import "sync"

// exclusive keeps what each of many is being decided about by one at a time: a
// lead whose status changes, a month's returns of one buyer.
//
// What is taken is held until the decision's fact has been applied, so whoever
// comes after decides by facts. Who takes several takes them in one order (all
// leads before all months, each kind sorted), so nobody waits in a circle. Only
// requests in flight have entries.
//
// Rejected: claims in the state's shards, as idempotency keys have them. A batch
// would hold a thousand, and end them on the committer's time; these are ended by
// the verb that waited for its fact.
type exclusive[K comparable] struct {
	mu    sync.Mutex
	taken map[K]chan struct{} // nil while nobody waits
}

// take takes key, or returns the channel that is closed when it is let go.
func (x *exclusive[K]) take(key K) (wait <-chan struct{}) {
	x.mu.Lock()
	defer x.mu.Unlock()
	ended, taken := x.taken[key]
	switch {
	case !taken:
		if x.taken == nil {
			x.taken = make(map[K]chan struct{})
		}
		x.taken[key] = nil
	case ended == nil:
		ended = make(chan struct{})
		x.taken[key] = ended
	}
	return ended
}

// drop lets go of all keys, and empties the list.
func (x *exclusive[K]) drop(keys *[]K) {
	x.mu.Lock()
	defer x.mu.Unlock()
	for _, key := range *keys {
		ended, taken := x.taken[key]
		if !taken {
			panic("BUG: what nobody has taken was let go")
		}
		if ended != nil {
			close(ended)
		}
		delete(x.taken, key)
	}
	*keys = (*keys)[:0]
}
