package state

import (
	"sync"

	"pingpost/engine/event"
	"pingpost/engine/market"
)

// shards is the number of shards of each kind of row. At ten million leads a shard is
// under a megabyte, so copying one is short.
const shards = 1024

// shardIndex chooses a shard by the key's last bytes, which tables do not use.
func shardIndex(key *[16]byte) int {
	return (int(key[14])<<8 | int(key[15])) & (shards - 1)
}

// dupShard remembers the values of accepted leads, and the values that requests in flight
// have claimed.
type dupShard struct {
	mu     sync.Mutex
	table  table[dupRow, *dupRow]
	claims claims
	loaded uint64 // the snapshot contains the events up to this one
}

// ClaimDuplicates claims the values by which a duplicate of the lead is recognized, all or
// none. Full: the accepted lead first has one of them. Contended: only a lead in flight
// has one; the channel closes when that lead is decided.
func (s *State) ClaimDuplicates(h *Reservation, keys []market.DuplicateKey, now int64) (result ReserveResult, first market.LeadID, wait <-chan struct{}) {
	for i, key := range keys {
		if holds(keys[:i], key) {
			continue
		}
		result, first, wait = s.claimDup(key, now)
		if result != Reserved {
			s.releaseDups(keys[:i])
			return result, first, wait
		}
	}
	h.dups = append(h.dups, keys...)
	s.reservations.Add(int64(len(keys)))
	return Reserved, market.LeadID{}, nil
}

func (s *State) claimDup(key market.DuplicateKey, now int64) (ReserveResult, market.LeadID, <-chan struct{}) {
	shard := &s.dups[shardIndex((*[16]byte)(&key))]
	shard.mu.Lock()
	defer shard.mu.Unlock()
	if known := shard.table.get((*[16]byte)(&key), wholeSeconds(now)); known != nil {
		return Full, known.Lead, nil
	}
	if wait, taken := shard.claims.claim(key); !taken {
		return Contended, market.LeadID{}, wait
	}
	return Reserved, market.LeadID{}, nil
}

func (s *State) releaseDups(keys []market.DuplicateKey) {
	for i, key := range keys {
		if holds(keys[:i], key) {
			continue
		}
		shard := &s.dups[shardIndex((*[16]byte)(&key))]
		shard.mu.Lock()
		shard.claims.release(key)
		shard.mu.Unlock()
	}
}

func (s *State) rememberDups(dups []event.Dup, lead market.LeadID, seq uint64, at int64) {
	for i := range dups {
		shard := &s.dups[shardIndex((*[16]byte)(&dups[i].Key))]
		shard.mu.Lock()
		if seq > shard.loaded && !shard.keepsLocked(&dups[i], lead, at) {
			shard.table.put(&dupRow{Key: dups[i].Key, Lead: lead, Until: seconds(dups[i].Until)}, wholeSeconds(at))
		}
		shard.mu.Unlock()
	}
}

// keepsLocked reports whether the shard keeps its present row instead of this value of a
// lead that was decided long ago: the value has expired, or a later lead has it.
func (shard *dupShard) keepsLocked(dup *event.Dup, lead market.LeadID, at int64) bool {
	if dup.Until <= at {
		return true
	}
	known := shard.table.get((*[16]byte)(&dup.Key), wholeSeconds(at))
	return known != nil && known.Lead != lead && known.Until >= seconds(dup.Until)
}

// forgetDups removes the values of a returned or refused lead.
func (s *State) forgetDups(dups []event.Dup, lead market.LeadID, seq uint64) {
	for i := range dups {
		key := (*[16]byte)(&dups[i].Key)
		shard := &s.dups[shardIndex(key)]
		shard.mu.Lock()
		if _, position, ok := shard.table.find(key); ok && seq > shard.loaded && shard.table.rows.at(position).Lead == lead {
			shard.table.remove(position)
		}
		shard.mu.Unlock()
	}
}

func holds(keys []market.DuplicateKey, key market.DuplicateKey) bool {
	for i := range keys {
		if keys[i] == key {
			return true
		}
	}
	return false
}

// wholeSeconds returns the time in Unix seconds, rounded down.
func wholeSeconds(nanos int64) uint32 { return uint32(nanos / 1_000_000_000) }
