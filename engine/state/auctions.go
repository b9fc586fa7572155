package state

import (
	"pingpost/engine/event"
	"pingpost/engine/market"
)

// auctionShard holds auctions that a later call can name. Requests in flight claim a name for a
// new auction or for a sale.
//
// An auction sells one lead. The event of a sale names the auction that it uses up
// (event.Sale.Ping). A refusal or release of the same sale frees the auction again. Both events
// name the lead. So the state of an auction depends on its own shard and the event alone, and one
// lead cannot free an auction that another lead has used since. Between request and event, a
// claim takes the place of the sale: of two posts for one bid, the second waits for the event of the
// first.
type auctionShard = rowShard[AuctionRow, *AuctionRow]

// AuctionRow is an auction in memory. The log entry with sequence Seq holds its other fields,
// such as the bids.
type AuctionRow struct {
	Name [16]byte
	Seq  uint64        // of the AuctionHeld event
	Lead market.LeadID // that the auction was sold to, or that is being posted; zero: unsold
	Keep uint32        // Unix seconds
}

// IsSold reports whether an applied event has sold a lead at a bid of this auction, or posts a
// lead for it. No other lead can then be sold in the auction.
func (a *AuctionRow) IsSold() bool { return !a.Lead.IsZero() }

func (a *AuctionRow) key() *[16]byte            { return &a.Name }
func (a *AuctionRow) expiryUnixSeconds() uint32 { return a.Keep }
func (a *AuctionRow) digest() uint64 {
	return newDigest(16).addID16(&a.Name).addWord(a.Seq).addID16((*[16]byte)(&a.Lead)).addWord(uint64(a.Keep)).sum()
}

// auctionShardOf returns the shard that holds the auction with this name.
func (s *State) auctionShardOf(name *[16]byte) *auctionShard { return &s.auctions[shardIndex(name)] }

// FindAuction returns the auction with this name. The result is false if memory has no such
// auction, or if it has expired at now, in Unix nanoseconds.
func (s *State) FindAuction(name [16]byte, now int64) (AuctionRow, bool) {
	shard := s.auctionShardOf(&name)
	shard.mu.Lock()
	defer shard.mu.Unlock()
	return shard.copyUnexpiredLocked(&name, now)
}

// ClaimAuctionName claims the name of a new auction for owner.
//
//	nameTaken   an applied event has given this name to an auction: no claim
//	claimEnded  another request has claimed the name; the channel closes when its claim ends
//	neither     owner now holds the claim
func (s *State) ClaimAuctionName(owner *Reservation, name [16]byte, now int64) (nameTaken bool, claimEnded <-chan struct{}) {
	shard := s.auctionShardOf(&name)
	shard.mu.Lock()
	defer shard.mu.Unlock()
	if _, found := shard.copyUnexpiredLocked(&name, now); found {
		return true, nil
	}
	return false, s.claimAuctionOrWaitLocked(shard, owner, name)
}

// ClaimAuctionForSale claims an auction, so that only owner can sell a lead in it. row is the
// auction as applied events have left it. found is false for an unknown or expired auction. It
// claims no unknown and no sold auction. If another request holds the claim, claimEnded closes
// when that claim ends; otherwise owner now holds the claim.
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

// claimAuctionOrWaitLocked claims the auction name for owner, or returns a channel that closes
// when the present claim ends. A request can claim one auction. The caller holds the shard's
// lock.
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

// ReleaseAuctionClaim ends owner's claim on an auction, if owner has one.
func (s *State) ReleaseAuctionClaim(owner *Reservation) {
	if !owner.hasAuction {
		return
	}
	s.auctionShardOf(&owner.auction).endClaim(owner.auction)
	s.reservations.Add(-1)
	owner.hasAuction = false
}

// AuctionCount returns the number of auctions in memory.
func (s *State) AuctionCount() (n int) {
	for i := range s.auctions {
		n += s.auctions[i].rowCount()
	}
	return n
}

// applyAuctionHeld stores the auction under its name, and the idempotency key of its request. An
// auction without a name cannot be found later, so only the key is stored.
func (s *State) applyAuctionHeld(seq uint64, batchTime int64, e *event.AuctionHeld) {
	s.storeIdempotencyKey(&e.Idempotency, newRowAnsweredByEvent(seq), seq, batchTime)
	if e.Name == [16]byte{} {
		return
	}
	row := AuctionRow{Name: e.Name, Seq: seq, Keep: unixSecondsRoundedUp(e.Keep)}
	s.auctionShardOf(&e.Name).putUnlessLoaded(&row, seq, batchTime)
}

// markAuctionSold records that the lead was sold in the auction, which can then sell no other
// lead. It skips an auction that memory no longer holds, and an event seq that the loaded
// snapshot contains.
func (s *State) markAuctionSold(seq uint64, auctionName [16]byte, lead market.LeadID) {
	s.editAuctionRow(seq, auctionName, func(row *AuctionRow) { row.Lead = lead })
}

// replaceSoldAuction frees the auction in which the lead's failed sale was made, and marks the
// auction of its next sale as sold. If both are the same auction, it stays sold throughout. An
// auction is freed only if this lead was sold in it.
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

// editAuctionRow calls edit with the auction's row. It does nothing if the name is zero, if the
// row is missing, or if the loaded snapshot contains the event seq already.
func (s *State) editAuctionRow(seq uint64, auctionName [16]byte, edit func(*AuctionRow)) {
	if auctionName != [16]byte{} {
		s.auctionShardOf(&auctionName).editUnlessLoaded(&auctionName, seq, edit)
	}
}
