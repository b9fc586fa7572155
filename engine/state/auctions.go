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
	claims inFlightClaims
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

func (a *AuctionRow) key() *[16]byte            { return &a.Name }
func (a *AuctionRow) expiryUnixSeconds() uint32 { return a.Keep }
func (a *AuctionRow) digest() uint64 {
	return newDigest(16).addID16(&a.Name).addWord(a.Seq).addID16((*[16]byte)(&a.Lead)).addWord(uint64(a.Keep)).sum()
}

func (s *State) auctionShardOf(name *[16]byte) *auctionShard { return &s.auctions[shardIndex(name)] }

// FindAuction finds an auction by its name.
func (s *State) FindAuction(name [16]byte, now int64) (AuctionRow, bool) {
	shard := s.auctionShardOf(&name)
	shard.mu.Lock()
	defer shard.mu.Unlock()
	return shard.copyUnexpiredLocked(&name, now)
}

// copyUnexpiredLocked returns a copy of the auction's row. The caller holds mu.
func (shard *auctionShard) copyUnexpiredLocked(name *[16]byte, now int64) (AuctionRow, bool) {
	if row := shard.table.get(name, unixSecondsRoundedDown(now)); row != nil {
		return *row, true
	}
	return AuctionRow{}, false
}

// ClaimAuctionName claims the name of a new auction for owner. nameTaken: an applied event has
// given the name to an auction. claimEnded: another request holds the claim; the channel closes
// when that claim ends. If neither is set, owner owns the claim.
func (s *State) ClaimAuctionName(owner *Reservation, name [16]byte, now int64) (nameTaken bool, claimEnded <-chan struct{}) {
	shard := s.auctionShardOf(&name)
	shard.mu.Lock()
	defer shard.mu.Unlock()
	if _, found := shard.copyUnexpiredLocked(&name, now); found {
		return true, nil
	}
	return false, s.claimAuctionOrWaitLocked(shard, owner, name)
}

// ClaimAuctionForSale claims an auction for a sale. row is its state by the applied events at
// that moment. claimEnded: another request holds the claim; the channel closes when that claim
// ends. A sold or unknown auction is not claimed; any other belongs to owner.
func (s *State) ClaimAuctionForSale(owner *Reservation, name [16]byte, now int64) (row AuctionRow, found bool, claimEnded <-chan struct{}) {
	shard := s.auctionShardOf(&name)
	shard.mu.Lock()
	defer shard.mu.Unlock()
	row, found = shard.copyUnexpiredLocked(&name, now)
	if !found || row.IsSold() {
		return row, found, nil
	}
	return row, true, s.claimAuctionOrWaitLocked(shard, owner, name)
}

func (s *State) claimAuctionOrWaitLocked(shard *auctionShard, owner *Reservation, name [16]byte) (claimEnded <-chan struct{}) {
	if owner.hasAuction {
		panic("BUG: a request claims a second auction")
	}
	if wait, taken := shard.claims.claimOrWait(name); !taken {
		return wait
	}
	owner.auction, owner.hasAuction = name, true
	s.reservations.Add(1)
	return nil
}

// ReleaseAuctionClaim ends the claim on an auction.
func (s *State) ReleaseAuctionClaim(owner *Reservation) {
	if !owner.hasAuction {
		return
	}
	shard := s.auctionShardOf(&owner.auction)
	shard.mu.Lock()
	shard.claims.endClaim(owner.auction)
	shard.mu.Unlock()
	s.reservations.Add(-1)
	owner.hasAuction = false
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

func (s *State) applyAuctionHeld(seq uint64, batchTime int64, e *event.AuctionHeld) {
	s.storeIdempotencyKey(&e.Idempotency, newRowAnsweredByEvent(seq), seq, batchTime)
	if e.Name == [16]byte{} {
		return
	}
	shard := s.auctionShardOf(&e.Name)
	shard.mu.Lock()
	defer shard.mu.Unlock()
	if seq > shard.loaded {
		shard.table.put(&AuctionRow{Name: e.Name, Seq: seq, Keep: unixSecondsRoundedUp(e.Keep)}, unixSecondsRoundedDown(batchTime))
	}
}

// markAuctionSold marks an auction as used up by the lead. It does nothing if memory no longer
// holds the auction.
func (s *State) markAuctionSold(seq uint64, auctionName [16]byte, lead market.LeadID) {
	s.editAuctionRow(seq, auctionName, func(row *AuctionRow) { row.Lead = lead })
}

// replaceSoldAuction frees the auction that one sale of the lead used up, and uses up the next
// sale's. If both are the same auction, it stays used up throughout.
func (s *State) replaceSoldAuction(seq uint64, lead market.LeadID, releasedAuction, soldAuction [16]byte) {
	if releasedAuction == soldAuction {
		return
	}
	s.editAuctionRow(seq, releasedAuction, func(row *AuctionRow) {
		if row.Lead == lead {
			row.Lead = market.LeadID{}
		}
	})
	s.markAuctionSold(seq, soldAuction, lead)
}

func (s *State) editAuctionRow(seq uint64, auctionName [16]byte, edit func(*AuctionRow)) {
	if auctionName == [16]byte{} {
		return
	}
	shard := s.auctionShardOf(&auctionName)
	shard.mu.Lock()
	defer shard.mu.Unlock()
	if seq > shard.loaded {
		shard.table.editRow(&auctionName, edit)
	}
}

func (shard *auctionShard) digest() uint64 {
	shard.mu.Lock()
	defer shard.mu.Unlock()
	return shard.table.sum
}
