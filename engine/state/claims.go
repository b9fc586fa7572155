package state

// claims are the keys of one shard that requests in flight have reserved. A
// claim has one owner; others wait for its end. The channel is made by the
// first that waits, so an undisputed claim costs no more than its place here.
// Guarded by the shard's lock.
//
// A list and not a map: leads in flight are spread over all shards by hashes
// that nobody can choose, so there are hardly ever two here, and ten thousand
// connections make a few dozen. A map costs every lead three cache misses more.
type claims []claim

type claim struct {
	key   [16]byte
	ended chan struct{} // nil while nobody waits
}

// take claims key, or returns the channel that is closed when the present
// claim ends.
func (c *claims) take(key [16]byte) (wait <-chan struct{}, taken bool) {
	i := c.find(&key)
	if i < 0 {
		*c = append(*c, claim{key: key})
		return nil, true
	}
	held := &(*c)[i]
	if held.ended == nil {
		held.ended = make(chan struct{})
	}
	return held.ended, false
}

// drop ends the claim on key and wakes those that wait for it.
func (c *claims) drop(key [16]byte) {
	i := c.find(&key)
	if i < 0 {
		panic("BUG: a claim was dropped that nobody holds")
	}
	if ended := (*c)[i].ended; ended != nil {
		close(ended)
	}
	last := len(*c) - 1
	(*c)[i] = (*c)[last]
	(*c)[last] = claim{}
	*c = (*c)[:last]
}

func (c claims) find(key *[16]byte) int {
	for i := range c {
		if c[i].key == *key {
			return i
		}
	}
	return -1
}
