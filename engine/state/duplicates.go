package state

import (
	"pingpost/engine/event"
	"pingpost/engine/market"
)

// shardCount is the number of shards of each kind of row. With ten million leads a shard has less
// than a megabyte, so a snapshot blocks Apply only briefly while it copies one.
const shardCount = 1024

// shardIndex returns the number of the shard of a row's key. It uses the key's last two bytes,
// which the index inside the shard's table does not use.
func shardIndex(rowKey *[16]byte) int {
	return (int(rowKey[14])<<8 | int(rowKey[15])) & (shardCount - 1)
}

// duplicateShard holds the values of accepted leads by which duplicates are recognized.
type duplicateShard = rowShard[duplicateCheckRow, *duplicateCheckRow]

// ClaimAllDuplicateKeys claims all keys for the lead of owner, or none of them. A key is a hash of
// values by which a duplicate lead is recognized.
//
//	Reserved   the claims succeeded
//	Full       an accepted lead, earlierLead, has one of the keys: the lead is a duplicate
//	Contended  a lead in flight has claimed one of the keys; claimEnded closes when its claim ends
//
// The error comes from a cold file; no key is then claimed.
func (s *State) ClaimAllDuplicateKeys(owner *RequestReservations, keys []market.DuplicateKey, nowUnixNanos int64) (result ReserveResult, earlierLead market.LeadID, claimEnded <-chan struct{}, err error) {
	claimed := keys
	result = Reserved
	for i, key := range keys {
		if containsKey(keys[:i], key) {
			continue
		}
		if result, earlierLead, claimEnded = s.claimDuplicateKeyUnlessInMemory(key, nowUnixNanos); result != Reserved {
			claimed = keys[:i]
			break
		}
	}
	// The first key in the list that is not free decides, so a cold row of an earlier key comes before the result.
	lead, found, err := s.findColdDuplicate(claimed, nowUnixNanos)
	if found {
		result, earlierLead, claimEnded = Full, lead, nil
	}
	if result != Reserved || err != nil {
		s.endDuplicateKeyClaims(claimed)
		return result, earlierLead, claimEnded, err
	}
	owner.duplicates = append(owner.duplicates, keys...)
	s.reservations.Add(int64(len(keys)))
	return Reserved, market.LeadID{}, nil, nil
}

// findColdDuplicate returns the lead of the first of the keys that has an unexpired row in the cold files. The caller
// has found no key in memory.
func (s *State) findColdDuplicate(keys []market.DuplicateKey, nowUnixNanos int64) (lead market.LeadID, found bool, err error) {
	if !s.mayHaveColdDuplicate(keys) {
		return lead, false, nil
	}
	for _, key := range keys {
		row, found, err := findUnexpiredCold[duplicateCheckRow](s, coldDuplicates, key, nowUnixNanos)
		if found || err != nil {
			return row.Lead, found, err
		}
	}
	return lead, false, nil
}

// mayHaveColdDuplicate asks the filters of the cold files whether a file may have one of the keys. Each read of a filter
// is a cache miss. So it asks for all keys before it decides, and takes no lock: then the processor's reads overlap.
func (s *State) mayHaveColdDuplicate(keys []market.DuplicateKey) (mayHave bool) {
	for _, file := range s.ColdFiles() {
		for _, key := range keys {
			mayHave = file.MayHave(coldDuplicates, shardIndex((*[16]byte)(&key)), key) || mayHave
		}
	}
	return mayHave
}

// claimDuplicateKeyUnlessInMemory claims one key, with the results of ClaimAllDuplicateKeys. It reads no cold file.
func (s *State) claimDuplicateKeyUnlessInMemory(key market.DuplicateKey, nowUnixNanos int64) (result ReserveResult, earlierLead market.LeadID, claimEnded <-chan struct{}) {
	shard := &s.duplicates[shardIndex((*[16]byte)(&key))]
	shard.mu.Lock()
	defer shard.mu.Unlock()
	if known, found := shard.copyUnexpiredLocked((*[16]byte)(&key), nowUnixNanos); found {
		return Full, known.Lead, nil
	}
	if wait, taken := shard.claims.tryClaim(key); !taken {
		return Contended, market.LeadID{}, wait
	}
	return Reserved, market.LeadID{}, nil
}

