package exchange

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"pingpost/engine/event"
	"pingpost/engine/market"
	"pingpost/engine/state"
	"pingpost/wal"
)

// chronicle is a log whose facts a test writes itself, at times of its own: for
// what an exchange comes to only in hours, or never.
type chronicle struct {
	*explainer
	t    testing.TB
	now  int64
	seq  uint64
	done chan error
}

// dawn is when chronicles begin.
const dawn = 1_795_183_200_000 * int64(time.Millisecond)

// newChronicle begins one in which buyers 1 to 9 are known, two suppliers, and the
// campaign "cmp". Its segments have a few entries each.
func newChronicle(t testing.TB) *chronicle {
	t.Helper()
	c := &chronicle{t: t, now: dawn, done: make(chan error, 1)}
	c.explainer = &explainer{state: state.New(), named: called, contact: lying, dir: t.TempDir(), reach: usualReach}
	c.open()
	given := &event.NamesGiven{Names: []event.Name{{Kind: event.NameSupplier, Ref: 1, ID: "sup"}, {Kind: event.NameSupplier, Ref: 2, ID: "sup_other"}, {Kind: event.NameCampaign, Ref: 1, ID: "cmp"}}}
	for n := range market.Ref(9) {
		given.Names = append(given.Names, event.Name{Kind: event.NameBuyer, Ref: n + 1, ID: fmt.Sprint("buy_", n+1)})
	}
	c.add(given)
	return c
}

// called is the name of a seller's auction.
func called(supplier market.Ref, theirs string, test bool) (name [16]byte) {
	sum := sha256.Sum256(fmt.Append(nil, supplier, theirs, test))
	copy(name[:], sum[:])
	return name
}

func (c *chronicle) open() {
	c.t.Helper()
	log, err := wal.Open(c.dir, wal.Options{SegmentSize: 2048, Now: func() int64 { return c.now }, Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		c.t.Fatal(err)
	}
	c.t.Cleanup(func() { log.Close() })
	c.log = log
}

// add writes a fact and applies it.
func (c *chronicle) add(fact event.Event) (seq uint64) {
	c.t.Helper()
	if err := c.log.Append(event.Append(nil, fact), applied{c, fact}); err != nil {
		c.t.Fatal(err)
	}
	if err := <-c.done; err != nil {
		c.t.Fatal(err)
	}
	return c.seq
}

type applied struct {
	*chronicle
	fact event.Event
}

func (a applied) Committed(seq uint64, at int64) {
	a.seq = seq
	a.state.Apply(seq, at, a.fact)
	a.done <- nil
}

func (a applied) Failed(err error) { a.done <- err }

// later lets time pass.
func (c *chronicle) later(d time.Duration) { c.now += int64(d) }

// draw is the nth lead's identifier, of now.
func (c *chronicle) draw(n byte) market.LeadID {
	return market.LeadID(market.MakeID(c.now/int64(time.Millisecond), [10]byte{9: n}))
}

// configured puts a document into force in which the campaign has these buyers.
func (c *chronicle) configured(version uint32, buyers ...string) (path string) {
	c.t.Helper()
	return c.document(version, `{"campaigns":[{"id":"other","method":"weighted","buyers":[]},{"id":"cmp","method":"waterfall","buyers":[{"buyer":"`+strings.Join(buyers, `"},{"buyer":"`)+`"}]}]}`)
}

// document puts a document into force.
func (c *chronicle) document(version uint32, text string) (path string) {
	c.t.Helper()
	sum := sha256.Sum256([]byte(text))
	hash := hex.EncodeToString(sum[:])
	path = filepath.Join(c.dir, "catalogs", hash+".json")
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		c.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		c.t.Fatal(err)
	}
	c.add(&event.CatalogSet{Version: version, Document: hash})
	return path
}

// saleTo is a sale to the nth buyer.
func saleTo(n int) event.Sale {
	return event.Sale{Buyer: market.Ref(n), Seat: uint32(n - 1), Price: 12_500_000, Payout: 10_000_000, Currency: market.Currency{'U', 'S', 'D'}}
}

// posted writes that a lead is to be posted to the first buyer.
func (c *chronicle) posted(id market.LeadID) *event.LeadDecided {
	c.t.Helper()
	decided := &event.LeadDecided{
		Lead: id, Campaign: 1, Supplier: 1, Catalog: 1, Decided: c.now, Keep: c.now + int64(45*24*time.Hour),
		Sale: saleTo(1), Post: event.Post{URL: "https://buyer.example", Timeout: 1e9, Idempotent: true},
		Trail: []event.Step{{Outcome: market.OutcomePostPending, Seats: market.Bits{1}}, {Outcome: market.OutcomeCapped, Seats: market.Bits{2}}},
	}
	c.add(decided)
	return decided
}

