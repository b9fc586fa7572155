package state

import (
	"sync"

	"pingpost/engine/event"
	"pingpost/engine/market"
)

// shardCount is the number of shards of each kind of row. At ten million leads a shard is
// under a megabyte, so copying one is short.
const shardCount = 1024

// shardIndex chooses a shard by the key's last bytes, which tables do not use.
func shardIndex(key *[16]byte) int {
	return (int(key[14])<<8 | int(key[15])) & (shardCount - 1)
}

// duplicateShard remembers the values of accepted leads, and the values that requests in flight
// have claimed.
type duplicateShard struct {
	mu     sync.Mutex
	table  table[duplicateRow, *duplicateRow]
	claims claims
	loaded uint64 // the snapshot contains the events up to this one
}

// ClaimDuplicates claims the values by which a duplicate of the lead is recognized, all or
// no value. Full: an accepted lead has one of them, and first is that lead. Contended: only
// leads in flight have one; wait closes when that lead is decided.
func (s *State) ClaimDuplicates(h *Reservation, keys []market.DuplicateKey, now int64) (result ReserveResult, first market.LeadID, wait <-chan struct{}) {
	for i, key := range keys {
		if containsKey(keys[:i], key) {
			continue
		}
		result, first, wait = s.claimDuplicate(key, now)
		if result != Reserved {
			s.releaseDuplicates(keys[:i])
			return result, first, wait
		}
	}
	h.duplicates = append(h.duplicates, keys...)
	s.reservations.Add(int64(len(keys)))
	return Reserved, market.LeadID{}, nil
}

func (s *State) claimDuplicate(key market.DuplicateKey, now int64) (ReserveResult, market.LeadID, <-chan struct{}) {
	shard := &s.duplicates[shardIndex((*[16]byte)(&key))]
	shard.mu.Lock()
	defer shard.mu.Unlock()
	if known := shard.table.get((*[16]byte)(&key), secondsRoundedDown(now)); known != nil {
		return Full, known.Lead, nil
	}
	if wait, taken := shard.claims.acquire(key); !taken {
		return Contended, market.LeadID{}, wait
	}
	return Reserved, market.LeadID{}, nil
}

func (s *State) releaseDuplicates(keys []market.DuplicateKey) {
	for i, key := range keys {
		if containsKey(keys[:i], key) {
			continue
		}
		shard := &s.duplicates[shardIndex((*[16]byte)(&key))]
		shard.mu.Lock()
		shard.claims.release(key)
		shard.mu.Unlock()
	}
}

func (s *State) storeDuplicates(dups []event.DuplicateValue, lead market.LeadID, seq uint64, at int64) {
	for i := range dups {
		shard := &s.duplicates[shardIndex((*[16]byte)(&dups[i].Key))]
		shard.mu.Lock()
		if seq > shard.loaded && !shard.keepsCurrentLocked(&dups[i], lead, at) {
			shard.table.put(&duplicateRow{Key: dups[i].Key, Lead: lead, Until: secondsRoundedUp(dups[i].Until)}, secondsRoundedDown(at))
		}
		shard.mu.Unlock()
	}
}

// keepsCurrentLocked reports whether the shard keeps its present row instead of this value of a
// lead that was decided long ago: the value has expired, or a later lead has it.
func (shard *duplicateShard) keepsCurrentLocked(dup *event.DuplicateValue, lead market.LeadID, at int64) bool {
	if dup.Until <= at {
		return true
	}
	known := shard.table.get((*[16]byte)(&dup.Key), secondsRoundedDown(at))
	return known != nil && known.Lead != lead && known.Until >= secondsRoundedUp(dup.Until)
}

// removeDuplicates removes the values of a returned or refused lead.
func (s *State) removeDuplicates(dups []event.DuplicateValue, lead market.LeadID, seq uint64) {
	for i := range dups {
		key := (*[16]byte)(&dups[i].Key)
		shard := &s.duplicates[shardIndex(key)]
		shard.mu.Lock()
		if _, position, ok := shard.table.find(key); ok && seq > shard.loaded && shard.table.rows.at(position).Lead == lead {
			shard.table.remove(position)
		}
		shard.mu.Unlock()
	}
}

func containsKey(keys []market.DuplicateKey, key market.DuplicateKey) bool {
	for i := range keys {
		if keys[i] == key {
			return true
		}
	}
	return false
}

// secondsRoundedDown returns the time in Unix seconds, rounded down.
func secondsRoundedDown(nanos int64) uint32 { return uint32(nanos / 1_000_000_000) }
