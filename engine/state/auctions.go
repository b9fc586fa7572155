package state

import (
	"sync"

	"pingpost/engine/event"
	"pingpost/engine/market"
)

// auctionShard holds the named auctions, and the names that requests in flight have
// claimed for a new auction or for a sale.
//
// An auction sells one lead. The event of a sale names the auction that it uses up
// (event.Sale.Ping). A refusal or release of the same sale frees the auction again. Both
// events name the lead. So the state of an auction depends on its own shard and the event
// alone, and one lead cannot free an auction that another lead has used since. Between
// request and event, a claim replaces the sale: of two posts for one bid, the second waits
// for the first one's event.
type auctionShard struct {
	mu     sync.Mutex
	table  table[AuctionRow, *AuctionRow]
	claims claims
	loaded uint64
}

// AuctionRow is an auction in memory. The log holds its other fields, at Seq.
type AuctionRow struct {
	Name [16]byte
	Seq  uint64        // of the AuctionHeld event
	Lead market.LeadID // that the auction was sold to, or that is being posted; zero: unsold
	Keep uint32        // Unix seconds
}

// IsSold reports whether an applied event has used up the auction.
func (a *AuctionRow) IsSold() bool { return !a.Lead.IsZero() }

func (a *AuctionRow) key() *[16]byte    { return &a.Name }
func (a *AuctionRow) expiresAt() uint32 { return a.Keep }
func (a *AuctionRow) digest() uint64 {
	return newDigest(16).addID(&a.Name).addWord(a.Seq).addID((*[16]byte)(&a.Lead)).addWord(uint64(a.Keep)).sum()
}

func (s *State) auctionShard(name *[16]byte) *auctionShard { return &s.auctions[shardIndex(name)] }

// Auction finds an auction by its name.
func (s *State) Auction(name [16]byte, now int64) (AuctionRow, bool) {
	shard := s.auctionShard(&name)
	shard.mu.Lock()
	defer shard.mu.Unlock()
	return shard.getLocked(&name, now)
}

// getLocked returns a copy of the auction's row. The caller holds mu.
func (shard *auctionShard) getLocked(name *[16]byte, now int64) (AuctionRow, bool) {
	if row := shard.table.get(name, secondsRoundedDown(now)); row != nil {
		return *row, true
	}
	return AuctionRow{}, false
}

// ClaimAuctionName claims the name of a new auction for h. found: an applied event has
// given the name to an auction. wait: another request holds the claim; the channel closes
// when that claim ends. If neither is set, h owns the claim.
func (s *State) ClaimAuctionName(h *Reservation, name [16]byte, now int64) (found bool, wait <-chan struct{}) {
	shard := s.auctionShard(&name)
	shard.mu.Lock()
	defer shard.mu.Unlock()
	if _, found := shard.getLocked(&name, now); found {
		return true, nil
	}
	return false, s.claimAuctionLocked(shard, h, name)
}

// ClaimAuction claims an auction for a sale. row is its state by the applied events at
// that moment. wait: another request holds the claim; the channel closes when that claim
// ends. A sold or unknown auction is not claimed; any other belongs to h.
func (s *State) ClaimAuction(h *Reservation, name [16]byte, now int64) (row AuctionRow, found bool, wait <-chan struct{}) {
	shard := s.auctionShard(&name)
	shard.mu.Lock()
	defer shard.mu.Unlock()
	row, found = shard.getLocked(&name, now)
	if !found || row.IsSold() {
		return row, found, nil
	}
	return row, true, s.claimAuctionLocked(shard, h, name)
}

func (s *State) claimAuctionLocked(shard *auctionShard, h *Reservation, name [16]byte) (wait <-chan struct{}) {
	if h.hasAuction {
		panic("BUG: a request claims a second auction")
	}
	if wait, taken := shard.claims.acquire(name); !taken {
		return wait
	}
	h.auction, h.hasAuction = name, true
	s.reservations.Add(1)
	return nil
}

// ReleaseAuction ends the claim on an auction.
func (s *State) ReleaseAuction(h *Reservation) {
	if !h.hasAuction {
		return
	}
	shard := s.auctionShard(&h.auction)
	shard.mu.Lock()
	shard.claims.release(h.auction)
	shard.mu.Unlock()
	s.reservations.Add(-1)
	h.hasAuction = false
}

// AuctionCount returns the number of auctions in memory.
func (s *State) AuctionCount() (n int) {
	for i := range s.auctions {
		shard := &s.auctions[i]
		shard.mu.Lock()
		n += shard.table.rows.n
		shard.mu.Unlock()
	}
	return n
}

func (s *State) applyAuction(seq uint64, at int64, e *event.AuctionHeld) {
	s.storeKey(&e.Idempotency, rowAnsweredBySequence(seq), seq, at)
	if e.Name == [16]byte{} {
		return
	}
	shard := s.auctionShard(&e.Name)
	shard.mu.Lock()
	defer shard.mu.Unlock()
	if seq > shard.loaded {
		shard.table.put(&AuctionRow{Name: e.Name, Seq: seq, Keep: secondsRoundedUp(e.Keep)}, secondsRoundedDown(at))
	}
}

// markAuctionSold marks an auction as used up by the lead. It does nothing if memory no longer
// holds the auction.
func (s *State) markAuctionSold(seq uint64, name [16]byte, lead market.LeadID) {
	s.editAuction(seq, name, func(row *AuctionRow) { row.Lead = lead })
}

// replaceAuction frees the auction that one sale of the lead used up, and uses up the next
// sale's. If both are the same auction, it stays used up throughout.
func (s *State) replaceAuction(seq uint64, lead market.LeadID, released, sold [16]byte) {
	if released == sold {
		return
	}
	s.editAuction(seq, released, func(row *AuctionRow) {
		if row.Lead == lead {
			row.Lead = market.LeadID{}
		}
	})
	s.markAuctionSold(seq, sold, lead)
}

func (s *State) editAuction(seq uint64, name [16]byte, edit func(*AuctionRow)) {
	if name == [16]byte{} {
		return
	}
	shard := s.auctionShard(&name)
	shard.mu.Lock()
	defer shard.mu.Unlock()
	if seq > shard.loaded {
		shard.table.edit(&name, edit)
	}
}

func (shard *auctionShard) digest() uint64 {
	shard.mu.Lock()
	defer shard.mu.Unlock()
	return shard.table.sum
}
