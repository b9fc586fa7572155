//go:build !race

package event

import (
	"testing"

	"pingpost/engine/bitset"
	"pingpost/engine/market"
)

// typicalAuction returns an auction with three pinged buyers and one valid bid.
func typicalAuction() *PingAuctionCompleted {
	usd := market.Currency{'U', 'S', 'D'}
	return &PingAuctionCompleted{
		Auction: [16]byte{1, 2, 3}, Request: [16]byte{4, 5, 6}, Campaign: 3, Supplier: 2, Catalog: 9,
		Began: 1_800_000_000e9, Deadline: 1_800_000_002e9, Name: [16]byte{9}, SellerAuction: "auc-2026-11-20-000001", Token: [16]byte{8},
		Until: 1_800_000_005e9, Keep: 1_802_592_000e9, Idempotency: RequestIdempotencyKey{Key: [16]byte{7}, Fingerprint: 8, ExpiresAt: 1_802_592_000e9},
		Trail: []FilterSetsWithOutcome{{market.OutcomeWon, bitset.Set{4}}, {market.OutcomeNoBid, bitset.Set{1}}, {market.OutcomeBelowFloor, bitset.Set{2}}},
		Bids: []Bid{
			{2, 5, market.OutcomeWon, 40e6, 12_000_000, 9_600_000, usd, "tok_0123456789abcdef", 1_800_000_005e9, 200, 0, "", 0, ""},
			{0, 3, market.OutcomeNoBid, 30e6, 0, 0, market.Currency{}, "", 0, 200, 0, "score_threshold", 0, ""},
			{1, 4, market.OutcomeBelowFloor, 35e6, 1_000_000, 0, usd, "tok_fedcba9876543210", 1_800_000_005e9, 200, 0, "", 0, ""},
		},
		Fields: []LeadField{{"state", market.KindString, []byte("CA")}, {"vehicle_count", market.KindInteger, []byte("2")}},
	}
}

func TestEncodeAllocations(t *testing.T) {
	for _, e := range []Event{typicalLead(), typicalAuction()} {
		buf := AppendRecord(nil, e)
		if n := testing.AllocsPerRun(1000, func() { buf = AppendRecord(buf[:0], e) }); n != 0 {
			t.Errorf("%v allocations to encode a %s of %d bytes", n, e.Kind(), len(buf))
		}
	}
}

func TestDecodeAllocations(t *testing.T) {
	for _, e := range []Event{typicalLead(), typicalAuction()} {
		data := AppendRecord(nil, e)
		for _, forReplay := range []bool{false, true} {
			d := Decoder{ForReplay: forReplay}
			if n := testing.AllocsPerRun(1000, func() {
				if _, err := d.Decode(data); err != nil {
					t.Fatal(err)
				}
			}); n != 0 {
				t.Errorf("%v allocations to decode a %s, replay: %t", n, e.Kind(), forReplay)
			}
		}
	}
}

func BenchmarkEncodeLead(b *testing.B) {
	lead := typicalLead()
	var buf []byte
	b.ReportAllocs()
	for b.Loop() {
		buf = AppendRecord(buf[:0], lead)
	}
	b.ReportMetric(float64(len(buf)), "B/event")
}

func BenchmarkDecodeLead(b *testing.B) {
	data := AppendRecord(nil, typicalLead())
	for name, d := range map[string]*Decoder{"whole": {}, "brief": {ForReplay: true}} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			b.SetBytes(int64(len(data)))
			for b.Loop() {
				if _, err := d.Decode(data); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
