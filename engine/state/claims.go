package state

// inFlightClaims are the keys of one shard that requests in flight have claimed. A claim has one
// owner; other requests wait for its release. The first waiter makes the channel, so an
// undisputed claim costs only its element here. The shard's lock guards it.
//
// It is a list and not a map: keyed hashes spread the leads in flight over all shards, so
// a list rarely has two elements. Ten thousand connections make a few dozen. A map costs
// every lead three cache misses more.
type inFlightClaims []inFlightClaim

type inFlightClaim struct {
	key      [16]byte
	released chan struct{} // nil: no request waits
}

// claimOrWait claims the key, or returns the channel that closes when the present claim is
// released.
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

// endClaim ends the claim on the key and wakes the waiting requests.
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

func (c inFlightClaims) indexOf(key *[16]byte) int {
	for i := range c {
		if c[i].key == *key {
			return i
		}
	}
	return -1
}
