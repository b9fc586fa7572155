package state

import (
	"encoding/binary"
	"fmt"
	"runtime"
	"testing"

	"pingpost/engine/bitset"
	"pingpost/engine/event"
	"pingpost/engine/market"
)

// soldLead is the n-th of many leads: recorded, with an idempotency key, two
// values to remember, two caps and a turn.
func soldLead(n uint64) *event.LeadDecided {
	var id [16]byte
	binary.BigEndian.PutUint64(id[:], uint64(monday/1_000_000)<<16)
	binary.BigEndian.PutUint64(id[6:], n*0x9e3779b97f4a7c15)
	binary.BigEndian.PutUint16(id[14:], uint16(n*40503))
	hash := func(kind byte) [16]byte { return keyOf(n, kind) }
	fact := &event.LeadDecided{
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
	return fact
}

// keyOf makes the n-th of many keys of a kind, as hashes lie.
func keyOf(n uint64, kind byte) (key [16]byte) {
	key = [16]byte{kind}
	binary.LittleEndian.PutUint64(key[1:], (n+1)*0xd6e8feb86659fd93)
	binary.LittleEndian.PutUint64(key[8:], (n+uint64(kind))*0x9e3779b97f4a7c15)
	return key
}

// BenchmarkReplayLeads is what a restart does with a lead's frame: decode, apply.
func BenchmarkReplayLeads(b *testing.B) {
	replayMany(b, "leads", new(event.Decoder), func(n uint64) event.Event { return soldLead(n) })
}

func replayMany(b *testing.B, what string, d *event.Decoder, fact func(n uint64) event.Event) {
	const many = 100_000
	var frames [][]byte
	size := 0
	for n := range uint64(many) {
		frames = append(frames, event.AppendRecord(nil, fact(n)))
		size += len(frames[n])
	}
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
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), what+"/s")
	b.ReportMetric(float64(size)/many, "B/frame")
}

// BenchmarkMemoryOfLeads fills a state and weighs it: an accepted lead with its
// idempotency key and two values.
func BenchmarkMemoryOfLeads(b *testing.B) {
	weigh(b, "lead", func(w *world, n uint64) { w.Apply(w.seq+n+1, monday, soldLead(n)) }, (*world).LeadCount)
}

// weigh fills states and weighs them. The tables grow in steps, so the figure
// depends on how many there are.
func weigh(b *testing.B, what string, fill func(w *world, n uint64), count func(*world) int) {
	heap := func() uint64 {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	for _, many := range []uint64{300_000, 400_000, 500_000, 700_000, 1_000_000} {
		b.Run(fmt.Sprintf("%d %ss", many, what), func(b *testing.B) {
			for b.Loop() {
				before := heap()
				w := newWorld()
				for n := range many {
					fill(w, n)
				}
				b.ReportMetric(float64(heap()-before)/float64(many), "B/"+what)
				if got := count(w); uint64(got) != many {
					b.Fatalf("%d %ss", got, what)
				}
			}
		})
	}
}

func BenchmarkWriteSnapshot(b *testing.B) {
	w := newWorld()
	for n := range uint64(200_000) {
		w.Apply(w.seq+n+1, monday, soldLead(n))
	}
	b.ReportAllocs()
	var file counter
	for b.Loop() {
		file = 0
		if _, _, err := w.WriteSnapshot(&file); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(file)/200_000, "B/lead")
}

// counter counts what is written to it.
type counter int

func (c *counter) Write(p []byte) (int, error) {
	*c += counter(len(p))
	return len(p), nil
}

func BenchmarkHash(b *testing.B) {
	w := newWorld()
	for b.Loop() {
		w.Hash()
	}
}

func BenchmarkTakeRoom(b *testing.B) {
	w := newWorld()
	var h RequestReservations
	keys := []market.DuplicateKey{{1}, {2}}
	b.ReportAllocs()
	for b.Loop() {
		w.ClaimAllDuplicateKeys(&h, keys, monday)
		w.ReserveAllCaps(&h, w.limits[1], dollar, nil, monday)
		w.ReserveFunds(&h, w.buyers[0], dollar)
		w.ReleaseAll(&h)
	}
}
