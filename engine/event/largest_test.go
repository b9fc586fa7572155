package event

import (
	"strings"
	"testing"

	"pingpost/engine/bitset"
	"pingpost/engine/market"
)

// largestAuction is the largest one that a configuration can bring about: 4,000 that
// were asked, each with the longest reason, and of the best 256 the longest tokens.
func largestAuction() Event {
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
	return fact
}

// largestReport has a thousand leads that come back, each with the longest reason and
// with something for a dozen caps.
func largestReport() Event {
	longest := [16]byte{0: 0xff, 15: 0xff}
	fact := &LeadStatusesChanged{
		Request: longest, Buyer: 1 << 31, At: 1 << 60,
		Idempotency: RequestIdempotencyKey{Key: longest, Fingerprint: 1 << 63, ExpiresAt: 1 << 60},
	}
	for range 1000 {
		back := ResourcesFreedByReturn{Campaign: 1 << 31, Credit: 1e12, Reverse: 1e12, Currency: market.Currency{'U', 'S', 'D'}, Month: 1 << 60}
		for range 12 {
			back.Charges = append(back.Charges, CapCharge{Cap: 1 << 31, Window: 1 << 60, Amount: 1e12})
		}
		fact.Changes = append(fact.Changes, LeadStatusChange{
			Lead: longest, Result: ChangeDone, From: market.StatusSold, To: market.StatusReturned,
			Reason: strings.Repeat("r", 256), Occurred: 1 << 60, Return: back,
			Webhook: market.WebhookReturned, Supplier: 1 << 31, WasPending: true,
		})
	}
	return fact
}

func TestTheLargestEventsFitAnEntryOfTheLog(t *testing.T) {
	const entry = 1 << 20
	for _, e := range []Event{largestAuction(), largestReport()} {
		if size := len(AppendRecord(nil, e)); size > entry {
			t.Errorf("%s: %d bytes, and an entry has %d", e.Kind(), size, entry)
		}
	}
}
