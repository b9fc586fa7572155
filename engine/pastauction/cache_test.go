package pastauction

import (
	"bytes"
	"testing"

	"pgregory.net/rapid"

	"pingpost/engine/event"
	"pingpost/engine/market"
)

func newAuction(n int, until int64, text int) *event.PingAuctionCompleted {
	return &event.PingAuctionCompleted{
		Auction: market.AuctionID{byte(n), byte(n >> 8), byte(n >> 16)}, Name: [16]byte{byte(n), byte(n >> 8), byte(n >> 16), 1},
		Bids: []event.Bid{
			{Buyer: 1, Outcome: market.OutcomeWon, Amount: 2, Token: "a", ValidUntil: until - 1},
			{Buyer: 2, Outcome: market.OutcomeLost, Amount: 1, Token: "b", ValidUntil: until},
			{Buyer: 3, Outcome: market.OutcomeLost, Amount: 1, ValidUntil: until},
			{Buyer: 4, Outcome: market.OutcomeBelowFloor, Token: "d", ValidUntil: until},
			{Buyer: 5, Outcome: market.OutcomeNoBid},
		},
		Fields: []event.LeadField{{Name: "state", Kind: market.KindString, Text: make([]byte, text)}},
	}
}

// put adds a recorded auction and returns its queue entry.
func (r *AuctionCache) put(record *event.PingAuctionCompleted, now int64) evictionEntry {
	data := event.AppendRecord(nil, record)
	r.Add(record, data, now)
	return newEvictionEntry(record, len(data))
}

// TestAuctionHasAcceptableBids: an auction has only the bids that a supplier can accept, and
// only a bid with the outcome won is the winner.
func TestAuctionHasAcceptableBids(t *testing.T) {
	record := newAuction(7, 100, 2)
	a := New(record)
	for buyer, want := range map[market.PermanentNumber]bool{1: true, 2: true, 3: false, 4: false, 5: false, 0: false} {
		if bid := a.ValidBidOfBuyer(buyer); (bid != nil) != want || bid != nil && bid.Buyer != buyer {
			t.Errorf("buyer %d: %+v", buyer, bid)
		}
	}
	if won := a.WinningBid(); won == nil || won.Buyer != 1 {
		t.Errorf("winner %+v", won)
	}
	record = newAuction(7, 100, 2)
	record.Bids = record.Bids[1:]
	if won := New(record).WinningBid(); won != nil {
		t.Errorf("winner %+v of an auction without one", won)
	}
}

func TestCacheLimits(t *testing.T) {
	t.Run("number", func(t *testing.T) {
		var r AuctionCache
		for i := range maxCached + 10 {
			r.put(newAuction(i, 1000, 0), 1)
		}
		if len(r.byName) != maxCached || len(r.queue) != maxCached || r.FindEncodedEvent(newAuction(9, 0, 0).Name) != nil || r.FindEncodedEvent(newAuction(10, 0, 0).Name) == nil {
			t.Errorf("%d by name, %d in the queue", len(r.byName), len(r.queue))
		}
	})
	t.Run("bytes", func(t *testing.T) {
		var r AuctionCache
		for i := range 100 {
			r.put(newAuction(i, 1000, 1<<20), 1)
		}
		if r.bytes > maxCachedBytes || len(r.queue) < 30 || len(r.byName) != len(r.queue) {
			t.Errorf("%d bytes in %d auctions", r.bytes, len(r.queue))
		}
	})
	t.Run("time", func(t *testing.T) {
		var r AuctionCache
		for i := range 10 {
			r.put(newAuction(i, int64(10*i), 0), 1)
		}
		r.put(newAuction(99, 1000, 0), 60)
		if len(r.queue) != 4 || r.FindEncodedEvent(newAuction(6, 0, 0).Name) != nil || r.FindEncodedEvent(newAuction(7, 0, 0).Name) == nil {
			t.Errorf("%d auctions are left", len(r.queue))
		}
	})
	t.Run("without a name", func(t *testing.T) {
		var r AuctionCache
		ev := newAuction(1, 1000, 0)
		ev.Name = [16]byte{}
		r.put(ev, 1)
		if len(r.queue) != 0 {
			t.Error("an auction without a name was kept")
		}
	})
}

// The name of two auctions finds the later one, whichever was put last, also after the earlier
// one has left the queue.
func TestCacheFindsLatestAuctionOfName(t *testing.T) {
	var r AuctionCache
	first, second := newAuction(1, 100, 0), newAuction(1, 200, 0)
	first.Auction, second.Auction = market.AuctionID{1}, market.AuctionID{2}
	r.put(first, 1)
	r.put(second, 50)
	r.put(first, 50)
	later := event.AppendRecord(nil, second)
	if got := r.FindEncodedEvent(first.Name); !bytes.Equal(got, later) {
		t.Errorf("found %x", got)
	}
	r.put(newAuction(2, 300, 0), 150)
	if got := r.FindEncodedEvent(first.Name); !bytes.Equal(got, later) || len(r.queue) != 2 || len(r.byName) != 2 {
		t.Errorf("found %x, %d are left", got, len(r.queue))
	}
}

// The cache returns the auctions that were put, and its byte count is that of its auctions.
func TestCacheMatchesMap(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var r AuctionCache
		now := int64(0)
		stored := map[[16]byte][]byte{}
		for range rapid.IntRange(1, 60).Draw(t, "steps") {
			now += rapid.Int64Range(0, 5).Draw(t, "later")
			ev := newAuction(rapid.IntRange(0, 20).Draw(t, "auction"), now+rapid.Int64Range(-1, 9).Draw(t, "window"), rapid.IntRange(0, 40).Draw(t, "text"))
			known := r.FindEncodedEvent(ev.Name)
			entry := r.put(ev, now)
			switch found := r.FindEncodedEvent(entry.name); {
			case known != nil && found != nil:
				if !bytes.Equal(known, found) {
					t.Fatal("a cached auction has changed")
				}
			case found != nil:
				if stored[entry.name] = found; !bytes.Equal(found, event.AppendRecord(nil, ev)) {
					t.Fatal("the found auction differs from the one that was put")
				}
			case entry.expires > now:
				t.Fatal("an unexpired auction was not kept")
			}
			size := 0
			for _, kept := range r.queue {
				size += kept.size
				if data := r.byName[kept.name].data; data == nil || !bytes.Equal(data, stored[kept.name]) || kept.size != len(data)+auctionOverheadBytes {
					t.Fatalf("the queue entry %v disagrees with the auction of its name", kept.name)
				}
			}
			if size != r.bytes || len(r.queue) != len(r.byName) {
				t.Fatalf("%d bytes, %d by the queue; %d in the queue, %d by name", r.bytes, size, len(r.queue), len(r.byName))
			}
			if known == nil && r.FindEncodedEvent(entry.name) != nil && r.queue[0].expires <= now {
				t.Fatal("the oldest auction has expired and is kept")
			}
		}
	})
}
