package state

import (
	"encoding/binary"
	"sync"

	"pingpost/engine/event"
	"pingpost/engine/market"
)

// idempotencyShard holds the used idempotency keys with their answers, and the keys that requests
// in flight have claimed. The table removes expired keys when it adds a key.
type idempotencyShard struct {
	mu     sync.Mutex
	table  table[idempotencyRow, *idempotencyRow]
	claims claims
	loaded uint64
}

// KeyClaim is the result of ClaimKey.
type KeyClaim struct {
	Lead market.LeadID // of the first use, if that was a lead
	// Seq is the sequence of the event with the answer. It is zero for a lead that
	// memory no longer holds.
	Seq      uint64
	SameBody bool // the body has the fingerprint of the first one
	Wait     <-chan struct{}
}

// IsUsed reports whether an applied event has used the key. If not, and Wait is nil, the
// caller has claimed the key.
func (k *KeyClaim) IsUsed() bool { return k.Seq != 0 || !k.Lead.IsZero() }

// ClaimKey claims an idempotency key for a request. If an event has used the key, it
// returns the first use. If another request holds the claim, it returns a channel that
// closes when that claim ends.
func (s *State) ClaimKey(h *Reservation, key [16]byte, fingerprint uint64, now int64) KeyClaim {
	used, wait := s.claimKey(h, key, now)
	if used.Kind == 0 {
		return KeyClaim{Wait: wait}
	}
	keyed := KeyClaim{SameBody: used.Fingerprint == fingerprint}
	if used.Kind == bySequence {
		keyed.Seq = binary.LittleEndian.Uint64(used.AnsweredBy[:])
		return keyed
	}
	keyed.Lead = market.LeadID(used.AnsweredBy)
	if lead, ok := s.Lead(keyed.Lead); ok {
		keyed.Seq = lead.Seq
	}
	return keyed
}

// claimKey returns the key's row, or a channel to wait on, or claims the key.
func (s *State) claimKey(h *Reservation, key [16]byte, now int64) (used idempotencyRow, wait <-chan struct{}) {
	shard := &s.idempotency[shardIndex(&key)]
	shard.mu.Lock()
	defer shard.mu.Unlock()
	if row := shard.table.get(&key, secondsRoundedDown(now)); row != nil {
		return *row, nil
	}
	if wait, taken := shard.claims.acquire(key); !taken {
		return used, wait
	}
	h.key, h.hasKey = key, true
	s.reservations.Add(1)
	return used, nil
}

func (s *State) releaseKey(key [16]byte) {
	shard := &s.idempotency[shardIndex(&key)]
	shard.mu.Lock()
	shard.claims.release(key)
	shard.mu.Unlock()
}

// rowAnsweredByLead and rowAnsweredBySequence return a row that identifies the answer of a key.
func rowAnsweredByLead(id market.LeadID) idempotencyRow {
	return idempotencyRow{AnsweredBy: answererID(id), Kind: byLead}
}

func rowAnsweredBySequence(seq uint64) idempotencyRow {
	row := idempotencyRow{Kind: bySequence}
	binary.LittleEndian.PutUint64(row.AnsweredBy[:], seq)
	return row
}

// storeKey stores a key's use; by identifies the answer.
func (s *State) storeKey(use *event.Idempotency, row idempotencyRow, seq uint64, at int64) {
	if use.Key == [16]byte{} {
		return
	}
	row.Key, row.Fingerprint, row.Until = use.Key, use.Fingerprint, secondsRoundedUp(use.ExpiresAt)
	shard := &s.idempotency[shardIndex(&use.Key)]
	shard.mu.Lock()
	defer shard.mu.Unlock()
	if seq > shard.loaded {
		shard.table.put(&row, secondsRoundedDown(at))
	}
}
