package explain

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"pingpost/engine/event"
	"pingpost/engine/market"
	"pingpost/internal/must"
)

// offersText returns the offers in one line: buyer, price and payout, and the leads that
// claimed them.
func (x *Explanation) offersText() string {
	var words []string
	for i := range x.Offers {
		o := &x.Offers[i]
		word := fmt.Sprintf("%s %s for %s", o.Buyer, market.Money(o.Price.Amount), market.Money(o.Payout.Amount))
		for j := range o.Claims {
			word += " by " + o.Claims[j].DescribeLeadState()
		}
		words = append(words, word)
	}
	return strings.Join(words, "; ")
}

func (x *Explanation) saleText() string {
	if x.Price == nil {
		return ""
	}
	return fmt.Sprintf("%s pays %s, of that %s and %s", x.Buyer, x.Price, x.Payout, x.Margin)
}

// TestExplainAuctionStatusByClaims: the status of an auction after each sequence of claims.
func TestExplainAuctionStatusByClaims(t *testing.T) {
	type claim struct {
		buyer  int
		result event.PostSettlement // zero while the delivery is in progress
	}
	const best, second = "buy_1 pays 12.5 USD, of that 10 USD and 2.5 USD", "buy_2 pays 9 USD, of that 7.2 USD and 1.8 USD"
	for name, row := range map[string]struct {
		leads   []claim
		status  string
		money   string
		offered string
	}{
		"no claim":                       {nil, "BID", "", "buy_1 12.5 for 10; buy_2 9 for 7.2"},
		"one in delivery":                {[]claim{{2, 0}}, "TAKEN", second, "buy_1 12.5 for 10; buy_2 9 for 7.2 by OPEN, pending"},
		"one without an acknowledgement": {[]claim{{1, event.SettledPending}}, "TAKEN", best, "buy_1 12.5 for 10 by ACCEPTED, pending; buy_2 9 for 7.2"},
		"one unknown":                    {[]claim{{1, event.SettledUnknown}}, "TAKEN", best, "buy_1 12.5 for 10 by ACCEPTED, unknown; buy_2 9 for 7.2"},
		"one delivered":                  {[]claim{{1, event.SettledDelivered}}, "SOLD", best, "buy_1 12.5 for 10 by ACCEPTED, delivered; buy_2 9 for 7.2"},
		"one refused":                    {[]claim{{1, event.SettledRefused}}, "BID", "", "buy_1 12.5 for 10 by UNMATCHED, failed, post rejected; buy_2 9 for 7.2"},
		"one refused, another to the other buyer": {
			[]claim{{1, event.SettledRefused}, {2, event.SettledDelivered}},
			"SOLD", second,
			"buy_1 12.5 for 10 by UNMATCHED, failed, post rejected; buy_2 9 for 7.2 by ACCEPTED, delivered",
		},
		"one refused, another to the same buyer": {
			[]claim{{2, event.SettledRefused}, {2, event.SettledPending}},
			"TAKEN", second,
			"buy_1 12.5 for 10; buy_2 9 for 7.2 by UNMATCHED, failed, post rejected by ACCEPTED, pending",
		},
	} {
		t.Run(name, func(t *testing.T) {
			c := newHistory(t)
			c.activateConfig(1, "buy_1", "buy_2")
			auction := c.newAuction(1, "")
			c.Add(auction)
			for i, lead := range row.leads {
				c.AdvanceClock(time.Second)
				c.addClaim(c.NewLeadID(byte(10+i)), auction, lead.buyer, lead.result)
			}
			doc := must.Value(c.ExplainAuction(auction.Auction))(t)
			if doc.Status != row.status || doc.saleText() != row.money || doc.offersText() != row.offered || len(doc.Leads) != len(row.leads) {
				t.Errorf("%s, %q, %s, %d leads", doc.Status, doc.saleText(), doc.offersText(), len(doc.Leads))
			}
			for _, lead := range doc.Leads {
				const refused = "did not accept it (the buyer was not reached). A claimed bid has no other buyer."
				if strings.HasSuffix(lead.Why, refused) != (lead.Status == "UNMATCHED") {
					t.Errorf("%s: %s", lead.Status, lead.Why)
				}
			}
			if hasNote := len(doc.Notes) == 1 && doc.Notes[0] == noteChoiceNotListed; hasNote != (row.status == "BID") {
				t.Errorf("%s: %q", doc.Status, doc.Notes)
			}
		})
	}
}

