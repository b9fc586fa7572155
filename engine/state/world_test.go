package state

import (
	"encoding/binary"
	"math"
	"testing"
	"time"

	"pgregory.net/rapid"

	"pingpost/engine/event"
	"pingpost/engine/market"
)

const (
	dollar = market.Money(1_000_000)
	second = int64(time.Second)
	hour   = int64(time.Hour)
	day    = 24 * hour
	// monday is the start of a week, of a day and of an hour in UTC.
	monday = int64(1_798_416_000) * second
)

// entry is a fact as the log has it.
type entry struct {
	at   int64
	data []byte
}

// world is an exchange in small: two campaigns, three buyers with caps and
// money, and a log of what happened.
type world struct {
	*State
	seq       uint64
	at        int64
	log       []entry
	ids       uint64
	limits    map[market.Ref][]*market.Cap // by buyer: the campaign's, the buyer's, the pair's
	buyers    []*market.Buyer
	campaigns []market.Ref
}

func newWorld() *world {
	w := &world{State: New(), at: monday, limits: make(map[market.Ref][]*market.Cap), campaigns: []market.Ref{1, 2}}
	w.fact(&event.Founded{Epoch: [16]byte{1}, KeyCheck: [16]byte{2}, At: w.at})
	w.fact(&event.NamesGiven{Names: []event.Name{
		{Kind: event.NameSupplier, Ref: 1, ID: "sup"},
		{Kind: event.NameList, Ref: 1, ID: "dnc"},
		{Kind: event.NameBuyer, Ref: 1, ID: "red"},
		{Kind: event.NameBuyer, Ref: 2, ID: "green"},
		{Kind: event.NameBuyer, Ref: 3, ID: "blue"},
		{Kind: event.NameCampaign, Ref: 1, ID: "auto"},
		{Kind: event.NameCampaign, Ref: 2, ID: "home"},
	}})
	of := []*market.Cap{
		{Scope: market.ScopeCampaign, Unit: market.UnitCount, Period: market.PeriodDay, Limit: 40},
		{Scope: market.ScopeBuyer, Unit: market.UnitMoney, Period: market.PeriodHour, Limit: int64(40 * dollar)},
		{Scope: market.ScopePair, Unit: market.UnitCount, Period: market.PeriodTotal, Limit: 30},
	}
	var given event.NamesGiven
	for i, limit := range of {
		limit.Ref, limit.Zone = market.Ref(i+1), time.UTC
		given.Caps = append(given.Caps, event.CapName{Ref: limit.Ref, Key: market.CapKey{
			Scope: limit.Scope, Campaign: 1, Buyer: 1, Unit: limit.Unit, Period: limit.Period, Zone: "UTC",
		}})
	}
	w.fact(&given)
	w.limits[1], w.limits[2] = of, of[:1]
	for ref := range market.Ref(3) {
		w.buyers = append(w.buyers, &market.Buyer{Ref: ref + 1, Funded: ref < 2, Credit: market.Money(ref) * 5 * dollar})
	}
	w.fact(&event.FundsMoved{Buyer: 1, Amount: 500 * dollar, Opening: true, At: w.at})
	return w
}

// fact logs a fact and applies it, as serving does: the fact itself, not what
// the log would give back.
func (w *world) fact(e event.Event) {
	w.seq++
	w.log = append(w.log, entry{w.at, event.Append(nil, e)})
	w.Apply(w.seq, w.at, e)
}

// id makes an identifier whose last bytes choose one of few shards.
func (w *world) id() (id [16]byte) {
	w.ids++
	binary.BigEndian.PutUint64(id[4:], w.ids*0x9e3779b97f4a7c15)
	id[14], id[15] = 0, byte(w.ids%3)
	return id
}

// replay applies a log's entries after the state's position, up to the one of
// that sequence, as a start does.
func replay(s *State, log []entry, upTo uint64) {
	waiting := s.NewReplay()
	var lent [][]byte
	flush := func() {
		waiting.Flush()
		for _, data := range lent { // whoever kept a part of a frame now has something else
			for i := range data {
				data[i] = 0xee
			}
		}
		lent = lent[:0]
	}
	for position, _ := s.Position(); position < upTo; position++ {
		data := append([]byte(nil), log[position].data...)
		more, err := waiting.Add(position+1, log[position].at, data)
		if err != nil {
			panic(err)
		}
		if lent = append(lent, data); !more {
			flush()
		}
	}
	flush()
}

