package cluster

import (
	"sync"

	"github.com/hashicorp/raft"
)

// stableStore stores Raft's term and vote, and can be closed while Raft still handles a heartbeat.
//
// Raft panics if it cannot store its term, and its Shutdown does not wait for heartbeats in progress. So a
// closed store reports success without storing. That loses only the term of a heartbeat: Raft stores
// votes on its main goroutine, which has ended.
type stableStore struct {
	raft.StableStore
	mu     sync.RWMutex
	closed bool
}

// Set stores a value.
func (s *stableStore) Set(key, value []byte) error {
	return s.unlessClosed(func() error { return s.StableStore.Set(key, value) })
}

// SetUint64 stores a number.
func (s *stableStore) SetUint64(key []byte, value uint64) error {
	return s.unlessClosed(func() error { return s.StableStore.SetUint64(key, value) })
}

func (s *stableStore) unlessClosed(store func() error) error {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if s.closed {
		return nil
	}
	return store()
}

// close makes later calls return at once, and waits for those in progress.
func (s *stableStore) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
}
