package explain

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"pingpost/engine/bitset"
	"pingpost/engine/event"
	"pingpost/engine/market"
	"pingpost/exchange/logtest"
	"pingpost/internal/must"
)

// history is a log that a test writes, with an explainer of it.
type history struct {
	*logtest.Log
	*Explainer
	t testing.TB
}

func newHistory(t testing.TB) *history {
	t.Helper()
	c := &history{Log: logtest.New(t), t: t}
	c.Explainer = New(Options{Log: c.Log.Log, State: c.State, AuctionName: nameOfAuction, Contact: plaintextContact, DataDir: c.Dir})
	return c
}

// nameOfAuction returns the name of a seller's auction.
func nameOfAuction(supplier market.PermanentNumber, sellersAuctionID string, test bool) (name [16]byte) {
	sum := sha256.Sum256(fmt.Append(nil, supplier, sellersAuctionID, test))
	copy(name[:], sum[:])
	return name
}

// activateConfig activates a configuration in which the campaign has these buyers.
func (c *history) activateConfig(version uint32, buyers ...string) (path string) {
	c.t.Helper()
	return c.activateDocument(version, `{"campaigns":[{"id":"other","method":"weighted","buyers":[]},{"id":"cmp","method":"waterfall","buyers":[{"buyer":"`+strings.Join(buyers, `"},{"buyer":"`)+`"}]}]}`)
}

// activateDocument stores a configuration document and activates it.
func (c *history) activateDocument(version uint32, text string) (path string) {
	c.t.Helper()
	sum := sha256.Sum256([]byte(text))
	hash := hex.EncodeToString(sum[:])
	path = filepath.Join(c.DataDir, "catalogs", hash+".json")
	must.Succeed(c.t, os.MkdirAll(filepath.Dir(path), 0o700))
	must.Succeed(c.t, os.WriteFile(path, []byte(text), 0o600))
	c.Add(&event.ConfigActivated{Version: version, Document: hash})
	return path
}

// newAuction returns an auction in which the first two buyers bid 12.5 and 9. sellersAuctionID is the
// seller's id; "" makes it a request for all offers.
func (c *history) newAuction(n byte, sellersAuctionID string) *event.PingAuctionCompleted {
	usd := market.Currency{'U', 'S', 'D'}
	auction := &event.PingAuctionCompleted{
		Auction: market.AuctionID(c.NewLeadID(n)), Request: market.RequestID{n}, Campaign: 1, Supplier: 1, Catalog: 1,
		Began: c.Now, Deadline: c.Now + 2e9, Until: c.Now + 5e9, Keep: c.Now + int64(30*24*time.Hour), SellerAuction: sellersAuctionID, Name: [16]byte{n, 7, 7},
		Trail: []event.FilterSetsWithOutcome{{Outcome: market.OutcomeWon, FilterSets: bitset.Set{1}}, {Outcome: market.OutcomeLost, FilterSets: bitset.Set{2}}},
		Bids: []event.Bid{
			{Buyer: 1, Token: "t", Outcome: market.OutcomeWon, Amount: 12_500_000, Payout: 10_000_000, Currency: usd, ValidUntil: c.Now + 5e9, Elapsed: 1e6, Status: 200},
			{FilterSet: 1, Buyer: 2, Token: "u", Outcome: market.OutcomeLost, Amount: 9_000_000, Payout: 7_200_000, Currency: usd, ValidUntil: c.Now + 4e9, Elapsed: 2e6, Status: 200},
		},
	}
	if sellersAuctionID != "" {
		auction.Token, auction.Name = market.ExchangeBidToken{n}, nameOfAuction(auction.Supplier, sellersAuctionID, false)
	}
	return auction
}

// addClaim records that a lead claimed a buyer's bid, and the settlement of its delivery; 0
// leaves the delivery in progress.
func (c *history) addClaim(id market.LeadID, at *event.PingAuctionCompleted, buyer int, result event.PostSettlement, change ...func(*event.PostSettled)) {
	c.t.Helper()
	decided := &event.LeadDecided{
		Lead: id, Request: market.RequestID{99, id[15]}, Campaign: 1, Supplier: at.Supplier, Catalog: 1, Decided: c.Now, Keep: c.Now + int64(45*24*time.Hour),
		Sale: atBid(at, buyer), Post: event.PostIntent{URL: "https://buyer.example", Timeout: 1e9, Repeatable: true, Auction: at.Auction},
		Trail: []event.FilterSetsWithOutcome{{Outcome: market.OutcomePostPending, FilterSets: bitset.Set{1 << (buyer - 1)}}},
	}
	if at.SellerAuction != "" {
		decided.Fields = []event.LeadField{{Name: sellerLeadField, Kind: market.KindString, Text: []byte("u-1")}}
	}
	c.Add(decided)
	if result == 0 {
		return
	}
	c.AddPostResult(id, result, append([]func(*event.PostSettled){func(s *event.PostSettled) {
		if s.Sale = atBid(at, buyer); result == event.SettledRefused || result == event.SettledReleased {
			s.Reason = market.ReasonPostRejected
		}
	}}, change...)...)
}

// atBid returns a sale at a buyer's bid in an auction.
func atBid(auction *event.PingAuctionCompleted, buyer int) event.Sale {
	bid := auction.Bids[buyer-1]
	return event.Sale{Buyer: bid.Buyer, FilterSet: bid.FilterSet, Price: bid.Amount, Payout: bid.Payout, Currency: bid.Currency, Ping: auction.Name}
}

// mustExplainLead explains a lead and fails the test on an error.
func (c *history) mustExplainLead(id market.LeadID) *Explanation {
	c.t.Helper()
	return must.Value(c.ExplainLead(id))(c.t)
}

// outcomesText returns the candidates with their outcomes.
func (x *Explanation) outcomesText() string {
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

// plaintextContact decodes the contact part of a test's lead, which is not encrypted.
func plaintextContact(ev *event.LeadDecided) (contact event.LeadPersonalData, err error) {
	err = contact.Decode(ev.Sealed)
	return contact, err
}
