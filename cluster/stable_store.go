package cluster

import (
	"fmt"
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
	termMu sync.Mutex // while the term changes
}

// Set stores a value.
func (s *stableStore) Set(key, value []byte) error {
	return s.unlessClosed(func() error { return s.StableStore.Set(key, value) })
}

// SetUint64 stores a number. It returns an error if Raft's term would fall, and Raft then ends the program.
// Raft changes the term on two goroutines. A node that goes back to an earlier term may vote twice in it.
func (s *stableStore) SetUint64(key []byte, value uint64) error {
	return s.unlessClosed(func() error {
		if string(key) != termKey {
			return s.StableStore.SetUint64(key, value)
		}
		s.termMu.Lock()
		defer s.termMu.Unlock()
		before, err := s.StableStore.GetUint64(key)
		if err != nil {
			return err
		}
		if value < before {
			return fmt.Errorf("BUG: Raft goes back from term %d to term %d", before, value)
		}
		return s.StableStore.SetUint64(key, value)
	})
}

// termKey is the key of Raft's present term.
const termKey = "CurrentTerm"

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
