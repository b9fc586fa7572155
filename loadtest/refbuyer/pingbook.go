package refbuyer

import (
	"hash/maphash"
	"sync"
	"time"
)

// pingBook is what is remembered of pings: under each key a hash of the body
// and how long the bid stands, since all else about an answer comes out of the
// key and the body again. It is a ring beside an index, neither with a pointer
// in it, so that a full book costs the collector nothing.
//
// Keys and bodies are known by 64-bit hashes. Two keys in a full book sharing
// one is a matter of one in billions.
type pingBook struct {
	seed maphash.Seed

	mu      sync.Mutex
	index   map[uint64]uint32 // a key's place in the ring
	ring    []notedPing
	next    int
	stats   pingStats
	second  int64 // the one being counted
	in      int64 // pings in it
	entered int   // places of the ring in use
}

type notedPing struct {
	key, body uint64
	until     int64
}

// pingStats are the members of Stats that pings make.
type pingStats struct {
	pings, bids, noBids, repeated, malformed, contacts, late, peak int64
}

// intent is how a ping will be answered, the first time.
type intent uint8

const (
	toBid intent = iota
	toPass
	toBabble
)

// standing is what a key turned out to be.
type standing uint8

const (
	standsNew standing = iota
	standsRepeated
	standsReused // with another body
)

func newPingBook(limit int) *pingBook {
	return &pingBook{
		seed:  maphash.MakeSeed(),
		index: make(map[uint64]uint32),
		ring:  make([]notedPing, limit),
	}
}

// arrive counts a ping before anything is known of it.
func (p *pingBook) arrive(now time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if second := now.Unix(); second != p.second {
		p.second, p.in = second, 0
	}
	p.in++
	p.stats.peak = max(p.stats.peak, p.in)
}

// note enters a ping, or finds it. It gives the end of the bid that was made
// the first time.
func (p *pingBook) note(key, body []byte, until int64, as intent) (int64, standing) {
	ping := notedPing{maphash.Bytes(p.seed, key), maphash.Bytes(p.seed, body), until}
	p.mu.Lock()
	defer p.mu.Unlock()
	if at, known := p.index[ping.key]; known {
		if p.ring[at].body != ping.body {
			return 0, standsReused
		}
		p.stats.pings++
		p.stats.repeated++
		return p.ring[at].until, standsRepeated
	}
	p.enterLocked(ping)
	p.stats.pings++
	switch as {
	case toBid:
		p.stats.bids++
	case toPass:
		p.stats.noBids++
	default:
		p.stats.malformed++
	}
	return until, standsNew
}

// enterLocked puts a ping in the place of the oldest one.
func (p *pingBook) enterLocked(ping notedPing) {
	if p.entered == len(p.ring) {
		delete(p.index, p.ring[p.next].key)
	} else {
		p.entered++
	}
	p.ring[p.next] = ping
	p.index[ping.key] = uint32(p.next)
	p.next = (p.next + 1) % len(p.ring)
}

// late counts a ping for whose bid nobody waits any more.
func (p *pingBook) late() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.stats.late++
}

// contact counts a ping that carried a person.
func (p *pingBook) contact() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.stats.contacts++
}

func (p *pingBook) snapshot() pingStats {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.stats
}
