package state

import "sync"

// rowShard holds the rows of one kind for its part of all keys, and the keys of this part that
// requests in flight have claimed.
type rowShard[R any, P snapshotRow[R]] struct {
	mu     sync.Mutex
	table  table[R, P]
	claims inFlightClaims
	loaded uint64 // the snapshot contains the events up to this one
}

// copyUnexpiredLocked returns a copy of the row with this key, or false if it is missing or has
// expired at nowUnixNanos. The caller holds mu.
func (shard *rowShard[R, P]) copyUnexpiredLocked(key *[16]byte, nowUnixNanos int64) (row R, found bool) {
	if known := shard.table.get(key, unixSecondsRoundedDown(nowUnixNanos)); known != nil {
		return *known, true
	}
	return row, false
}

// endClaim ends a request's claim on the key and wakes the requests that wait for it.
func (shard *rowShard[R, P]) endClaim(key [16]byte) {
	shard.mu.Lock()
	shard.claims.endClaim(key)
	shard.mu.Unlock()
}

// putUnlessEventInSnapshot stores the event's row, unless the loaded snapshot contains the event seq.
func (shard *rowShard[R, P]) putUnlessEventInSnapshot(row *R, seq uint64, batchUnixNanos int64) {
	shard.mu.Lock()
	defer shard.mu.Unlock()
	if seq > shard.loaded {
		shard.table.put(row, unixSecondsRoundedDown(batchUnixNanos))
	}
}

// editUnlessEventInSnapshot calls edit with the row that has this key, if there is one. It has no effect if
// the loaded snapshot contains the event seq.
func (shard *rowShard[R, P]) editUnlessEventInSnapshot(key *[16]byte, seq uint64, edit func(P)) {
	shard.mu.Lock()
	defer shard.mu.Unlock()
	if seq > shard.loaded {
		shard.table.editRow(key, edit)
	}
}

// rowCountWithExpired returns the number of rows, including expired ones that are still present.
func (shard *rowShard[R, P]) rowCountWithExpired() int {
	shard.mu.Lock()
	defer shard.mu.Unlock()
	return shard.table.rows.n
}

// inFlightClaims holds the keys of one shard that requests in flight have claimed. A claim has
// one owner; other requests wait for its release. The first waiter creates the channel, so a
// claim without waiters costs only its element here. The shard's lock guards the list.
//
// It is a list and not a map: keyed hashes spread the leads in flight over all shards, so a list
// rarely has two elements. Ten thousand connections make a few dozen. A map costs every lead
// three cache misses more.
type inFlightClaims []inFlightClaim

// inFlightClaim is one request's claim on a key.
type inFlightClaim struct {
	key      [16]byte
	released chan struct{} // nil: no request waits
}

// tryClaim claims the key if it is free, and returns true. Otherwise it returns a channel that
// closes when the present claim ends. The caller holds the shard's lock.
func (c *inFlightClaims) tryClaim(key [16]byte) (claimEnded <-chan struct{}, claimed bool) {
	i := c.indexOf(&key)
	if i < 0 {
		*c = append(*c, inFlightClaim{key: key})
		return nil, true
	}
	held := &(*c)[i]
	if held.released == nil {
		held.released = make(chan struct{})
	}
	return held.released, false
}

// endClaim ends the claim on the key and wakes the requests that wait for it. A key without a
// claim is a bug and panics.
func (c *inFlightClaims) endClaim(key [16]byte) {
	i := c.indexOf(&key)
	if i < 0 {
		panic("BUG: release of a key that is not claimed")
	}
	if ended := (*c)[i].released; ended != nil {
		close(ended)
	}
	last := len(*c) - 1
	(*c)[i] = (*c)[last]
	(*c)[last] = inFlightClaim{}
	*c = (*c)[:last]
}

// indexOf returns the index of the claim on the key, or -1.
func (c inFlightClaims) indexOf(key *[16]byte) int {
	for i := range c {
		if c[i].key == *key {
			return i
		}
	}
	return -1
}
