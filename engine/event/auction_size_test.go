package event

import (
	"strings"
	"testing"

	"pingpost/engine/bitset"
	"pingpost/engine/market"
)

// The largest auction that a configuration can bring about fits an entry of the
// log: 4,000 that were asked, each with the longest reason, and of the best 256
// the longest tokens.
func TestTheLargestAuctionFitsAnEntry(t *testing.T) {
	const entry = 1 << 20
	fact := &PingAuctionCompleted{Auction: market.AuctionID{1}, SellerAuction: strings.Repeat("a", 255), Deadline: 1 << 60, Until: 1 << 60, Keep: 1 << 60}
	seats := bitset.New(4000)
	for i := range 4000 {
		seats.Add(i)
		bid := Bid{
			FilterSet: uint32(i), Buyer: market.PermanentNumber(1 << 31), Outcome: market.OutcomeLost, Elapsed: 5e9,
			Amount: 1e12, Payout: 1e12, Currency: market.Currency{'U', 'S', 'D'}, ValidUntil: 1 << 60,
			Status: 200, Fault: market.FaultMalformed, Reason: strings.Repeat("r", 64),
		}
		if i < 256 {
			bid.Token = strings.Repeat("t", market.MaxBidToken)
		}
		fact.Bids = append(fact.Bids, bid)
	}
	fact.Trail = []FilterSetsWithOutcome{{Outcome: market.OutcomeLost, FilterSets: seats}}
	fact.Fields = []LeadField{{Name: "note", Kind: market.KindString, Text: make([]byte, 64<<10)}}
	if size := len(AppendRecord(nil, fact)); size > entry {
		t.Errorf("%d bytes, and an entry has %d", size, entry)
	} else {
		t.Logf("%d bytes", size)
	}
}