// trader makes random facts as the engine would: it reserves, logs and releases,
// and settles what is open in every way there is.
type trader struct {
	*world
	draw func(n int) int
}

func newTrader(t *rapid.T) *trader {
	return &trader{newWorld(), func(n int) int { return rapid.IntRange(0, n-1).Draw(t, "n") }}
}

func (w *trader) step() {
	switch w.draw(12) {
	case 0:
		w.at += int64(w.draw(7)) * hour
	case 1, 2, 3:
		w.settleOne()
	case 4:
		w.operate()
	case 5, 6:
		w.auction()
	default:
		w.lead()
	}
}

func (w *trader) lead() {
	var h Hold
	fact := &event.LeadDecided{
		Lead: w.id(), Request: w.id(), Campaign: w.campaigns[w.draw(2)], Supplier: 1, Decided: w.at,
		Keep: w.at + int64(1+w.draw(30))*hour, Fields: []event.Field{{Name: "state", Kind: market.KindString, Text: []byte("CA")}},
		Sealed: []byte("sealed"), Trail: []event.Step{{Outcome: market.OutcomeCapped, Seats: market.Bits{5, 0}}},
	}
	if w.draw(2) == 0 {
		keyed := w.ClaimKey(&h, [16]byte{byte(w.draw(6)), 15: byte(w.draw(3))}, 1, w.at)
		if !keyed.Used() && keyed.Wait == nil {
			fact.Idempotency = event.Idempotency{Key: h.key, Print: 1, Until: w.at + 10*hour}
		}
	}
	if w.draw(4) == 0 {
		fact.Auction = event.Auction{ID: w.id(), Bids: []event.Bid{{Buyer: 1, Outcome: market.OutcomeWon}}}
	}
	if w.draw(4) > 0 && w.sale(&h, fact.Campaign, &fact.Sale) {
		if w.draw(2) == 0 {
			fact.Post = event.Post{
				URL: "https://buyer.example/v1/post", Credential: "c", Header: "h", Scheme: "s", Timeout: 5, Idempotent: true,
				TokenURL: "https://buyer.example/oauth/token", ClientID: "i", Scope: "post", Auction: w.id(),
			}
			if w.draw(2) == 0 {
				fact.Post.Dialect = market.Dialect{Method: "PUT", Reading: market.Reading{Format: market.FormatForm, ID: "id"}}
			}
		}
	} else {
		fact.Reason = market.ReasonCapsFull
	}
	w.fact(fact)
	w.Release(&h)
}

// auction holds one, most times under a name by which sales find it.
func (w *trader) auction() {
	var h Hold
	fact := &event.AuctionHeld{
		Auction: w.id(), Request: w.id(), Supplier: 1, Campaign: 1, Began: w.at, Deadline: w.at + 2*second,
		Theirs: "theirs", Keep: w.at + int64(1+w.draw(30))*hour, Bids: []event.Bid{{Buyer: 1, Outcome: market.OutcomeWon}},
	}
	if w.draw(4) > 0 {
		if found, wait := w.ClaimName(&h, w.auctionName(), w.at); !found && wait == nil {
			fact.Name = h.name
		}
	}
	if w.draw(2) == 0 {
		keyed := w.ClaimKey(&h, [16]byte{byte(w.draw(6)), 15: byte(w.draw(3))}, 2, w.at)
		if !keyed.Used() && keyed.Wait == nil {
			fact.Idempotency = event.Idempotency{Key: h.key, Print: 2, Until: w.at + 10*hour}
		}
	}
	w.fact(fact)
	w.Release(&h)
}

// auctionName is one of a few, so that they are met again.
func (w *trader) auctionName() [16]byte { return [16]byte{1, 15: byte(w.draw(3))} }

