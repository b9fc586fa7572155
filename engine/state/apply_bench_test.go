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

// BenchmarkReplayLeads decodes and applies the records of leads, as a restart does.
func BenchmarkReplayLeads(b *testing.B) {
	const many = 100_000
	var frames [][]byte
	for n := range uint64(many) {
		frames = append(frames, event.AppendRecord(nil, soldLead(n)))
	}
	d := event.Decoder{ForReplay: true}
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
		e, err := d.Decode(frames[n])
		if err != nil {
			b.Fatal(err)
		}
		seq++
		n++
		x.Apply(seq, monday, e)
	}
}

func BenchmarkWriteSnapshot(b *testing.B) {
	x := newTestExchange()
	for n := range uint64(200_000) {
		x.Apply(x.seq+n+1, monday, soldLead(n))
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, _, err := x.WriteSnapshot(io.Discard); err != nil {
			b.Fatal(err)
		}
	}
}