// TestExplainLastOfManyClaims: the explanation has the final sale even after more than
// maxClaims refused leads.
func TestExplainLastOfManyClaims(t *testing.T) {
	c := newHistory(t)
	auction := c.newAuction(1, "theirs")
	c.Add(auction)
	for n := range byte(maxClaims + 3) {
		c.addClaim(c.NewLeadID(10+n), auction, 1, event.SettledRefused)
	}
	last := c.NewLeadID(99)
	c.addClaim(last, auction, 1, event.SettledDelivered)
	doc, err := c.ExplainAuction(auction.Auction)
	if err != nil || doc.Status != "SOLD" || len(doc.Leads) != maxClaims+1 || doc.Leads[maxClaims].ID != last.String() {
		t.Errorf("%+v, %v", doc, err)
	}
}

// TestExplainSellerOffer: a seller gets only the best bid, so its explanation has only
// that offer.
func TestExplainSellerOffer(t *testing.T) {
	c := newHistory(t)
	explained := func(auction *event.PingAuctionCompleted) *Explanation {
		t.Helper()
		c.Add(auction)
		return must.Value(c.ExplainAuction(auction.Auction))(t)
	}
	doc := explained(c.newAuction(1, "theirs"))
	if doc.offersText() != "buy_1 12.5 for 10" || *doc.Answer != (AnswerToSupplier{NanosAsRFC3339(c.Now), 200, "bid", ""}) {
		t.Errorf("%s, %+v", doc.offersText(), doc.Answer)
	}
	if doc.Why != "buy_1 made the highest of 2 valid bids, 12.5 USD. The seller's offer was 10 USD. No lead claimed it." {
		t.Error(doc.Why)
	}
	alone := c.newAuction(2, "alone")
	alone.Bids, alone.Trail = alone.Bids[:1], alone.Trail[:1]
	if doc := explained(alone); !strings.Contains(doc.Why, "the highest of 1 valid bid,") {
		t.Error(doc.Why)
	}
	noBid := c.newAuction(3, "none")
	noBid.Bids, noBid.Trail, noBid.Token, noBid.Reason = nil, nil, market.ExchangeBidToken{}, market.ReasonCapsFull
	if doc := explained(noBid); doc.Status != "NO_BID" || len(doc.Offers)+len(doc.Notes) != 0 || *doc.Answer != (AnswerToSupplier{NanosAsRFC3339(c.Now), 200, "no_bid", "caps_full"}) {
		t.Errorf("%+v", doc)
	}
}

// TestExplainZIP3: the explanation renames the first three digits of a ZIP code to zip3,
// also if the campaign maps the field. A whole ZIP code keeps its name.
func TestExplainZIP3(t *testing.T) {
	c := newHistory(t)
	c.activateDocument(1, `{"campaigns":[{"id":"cmp","method":"ping_post","buyers":[],"fields":[{"name":"code","to":"shade"},{"name":"postal","to":"zip"}]}]}`)
	for i, row := range []struct {
		catalog           uint32
		name, value, want string
	}{
		{1, "postal", "941", `zip3="941"`},
		{1, "postal", "94105", `postal="94105"`},
		{1, "code", "941", `code="941"`},
		{9, "zip", "941", `zip3="941"`},
		{9, "zip", "94105-1234", `zip="94105-1234"`},
		{9, "code", "941", `code="941"`},
	} {
		auction := c.newAuction(byte(i+1), "")
		auction.Catalog, auction.Fields = row.catalog, []event.LeadField{{Name: row.name, Kind: market.KindString, Text: []byte(row.value)}}
		c.Add(auction)
		doc, err := c.ExplainAuction(auction.Auction)
		if err != nil || len(doc.Fields) != 1 {
			t.Fatalf("%+v, %v", doc, err)
		}
		for name, value := range doc.Fields {
			if got := name + "=" + string(value); got != row.want {
				t.Errorf("%s of configuration %d: %s, want %s", row.name, row.catalog, got, row.want)
			}
		}
	}
}
