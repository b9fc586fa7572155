package refbuyer

import (
	"hash/maphash"
	"sync"
	"time"
)

// pingBook remembers pings: by key, a hash of the body and the end of the bid. The rest of
// an answer follows from the key and the body. It is a ring with an index, without
// pointers, so that a full book costs the garbage collector no time.
//
// Keys and bodies are identified by 64-bit hashes. The probability that two keys in a full
// book collide is one in billions.
type pingBook struct {
	seed maphash.Seed

	mu       sync.Mutex
	index    map[uint64]uint32 // position of a key in the ring
	ring     []storedPing
	next     int
	stats    Stats // only the members that the book counts
	second   int64 // the current second
	pingsNow int64 // pings in this second
}

type storedPing struct {
	key, body uint64
	until     int64
}

// intent is the kind of the first answer to a ping.
type intent uint8

const (
	toBid intent = iota
	toPass
	toDamage
)

// repetition is the state of a key.
type repetition uint8

const (
	firstUse repetition = iota
	repeatedKey
	reusedKey // with another body
)

func newPingBook(limit int) *pingBook {
	return &pingBook{
		seed:  maphash.MakeSeed(),
		index: make(map[uint64]uint32),
		ring:  make([]storedPing, limit),
	}
}

// countArrival counts a ping before it is read.
func (p *pingBook) countArrival(now time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if second := now.Unix(); second != p.second {
		p.second, p.pingsNow = second, 0
	}
	p.pingsNow++
	p.stats.PeakPings = max(p.stats.PeakPings, p.pingsNow)
}

// recordPing records a ping or finds it. It returns the end of the first answer's bid.
func (p *pingBook) recordPing(key, body []byte, until int64, as intent) (int64, repetition) {
	ping := storedPing{maphash.Bytes(p.seed, key), maphash.Bytes(p.seed, body), until}
	p.mu.Lock()
	defer p.mu.Unlock()
	if at, known := p.index[ping.key]; known {
		if p.ring[at].body != ping.body {
			return 0, reusedKey
		}
		p.stats.Pings++
		p.stats.PingsReplayed++
		return p.ring[at].until, repeatedKey
	}
	p.replaceOldestLocked(ping)
	p.stats.Pings++
	switch as {
	case toBid:
		p.stats.Bids++
	case toPass:
		p.stats.NoBids++
	default:
		p.stats.Malformed++
	}
	return until, firstUse
}

// replaceOldestLocked records a ping. It replaces the oldest one.
func (p *pingBook) replaceOldestLocked(ping storedPing) {
	delete(p.index, p.ring[p.next].key) // an unused position has no key
	p.ring[p.next] = ping
	p.index[ping.key] = uint32(p.next)
	p.next = (p.next + 1) % len(p.ring)
}

func (p *pingBook) snapshot() Stats {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.stats
}
