package state

import (
	"encoding/binary"
	"io"
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
	const many = 100_000
	var frames [][]byte
	for n := range uint64(many) {
		frames = append(frames, event.AppendRecord(nil, soldLead(n)))
	}
	d := event.Decoder{ForReplay: true}
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
}

func BenchmarkWriteSnapshot(b *testing.B) {
	w := newWorld()
	for n := range uint64(200_000) {
		w.Apply(w.seq+n+1, monday, soldLead(n))
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, _, err := w.WriteSnapshot(io.Discard); err != nil {
			b.Fatal(err)
		}
	}
}
