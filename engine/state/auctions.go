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
	Seq  uint64        // of the PingAuctionCompleted event
	Lead market.LeadID // that was sold in the auction or is being posted for it; zero: neither
	Keep uint32        // end of the row's retention in memory, Unix seconds
}

// IsSoldOrBeingPosted reports whether an applied event has sold a lead at a bid of this auction, or
// posts a lead for it. No other lead can then be sold in the auction.
func (a *AuctionRow) IsSoldOrBeingPosted() bool { return !a.Lead.IsZero() }

func (a *AuctionRow) key() *[16]byte            { return &a.Name }
func (a *AuctionRow) expiryUnixSeconds() uint32 { return a.Keep }
func (a *AuctionRow) contentHash() uint64 {
	return newRunningHash(16).addID16(&a.Name).addWord(a.Seq).addID16((*[16]byte)(&a.Lead)).addWord(uint64(a.Keep)).sum()
}

// auctionShardOf returns the shard that holds the auction with this name.
func (s *State) auctionShardOf(auctionName *[16]byte) *auctionShard {
	return &s.auctions[shardIndex(auctionName)]
}

// FindAuction returns the auction with this name. found is false if memory has no such auction, or
// if it has expired at nowUnixNanos.
func (s *State) FindAuction(auctionName [16]byte, nowUnixNanos int64) (auction AuctionRow, found bool) {
	shard := s.auctionShardOf(&auctionName)
	shard.mu.Lock()
	defer shard.mu.Unlock()
	return shard.copyUnexpiredLocked(&auctionName, nowUnixNanos)
}

// ClaimNewAuctionName claims the name of a new auction for owner.
//
//	nameTaken   an applied event has given this name to an auction: no claim
//	otherClaimEnded  another request has claimed the name; the channel closes when its claim ends
//	neither     owner now holds the claim
func (s *State) ClaimNewAuctionName(owner *RequestReservations, auctionName [16]byte, nowUnixNanos int64) (nameTaken bool, otherClaimEnded <-chan struct{}) {
	shard := s.auctionShardOf(&auctionName)
	shard.mu.Lock()
	defer shard.mu.Unlock()
	if _, found := shard.copyUnexpiredLocked(&auctionName, nowUnixNanos); found {
		return true, nil
	}
	return false, s.tryClaimAuctionLocked(shard, owner, auctionName)
}

// ClaimAuctionForSale claims an auction, so that only owner can sell a lead in it. auction is the
// auction as applied events have left it.
//
//	found is false      the auction is unknown or expired: no claim
//	auction is sold     or a lead is being posted for it (IsSoldOrBeingPosted): no claim
//	otherClaimEnded not nil  another request has the claim; the channel closes when its claim ends
//	otherwise           owner now holds the claim
func (s *State) ClaimAuctionForSale(owner *RequestReservations, auctionName [16]byte, nowUnixNanos int64) (auction AuctionRow, found bool, otherClaimEnded <-chan struct{}) {
	shard := s.auctionShardOf(&auctionName)
	shard.mu.Lock()
	defer shard.mu.Unlock()
	auction, found = shard.copyUnexpiredLocked(&auctionName, nowUnixNanos)
	if !found || auction.IsSoldOrBeingPosted() {
		return auction, found, nil
	}
	return auction, true, s.tryClaimAuctionLocked(shard, owner, auctionName)
}

// tryClaimAuctionLocked claims the auction for owner, or returns a channel that closes when another
// request's claim ends. A second claim by owner is a bug and panics. The caller holds the shard's
// lock.
func (s *State) tryClaimAuctionLocked(shard *auctionShard, owner *RequestReservations, auctionName [16]byte) (otherClaimEnded <-chan struct{}) {
	if owner.hasAuction {
		panic("BUG: a request claims a second auction")
	}
	if wait, taken := shard.claims.tryClaim(auctionName); !taken {
		return wait
	}
	owner.auction, owner.hasAuction = auctionName, true
	s.reservations.Add(1)
	return nil
}

// ReleaseAuctionClaim ends owner's claim on an auction, if owner has one.
func (s *State) ReleaseAuctionClaim(owner *RequestReservations) {
	if !owner.hasAuction {
		return
	}
	s.auctionShardOf(&owner.auction).endClaim(owner.auction)
	s.reservations.Add(-1)
	owner.hasAuction = false
}

// AuctionCountWithExpired returns the number of auctions in memory, including expired ones that are not removed
// yet.
func (s *State) AuctionCountWithExpired() (n int) {
	for i := range s.auctions {
		n += s.auctions[i].rowCountWithExpired()
	}
	return n
}

// applyPingAuctionCompleted stores the auction under its name, and the idempotency key of its
// request. An auction without a name cannot be found later, so only the key is stored.
func (s *State) applyPingAuctionCompleted(seq uint64, batchUnixNanos int64, e *event.PingAuctionCompleted) {
	s.storeIdempotencyKey(&e.Idempotency, newIdempotencyRowAnsweredByEvent(seq), seq, batchUnixNanos)
	if e.Name == [16]byte{} {
		return
	}
	row := AuctionRow{Name: e.Name, Seq: seq, Keep: unixSecondsRoundedUp(e.Keep)}
	s.auctionShardOf(&e.Name).putUnlessEventInSnapshot(&row, seq, batchUnixNanos)
}

// markAuctionSold records that the lead was sold in the auction, which can then sell no other
// lead. It skips an auction that memory no longer holds, and an event seq that the loaded
// snapshot contains.
func (s *State) markAuctionSold(seq uint64, auctionName [16]byte, lead market.LeadID) {
	s.editAuctionRowUnlessEventInSnapshot(seq, auctionName, func(row *AuctionRow) { row.Lead = lead })
}

// releaseAuctionAndMarkNextSold frees the auction in which the lead's failed sale was made, and
// marks the auction of its next sale as sold. If both are the same auction, it stays sold
// throughout. An auction is freed only if this lead was sold in it.
func (s *State) releaseAuctionAndMarkNextSold(seq uint64, lead market.LeadID, failedSaleAuction, nextSaleAuction [16]byte) {
	if failedSaleAuction == nextSaleAuction {
		return
	}
	s.editAuctionRowUnlessEventInSnapshot(seq, failedSaleAuction, func(row *AuctionRow) {
		if row.Lead == lead {
			row.Lead = market.LeadID{}
		}
	})
	s.markAuctionSold(seq, nextSaleAuction, lead)
}

// editAuctionRowUnlessEventInSnapshot calls edit with the auction's row. It has no effect if the name is
// zero, if the row is missing, or if the loaded snapshot contains the event seq already.
func (s *State) editAuctionRowUnlessEventInSnapshot(seq uint64, auctionName [16]byte, edit func(*AuctionRow)) {
	if auctionName != [16]byte{} {
		s.auctionShardOf(&auctionName).editUnlessEventInSnapshot(&auctionName, seq, edit)
	}
}
