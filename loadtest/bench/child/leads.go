package child

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

// leadEvents generates lead events as an exchange logs them. Each lead is sold and
// recorded without a post, and has an idempotency key and two duplicate keys. The same
// seed gives the same events. An event is valid until the next call.
type leadEvents struct {
	now      int64 // time of the first lead
	interval time.Duration
	random   *rand.Rand
	decided  event.LeadDecided
	contact  event.LeadPersonalData
	text     []byte
}

const (
	campaignCount         = 10
	buyerCount            = 40
	filterSetsPerCampaign = 4
	leadRetention         = 30 * 24 * time.Hour
	leadInterval          = 100 * time.Microsecond
)

func newLeadEvents(now int64) *leadEvents {
	return &leadEvents{now: now, interval: leadInterval, random: rand.New(rand.NewPCG(1, 2))}
}

// namesGiven returns the event before the first lead, with campaigns, buyers and caps.
func (f *leadEvents) namesGiven() *event.ConfigObjectNumbersAssigned {
	named := &event.ConfigObjectNumbersAssigned{Names: []event.NameNumberAssignment{{Kind: event.ObjectSupplier, Ref: 1, ID: SupplierID}}}
	add := func(kind event.ConfigObjectKind, scope market.CapScope, prefix string, n int) {
		for i := 1; i <= n; i++ {
			ref := market.PermanentNumber(i)
			named.Names = append(named.Names, event.NameNumberAssignment{Kind: kind, Ref: ref, ID: fmt.Sprintf("%s_%05d", prefix, i)})
			limit := event.CapNumberAssignment{
				Ref: market.PermanentNumber(len(named.Caps) + 1),
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
	add(event.ObjectCampaign, market.ScopeCampaign, "cmp", campaignCount)
	add(event.ObjectBuyer, market.ScopeBuyer, "buy", buyerCount)
	return named
}

// leadDecided returns the event of lead n, counted from 0.
func (f *leadEvents) leadDecided(n int) *event.LeadDecided {
	at := f.now + int64(n)*int64(f.interval)
	campaign, filterSet := n%campaignCount, n/campaignCount%filterSetsPerCampaign
	buyer := (campaign*filterSetsPerCampaign + filterSet) % buyerCount
	e := &f.decided
	e.ResetKeepingCapacity()
	e.Lead, e.Request = market.LeadID(f.newID(at)), market.RequestID(f.newID(at))
	e.Campaign, e.Supplier, e.Catalog = market.PermanentNumber(campaign+1), 1, 1
	e.Decided, e.Keep = at, at+int64(leadRetention*3/2)
	e.Idempotency = event.RequestIdempotencyKey{Key: f.randomHash(), Fingerprint: f.random.Uint64(), ExpiresAt: at + int64(leadRetention)}
	day := at - at%int64(24*time.Hour)
	s := &e.Sale
	s.Buyer, s.FilterSet = market.PermanentNumber(buyer+1), uint32(filterSet)
	s.Price, s.Payout, s.Currency = 12_000_000, 9_600_000, market.Currency{'U', 'S', 'D'}
	s.Charges = append(
		s.Charges,
		event.CapCharge{Cap: market.PermanentNumber(campaign + 1), Window: day, Amount: 1},
		event.CapCharge{Cap: market.PermanentNumber(campaignCount + buyer + 1), Window: day, Amount: 1},
	)
	if campaign%2 == 1 {
		s.Turn = event.RotationTurn{Set: uint64(campaign)<<8 | 1, Member: uint32(filterSet)}
	}
	for range 2 {
		s.Duplicates = append(s.Duplicates, event.DuplicateCheckValue{Key: market.DuplicateKey(f.randomHash()), Until: at + int64(leadRetention)})
	}
	e.Trail = append(
		e.Trail,
		event.FilterSetsWithOutcome{Outcome: market.OutcomeWon, FilterSets: bitset.Set{1 << filterSet}},
		event.FilterSetsWithOutcome{Outcome: market.OutcomeFiltered, FilterSets: bitset.Set{1 << ((filterSet + 1) % filterSetsPerCampaign)}},
	)
	f.fillFields(n)
	return e
}

// fillFields sets the fields of a lead, with the size of a real one.
func (f *leadEvents) fillFields(n int) {
	e := &f.decided
	f.text = strconv.AppendInt(f.text[:0], 2_010_000_000+int64(n), 10)
	for _, field := range [...]event.LeadField{
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
		event.LeadField{Name: "first_name", Kind: market.KindString, Text: []byte("Jennifer")},
		event.LeadField{Name: "last_name", Kind: market.KindString, Text: []byte("Martinez")},
		event.LeadField{Name: "phone", Kind: market.KindString, Text: f.text},
		event.LeadField{Name: "email", Kind: market.KindString, Text: []byte("jennifer.martinez.1234567@mail.example.com")},
		event.LeadField{Name: "line1", Kind: market.KindString, Text: []byte("1420 Oak Street")},
	)
	e.Slot = uint64(n) + 1
	e.Sealed = f.contact.AppendEncoded(append(e.Sealed[:0], make([]byte, sealOverhead)...))
}

// sealOverhead is the number of bytes that sealing adds: a nonce and a tag.
const sealOverhead = 12 + 16

func (f *leadEvents) newID(at int64) [16]byte {
	var tail [10]byte
	binary.LittleEndian.PutUint64(tail[:], f.random.Uint64())
	binary.LittleEndian.PutUint16(tail[8:], uint16(f.random.Uint64()))
	return market.ComposeID(at/int64(time.Millisecond), tail)
}

func (f *leadEvents) randomHash() (sum [16]byte) {
	binary.LittleEndian.PutUint64(sum[:], f.random.Uint64())
	binary.LittleEndian.PutUint64(sum[8:], f.random.Uint64())
	return sum
}

// ReportBids is the number of bids of each lead in a generated report.
const ReportBids = 4

// addAuction adds an auction with this number of bids to the current lead.
func (f *leadEvents) addAuction(bids int) {
	e := &f.decided
	a := &e.Auction
	a.ID = market.AuctionID(f.newID(e.Decided))
	a.Began, a.Deadline = e.Decided, e.Decided+int64(2*time.Second)
	for i := range bids {
		buyer := (int(e.Sale.Buyer)-1+i)%buyerCount + 1
		bid := event.Bid{
			FilterSet: uint32(i), Buyer: market.PermanentNumber(buyer), Outcome: market.OutcomeLost, Elapsed: int64(10+i) * int64(time.Millisecond),
			Amount: 11_000_000, Currency: e.Sale.Currency, Status: 200, ValidUntil: a.Deadline,
		}
		if i == 0 {
			bid.Outcome, bid.Amount, bid.Payout = market.OutcomeWon, e.Sale.Price, e.Sale.Payout
		}
		a.Bids = append(a.Bids, bid)
	}
}
