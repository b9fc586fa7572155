package state

import (
	"sync"

	"pingpost/engine/event"
	"pingpost/engine/market"
)

// auctionShard keeps the auctions that were given a name, and which names
// requests in flight have claimed: for a new auction, or for a sale of one.
//
// An auction sells one lead. A fact with a sale says which auction that uses up
// (event.Sale.Ping), a refusal or an operator's release of the same sale gives
// it back, and both name the lead: so what becomes of an auction hangs on its own
// shard and the event alone, and one lead cannot give back what another has
// bought since. Between request and fact a claim stands in for the sale: of two
// posts at one bid, the second waits for the first one's fact.
type auctionShard struct {
	mu     sync.Mutex
	table  table[AuctionRow, *AuctionRow]
	claims claims
	loaded uint64
}

// AuctionRow is what memory keeps of an auction that was given a name; the rest
// is in the log, at Seq.
type AuctionRow struct {
	Name [16]byte
	Seq  uint64        // of the fact that it was held
	Lead market.LeadID // to which it was sold, or on whose way to the buyer it is; zero: to none
	Keep uint32        // Unix seconds
}

// Sold tells whether the auction is used up, as far as facts say.
func (a *AuctionRow) Sold() bool { return !a.Lead.IsZero() }

func (a *AuctionRow) key() *[16]byte  { return &a.Name }
func (a *AuctionRow) expires() uint32 { return a.Keep }
func (a *AuctionRow) digest() uint64 {
	return newDigest(16).wordsOf(&a.Name).word(a.Seq).wordsOf((*[16]byte)(&a.Lead)).word(uint64(a.Keep)).sum()
}

func (s *State) auctionShard(name *[16]byte) *auctionShard { return &s.auctions[shardOf(name)] }

// Auction finds an auction by its name.
func (s *State) Auction(name [16]byte, now int64) (AuctionRow, bool) {
	shard := s.auctionShard(&name)
	shard.mu.Lock()
	defer shard.mu.Unlock()
	return shard.getLocked(&name, now)
}

func (shard *auctionShard) getLocked(name *[16]byte, now int64) (AuctionRow, bool) {
	if row := shard.table.get(name, wholeSeconds(now)); row != nil {
		return *row, true
	}
	return AuctionRow{}, false
}

// ClaimName reserves the name of a new auction. found: a fact has given it to
// one already. wait: another request is at work with it; the channel is closed
// when that one ends. With neither, h has it.
func (s *State) ClaimName(h *Hold, name [16]byte, now int64) (found bool, wait <-chan struct{}) {
	shard := s.auctionShard(&name)
	shard.mu.Lock()
	defer shard.mu.Unlock()
	if _, found := shard.getLocked(&name, now); found {
		return true, nil
	}
	return false, s.claimNameLocked(shard, h, name)
}

// ClaimPing reserves an auction for a sale. What it returns is as facts have it
// at that moment. wait: another request is at work with the auction; the channel
// is closed when that one ends. An auction that is sold is not claimed, and one
// that is not found cannot be; with any other, h has it.
func (s *State) ClaimPing(h *Hold, name [16]byte, now int64) (row AuctionRow, found bool, wait <-chan struct{}) {
	shard := s.auctionShard(&name)
	shard.mu.Lock()
	defer shard.mu.Unlock()
	row, found = shard.getLocked(&name, now)
	if !found || row.Sold() {
		return row, found, nil
	}
	return row, true, s.claimNameLocked(shard, h, name)
}

func (s *State) claimNameLocked(shard *auctionShard, h *Hold, name [16]byte) (wait <-chan struct{}) {
	if h.named {
		panic("BUG: a request claims a second auction")
	}
	if wait, taken := shard.claims.take(name); !taken {
		return wait
	}
	h.name, h.named = name, true
	s.reservations.Add(1)
	return nil
}

// ReleaseName ends the claim on an auction.
func (s *State) ReleaseName(h *Hold) {
	if !h.named {
		return
	}
	shard := s.auctionShard(&h.name)
	shard.mu.Lock()
	shard.claims.drop(h.name)
	shard.mu.Unlock()
	s.reservations.Add(-1)
	h.named = false
}

// Auctions is how many auctions memory holds.
func (s *State) Auctions() (n int) {
	for i := range s.auctions {
		shard := &s.auctions[i]
		shard.mu.Lock()
		n += shard.table.rows.n
		shard.mu.Unlock()
	}
	return n
}

func (s *State) applyAuction(seq uint64, at int64, e *event.AuctionHeld) {
	s.rememberKey(&e.Idempotency, bySeq(seq), seq, at)
	if e.Name == [16]byte{} {
		return
	}
	shard := s.auctionShard(&e.Name)
	shard.mu.Lock()
	defer shard.mu.Unlock()
	if seq > shard.loaded {
		shard.table.put(&AuctionRow{Name: e.Name, Seq: seq, Keep: seconds(e.Keep)}, wholeSeconds(at))
	}
}

// sellPing uses an auction up. One that memory has forgotten meanwhile stays so.
func (s *State) sellPing(seq uint64, name [16]byte, lead market.LeadID) {
	s.changePing(seq, name, func(row *AuctionRow) { row.Lead = lead })
}

// swapPing gives back the auction that one sale of the lead has used up, and
// uses up the next one's: where that is the same, nobody finds it free between.
func (s *State) swapPing(seq uint64, lead market.LeadID, back, take [16]byte) {
	if back == take {
		return
	}
	s.changePing(seq, back, func(row *AuctionRow) {
		if row.Lead == lead {
			row.Lead = market.LeadID{}
		}
	})
	s.sellPing(seq, take, lead)
}

func (s *State) changePing(seq uint64, name [16]byte, edit func(*AuctionRow)) {
	if name == [16]byte{} {
		return
	}
	shard := s.auctionShard(&name)
	shard.mu.Lock()
	defer shard.mu.Unlock()
	if seq > shard.loaded {
		shard.table.change(&name, edit)
	}
}

func (shard *auctionShard) sum() uint64 {
	shard.mu.Lock()
	defer shard.mu.Unlock()
	return shard.table.sum
}
