package state

import (
	"sync/atomic"
	"time"
)

// LastUse is when a credential opened the exchange last, to the minute. It is a mark
// beside the facts, in no snapshot and no hash: nothing is decided by it.
//
// One minute's requests write it once and read it otherwise, so they share its line
// of the processor's cache, which it has for itself: no lock, no allocation.
type LastUse struct {
	minute atomic.Int64 // of Unix time; zero: not that we know
	_      [56]byte
}

// Note says that it is used at this moment, in Unix nanoseconds. Of two at once, at
// the turn of a minute, either may stay.
func (u *LastUse) Note(at int64) {
	if minute := at / int64(time.Minute); minute > u.minute.Load() {
		u.minute.Store(minute)
	}
}

// At is the beginning of that minute in Unix nanoseconds; zero: not used, as far as is
// known.
func (u *LastUse) At() int64 { return u.minute.Load() * int64(time.Minute) }

// LastUses are those of all live credentials that were used, by the credential's hash.
func (s *State) LastUses() map[[32]byte]int64 {
	s.access.mu.RLock()
	defer s.access.mu.RUnlock()
	uses := make(map[[32]byte]int64)
	for hash, c := range s.access.byHash {
		if at := c.Used.At(); at != 0 {
			uses[hash] = at
		}
	}
	return uses
}