// settled writes what its post came to.
func (c *chronicle) settled(id market.LeadID, how event.Settlement, change ...func(*event.PostSettled)) {
	c.t.Helper()
	fact := &event.PostSettled{Lead: id, Campaign: 1, Settlement: how, Sale: saleTo(1)}
	for _, do := range change {
		do(fact)
	}
	c.add(fact)
}

// offering is an auction in which the first two buyers bid 12.5 and 9; theirs is
// empty where it was held for who asked who would buy.
func (c *chronicle) offering(n byte, theirs string) *event.AuctionHeld {
	usd := market.Currency{'U', 'S', 'D'}
	held := &event.AuctionHeld{
		Auction: market.AuctionID(c.draw(n)), Request: market.RequestID{n}, Campaign: 1, Supplier: 1, Catalog: 1,
		Began: c.now, Deadline: c.now + 2e9, Until: c.now + 5e9, Keep: c.now + int64(30*24*time.Hour), Theirs: theirs, Name: [16]byte{n, 7, 7},
		Trail: []event.Step{{Outcome: market.OutcomeWon, Seats: market.Bits{1}}, {Outcome: market.OutcomeLost, Seats: market.Bits{2}}},
		Bids: []event.Bid{
			{Buyer: 1, Token: "t", Outcome: market.OutcomeWon, Amount: 12_500_000, Payout: 10_000_000, Currency: usd, ValidUntil: c.now + 5e9, Elapsed: 1e6, Status: 200},
			{Seat: 1, Buyer: 2, Token: "u", Outcome: market.OutcomeLost, Amount: 9_000_000, Payout: 7_200_000, Currency: usd, ValidUntil: c.now + 4e9, Elapsed: 2e6, Status: 200},
		},
	}
	if theirs != "" {
		held.Token, held.Name = market.BidToken{n}, called(held.Supplier, theirs, false)
	}
	return held
}

// takenUp writes that a lead is to go to a buyer at an auction's bid, and what that
// came to; zero: nothing yet.
func (c *chronicle) takenUp(id market.LeadID, at *event.AuctionHeld, buyer int, came event.Settlement, change ...func(*event.PostSettled)) {
	c.t.Helper()
	decided := &event.LeadDecided{
		Lead: id, Request: market.RequestID{99, id[15]}, Campaign: 1, Supplier: at.Supplier, Catalog: 1, Decided: c.now, Keep: c.now + int64(45*24*time.Hour),
		Sale: atBid(at, buyer), Post: event.Post{URL: "https://buyer.example", Timeout: 1e9, Idempotent: true, Auction: at.Auction},
		Trail: []event.Step{{Outcome: market.OutcomePostPending, Seats: market.Bits{1 << (buyer - 1)}}},
	}
	if at.Theirs != "" {
		decided.Fields = []event.Field{{Name: sellersLead, Kind: market.KindString, Text: []byte("u-1")}}
	}
	c.add(decided)
	if came == 0 {
		return
	}
	c.settled(id, came, append([]func(*event.PostSettled){func(s *event.PostSettled) {
		if s.Sale = atBid(at, buyer); came == event.SettledRefused || came == event.SettledReleased {
			s.Reason = market.ReasonPostRejected
		}
	}}, change...)...)
}

// atBid is a sale at what a buyer bid in an auction.
func atBid(at *event.AuctionHeld, buyer int) event.Sale {
	bid := at.Bids[buyer-1]
	return event.Sale{Buyer: bid.Buyer, Seat: bid.Seat, Price: bid.Amount, Payout: bid.Payout, Currency: bid.Currency, Ping: at.Name}
}

// told explains a lead that must be there.
func (c *chronicle) told(id market.LeadID) *Explanation {
	c.t.Helper()
	told, err := c.explainer.lead(id)
	if err != nil {
		c.t.Fatal(err)
	}
	return told
}

// outcomes are the candidates of an explanation in a word each.
func (x *Explanation) outcomes() string {
	var words []string
	for i := range x.Candidates {
		candidate := &x.Candidates[i]
		name := candidate.Buyer
		if name == "" {
			name = fmt.Sprint(candidate.Seat)
		}
		words = append(words, name+" "+candidate.Outcome)
	}
	return strings.Join(words, ", ")
}

// lying opens the contact part of a chronicle's leads, which lies open.
func lying(fact *event.LeadDecided) (contact event.Contact, err error) {
	err = contact.Decode(fact.Sealed)
	return contact, err
}
