package server

import (
	"hash/maphash"
	"net/netip"
	"sync"
	"time"
)

// strikes counts wrong credentials by the network they come from: a token bucket
// each, of one second's worth, full for whoever has not been seen.
//
// It is asked after a credential has turned out to be wrong, and never of a right
// one: whoever shares an address with guessers, by a NAT or a proxy, is let in at
// their worst as at any other time. What it changes is what a guesser hears, 429 for
// 401. To judge one that is over the limit without looking at its credential was
// rejected: it would turn away the right one, too.
//
// Strangers choose who they are, so the memory is of a fixed size: a network has a
// place in one of many small sets, by a hash under a key of this process, and takes
// over that of whoever will be forgiven first. Who has that many addresses begins
// anew with each of them anyhow.
type strikes[K comparable] struct {
	every time.Duration // that one takes to be forgiven
	most  time.Duration // that all may take together
	seed  maphash.Seed

	mu   sync.Mutex
	sets [strikeSets][strikeWays]strike[K]
}

const (
	strikeSets = 2048
	strikeWays = 8
)

// strike is the standing of one of those who are counted.
type strike[K comparable] struct {
	from     K
	forgiven int64 // Unix nanoseconds: when all is
}

func newStrikes(perSecond int) *strikes[netip.Prefix] {
	return strikesOf[netip.Prefix](time.Second/time.Duration(perSecond), perSecond)
}

// strikesOf are some of which one is forgiven every so often, and so many are taken at
// once.
func strikesOf[K comparable](every time.Duration, atOnce int) *strikes[K] {
	return &strikes[K]{every: every, most: every * time.Duration(atOnce), seed: maphash.MakeSeed()}
}

// take counts one more at now, in Unix nanoseconds. Where there were too many it is
// not counted, and would be after wait, which is what one takes to be forgiven at most:
// a clock that was set back shuts nobody out. All is forgiven at the end.
func (s *strikes[K]) take(from K, now int64) (allowed bool, wait time.Duration, end int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	one := s.placeLocked(from)
	one.forgiven = min(one.forgiven, now+int64(s.most))
	next := max(one.forgiven, now) + int64(s.every)
	if over := time.Duration(next-now) - s.most; over > 0 {
		return false, over, one.forgiven
	}
	one.forgiven = next
	return true, 0, next
}

// back takes one back that take has counted: it was none.
func (s *strikes[K]) back(from K) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.placeLocked(from).forgiven -= int64(s.every)
}

func (s *strikes[K]) placeLocked(from K) *strike[K] {
	set := &s.sets[maphash.Comparable(s.seed, from)%strikeSets]
	first := &set[0]
	for i := range set {
		if set[i].from == from {
			return &set[i]
		}
		if set[i].forgiven < first.forgiven {
			first = &set[i]
		}
	}
	*first = strike[K]{from: from}
	return first
}
