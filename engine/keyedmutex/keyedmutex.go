// Package keyedmutex has a lock for each key of a set that changes.
package keyedmutex

import "sync"

// Mutex is a lock for each key: a lead whose status changes, or a month of one buyer's
// returns.
//
// A key stays locked until the decision's event is applied, so the next owner decides by
// applied events. A request that locks several keys locks all leads before all months, each
// kind sorted, so there is no deadlock. Only requests in progress have entries.
//
// Rejected: claims in the state's shards, like those of idempotency keys. A batch would hold
// a thousand, and the committer would have to end them. Here the request ends them.
type Mutex[K comparable] struct {
	mu     sync.Mutex
	locked map[K]chan struct{} // closed by UnlockAll; nil while no request waits
}

// TryLock locks the key and returns nil, or returns a channel that closes when the key is
// unlocked.
func (m *Mutex[K]) TryLock(key K) (wait <-chan struct{}) {
	m.mu.Lock()
	defer m.mu.Unlock()
	ended, locked := m.locked[key]
	switch {
	case !locked:
		if m.locked == nil {
			m.locked = make(map[K]chan struct{})
		}
		m.locked[key] = nil
	case ended == nil:
		ended = make(chan struct{})
		m.locked[key] = ended
	}
	return ended
}

// UnlockAll unlocks the keys and empties the list.
func (m *Mutex[K]) UnlockAll(keys *[]K) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, key := range *keys {
		ended, locked := m.locked[key]
		if !locked {
			panic("BUG: a key was unlocked that was not locked")
		}
		if ended != nil {
			close(ended)
		}
		delete(m.locked, key)
	}
	*keys = (*keys)[:0]
}
