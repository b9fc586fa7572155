package main

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"strconv"
	"time"

	"pingpost/engine/bitset"
	"pingpost/engine/event"
	"pingpost/engine/market"
	"pingpost/engine/market/calendar"
)

// facts makes the events of leads as an exchange logs them: sold, recorded
// alone, with an idempotency key and two values by which a duplicate would be
// known. The same seed gives the same events. What lead returns is good until
// the next call.
type facts struct {
	now     int64 // of the first lead
	apart   time.Duration
	chance  *rand.Rand
	fact    event.LeadDecided
	contact event.Contact
	text    []byte
}

const (
	factCampaigns = 10
	factBuyers    = 40
	factSeats     = 4
	factDays      = 30 * 24 * time.Hour
	factsApart    = 100 * time.Microsecond
)

func newFacts(now int64) *facts {
	return &facts{now: now, apart: factsApart, chance: rand.New(rand.NewPCG(1, 2))}
}

// names is the event that comes before any lead: campaigns, buyers and caps.
func (f *facts) names() *event.NamesGiven {
	named := &event.NamesGiven{Names: []event.Name{{Kind: event.NameSupplier, Ref: 1, ID: supplierID}}}
	add := func(kind event.NameKind, scope market.Scope, prefix string, n int) {
		for i := 1; i <= n; i++ {
			ref := market.Ref(i)
			named.Names = append(named.Names, event.Name{Kind: kind, Ref: ref, ID: fmt.Sprintf("%s_%05d", prefix, i)})
			limit := event.CapName{
				Ref: market.Ref(len(named.Caps) + 1),
				Key: market.CapKey{Scope: scope, Unit: market.UnitCount, Period: calendar.Day, Zone: "UTC"},
			}
			if scope == market.ScopeCampaign {
				limit.Key.Campaign = ref
			} else {
				limit.Key.Buyer = ref
			}
			named.Caps = append(named.Caps, limit)
		}
	}
	add(event.NameCampaign, market.ScopeCampaign, "cmp", factCampaigns)
	add(event.NameBuyer, market.ScopeBuyer, "buy", factBuyers)
	return named
}

// lead is the n-th lead's event, n from 0 up.
func (f *facts) lead(n int) *event.LeadDecided {
	at := f.now + int64(n)*int64(f.apart)
	campaign, seat := n%factCampaigns, n/factCampaigns%factSeats
	buyer := (campaign*factSeats + seat) % factBuyers
	e := &f.fact
	e.Reset()
	e.Lead, e.Request = market.LeadID(f.id(at)), market.RequestID(f.id(at))
	e.Campaign, e.Supplier, e.Catalog = market.Ref(campaign+1), 1, 1
	e.Decided, e.Keep = at, at+int64(factDays*3/2)
	e.Idempotency = event.Idempotency{Key: f.hash(), Print: f.chance.Uint64(), Until: at + int64(factDays)}
	day := at - at%int64(24*time.Hour)
	s := &e.Sale
	s.Buyer, s.FilterSet = market.Ref(buyer+1), uint32(seat)
	s.Price, s.Payout, s.Currency = 12_000_000, 9_600_000, market.Currency{'U', 'S', 'D'}
	s.Charges = append(
		s.Charges,
		event.Charge{Cap: market.Ref(campaign + 1), Window: day, Amount: 1},
		event.Charge{Cap: market.Ref(factCampaigns + buyer + 1), Window: day, Amount: 1},
	)
	if campaign%2 == 1 {
		s.Turn = event.Turn{Set: uint64(campaign)<<8 | 1, Member: uint32(seat)}
	}
	for range 2 {
		s.Dups = append(s.Dups, event.Dup{Key: market.DupKey(f.hash()), Until: at + int64(factDays)})
	}
	e.Trail = append(
		e.Trail,
		event.Step{Outcome: market.OutcomeWon, FilterSets: bitset.Set{1 << seat}},
		event.Step{Outcome: market.OutcomeFiltered, FilterSets: bitset.Set{1 << ((seat + 1) % factSeats)}},
	)
	f.person(n)
	return e
}

// person writes the fields of a lead, with as many bytes as a real one's.
func (f *facts) person(n int) {
	e := &f.fact
	f.text = strconv.AppendInt(f.text[:0], 2_010_000_000+int64(n), 10)
	for _, field := range [...]event.Field{
		{Name: "state", Kind: market.KindString, Text: []byte("CO")},
		{Name: "source", Kind: market.KindString, Text: []byte("search")},
		{Name: "tcpa_consent", Kind: market.KindBoolean, Text: []byte("true")},
		{Name: "consent_cert_url", Kind: market.KindString, Text: []byte("https://cert.example.com/c/1f3a70")},
		{Name: "ip_address", Kind: market.KindString, Text: []byte("203.0.113.7")},
		{Name: "city", Kind: market.KindString, Text: []byte("Sacramento")},
		{Name: "zip", Kind: market.KindString, Text: []byte("95814")},
		{Name: "homeowner", Kind: market.KindBoolean, Text: []byte("true")},
		{Name: "vehicle_count", Kind: market.KindInteger, Text: []byte("2")},
		{Name: "driver_age_band", Kind: market.KindString, Text: []byte("35-44")},
	} {
		e.Fields = append(e.Fields, field)
	}
	f.contact.Fields = append(
		f.contact.Fields[:0],
		event.Field{Name: "first_name", Kind: market.KindString, Text: []byte("Jennifer")},
		event.Field{Name: "last_name", Kind: market.KindString, Text: []byte("Martinez")},
		event.Field{Name: "phone", Kind: market.KindString, Text: f.text},
		event.Field{Name: "email", Kind: market.KindString, Text: []byte("jennifer.martinez.1234567@mail.example.com")},
		event.Field{Name: "line1", Kind: market.KindString, Text: []byte("1420 Oak Street")},
	)
	e.Slot = uint64(n) + 1
	e.Sealed = f.contact.AppendTo(append(e.Sealed[:0], make([]byte, sealing)...))
}

// sealing is how much longer a contact part is sealed: a nonce and a tag.
const sealing = 12 + 16

func (f *facts) id(at int64) [16]byte {
	var random [10]byte
	binary.LittleEndian.PutUint64(random[:], f.chance.Uint64())
	binary.LittleEndian.PutUint16(random[8:], uint16(f.chance.Uint64()))
	return market.MakeID(at/int64(time.Millisecond), random)
}

func (f *facts) hash() (sum [16]byte) {
	binary.LittleEndian.PutUint64(sum[:], f.chance.Uint64())
	binary.LittleEndian.PutUint64(sum[8:], f.chance.Uint64())
	return sum
}
