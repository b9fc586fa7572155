package engine

import (
	"bytes"
	"sync"

	"pingpost/engine/event"
	"pingpost/engine/market"
)

// Most posts come within a second of their ping. These bound what is kept for
// them; at 2,000 auctions a second of a few hundred bytes the windows of 5 s fit
// well.
const (
	maxRecent      = 20_000
	maxRecentBytes = 32 << 20
)

// recent keeps auctions for as long as their bids stand, so that a sale need not
// read the log. It is a cache and decides nothing: what is not in it is read
// back, and comes to the same.
//
// It keeps an auction as the log does, encoded: one piece of memory without a
// pointer in it. Most auctions end without a post, and what those cost is all
// that a copy is; the few that are sold by are decoded.
//
// A name is used again once memory has forgotten the auction that had it, and the
// cache may have that one still: it is emptied only while it is filled. The later
// auction takes its place.
//
// Whatever is put in goes first in, first out. A window is about as long as every
// other, so that is nearly the order in which they end; an auction that outlives
// the one before it by a little waits for it, and both limits hold meanwhile.
type recent struct {
	mu     sync.Mutex
	byName map[[16]byte]kept
	queue  []window
	bytes  int
}

// kept is an auction with its encoded fact.
type kept struct {
	id   market.AuctionID
	data []byte
}

// window is how long the bids of one auction stand.
type window struct {
	name  [16]byte
	id    market.AuctionID
	until int64 // when the last of them is over, Unix nanoseconds
	size  int
}

// windowOf is the window of a fact's bids, with the size of its encoding.
func windowOf(fact *event.AuctionHeld, size int) window {
	w := window{name: fact.Name, id: fact.Auction, size: size + perAuction}
	for i := range fact.Bids {
		if bid := &fact.Bids[i]; stands(bid) {
			w.until = max(w.until, bid.ValidUntil)
		}
	}
	return w
}

// perAuction is about what an auction takes in memory besides its encoding.
const perAuction = 128

// keep puts in a copy of an auction's encoding, unless nobody can sell by it any
// more.
func (r *recent) keep(w window, data []byte, now int64) {
	if w.until <= now || w.name == ([16]byte{}) {
		return
	}
	data = bytes.Clone(data)
	r.mu.Lock()
	defer r.mu.Unlock()
	if known, ok := r.byName[w.name]; ok && bytes.Compare(known.id[:], w.id[:]) >= 0 {
		return
	}
	for len(r.queue) > 0 && (r.queue[0].until <= now || len(r.queue) >= maxRecent || r.bytes+w.size > maxRecentBytes) {
		oldest := r.queue[0]
		r.queue = r.queue[1:]
		r.bytes -= oldest.size
		if r.byName[oldest.name].id == oldest.id {
			delete(r.byName, oldest.name)
		}
	}
	if r.byName == nil {
		r.byName = make(map[[16]byte]kept)
	}
	r.byName[w.name] = kept{id: w.id, data: data}
	r.queue = append(r.queue, w)
	r.bytes += w.size
}

// find gives the encoding of an auction, which nobody may change; nil: it is not
// kept.
func (r *recent) find(name [16]byte) []byte {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.byName[name].data
}

// remember keeps an auction that has just become a fact for the sales that
// follow. The fact and data, which is its encoding, are the caller's again when
// it returns.
func (e *Engine) remember(fact *event.AuctionHeld, data []byte) {
	if len(fact.Bids) > 0 {
		e.recent.keep(windowOf(fact, len(data)), data, e.opt.Clock.Now())
	}
}
