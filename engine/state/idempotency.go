package state

import (
	"encoding/binary"

	"pingpost/engine/event"
	"pingpost/engine/market"
)

// idempotencyShard holds the used idempotency keys with their answers.
type idempotencyShard = rowShard[idempotencyRow, *idempotencyRow]

// IdempotencyKeyClaim is the result of ClaimIdempotencyKey.
type IdempotencyKeyClaim struct {
	Lead market.LeadID // of the first use, if that was a lead
	// Seq is the sequence of the event with the answer. It is zero for a lead that
	// memory no longer holds.
	Seq      uint64
	SameBody bool // the body has the fingerprint of the first one
	Wait     <-chan struct{}
}

// IsUsed reports whether an applied event has used the key, so that its answer is to be repeated.
// If the key is unused and Wait is nil, the caller has claimed it.
func (k *IdempotencyKeyClaim) IsUsed() bool { return k.Seq != 0 || !k.Lead.IsZero() }

// ClaimIdempotencyKey claims an idempotency key for the request of owner. If an applied event has
// used the key, it returns that first use instead. If another request holds a claim on the key,
// the result's Wait closes when that claim ends. The caller then calls again.
func (s *State) ClaimIdempotencyKey(owner *Reservation, key [16]byte, bodyFingerprint uint64, now int64) IdempotencyKeyClaim {
	used, wait := s.findOrClaimIdempotencyKey(owner, key, now)
	if used.Kind == 0 {
		return IdempotencyKeyClaim{Wait: wait}
	}
	keyed := IdempotencyKeyClaim{SameBody: used.Fingerprint == bodyFingerprint}
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

// findOrClaimIdempotencyKey returns the row of a used key, or claims an unused key for owner. If
// another request holds the claim, claimEnded closes when that claim ends.
func (s *State) findOrClaimIdempotencyKey(owner *Reservation, key [16]byte, now int64) (used idempotencyRow, claimEnded <-chan struct{}) {
	shard := &s.idempotency[shardIndex(&key)]
	shard.mu.Lock()
	defer shard.mu.Unlock()
	if row, found := shard.copyUnexpiredLocked(&key, now); found {
		return row, nil
	}
	if wait, taken := shard.claims.claimOrWait(key); !taken {
		return used, wait
	}
	owner.key, owner.hasKey = key, true
	s.reservations.Add(1)
	return used, nil
}

// newRowAnsweredByLead returns the row of an idempotency key whose answer is the decision on a
// lead. The caller adds the key.
func newRowAnsweredByLead(id market.LeadID) idempotencyRow {
	return idempotencyRow{AnsweredBy: answerReference(id), Kind: byLead}
}

// newRowAnsweredByEvent returns the row of an idempotency key whose answer is in the event with
// this sequence. The caller adds the key.
func newRowAnsweredByEvent(seq uint64) idempotencyRow {
	row := idempotencyRow{Kind: bySequence}
	binary.LittleEndian.PutUint64(row.AnsweredBy[:], seq)
	return row
}

// storeIdempotencyKey stores the idempotency key that an event used. row refers to the answer. An
// event without a key is skipped, and so is an event seq that the loaded snapshot contains
// already.
func (s *State) storeIdempotencyKey(use *event.IdempotencyUse, row idempotencyRow, seq uint64, batchTime int64) {
	if use.Key == [16]byte{} {
		return
	}
	row.Key, row.Fingerprint, row.Until = use.Key, use.Fingerprint, unixSecondsRoundedUp(use.ExpiresAt)
	s.idempotency[shardIndex(&use.Key)].putUnlessLoaded(&row, seq, batchTime)
}
