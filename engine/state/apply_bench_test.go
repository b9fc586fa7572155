package state

import (
	"encoding/binary"
	"io"
	"testing"

	"pingpost/engine/bitset"
	"pingpost/engine/event"
	"pingpost/engine/market"
)

// soldLead returns the n-th of many leads: recorded, with an idempotency key, two duplicate
// keys, two caps and a turn.
func soldLead(n uint64) *event.LeadDecided {
	var id [16]byte
	binary.BigEndian.PutUint64(id[:], uint64(monday/1_000_000)<<16)
	binary.BigEndian.PutUint64(id[6:], n*0x9e3779b97f4a7c15)
	binary.BigEndian.PutUint16(id[14:], uint16(n*40503))
	hash := func(kind byte) [16]byte { return nthKey(n, kind) }
	ev := &event.LeadDecided{
		Lead: id, Request: id, Campaign: 1, Supplier: 1, Catalog: 1, Decided: monday, Keep: monday + 45*day,
		Idempotency: event.RequestIdempotencyKey{Key: hash(1), Fingerprint: n, ExpiresAt: monday + 30*day},
		Fields: []event.LeadField{
			{Name: "state", Kind: market.KindString, Text: []byte("CA")},
			{Name: "vehicle_count", Kind: market.KindInteger, Text: []byte("2")},
		},
		Sealed: make([]byte, 120),
		Trail:  []event.FilterSetsWithOutcome{{Outcome: market.OutcomeWon, FilterSets: bitset.Set{4}}},
		Sale: event.Sale{
			Buyer: 1, FilterSet: 2, Price: dollar, Payout: dollar / 2, Currency: market.Currency{'U', 'S', 'D'},
			Charges:    []event.CapCharge{{Cap: 1, Window: monday, Amount: 1}, {Cap: 2, Window: monday, Amount: int64(dollar)}},
			Turn:       event.RotationTurn{Set: 7, Member: uint32(n % 3)},
			Duplicates: []event.DuplicateCheckValue{{Key: hash(2), Until: monday + 30*day}, {Key: hash(3), Until: monday + 30*day}},
		},
	}
	return ev
}

// nthKey returns the n-th of many hash-like keys of a kind.
func nthKey(n uint64, kind byte) (key [16]byte) {
	key = [16]byte{kind}
	binary.LittleEndian.PutUint64(key[1:], (n+1)*0xd6e8feb86659fd93)
	binary.LittleEndian.PutUint64(key[8:], (n+uint64(kind))*0x9e3779b97f4a7c15)
	return key
}

// BenchmarkReplayLeads decodes and applies whole lead events. A restart decodes fewer fields.
func BenchmarkReplayLeads(b *testing.B) {
	benchmarkReplay(b, event.Decoder{}, func(n uint64) event.Event { return soldLead(n) })
}

// BenchmarkReplayAuctions decodes and applies auction events, as a restart does.
func BenchmarkReplayAuctions(b *testing.B) {
	benchmarkReplay(b, event.Decoder{ForReplay: true}, func(n uint64) event.Event { return pingAuction(n) })
}

func benchmarkReplay(b *testing.B, d event.Decoder, eventNumber func(n uint64) event.Event) {
	const many = 100_000
	var records [][]byte
	for n := range uint64(many) {
		records = append(records, event.AppendRecord(nil, eventNumber(n)))
	}
	x, n := newTestExchange(), 0
	seq := x.seq
	b.ReportAllocs()
	for b.Loop() {
		if n == many {
			b.StopTimer()
			x, n = newTestExchange(), 0
			seq = x.seq
			b.StartTimer()
		}
		e, err := d.Decode(records[n])
		if err != nil {
			b.Fatal(err)
		}
		seq++
		n++
		x.Apply(seq, monday, e)
	}
}

// pingAuction returns the n-th of many ping auctions: with a name, an idempotency key and the
// bids of five buyers.
func pingAuction(n uint64) *event.PingAuctionCompleted {
	hash := func(kind byte) [16]byte { return nthKey(n, kind) }
	ev := &event.PingAuctionCompleted{
		Auction: hash(1), Request: hash(2), Campaign: 1, Supplier: 1, Catalog: 1, Began: monday, Deadline: monday + 2*second,
		Name: hash(3), SellerAuction: "seller-auction-0001", Token: hash(4), Until: monday + 5*second, Keep: monday + 30*day,
		Idempotency: event.RequestIdempotencyKey{Key: hash(5), Fingerprint: n, ExpiresAt: monday + 30*day},
		Trail:       []event.FilterSetsWithOutcome{{Outcome: market.OutcomeWon, FilterSets: bitset.Set{1}}, {Outcome: market.OutcomeLost, FilterSets: bitset.Set{30}}},
		Fields: []event.LeadField{
			{Name: "state", Kind: market.KindString, Text: []byte("CA")},
			{Name: "vehicle_count", Kind: market.KindInteger, Text: []byte("2")},
		},
	}
	for i := range uint32(5) {
		ev.Bids = append(ev.Bids, event.Bid{
			FilterSet: i, Buyer: market.PermanentNumber(i + 1), Outcome: market.OutcomeLost, Elapsed: 40_000_000, Amount: 12 * dollar,
			Payout: 9 * dollar, Currency: market.Currency{'U', 'S', 'D'}, Token: "tok_0123456789abcdef", ValidUntil: monday + 5*second, Status: 200,
		})
	}
	return ev
}

func BenchmarkWriteSnapshot(b *testing.B) {
	x := newTestExchange()
	for n := range uint64(200_000) {
		x.Apply(x.seq+n+1, monday, soldLead(n))
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, _, err := x.WriteSnapshot(io.Discard, nil); err != nil {
			b.Fatal(err)
		}
	}
}
