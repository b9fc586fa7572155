package engine

import "sync"

// keyedMutex is a lock for each key: a lead whose status changes, or a month of one buyer's
// returns.
//
// A key stays locked until the decision's event is applied, so the next owner decides by
// applied events. A request that locks several keys locks all leads before all months, each
// kind sorted, so there is no deadlock. Only requests in progress have entries.
//
// Rejected: claims in the state's shards, like those of idempotency keys. A batch would hold
// a thousand, and the committer would have to end them. Here the request ends them.
type keyedMutex[K comparable] struct {
	mu     sync.Mutex
	locked map[K]chan struct{} // closed by unlockAll; nil while no request waits
}

// tryLock locks the key and returns nil, or returns a channel that closes when the key is
// unlocked.
func (x *keyedMutex[K]) tryLock(key K) (wait <-chan struct{}) {
	x.mu.Lock()
	defer x.mu.Unlock()
	ended, locked := x.locked[key]
	switch {
	case !locked:
		if x.locked == nil {
			x.locked = make(map[K]chan struct{})
		}
		x.locked[key] = nil
	case ended == nil:
		ended = make(chan struct{})
		x.locked[key] = ended
	}
	return ended
}

// unlockAll unlocks the keys and empties the list.
func (x *keyedMutex[K]) unlockAll(keys *[]K) {
	x.mu.Lock()
	defer x.mu.Unlock()
	for _, key := range *keys {
		ended, locked := x.locked[key]
		if !locked {
			panic("BUG: a key was unlocked that was not locked")
		}
		if ended != nil {
			close(ended)
		}
		delete(x.locked, key)
	}
	*keys = (*keys)[:0]
}
