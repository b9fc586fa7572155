package state

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

// claimOrWait claims the key if it is free, and returns true. Otherwise it returns a channel that
// closes when the present claim ends. The caller holds the shard's lock.
func (c *inFlightClaims) claimOrWait(key [16]byte) (claimEnded <-chan struct{}, claimed bool) {
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
