package state

import (
	"sync"

	"pingpost/engine/event"
	"pingpost/engine/market"
)

// shards is how many shards each kind of row has: at ten million leads a shard
// is under a megabyte, so copying one is short.
const shards = 1024

// shardOf chooses a shard by the key's last bytes, which tables leave alone.
func shardOf(key *[16]byte) int {
	return (int(key[14])<<8 | int(key[15])) & (shards - 1)
}

// dupShard remembers the values of accepted leads, and which values requests
// in flight have claimed.
type dupShard struct {
	mu     sync.Mutex
	table  table[dupRow, *dupRow]
	claims claims
	loaded uint64 // facts up to this one came with the snapshot
}

// ClaimDups reserves the values by which a duplicate of a lead is known. It
// takes all or none. RoomFull: an accepted lead, first, has one of them.
// RoomBlocked: only a lead in flight has one;
// the channel is closed when it is decided.
func (s *State) ClaimDups(h *Hold, keys []market.DupKey, now int64) (room Room, first market.LeadID, wait <-chan struct{}) {
	for i, key := range keys {
		if holds(keys[:i], key) {
			continue
		}
		room, first, wait = s.claimDup(key, now)
		if room != RoomTaken {
			s.dropDups(keys[:i])
			return room, first, wait
		}
	}
	h.dups = append(h.dups, keys...)
	s.reservations.Add(int64(len(keys)))
	return RoomTaken, market.LeadID{}, nil
}

func (s *State) claimDup(key market.DupKey, now int64) (Room, market.LeadID, <-chan struct{}) {
	shard := &s.dups[shardOf((*[16]byte)(&key))]
	shard.mu.Lock()
	defer shard.mu.Unlock()
	if known := shard.table.get((*[16]byte)(&key), wholeSeconds(now)); known != nil {
		return RoomFull, known.Lead, nil
	}
	if wait, taken := shard.claims.take(key); !taken {
		return RoomBlocked, market.LeadID{}, wait
	}
	return RoomTaken, market.LeadID{}, nil
}

func (s *State) dropDups(keys []market.DupKey) {
	for i, key := range keys {
		if holds(keys[:i], key) {
			continue
		}
		shard := &s.dups[shardOf((*[16]byte)(&key))]
		shard.mu.Lock()
		shard.claims.drop(key)
		shard.mu.Unlock()
	}
}

func (s *State) rememberDups(dups []event.Dup, lead market.LeadID, seq uint64, at int64) {
	for i := range dups {
		shard := &s.dups[shardOf((*[16]byte)(&dups[i].Key))]
		shard.mu.Lock()
		if seq > shard.loaded && !shard.keepsLocked(&dups[i], lead, at) {
			shard.table.put(&dupRow{Key: dups[i].Key, Lead: lead, Until: seconds(dups[i].Until)}, wholeSeconds(at))
		}
		shard.mu.Unlock()
	}
}

// keepsLocked tells whether the shard has better to remember than this value of
// a lead that was decided long ago: it has expired, or a later lead has it.
func (shard *dupShard) keepsLocked(dup *event.Dup, lead market.LeadID, at int64) bool {
	if dup.Until <= at {
		return true
	}
	known := shard.table.get((*[16]byte)(&dup.Key), wholeSeconds(at))
	return known != nil && known.Lead != lead && known.Until >= seconds(dup.Until)
}

// forgetDups takes back what was remembered for a lead that came back.
func (s *State) forgetDups(dups []event.Dup, lead market.LeadID, seq uint64) {
	for i := range dups {
		key := (*[16]byte)(&dups[i].Key)
		shard := &s.dups[shardOf(key)]
		shard.mu.Lock()
		if _, position, ok := shard.table.find(key); ok && seq > shard.loaded && shard.table.rows.at(position).Lead == lead {
			shard.table.remove(position)
		}
		shard.mu.Unlock()
	}
}

func holds(keys []market.DupKey, key market.DupKey) bool {
	for i := range keys {
		if keys[i] == key {
			return true
		}
	}
	return false
}

// wholeSeconds is the time in Unix seconds, rounded down.
func wholeSeconds(nanos int64) uint32 { return uint32(nanos / 1_000_000_000) }
