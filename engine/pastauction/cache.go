package pastauction

import (
	"bytes"
	"sync"

	"pingpost/engine/event"
	"pingpost/engine/market"
)

// Limits of the cache. Most posts arrive within a second of their ping. At 2,000 auctions
// a second of a few hundred bytes each, all windows of 5 s fit.
const (
	maxCached      = 20_000
	maxCachedBytes = 32 << 20
)

// Cache keeps auctions while their bids are valid, so that a sale need not read
// the log. The cache decides nothing: a missing auction is read from the log, with the same
// result.
//
// An auction is cached in its encoded form, one piece of memory without pointers. Most
// auctions end without a post and cost only that copy; the others are decoded.
//
// A name can be used again when the state has forgotten the auction that had it. The cache
// may still have that auction, because it evicts only when it adds. The later auction then
// replaces it.
//
// Eviction is first in, first out. All windows have nearly the same length, so this is
// nearly the order in which they end.
type Cache struct {
	mu     sync.Mutex
	byName map[[16]byte]cachedAuction
	queue  []queuedAuction
	bytes  int
}

// cachedAuction is an auction's encoded event.
type cachedAuction struct {
	id   market.AuctionID
	data []byte
}

// queuedAuction is a cached auction in the queue of evictions. It expires with its last bid.
type queuedAuction struct {
	name    [16]byte
	id      market.AuctionID
	expires int64 // Unix nanoseconds
	size    int
}

// queuedAuctionOf returns an auction's place in the queue. size is the length of its encoding.
func queuedAuctionOf(held *event.AuctionHeld, size int) queuedAuction {
	w := queuedAuction{name: held.Name, id: held.Auction, size: size + perAuction}
	for i := range held.Bids {
		if bid := &held.Bids[i]; isAcceptable(bid) {
			w.expires = max(w.expires, bid.ValidUntil)
		}
	}
	return w
}

// perAuction is about the memory of a cached auction besides its encoding, in bytes.
const perAuction = 128

// Add caches a committed auction for the sales that follow, unless all its bids have expired.
// It keeps no reference to held or to data, its encoding.
func (r *Cache) Add(held *event.AuctionHeld, data []byte, now int64) {
	if len(held.Bids) == 0 {
		return
	}
	w := queuedAuctionOf(held, len(data))
	if w.expires <= now || w.name == ([16]byte{}) {
		return
	}
	data = bytes.Clone(data)
	r.mu.Lock()
	defer r.mu.Unlock()
	if known, ok := r.byName[w.name]; ok && bytes.Compare(known.id[:], w.id[:]) >= 0 {
		return
	}
	for len(r.queue) > 0 && (r.queue[0].expires <= now || len(r.queue) >= maxCached || r.bytes+w.size > maxCachedBytes) {
		oldest := r.queue[0]
		r.queue = r.queue[1:]
		r.bytes -= oldest.size
		if r.byName[oldest.name].id == oldest.id {
			delete(r.byName, oldest.name)
		}
	}
	if r.byName == nil {
		r.byName = make(map[[16]byte]cachedAuction)
	}
	r.byName[w.name] = cachedAuction{id: w.id, data: data}
	r.queue = append(r.queue, w)
	r.bytes += w.size
}

// Find returns an auction's encoding, or nil. The caller must not change it.
func (r *Cache) Find(name [16]byte) []byte {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.byName[name].data
}
