package state

import (
	"sync"

	"pingpost/engine/event"
	"pingpost/engine/market"
)

// shardCount is the number of shards of each kind of row. At ten million leads a shard is
// under a megabyte, so copying one is short.
const shardCount = 1024

// shardIndex chooses a shard by the rowKey's last bytes, which tables do not use.
func shardIndex(rowKey *[16]byte) int {
	return (int(rowKey[14])<<8 | int(rowKey[15])) & (shardCount - 1)
}

// duplicateShard remembers the values of accepted leads, and the values that requests in flight
// have claimed.
type duplicateShard struct {
	mu     sync.Mutex
	table  table[duplicateRow, *duplicateRow]
	claims inFlightClaims
	loaded uint64 // the snapshot contains the events up to this one
}

// ClaimDuplicateKeys claims the values by which a duplicate of the lead is recognized, all or
// no value. Full: an accepted lead has one of them, and earlierLead is that lead. Contended: only
// leads in flight have one; claimEnded closes when that lead is decided.
func (s *State) ClaimDuplicateKeys(owner *Reservation, keys []market.DuplicateKey, now int64) (result ReserveResult, earlierLead market.LeadID, claimEnded <-chan struct{}) {
	for i, key := range keys {
		if containsKey(keys[:i], key) {
			continue
		}
		result, earlierLead, claimEnded = s.claimDuplicateKey(key, now)
		if result != Reserved {
			s.endDuplicateKeyClaims(keys[:i])
			return result, earlierLead, claimEnded
		}
	}
	owner.duplicates = append(owner.duplicates, keys...)
	s.reservations.Add(int64(len(keys)))
	return Reserved, market.LeadID{}, nil
}

func (s *State) claimDuplicateKey(key market.DuplicateKey, now int64) (ReserveResult, market.LeadID, <-chan struct{}) {
	shard := &s.duplicates[shardIndex((*[16]byte)(&key))]
	shard.mu.Lock()
	defer shard.mu.Unlock()
	if known := shard.table.get((*[16]byte)(&key), unixSecondsRoundedDown(now)); known != nil {
		return Full, known.Lead, nil
	}
	if wait, taken := shard.claims.claimOrWait(key); !taken {
		return Contended, market.LeadID{}, wait
	}
	return Reserved, market.LeadID{}, nil
}

func (s *State) endDuplicateKeyClaims(keys []market.DuplicateKey) {
	for i, key := range keys {
		if containsKey(keys[:i], key) {
			continue
		}
		shard := &s.duplicates[shardIndex((*[16]byte)(&key))]
		shard.mu.Lock()
		shard.claims.endClaim(key)
		shard.mu.Unlock()
	}
}

func (s *State) storeDuplicateValues(dups []event.DuplicateValue, lead market.LeadID, seq uint64, batchTime int64) {
	for i := range dups {
		shard := &s.duplicates[shardIndex((*[16]byte)(&dups[i].Key))]
		shard.mu.Lock()
		if seq > shard.loaded && !shard.keepsExistingRowLocked(&dups[i], lead, batchTime) {
			shard.table.put(&duplicateRow{Key: dups[i].Key, Lead: lead, Until: unixSecondsRoundedUp(dups[i].Until)}, unixSecondsRoundedDown(batchTime))
		}
		shard.mu.Unlock()
	}
}

// keepsExistingRowLocked reports whether the shard keeps its present row instead of this value of a
// lead that was decided long ago: the value has expired, or a later lead has it.
func (shard *duplicateShard) keepsExistingRowLocked(dup *event.DuplicateValue, lead market.LeadID, batchTime int64) bool {
	if dup.Until <= batchTime {
		return true
	}
	known := shard.table.get((*[16]byte)(&dup.Key), unixSecondsRoundedDown(batchTime))
	return known != nil && known.Lead != lead && known.Until >= unixSecondsRoundedUp(dup.Until)
}

// removeDuplicateValues removes the values of a returned or refused lead.
func (s *State) removeDuplicateValues(dups []event.DuplicateValue, lead market.LeadID, seq uint64) {
	for i := range dups {
		key := (*[16]byte)(&dups[i].Key)
		shard := &s.duplicates[shardIndex(key)]
		shard.mu.Lock()
		if _, position, ok := shard.table.find(key); ok && seq > shard.loaded && shard.table.rows.at(position).Lead == lead {
			shard.table.removeRow(position)
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

// unixSecondsRoundedDown returns the time in Unix seconds, rounded down.
func unixSecondsRoundedDown(unixNanos int64) uint32 { return uint32(unixNanos / 1_000_000_000) }
