package state

import (
	"testing"

	"pingpost/engine/bitset"
	"pingpost/engine/event"
	"pingpost/engine/market"
)

// keptAuction is the n-th of many: named, with an idempotency key, of five
// buyers that were asked.
func keptAuction(n uint64) *event.PingAuctionCompleted {
	hash := func(kind byte) [16]byte { return keyOf(n, kind) }
	fact := &event.PingAuctionCompleted{
		Auction: hash(1), Request: hash(2), Campaign: 1, Supplier: 1, Catalog: 1, Began: monday, Deadline: monday + 2*second,
		Name: hash(3), SellerAuction: "seller-auction-0001", Token: hash(4), Until: monday + 5*second, Keep: monday + 30*day,
		Idempotency: event.RequestIdempotencyKey{Key: hash(5), Fingerprint: n, ExpiresAt: monday + 30*day},
		Trail:       []event.FilterSetsWithOutcome{{Outcome: market.OutcomeWon, FilterSets: bitset.Set{1}}, {Outcome: market.OutcomeLost, FilterSets: bitset.Set{30}}},
		Fields: []event.LeadField{
			{Name: "state", Kind: market.KindString, Text: []byte("CA")},
			{Name: "vehicle_count", Kind: market.KindInteger, Text: []byte("2")},
		},
	}
	for seat := range uint32(5) {
		fact.Bids = append(fact.Bids, event.Bid{
			FilterSet: seat, Buyer: market.PermanentNumber(seat + 1), Outcome: market.OutcomeLost, Elapsed: 40_000_000, Amount: 12 * dollar,
			Payout: 9 * dollar, Currency: market.Currency{'U', 'S', 'D'}, Token: "tok_0123456789abcdef", ValidUntil: monday + 5*second, Status: 200,
		})
	}
	return fact
}

// BenchmarkMemoryOfAuctions weighs auctions with their name and their key.
func BenchmarkMemoryOfAuctions(b *testing.B) {
	weigh(b, "auction", func(w *world, n uint64) { w.Apply(w.seq+n+1, monday, keptAuction(n)) }, (*world).AuctionCount)
}

// BenchmarkReplayAuctions is what a restart does with an auction's frame.
func BenchmarkReplayAuctions(b *testing.B) {
	replayMany(b, "auctions", &event.Decoder{ForReplay: true}, func(n uint64) event.Event { return keptAuction(n) })
}
