package state

import (
	"encoding/binary"
	"fmt"
	"testing"

	"pingpost/engine/event"
	"pingpost/engine/market"
)

// spread is the n-th of a sequence of identifiers without a pattern.
func spread(n uint64) (id [16]byte) {
	mix := func(x uint64) uint64 {
		x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
		x = (x ^ x>>27) * 0x94d049bb133111eb
		return x ^ x>>31
	}
	binary.LittleEndian.PutUint64(id[:], mix(n*2+1))
	binary.LittleEndian.PutUint64(id[8:], mix(n*2+2))
	return id
}

// renew makes the n-th lead of another one's fact.
func renew(fact *event.LeadDecided, n uint64) {
	fact.Lead, fact.Idempotency.Key = spread(4*n), spread(4*n+1)
	fact.Sale.Duplicates[0].Key, fact.Sale.Duplicates[1].Key = spread(4*n+2), spread(4*n+3)
}

// BenchmarkLeadsInFlight is what tables cost a lead while serving: its values are
// claimed, and when as many leads as wait for one fsync have done the same, all of
// them are applied and their claims end. Between two leads as much other memory is
// read as decoding, encoding and connections use. How many facts are looked at
// before the first of them is applied is the log's choice; none is for comparison.
func BenchmarkLeadsInFlight(b *testing.B) {
	const known = 600_000
	w := newWorld()
	fact := soldLead(0)
	for n := range uint64(known) {
		renew(fact, n)
		w.Apply(w.seq+n+1, monday, fact)
	}
	next := uint64(known)
	for _, waiting := range []int{64, 256} {
		for _, looked := range []int{0, 16} {
			b.Run(fmt.Sprintf("%d waiting, %d looked at", waiting, looked), func(b *testing.B) {
				f := newFlight(w, waiting, next)
				b.ReportAllocs()
				for b.Loop() {
					if f.claim(); f.n == waiting {
						f.land(looked)
					}
				}
				f.land(looked)
				next = f.next
			})
		}
	}
}

// flight is the leads between their claims and the end of an fsync.
type flight struct {
	*world
	facts []*event.LeadDecided
	holds []RequestReservations
	n     int
	next  uint64
	other []uint64
	sum   uint64 // of what was read of it
}

func newFlight(w *world, room int, next uint64) *flight {
	f := &flight{world: w, holds: make([]RequestReservations, room), next: next, other: make([]uint64, 1<<19)}
	for range room {
		f.facts = append(f.facts, soldLead(0))
	}
	return f
}

// claim claims the next lead's values.
func (f *flight) claim() {
	fact, hold := f.facts[f.n], &f.holds[f.n]
	renew(fact, f.next)
	f.ClaimIdempotencyKey(hold, fact.Idempotency.Key, 1, monday)
	keys := [2]market.DuplicateKey{fact.Sale.Duplicates[0].Key, fact.Sale.Duplicates[1].Key}
	f.ClaimAllDuplicateKeys(hold, keys[:], monday)
	for line := range 64 {
		f.sum += f.other[(int(f.next)*64+line)*8&(len(f.other)-1)]
	}
	f.n++
	f.next++
}

// land applies the leads that claimed, looking at so many at a time.
func (f *flight) land(looked int) {
	seq, _ := f.Position()
	for i, fact := range f.facts[:f.n] {
		if looked > 0 && i%looked == 0 {
			for _, near := range f.facts[i:min(i+looked, f.n)] {
				f.PrefetchIntoCPUCache(near)
			}
		}
		f.Apply(seq+uint64(i)+1, monday, fact)
		f.ReleaseAfterApply(&f.holds[i])
	}
	f.n = 0
}
