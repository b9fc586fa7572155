// Package keyedmutex provides one lock for each key, where keys come and go with the requests.
package keyedmutex

import "sync"

// Mutex locks keys of type K independently of each other. The engine has two: for leads whose
// status changes, and for months in which a buyer returns leads.
//
// A request keeps its keys locked until its event is applied, so the next owner of a key decides
// by applied events. A request that locks several keys locks all leads before all months, each
// kind in sorted order, so there is no deadlock. Only locked keys occupy memory.
//
// Rejected: claims in the state's shards, like those of idempotency keys. A batch would hold a
// thousand, and the committer would have to end them. Here the request ends them.
type Mutex[K comparable] struct {
	mu     sync.Mutex
	locked map[K]chan struct{} // closed by UnlockAndEmpty; nil while no request waits
}

// TryLock locks the key and returns nil. If the key is locked already, it returns a channel that
// closes when the key is unlocked; the caller then tries again.
func (m *Mutex[K]) TryLock(key K) (waitForUnlock <-chan struct{}) {
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

// UnlockAndEmpty unlocks all keys in the list and empties the list. It panics if a key is not locked.
func (m *Mutex[K]) UnlockAndEmpty(keys *[]K) {
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
