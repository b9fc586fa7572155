package state

// claims are the keys of one shard that requests in flight have reserved. A
// claim has one owner; others wait for its end. The channel is made by the
// first that waits, so an undisputed claim costs no more than its map entry.
// Guarded by the shard's lock.
type claims map[[16]byte]chan struct{}

// take claims key, or returns the channel that is closed when the present
// claim ends.
func (c *claims) take(key [16]byte) (wait <-chan struct{}, taken bool) {
	if *c == nil {
		*c = make(claims)
	}
	ended, held := (*c)[key]
	if !held {
		(*c)[key] = nil
		return nil, true
	}
	if ended == nil {
		ended = make(chan struct{})
		(*c)[key] = ended
	}
	return ended, false
}

// drop ends the claim on key and wakes those that wait for it.
func (c *claims) drop(key [16]byte) {
	ended, held := (*c)[key]
	if !held {
		panic("BUG: a claim was dropped that nobody holds")
	}
	delete(*c, key)
	if ended != nil {
		close(ended)
	}
}
