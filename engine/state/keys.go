package state

import (
	"encoding/binary"
	"sync"

	"pingpost/engine/event"
	"pingpost/engine/market"
)

// keyShard keeps what answered an idempotency key, and which keys are being
// worked on.
type keyShard struct {
	mu     sync.Mutex
	table  table[keyRow, *keyRow]
	claims claims
	loaded uint64
}

// Keyed is what ClaimKey finds.
type Keyed struct {
	Lead market.LeadID // of the first use, where that was a lead
	// Seq is the sequence of the fact that answered; of a lead, zero where memory
	// has forgotten it.
	Seq  uint64
	Same bool // the body is the first one's
	Wait <-chan struct{}
}

// Used tells whether a fact has used the key already. If it has not, and there is
// nothing to wait for, the key is claimed.
func (k *Keyed) Used() bool { return k.Seq != 0 || !k.Lead.IsZero() }

// ClaimKey reserves an idempotency key for a request. Where a fact used it
// already it returns whose that is; where another request is at work with it, a
// channel that is closed when that one ends.
func (s *State) ClaimKey(h *Hold, key [16]byte, fingerprint uint64, now int64) Keyed {
	used, wait := s.claimKey(h, key, now)
	if used.Kind == 0 {
		return Keyed{Wait: wait}
	}
	keyed := Keyed{Same: used.Print == fingerprint}
	if used.Kind == byFact {
		keyed.Seq = binary.LittleEndian.Uint64(used.By[:])
		return keyed
	}
	keyed.Lead = market.LeadID(used.By)
	if lead, ok := s.Lead(keyed.Lead); ok {
		keyed.Seq = lead.Seq
	}
	return keyed
}

// claimKey returns the key's row, or a channel to wait on, or has claimed it.
func (s *State) claimKey(h *Hold, key [16]byte, now int64) (used keyRow, wait <-chan struct{}) {
	shard := &s.keys[shardOf(&key)]
	shard.mu.Lock()
	defer shard.mu.Unlock()
	if row := shard.table.get(&key, wholeSeconds(now)); row != nil {
		return *row, nil
	}
	if wait, taken := shard.claims.take(key); !taken {
		return used, wait
	}
	h.key, h.keyed = key, true
	s.reservations.Add(1)
	return used, nil
}

func (s *State) dropKey(key [16]byte) {
	shard := &s.keys[shardOf(&key)]
	shard.mu.Lock()
	shard.claims.drop(key)
	shard.mu.Unlock()
}

// byLeadOf and bySeq are who answered.
func byLeadOf(id market.LeadID) keyRow { return keyRow{By: answerer(id), Kind: byLead} }

func bySeq(seq uint64) keyRow {
	row := keyRow{Kind: byFact}
	binary.LittleEndian.PutUint64(row.By[:], seq)
	return row
}

// rememberKey enters a key's use; by says who answered.
func (s *State) rememberKey(use *event.Idempotency, by keyRow, seq uint64, at int64) {
	if use.Key == [16]byte{} {
		return
	}
	by.Key, by.Print, by.Until = use.Key, use.Print, seconds(use.Until)
	shard := &s.keys[shardOf(&use.Key)]
	shard.mu.Lock()
	defer shard.mu.Unlock()
	if seq > shard.loaded {
		shard.table.put(&by, wholeSeconds(at))
	}
}
