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

// AuctionCache keeps recorded auctions while their bids are valid, so that a sale need not read the log.
// The cache never changes a result: an auction that is not in the cache is read from the log.
//
// An auction is cached in its encoded form, one piece of memory without pointers. Most auctions
// end without a post and cost only that copy; the others are decoded.
//
// A name can be used again after the state has forgotten the auction that had it. The cache may
// still have that auction, because it evicts only when it adds. The later auction then replaces
// it.
//
// Eviction is first in, first out. All auctions last nearly the same time, so this is nearly the
// order in which their bids expire.
type AuctionCache struct {
	mu     sync.Mutex
	byName map[[16]byte]encodedAuction
	queue  []evictionEntry
	bytes  int
}

// encodedAuction is the encoded event of an auction, and its id to tell it from an earlier auction
// with an equal name.
type encodedAuction struct {
	id   market.AuctionID
	data []byte
}

// evictionEntry is a cached auction in the queue of evictions. It may be evicted when its last
// bid has expired, or earlier if the cache is full.
type evictionEntry struct {
	name    [16]byte
	id      market.AuctionID
	expires int64 // Unix nanoseconds
	size    int
}

// newEvictionEntry returns the entry for the queue of evictions of an auction. encodedBytes is the
// length of the auction's encoding.
func newEvictionEntry(record *event.PingAuctionCompleted, encodedBytes int) evictionEntry {
	entry := evictionEntry{name: record.Name, id: record.Auction, size: encodedBytes + auctionOverheadBytes}
	for i := range record.Bids {
		if bid := &record.Bids[i]; isValidBidWithToken(bid) {
			entry.expires = max(entry.expires, bid.ValidUntil)
		}
	}
	return entry
}

// auctionOverheadBytes estimates the memory of a cached auction in addition to its encoding, in bytes.
const auctionOverheadBytes = 128

// Add caches a committed auction for sales at its bids. It ignores an auction without a name or without
// a bid that can still be accepted. It also ignores one that is not newer than the cached auction of
// the same name. data is the encoding of record. Add copies its data, so the caller may reuse both.
func (r *AuctionCache) Add(record *event.PingAuctionCompleted, data []byte, now int64) {
	if len(record.Bids) == 0 {
		return
	}
	entry := newEvictionEntry(record, len(data))
	if entry.expires <= now || entry.name == ([16]byte{}) {
		return
	}
	data = bytes.Clone(data)
	r.mu.Lock()
	defer r.mu.Unlock()
	if known, ok := r.byName[entry.name]; ok && bytes.Compare(known.id[:], entry.id[:]) >= 0 {
		return
	}
	for len(r.queue) > 0 && (r.queue[0].expires <= now || len(r.queue) >= maxCached || r.bytes+entry.size > maxCachedBytes) {
		oldest := r.queue[0]
		r.queue = r.queue[1:]
		r.bytes -= oldest.size
		if r.byName[oldest.name].id == oldest.id {
			delete(r.byName, oldest.name)
		}
	}
	if r.byName == nil {
		r.byName = make(map[[16]byte]encodedAuction)
	}
	r.byName[entry.name] = encodedAuction{id: entry.id, data: data}
	r.queue = append(r.queue, entry)
	r.bytes += entry.size
}

// FindEncodedEvent returns the encoded event of the auction with this name, or nil if it is not
// cached. The caller must not change the bytes.
func (r *AuctionCache) FindEncodedEvent(auctionName [16]byte) []byte {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.byName[auctionName].data
}
