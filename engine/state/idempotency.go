package state

import (
	"encoding/binary"

	"pingpost/engine/event"
	"pingpost/engine/market"
)

// idempotencyShard holds the used idempotency keys, each with a reference to its answer. An expired
// key answers nothing more, and its row is removed by sweepAFewExpiredRows in table.go.
type idempotencyShard = rowShard[idempotencyRow, *idempotencyRow]

// IdempotencyKeyClaimResult is the result of ClaimIdempotencyKey.
type IdempotencyKeyClaimResult struct {
	Lead market.LeadID // of the first use, if that was a lead
	// Seq is the sequence of the event with the answer. It is zero for a lead that
	// memory no longer holds.
	Seq      uint64
	SameBody bool // the body has the fingerprint of the first one
	Wait     <-chan struct{}
}

// IsUsed reports whether an applied event has used the key, so that its answer is to be repeated.
// If the key is unused and Wait is nil, the caller has claimed it.
func (k *IdempotencyKeyClaimResult) IsUsed() bool { return k.Seq != 0 || !k.Lead.IsZero() }

// ClaimIdempotencyKey claims an idempotency key for the request of owner. If an applied event has
// used the key, it returns that first use instead. If another request holds a claim on the key,
// the result's Wait closes when that claim ends. The caller then calls again. The error comes from a cold file;
// the key is then not claimed.
func (s *State) ClaimIdempotencyKey(owner *RequestReservations, key [16]byte, bodyFingerprint uint64, nowUnixNanos int64) (IdempotencyKeyClaimResult, error) {
	used, wait := s.findOrClaimIdempotencyKey(owner, key, nowUnixNanos)
	if used.Kind == 0 && wait == nil {
		cold, found, err := findUnexpiredCold[idempotencyRow](s, coldKeys, key, nowUnixNanos)
		if err != nil || found {
			s.ReleaseIdempotencyKeyClaim(owner)
		}
		if err != nil {
			return IdempotencyKeyClaimResult{}, err
		}
		if found {
			used = cold
		}
	}
	if used.Kind == 0 {
		return IdempotencyKeyClaimResult{Wait: wait}, nil
	}
	keyed := IdempotencyKeyClaimResult{SameBody: used.Fingerprint == bodyFingerprint}
	if used.Kind == bySequence {
		keyed.Seq = binary.LittleEndian.Uint64(used.AnsweredBy[:])
		return keyed, nil
	}
	keyed.Lead = market.LeadID(used.AnsweredBy)
	lead, _, err := s.Lead(keyed.Lead)
	keyed.Seq = lead.Seq
	return keyed, err
}

// findOrClaimIdempotencyKey returns the row of a used key in memory, or claims the key for owner. If
// another request holds the claim, claimEnded closes when that claim ends.
func (s *State) findOrClaimIdempotencyKey(owner *RequestReservations, key [16]byte, nowUnixNanos int64) (usedRow idempotencyRow, claimEnded <-chan struct{}) {
	shard := &s.idempotency[shardIndex(&key)]
	shard.mu.Lock()
	defer shard.mu.Unlock()
	if row, found := shard.copyUnexpiredLocked(&key, nowUnixNanos); found {
		return row, nil
	}
	if wait, taken := shard.claims.tryClaim(key); !taken {
		return usedRow, wait
	}
	owner.key, owner.hasKey = key, true
	s.reservations.Add(1)
	return usedRow, nil
}

// newIdempotencyRowAnsweredByLead returns the row of an idempotency key whose answer is the
// decision on a lead. The caller adds the key.
func newIdempotencyRowAnsweredByLead(id market.LeadID) idempotencyRow {
	return idempotencyRow{AnsweredBy: leadIDOrEventSeq(id), Kind: byLead}
}

// newIdempotencyRowAnsweredByEvent returns the row of an idempotency key whose answer is in the
// event with this sequence. The caller adds the key.
func newIdempotencyRowAnsweredByEvent(seq uint64) idempotencyRow {
	row := idempotencyRow{Kind: bySequence}
	binary.LittleEndian.PutUint64(row.AnsweredBy[:], seq)
	return row
}

// storeIdempotencyKey stores the idempotency key that an event used. answerRow refers to the answer. An
// event without a key is skipped, and so is an event seq that the loaded snapshot contains
// already.
func (s *State) storeIdempotencyKey(usedKey *event.RequestIdempotencyKey, answerRow idempotencyRow, seq uint64, batchUnixNanos int64) {
	if usedKey.Key == [16]byte{} {
		return
	}
	answerRow.Key, answerRow.Fingerprint, answerRow.Until = usedKey.Key, usedKey.Fingerprint, unixSecondsRoundedUp(usedKey.ExpiresAt)
	s.idempotency[shardIndex(&usedKey.Key)].putUnlessEventInSnapshot(&answerRow, seq, batchUnixNanos)
}
