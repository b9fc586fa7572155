package exchange

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"pingpost/engine/event"
	"pingpost/engine/market"
)

// offered are the offers of an explanation in a line: buyer, price and payout, and
// the leads that took it up.
func (x *Explanation) offered() string {
	var words []string
	for i := range x.Offers {
		o := &x.Offers[i]
		word := fmt.Sprintf("%s %s for %s", o.Buyer, market.Money(o.Price.Amount), market.Money(o.Payout.Amount))
		for j := range o.Taken {
			word += " by " + o.Taken[j].Stands()
		}
		words = append(words, word)
	}
	return strings.Join(words, "; ")
}

func (x *Explanation) money() string {
	if x.Price == nil {
		return ""
	}
	return fmt.Sprintf("%s pays %s, of that %s and %s", x.Buyer, x.Price, x.Payout, x.Margin)
}

// TestExplainAnotherThanTheBest: a supplier asks who would buy, and has the lead go
// to the second best. The ping tells both offers, which was taken and by which lead,
// and the money of that sale and not of the best bid; and so it does beside the lead.
func TestExplainAnotherThanTheBest(t *testing.T) {
	high, low := reference(t, "12.5"), reference(t, "9")
	x := start(t, newPlace(t, trading("ping_post", high, low)))
	ping := x.choices("cmp")
	before := x.explain(ping)
	if before.Kind != "availability" || before.ID != ping || before.Status != "BID" || before.money() != "" || before.offered() != "buy_1 12.5 for 10; buy_2 9 for 7.2" {
		t.Errorf("before: %s %s, %q, %s", before.Kind, before.Status, before.money(), before.offered())
	}
	if before.Why != "The supplier could choose among 2 bids that stand. No lead took one up." || len(before.Notes) != 1 || before.Notes[0] != choiceNotListed {
		t.Errorf("before: %s %q", before.Why, before.Notes)
	}
	id := x.choose(ping, "buy_2", 1).leadID()
	told := x.explain(id)
	if told.Kind != "ingest" || told.Buyer != "buy_2" || told.outcomes() != "buy_2 won" || told.Auction == nil || told.Auction.ID != ping {
		t.Errorf("the lead: %+v", told)
	}
	for name, after := range map[string]*Explanation{
		"by the ping's id": x.explain(ping), "by the auction's": x.explain("auc_" + strings.TrimPrefix(ping, "ping_")), "beside the lead": told.Auction,
	} {
		if after.Status != "SOLD" || after.money() != "buy_2 pays 9 USD, of that 7.2 USD and 1.8 USD" || after.outcomes() != "buy_1 won, buy_2 lost" || len(after.Notes) != 0 {
			t.Errorf("%s: %s, %s, %s, %q", name, after.Status, after.money(), after.outcomes(), after.Notes)
		}
		if after.offered() != "buy_1 12.5 for 10; buy_2 9 for 7.2 by ACCEPTED, delivered" || after.Offers[1].Taken[0].Lead != id {
			t.Errorf("%s: %s", name, after.offered())
		}
		if after.Why != "The supplier could choose among 2 bids that stand. "+id+" took up that of buy_2: ACCEPTED, delivered." {
			t.Errorf("%s: %s", name, after.Why)
		}
	}
	x.golden(t, "choice", ping)
}

// TestExplainWhoTookItUp: what became of an auction's offers, lead by lead.
func TestExplainWhoTookItUp(t *testing.T) {
	type taking struct {
		buyer int
		came  event.Settlement // zero: nothing yet
	}
	const best, second = "buy_1 pays 12.5 USD, of that 10 USD and 2.5 USD", "buy_2 pays 9 USD, of that 7.2 USD and 1.8 USD"
	for name, row := range map[string]struct {
		leads   []taking
		status  string
		money   string
		offered string
	}{
		"nobody":                  {nil, "BID", "", "buy_1 12.5 for 10; buy_2 9 for 7.2"},
		"one is on its way":       {[]taking{{2, 0}}, "TAKEN", second, "buy_1 12.5 for 10; buy_2 9 for 7.2 by OPEN, pending"},
		"one waits for the buyer": {[]taking{{1, event.SettledPending}}, "TAKEN", best, "buy_1 12.5 for 10 by ACCEPTED, pending; buy_2 9 for 7.2"},
		"one nobody knows of":     {[]taking{{1, event.SettledUnknown}}, "TAKEN", best, "buy_1 12.5 for 10 by ACCEPTED, unknown; buy_2 9 for 7.2"},
		"the buyer has it":        {[]taking{{1, event.SettledDelivered}}, "SOLD", best, "buy_1 12.5 for 10 by ACCEPTED, delivered; buy_2 9 for 7.2"},
		"one is refused":          {[]taking{{1, event.SettledRefused}}, "BID", "", "buy_1 12.5 for 10 by UNMATCHED, failed, post_rejected; buy_2 9 for 7.2"},
		"one is refused, and another goes to the other": {
			[]taking{{1, event.SettledRefused}, {2, event.SettledDelivered}},
			"SOLD", second,
			"buy_1 12.5 for 10 by UNMATCHED, failed, post_rejected; buy_2 9 for 7.2 by ACCEPTED, delivered",
		},
		"one is refused, and another goes to the same": {
			[]taking{{2, event.SettledRefused}, {2, event.SettledPending}},
			"TAKEN", second,
			"buy_1 12.5 for 10; buy_2 9 for 7.2 by UNMATCHED, failed, post_rejected by ACCEPTED, pending",
		},
	} {
		t.Run(name, func(t *testing.T) {
			c := newChronicle(t)
			c.configured(1, "buy_1", "buy_2")
			held := c.offering(1, "")
			c.add(held)
			for i, lead := range row.leads {
				c.later(time.Second)
				c.takenUp(c.draw(byte(10+i)), held, lead.buyer, lead.came)
			}
			told, err := c.explainer.auction(held.Auction)
			if err != nil {
				t.Fatal(err)
			}
			if told.Status != row.status || told.money() != row.money || told.offered() != row.offered || len(told.Leads) != len(row.leads) {
				t.Errorf("%s, %q, %s, %d leads", told.Status, told.money(), told.offered(), len(told.Leads))
			}
			for _, lead := range told.Leads {
				const refused = "did not take it (it was not reached), and it goes to nobody else."
				if strings.HasSuffix(lead.Why, refused) != (lead.Status == "UNMATCHED") {
					t.Errorf("%s: %s", lead.Status, lead.Why)
				}
			}
			if noted := len(told.Notes) == 1 && told.Notes[0] == choiceNotListed; noted != (row.status == "BID") {
				t.Errorf("%s: %q", told.Status, told.Notes)
			}
		})
	}
}