// sale finds a buyer with room, in turns, and takes what the sale takes.
func (w *trader) sale(h *Hold, campaign market.Ref, sale *event.Sale) bool {
	members := 1 + w.draw(3)
	sale.Turn = w.TakeTurn(h, campaign, uint64(members)<<1|1, []int32{3, 1, 2}[:members])
	buyer := w.buyers[sale.Turn.Member]
	price := market.Money(1+w.draw(12)) * dollar
	keys := []market.DupKey{{byte(w.draw(50)), 15: byte(w.draw(2))}, {byte(w.draw(50)), 15: 2}}
	dups, _, _ := w.ClaimDups(h, keys, w.at)
	caps, _ := w.TakeCaps(h, w.limits[buyer.Ref], price, nil, w.at)
	funds := RoomTaken
	if caps == RoomTaken {
		funds, _ = w.TakeFunds(h, buyer, price)
	}
	if w.draw(4) > 0 {
		if row, found, wait := w.ClaimPing(h, w.auctionName(), w.at); found && !row.Sold() && wait == nil {
			sale.Ping = row.Name
		}
	}
	if dups != RoomTaken || caps != RoomTaken || funds != RoomTaken {
		w.ReleaseSale(h)
		w.ReleaseDups(h)
		w.ReleaseName(h)
		*sale = event.Sale{}
		return false
	}
	sale.Buyer, sale.Price, sale.Payout, sale.Currency = buyer.Ref, price, price/2, market.Currency{'U', 'S', 'D'}
	sale.Charges = append(sale.Charges, h.Charges()...)
	for _, key := range keys {
		sale.Dups = append(sale.Dups, event.Dup{Key: key, Until: w.at + int64(1+w.draw(20))*hour})
	}
	return true
}

// settleOne lets something become of an open post.
func (w *trader) settleOne() {
	var open []*Post
	w.Posts(func(p *Post) { open = append(open, p) })
	if len(open) == 0 {
		return
	}
	post := open[0]
	for _, p := range open { // a map's order is no choice
		if string(p.Lead[:]) < string(post.Lead[:]) {
			post = p
		}
	}
	fact := &event.PostSettled{Lead: post.Lead, Attempts: post.Attempts, Status: 200}
	if lead, ok := w.Lead(post.Lead); ok {
		fact.Campaign = lead.Campaign
	}
	fact.Sale.CopyFrom(&post.Sale)
	switch choice := w.draw(6); {
	case post.Unknown:
		fact.Settlement = []event.Settlement{event.SettledConfirmed, event.SettledReleased, event.SettledResent}[choice/2]
	case choice == 0:
		w.fact(&event.PostTried{Lead: post.Lead, Attempt: post.Attempts + 1, At: w.at, Status: 503})
		return
	case choice == 1:
		fact.Settlement = event.SettledUnknown
	case choice == 2 && !post.Answered:
		fact.Settlement = event.SettledPending
	case choice == 3:
		w.refuse(fact, post)
		return
	default:
		fact.Settlement = event.SettledDelivered
	}
	w.fact(fact)
}

func (w *trader) refuse(fact *event.PostSettled, post *Post) {
	var h Hold
	fact.Settlement, fact.Reason = event.SettledRefused, market.ReasonPostRejected
	if !post.Answered && w.draw(2) == 0 && w.sale(&h, fact.Campaign, &fact.Next) {
		fact.Reason = market.ReasonNone
		fact.Next.Dups = append(fact.Next.Dups, post.Sale.Dups...) // it is known by the same values to whoever buys it
		if w.draw(2) == 0 {
			fact.Next.Ping = post.Sale.Ping
		}
		if w.draw(2) == 0 {
			fact.Post, fact.Sealed = post.Intent, []byte("sealed again")
		}
	}
	w.fact(fact)
	w.Release(&h)
}

