package pastauction

import (
	"bytes"
	"testing"

	"pgregory.net/rapid"

	"pingpost/engine/event"
	"pingpost/engine/market"
)

func held(n int, until int64, text int) *event.PingAuctionCompleted {
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

// put adds a recorded auction and returns its place in the queue.
func (r *AuctionCache) put(record *event.PingAuctionCompleted, now int64) evictionEntry {
	data := event.AppendRecord(nil, record)
	r.Add(record, data, now)
	return newEvictionEntry(record, len(data))
}

// TestAuctionHasAcceptableBids: an auction has only the bids that a supplier can accept, and
// only a bid with the outcome won is the winner.
func TestAuctionHasAcceptableBids(t *testing.T) {
	record := held(7, 100, 2)
	a := New(record)
	for buyer, want := range map[market.PermanentNumber]bool{1: true, 2: true, 3: false, 4: false, 5: false, 0: false} {
		if bid := a.ValidBidOfBuyer(buyer); (bid != nil) != want || bid != nil && bid.Buyer != buyer {
			t.Errorf("buyer %d: %+v", buyer, bid)
		}
	}
	if won := a.WinningBid(); won == nil || won.Buyer != 1 {
		t.Errorf("winner %+v", won)
	}
	record = held(7, 100, 2)
	record.Bids = record.Bids[1:]
	if won := New(record).WinningBid(); won != nil {
		t.Errorf("winner %+v of an auction without one", won)
	}
}

func TestCacheIsBounded(t *testing.T) {
	t.Run("in number", func(t *testing.T) {
		var r AuctionCache
		for i := range maxCached + 10 {
			r.put(held(i, 1000, 0), 1)
		}
		if len(r.byName) != maxCached || len(r.queue) != maxCached || r.FindEncodedEvent(held(9, 0, 0).Name) != nil || r.FindEncodedEvent(held(10, 0, 0).Name) == nil {
			t.Errorf("%d by name, %d in the queue", len(r.byName), len(r.queue))
		}
	})
	t.Run("in bytes", func(t *testing.T) {
		var r AuctionCache
		for i := range 100 {
			r.put(held(i, 1000, 1<<20), 1)
		}
		if r.bytes > maxCachedBytes || len(r.queue) < 30 || len(r.byName) != len(r.queue) {
			t.Errorf("%d bytes of %d auctions", r.bytes, len(r.queue))
		}
	})
	t.Run("in time", func(t *testing.T) {
		var r AuctionCache
		for i := range 10 {
			r.put(held(i, int64(10*i), 0), 1)
		}
		r.put(held(99, 1000, 0), 60)
		if len(r.queue) != 4 || r.FindEncodedEvent(held(6, 0, 0).Name) != nil || r.FindEncodedEvent(held(7, 0, 0).Name) == nil {
			t.Errorf("%d are left", len(r.queue))
		}
	})
	t.Run("without a name", func(t *testing.T) {
		var r AuctionCache
		fact := held(1, 1000, 0)
		fact.Name = [16]byte{}
		r.put(fact, 1)
		if len(r.queue) != 0 {
			t.Error("an auction that nothing finds was kept")
		}
	})
}

// A name that is used again is the later auction's, whichever was put in last,
// and stays so when the earlier one leaves the queue.
func TestCacheNameUsedAgain(t *testing.T) {
	var r AuctionCache
	first, second := held(1, 100, 0), held(1, 200, 0)
	first.Auction, second.Auction = market.AuctionID{1}, market.AuctionID{2}
	r.put(first, 1)
	r.put(second, 50)
	r.put(first, 50)
	later := event.AppendRecord(nil, second)
	if got := r.FindEncodedEvent(first.Name); !bytes.Equal(got, later) {
		t.Errorf("found %x", got)
	}
	r.put(held(2, 300, 0), 150)
	if got := r.FindEncodedEvent(first.Name); !bytes.Equal(got, later) || len(r.queue) != 2 || len(r.byName) != 2 {
		t.Errorf("found %x, %d are left", got, len(r.queue))
	}
}

// Against a list that is gone through from the beginning: what is found is what
// was put in, and the sums are those of what is there.
func TestCacheAgainstList(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var r AuctionCache
		now := int64(0)
		in := map[[16]byte][]byte{}
		for range rapid.IntRange(1, 60).Draw(t, "steps") {
			now += rapid.Int64Range(0, 5).Draw(t, "later")
			fact := held(rapid.IntRange(0, 20).Draw(t, "auction"), now+rapid.Int64Range(-1, 9).Draw(t, "window"), rapid.IntRange(0, 40).Draw(t, "text"))
			known := r.FindEncodedEvent(fact.Name)
			w := r.put(fact, now)
			switch found := r.FindEncodedEvent(w.name); {
			case known != nil && found != nil:
				if !bytes.Equal(known, found) {
					t.Fatal("an auction that was kept has become another")
				}
			case found != nil:
				if in[w.name] = found; !bytes.Equal(found, event.AppendRecord(nil, fact)) {
					t.Fatal("what is found is not what was put in")
				}
			case w.expires > now:
				t.Fatal("an auction that can sell was not kept")
			}
			size := 0
			for _, kept := range r.queue {
				size += kept.size
				if data := r.byName[kept.name].data; data == nil || !bytes.Equal(data, in[kept.name]) || kept.size != len(data)+perAuction {
					t.Fatalf("%v is in the queue, and by name it is another", kept.name)
				}
			}
			if size != r.bytes || len(r.queue) != len(r.byName) {
				t.Fatalf("%d bytes, by the queue %d; %d in the queue, %d by name", r.bytes, size, len(r.queue), len(r.byName))
			}
			if known == nil && r.FindEncodedEvent(w.name) != nil && r.queue[0].expires <= now {
				t.Fatal("the oldest is over and is kept")
			}
		}
	})
}