// FindLeadByDuplicateKey returns the accepted lead with a duplicate key. found is false if no lead has the key,
// or if the key has expired at nowUnixNanos. The error comes from a cold file.
func (s *State) FindLeadByDuplicateKey(key market.DuplicateKey, nowUnixNanos int64) (lead market.LeadID, found bool, err error) {
	shard := &s.duplicates[shardIndex((*[16]byte)(&key))]
	shard.mu.Lock()
	known, found := shard.copyUnexpiredLocked((*[16]byte)(&key), nowUnixNanos)
	shard.mu.Unlock()
	if !found {
		known, found, err = findUnexpiredCold[duplicateCheckRow](s, coldDuplicates, key, nowUnixNanos)
	}
	return known.Lead, found, err
}

// endDuplicateKeyClaims ends a request's claims on the keys and wakes the requests that wait for
// them. A key that is listed twice was claimed once.
func (s *State) endDuplicateKeyClaims(keys []market.DuplicateKey) {
	for i, key := range keys {
		if containsKey(keys[:i], key) {
			continue
		}
		s.duplicates[shardIndex((*[16]byte)(&key))].endClaim(key)
	}
}

// storeDuplicateValues stores the values of an accepted lead, so that later leads with one of
// them are duplicates. It skips values that isDuplicateExpiredOrOutlivedLocked excludes, and an event seq
// that the loaded snapshot contains already.
func (s *State) storeDuplicateValues(dups []event.DuplicateCheckValue, acceptedLead market.LeadID, seq uint64, batchUnixNanos int64) {
	for i := range dups {
		shard := &s.duplicates[shardIndex((*[16]byte)(&dups[i].Key))]
		shard.mu.Lock()
		if seq > shard.loaded && !isDuplicateExpiredOrOutlivedLocked(shard, &dups[i], acceptedLead, batchUnixNanos) {
			shard.table.put(&duplicateCheckRow{Key: dups[i].Key, Lead: acceptedLead, Until: unixSecondsRoundedUp(dups[i].Until)}, unixSecondsRoundedDown(batchUnixNanos))
		}
		shard.mu.Unlock()
	}
}

// isDuplicateExpiredOrOutlivedLocked reports whether the value of the lead must not be stored. This is so if
// the value has expired, or if another lead has it with the same or a later expiry. Both happen
// when a delivery succeeds long after its lead was decided.
func isDuplicateExpiredOrOutlivedLocked(shard *duplicateShard, dup *event.DuplicateCheckValue, lead market.LeadID, batchUnixNanos int64) (mustSkip bool) {
	if dup.Until <= batchUnixNanos {
		return true
	}
	known, found := shard.copyUnexpiredLocked((*[16]byte)(&dup.Key), batchUnixNanos)
	return found && known.Lead != lead && known.Until >= unixSecondsRoundedUp(dup.Until)
}

// removeDuplicateValuesOfLead removes the duplicate values of a lead whose sale was refused or
// released, so that a second lead of this person is no duplicate. Values that another lead has
// stored since stay. It skips an event seq that the loaded snapshot contains already.
func (s *State) removeDuplicateValuesOfLead(dups []event.DuplicateCheckValue, lead market.LeadID, seq uint64) {
	for i := range dups {
		key := (*[16]byte)(&dups[i].Key)
		shard := &s.duplicates[shardIndex(key)]
		shard.mu.Lock()
		if _, position, ok := shard.table.findWithExpired(key); ok && seq > shard.loaded && shard.table.rows.at(position).Lead == lead {
			shard.table.removeRow(position)
		}
		shard.mu.Unlock()
	}
}

// containsKey reports whether key is in keys. A linear search is enough for these short lists.
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