// operate is what operators and configurations do.
func (w *trader) operate() {
	switch w.draw(8) {
	case 0:
		w.fact(&event.FundsMoved{Buyer: market.Ref(1 + w.draw(3)), Amount: market.Money(w.draw(60)-20) * dollar, Opening: w.draw(5) == 0, At: w.at})
	case 1:
		w.fact(&event.DoorSet{Door: event.NameBuyer, Ref: market.Ref(1 + w.draw(3)), Paused: w.draw(2) == 0, At: w.at})
	case 2:
		w.fact(&event.ListLoaded{List: 1, File: string(rune('a' + w.draw(9))), Source: "s", Entries: uint64(w.draw(9)), At: w.at})
	case 3:
		w.fact(w.credential())
	case 4:
		w.fact(&event.SecretSet{Name: string(rune('a' + w.draw(3))), Sealed: []byte{byte(w.draw(200))}, At: w.at})
	case 5:
		w.fact(&event.CatalogSet{Version: w.Catalog().Version + 1, Document: string(rune('a' + w.draw(20)))})
	case 6:
		ref := market.Ref(w.Names(event.NameBuyer) + 1)
		w.fact(&event.NamesGiven{Names: []event.Name{{Kind: event.NameBuyer, Ref: ref, ID: string(rune('a' + ref))}}})
	case 7:
		refs := w.CapRefs()
		w.fact(&event.NamesGiven{Caps: []event.CapName{{
			Ref: market.Ref(len(refs) + 1), Key: market.CapKey{Scope: market.ScopePair, Campaign: 9, Buyer: market.Ref(len(refs)), Zone: "UTC"},
		}}})
	}
}

func (w *trader) credential() *event.CredentialSet {
	fact := &event.CredentialSet{
		Credential: event.CredentialAPIKey, Owner: event.NameSupplier, OwnerRef: 1,
		Hash: [32]byte{byte(w.draw(4))}, Hint: "pk", Revoked: w.draw(3) == 0, At: w.at,
	}
	switch w.draw(3) {
	case 1:
		fact.Credential, fact.Client, fact.Scopes = event.CredentialOAuthClient, string(rune('a'+w.draw(2))), event.ScopePing
		fact.Hash[1] = 1
	case 2:
		fact.Credential, fact.Owner, fact.Scopes = event.CredentialBearer, event.NameBuyer, event.Scopes(1+w.draw(7))
		fact.Hash[1] = 2
	}
	return fact
}

func TestTheTraderTradesInEveryWay(t *testing.T) {
	seen := map[string]int{}
	rapid.Check(t, func(t *rapid.T) {
		w := newTrader(t)
		for range 60 {
			w.step()
		}
		var d event.Decoder
		for _, entry := range w.log {
			e, err := d.Decode(entry.data)
			if err != nil {
				t.Fatal(err)
			}
			switch e := e.(type) {
			case *event.LeadDecided:
				if e.Sale.Ping != [16]byte{} {
					seen["sold at a bid"]++
				}
				switch {
				case e.Post.URL != "":
					seen["posted"]++
				case e.Sale.Buyer != 0:
					seen["recorded"]++
				default:
					seen["unmatched"]++
				}
			case *event.PostSettled:
				seen[e.Settlement.String()]++
				if e.Sale.Ping != [16]byte{} && e.Settlement == event.SettledRefused {
					seen["bid given back"]++
				}
				if e.Next.Buyer != 0 && e.Post.URL != "" {
					seen["next posted"]++
				} else if e.Next.Buyer != 0 {
					seen["next recorded"]++
				}
			default:
				seen[e.Kind().String()]++
			}
		}
		if n := w.Reservations(); n != 0 {
			t.Fatalf("%d reservations are out, and nothing is in flight", n)
		}
	})
	for _, way := range []string{
		"posted", "recorded", "unmatched", "delivered", "refused", "pending", "unknown", "confirmed", "released", "resent",
		"next posted", "next recorded", "post_tried", "funds_moved", "door_set", "list_loaded", "credential_set", "secret_set", "catalog_set", "names_given",
		"auction_held", "sold at a bid", "bid given back",
	} {
		if seen[way] == 0 {
			t.Errorf("never %s in %v", way, seen)
		}
	}
}

func TestSecondsHoldFarAway(t *testing.T) {
	for nanos, want := range map[int64]uint32{
		-1: 0, 0: 0, 1: 1, second: 1, second + 1: 2,
		math.MaxUint32 * second: math.MaxUint32, math.MaxUint32*second + 1: math.MaxUint32,
		math.MaxInt64: math.MaxUint32, math.MinInt64: 0,
	} {
		if got := seconds(nanos); got != want {
			t.Errorf("%d ns are %d s, want %d", nanos, got, want)
		}
	}
}