// TestExplainTheLastOfMany: the sale that stands is told although it came after more
// refused leads than are told of.
func TestExplainTheLastOfMany(t *testing.T) {
	c := newChronicle(t)
	held := c.offering(1, "theirs")
	c.add(held)
	for n := range byte(maxClaimants + 3) {
		c.takenUp(c.draw(10+n), held, 1, event.SettledRefused)
	}
	last := c.draw(99)
	c.takenUp(last, held, 1, event.SettledDelivered)
	told, err := c.explainer.auction(held.Auction)
	if err != nil || told.Status != "SOLD" || len(told.Leads) != maxClaimants+1 || told.Leads[maxClaimants].ID != last.String() {
		t.Errorf("%+v, %v", told, err)
	}
}

// TestExplainASellersOffer: a seller is told of the best bid alone, and so is who
// looks it up.
func TestExplainASellersOffer(t *testing.T) {
	c := newChronicle(t)
	explained := func(held *event.AuctionHeld) *Explanation {
		t.Helper()
		c.add(held)
		told, err := c.explainer.auction(held.Auction)
		if err != nil {
			t.Fatal(err)
		}
		return told
	}
	told := explained(c.offering(1, "theirs"))
	if told.offered() != "buy_1 12.5 for 10" || *told.Answer != (Answer{Instant(c.now), 200, "bid", ""}) {
		t.Errorf("%s, %+v", told.offered(), told.Answer)
	}
	if told.Why != "buy_1 bid the most, 12.5 USD, of 2 bids that stand; the seller was offered 10 USD. No lead took it up." {
		t.Error(told.Why)
	}
	alone := c.offering(2, "alone")
	alone.Bids, alone.Trail = alone.Bids[:1], alone.Trail[:1]
	if told := explained(alone); !strings.Contains(told.Why, "of 1 bid that stands;") {
		t.Error(told.Why)
	}
	none := c.offering(3, "none")
	none.Bids, none.Trail, none.Token, none.Reason = nil, nil, market.BidToken{}, market.ReasonCapsFull
	if told := explained(none); told.Status != "NO_BID" || len(told.Offers)+len(told.Notes) != 0 || *told.Answer != (Answer{Instant(c.now), 200, "no_bid", "caps_full"}) {
		t.Errorf("%+v", told)
	}
}

// TestExplainZIP3: three digits are not called a zip, however the campaign calls
// that; a whole one keeps its name.
func TestExplainZIP3(t *testing.T) {
	c := newChronicle(t)
	c.document(1, `{"campaigns":[{"id":"cmp","method":"ping_post","buyers":[],"fields":[{"name":"code","to":"shade"},{"name":"postal","to":"zip"}]}]}`)
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
		held := c.offering(byte(i+1), "")
		held.Catalog, held.Fields = row.catalog, []event.Field{{Name: row.name, Kind: market.KindString, Text: []byte(row.value)}}
		c.add(held)
		told, err := c.explainer.auction(held.Auction)
		if err != nil || len(told.Fields) != 1 {
			t.Fatalf("%+v, %v", told, err)
		}
		for name, value := range told.Fields {
			if got := name + "=" + string(value); got != row.want {
				t.Errorf("%s of configuration %d: %s, want %s", row.name, row.catalog, got, row.want)
			}
		}
	}
}
