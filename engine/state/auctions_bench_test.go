package state

import (
	"encoding/binary"
	"fmt"
	"runtime"
	"testing"

	"pingpost/engine/event"
	"pingpost/engine/market"
)

// keptAuction is the n-th of many: named, with an idempotency key, of five
// buyers that were asked.
func keptAuction(n uint64) *event.AuctionHeld {
	hash := func(kind byte) (key [16]byte) {
		key = [16]byte{kind}
		binary.LittleEndian.PutUint64(key[1:], (n+1)*0xd6e8feb86659fd93)
		binary.LittleEndian.PutUint64(key[8:], (n+uint64(kind))*0x9e3779b97f4a7c15)
		return key
	}
	fact := &event.AuctionHeld{
		Auction: hash(1), Request: hash(2), Campaign: 1, Supplier: 1, Catalog: 1, Began: monday, Deadline: monday + 2*second,
		Name: hash(3), Theirs: "seller-auction-0001", Token: hash(4), Until: monday + 5*second, Keep: monday + 30*day,
		Idempotency: event.Idempotency{Key: hash(5), Print: n, Until: monday + 30*day},
		Trail:       []event.Step{{Outcome: market.OutcomeWon, Seats: market.Bits{1}}, {Outcome: market.OutcomeLost, Seats: market.Bits{30}}},
		Fields: []event.Field{
			{Name: "state", Kind: market.KindString, Text: []byte("CA")},
			{Name: "vehicle_count", Kind: market.KindInteger, Text: []byte("2")},
		},
	}
	for seat := range uint32(5) {
		fact.Bids = append(fact.Bids, event.Bid{
			Seat: seat, Buyer: market.Ref(seat + 1), Outcome: market.OutcomeLost, Elapsed: 40_000_000, Amount: 12 * dollar,
			Payout: 9 * dollar, Currency: market.Currency{'U', 'S', 'D'}, Token: "tok_0123456789abcdef", ValidUntil: monday + 5*second, Status: 200,
		})
	}
	return fact
}

// BenchmarkMemoryOfAuctions weighs auctions with their name and their key. The
// tables grow in steps, so the figure depends on how many there are.
func BenchmarkMemoryOfAuctions(b *testing.B) {
	heap := func() uint64 {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	for _, many := range []uint64{300_000, 500_000, 700_000, 1_000_000} {
		b.Run(fmt.Sprintf("%d auctions", many), func(b *testing.B) {
			for b.Loop() {
				before := heap()
				w := newWorld()
				for n := range many {
					w.Apply(w.seq+n+1, monday, keptAuction(n))
				}
				b.ReportMetric(float64(heap()-before)/float64(many), "B/auction")
				if got := w.Auctions(); uint64(got) != many {
					b.Fatalf("%d auctions", got)
				}
			}
		})
	}
}

// BenchmarkReplayAuctions is what a restart does with an auction's frame.
func BenchmarkReplayAuctions(b *testing.B) {
	const many = 100_000
	var frames [][]byte
	size := 0
	for n := range uint64(many) {
		frames = append(frames, event.Append(nil, keptAuction(n)))
		size += len(frames[n])
	}
	d := event.Decoder{Brief: true}
	w, n := newWorld(), 0
	seq := w.seq
	b.ReportAllocs()
	for b.Loop() {
		if n == many {
			b.StopTimer()
			w, n = newWorld(), 0
			seq = w.seq
			b.StartTimer()
		}
		e, err := d.Decode(frames[n])
		if err != nil {
			b.Fatal(err)
		}
		seq++
		n++
		w.Apply(seq, monday, e)
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "auctions/s")
	b.ReportMetric(float64(size)/many, "B/frame")
}
