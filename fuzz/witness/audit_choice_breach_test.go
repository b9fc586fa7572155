package witness

import (
	"fmt"
	"testing"

	"pingpost/engine/market"
)

// chosenWorld is the world of auctions, in which a supplier has asked who would buy,
// and has chosen the dearer for one lead and the cheaper for another.
func chosenWorld() *forged {
	f := auctioned()
	for _, name := range []string{"dear", "cheap", "idle"} {
		f.log("auction_held", fmt.Sprintf(`"request":"req_ask_%s","campaign":1,"name":%[1]q,"bids":[%s,%s]`, name, bidOfBlue, bidOfRed))
		f.asked(name, bids{"blue": 8 * unit, "red": 4 * unit})
	}
	f.log("auction_held", `"request":"req_ask_nobody","campaign":1,"name":"nobody","reason":"no_bid"`)
	f.asked("nobody", bids{})
	f.choice("dear", "four", "blue", 10*unit)
	f.choice("cheap", "five", "red", 5*unit)
	f.stats["blue"], f.stats["red"] = revenue(20*unit), revenue(10*unit)
	f.funds["blue"], f.funds["red"] = account{}, account{}
	return f
}

func (f *forged) asked(name string, offers bids) {
	t := &told{order: &order{path: pathAsk, key: "ask-" + name, campaign: "cmp"}, offers: offers}
	t.Request = "req_ask_" + name
	f.asks = append(f.asks, t)
}

// choice is a lead that was sent for a buyer of an earlier question, and delivered.
func (f *forged) choice(name, lead, buyer string, price market.Money) *told {
	ref := map[string]int{"blue": 1, "red": 2}[buyer]
	sale := fmt.Sprintf(`{"buyer":%d,"price":%v,"payout":%v,"currency":"USD","ping":%q}`, ref, price, payout(price), name)
	f.decided(lead, `"sale":`+sale+`,"post":"http://b/v1/post"`)
	f.settled(lead, "delivered", sale, "")
	t := f.told(lead, "ACCEPTED", buyer, payout(price), "")
	t.chosen, t.promised = buyer, payout(price)
	f.holds(buyer, lead)
	return t
}

func TestAuditOfChoicesHonest(t *testing.T) {
	if found := chosenWorld().findings(); len(found) > 0 {
		t.Errorf("an honest world has findings: %q", found)
	}
}

// TestAuditOfChoicesSees tells one lie at a time.
func TestAuditOfChoicesSees(t *testing.T) {
	foundOut(t, chosenWorld, []lie{
		{"offers that are lost", "ask-gone was given and is lost", func(f *forged) { f.asked("gone", bids{"blue": 8 * unit}) }},
		{"an offer that nobody made", "was told the buyers", func(f *forged) { f.asks[0].offers["green"] = unit }},
		{"an offer that was not told", "was told the buyers", func(f *forged) { delete(f.asks[2].offers, "red") }},
		{"another payout offered", "was told the buyers", func(f *forged) { f.asks[0].offers["blue"]++ }},
		{"another campaign's offers", "was told the buyers", func(f *forged) { f.asks[0].campaign = "other" }},
		{"another buyer than was chosen", "chose red at 8", func(f *forged) { f.answers[2].chosen = "red" }},
		{"another price than was offered", "chose blue at 7", func(f *forged) { f.answers[2].promised = 7 * unit }},
		{"a question of nobody's", "no seller knows of it", func(f *forged) {
			f.log("auction_held", `"request":"req_ask_x","campaign":1,"name":"x","bids":[`+bidOfBlue+`]`)
		}},
		{"a choice at the other's price", "is sold at 5, and 10 was promised", func(f *forged) { f.choice("idle", "six", "blue", 5*unit) }},
		{"an offer taken up twice", "sells the leads four and six", func(f *forged) { f.choice("dear", "six", "blue", 10*unit) }},
		{"an offer of nobody's", "which nobody held", func(f *forged) { f.choice("x", "six", "blue", 10*unit) }},
	})
}

// TestLedgerReadsOffers: what says neither who would buy nor that nobody would is no
// answer.
func TestLedgerReadsOffers(t *testing.T) {
	for text, want := range map[string]int{
		`{"data":{"ping_id":"ping_1","accepted":true,"buyers":[{"buyer_id":"blue","amount":8},{"buyer_id":"red","amount":4}]}}`: 2,
		`{"data":{"ping_id":"ping_1","accepted":false,"buyers":[]}}`:                                                            0,
		`{"data":{"ping_id":"","accepted":false,"buyers":[]}}`:                                                                  -1,
		`{"data":{"ping_id":"ping_1","accepted":true,"buyers":[]}}`:                                                             -1,
		`{"data":{"ping_id":"ping_1","accepted":false,"buyers":[{"buyer_id":"blue","amount":8}]}}`:                              -1,
		`{"data":`: -1,
	} {
		var l ledger
		heard := l.enter(&order{path: pathAsk, key: "k"}, Answer{Status: 200, Text: text})
		switch {
		case want < 0 && (heard != nil || len(l.breaches) != 1):
			t.Errorf("%s was taken for an answer", text)
		case want >= 0 && (heard == nil || len(heard.offers) != want || heard.said.Data.ID != "ping_1"):
			t.Errorf("%s was read as %+v, %q", text, heard, l.breaches)
		}
	}
}
