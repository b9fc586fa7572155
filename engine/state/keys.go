package state

import (
	"sync"

	"pingpost/engine/event"
	"pingpost/engine/market"
)

// keyShard keeps which lead answered an idempotency key, and which keys are
// being worked on.
type keyShard struct {
	mu     sync.Mutex
	table  table[keyRow, *keyRow]
	claims claims
	loaded uint64
}

// Keyed is what ClaimKey finds.
type Keyed struct {
	Lead market.LeadID // of the first use; zero where the key is new and now claimed
	Same bool          // the body is the first one's
	Wait <-chan struct{}
}

// ClaimKey reserves an idempotency key for a request. Where a fact used it
// already it returns that lead; where another request is at work with it, a
// channel that is closed when that one ends.
func (s *State) ClaimKey(h *Hold, key [16]byte, fingerprint uint64, now int64) Keyed {
	shard := &s.keys[shardOf(&key)]
	shard.mu.Lock()
	defer shard.mu.Unlock()
	if used := shard.table.get(&key, wholeSeconds(now)); used != nil {
		return Keyed{Lead: used.Lead, Same: used.Print == fingerprint}
	}
	if wait, taken := shard.claims.take(key); !taken {
		return Keyed{Wait: wait}
	}
	h.key, h.keyed = key, true
	s.reservations.Add(1)
	return Keyed{}
}

func (s *State) dropKey(key [16]byte) {
	shard := &s.keys[shardOf(&key)]
	shard.mu.Lock()
	shard.claims.drop(key)
	shard.mu.Unlock()
}

func (s *State) rememberKey(use *event.Idempotency, lead market.LeadID, seq uint64, at int64) {
	if use.Key == [16]byte{} {
		return
	}
	shard := &s.keys[shardOf(&use.Key)]
	shard.mu.Lock()
	defer shard.mu.Unlock()
	if seq > shard.loaded {
		shard.table.put(&keyRow{Key: use.Key, Lead: lead, Print: use.Print, Until: seconds(use.Until)}, wholeSeconds(at))
	}
}
