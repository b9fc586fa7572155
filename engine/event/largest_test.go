package event

import (
	"strings"
	"testing"

	"pingpost/engine/bitset"
	"pingpost/engine/market"
)

// largestAuction returns the largest auction that a configuration allows: 4,000 pinged buyers
// with the longest reason, and the longest tokens for the best 256.
func largestAuction() Event {
	ev := &PingAuctionCompleted{Auction: market.AuctionID{1}, SellerAuction: strings.Repeat("a", 255), Deadline: 1 << 60, Until: 1 << 60, Keep: 1 << 60}
	filterSets := bitset.New(4000)
	for i := range 4000 {
		filterSets.Add(i)
		bid := Bid{
			FilterSet: uint32(i), Buyer: market.PermanentNumber(1 << 31), Outcome: market.OutcomeLost, Elapsed: 5e9,
			Amount: 1e12, Payout: 1e12, Currency: market.Currency{'U', 'S', 'D'}, ValidUntil: 1 << 60,
			Status: 200, Fault: market.FaultMalformed, Reason: strings.Repeat("r", 64),
		}
		if i < 256 {
			bid.Token = strings.Repeat("t", market.MaxBidToken)
		}
		ev.Bids = append(ev.Bids, bid)
	}
	ev.Trail = []FilterSetsWithOutcome{{Outcome: market.OutcomeLost, FilterSets: filterSets}}
	ev.Fields = []LeadField{{Name: "note", Kind: market.KindString, Text: make([]byte, 64<<10)}}
	return ev
}

// largestReport returns a report of a thousand returns with the longest reason and charges of a
// dozen caps each.
func largestReport() Event {
	longest := [16]byte{0: 0xff, 15: 0xff}
	ev := &LeadStatusChangesDecided{
		Request: longest, Buyer: 1 << 31, At: 1 << 60,
		Idempotency: RequestIdempotencyKey{Key: longest, Fingerprint: 1 << 63, ExpiresAt: 1 << 60},
	}
	for range 1000 {
		decoded := MoneyAndCapsReversedByReturn{Campaign: 1 << 31, Credit: 1e12, Reverse: 1e12, Currency: market.Currency{'U', 'S', 'D'}, Month: 1 << 60}
		for range 12 {
			decoded.Charges = append(decoded.Charges, CapCharge{Cap: 1 << 31, Window: 1 << 60, Amount: 1e12})
		}
		ev.Changes = append(ev.Changes, DecidedLeadStatusChange{
			Lead: longest, Result: ChangeDone, From: market.StatusSold, To: market.StatusReturned,
			Reason: strings.Repeat("r", 256), Occurred: 1 << 60, Return: decoded,
			Webhook: market.WebhookReturned, Supplier: 1 << 31, WasPending: true,
		})
	}
	return ev
}

func TestLargestEventsFitLogEntry(t *testing.T) {
	const maxEntry = 1 << 20
	for _, e := range []Event{largestAuction(), largestReport()} {
		if size := len(AppendRecord(nil, e)); size > maxEntry {
			t.Errorf("%s: %d bytes, want at most %d", e.Kind(), size, maxEntry)
		}
	}
}
