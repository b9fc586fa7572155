package witness

import (
	"fmt"
	"testing"

	"pingpost/engine/market"
	"pingpost/loadtest/refbuyer"
)

const (
	bidOfBlue = `{"buyer":1,"seat":0,"outcome":"won","amount":10,"payout":8}`
	bidOfRed  = `{"buyer":2,"seat":1,"outcome":"lost","amount":5,"payout":4}`
	soldBlue  = `{"buyer":1,"seat":0,"price":10,"payout":8,"currency":"USD","ping":"%s"}`
	soldRed   = `{"buyer":2,"seat":1,"price":5,"payout":4,"currency":"USD"}`
)

// auctioned is a world of auctions: a lead posted at a bid, one that its buyer
// refused, one that was ingested, a ping that was let go, one that came too late,
// and one without a bid.
func auctioned() *forged {
	f := &forged{Picture: &Picture{
		terms: &Terms{
			campaigns: []campaignTerms{{id: "cmp", method: "ping_post", vertical: "auto", floor: 2 * unit, seats: []seatTerms{{buyer: "blue"}, {buyer: "red"}}}},
			buyers:    []buyerTerms{{id: "blue", bids: "10", args: []string{"-"}}, {id: "red", bids: "5", args: []string{"-"}}},
		},
		atRest: true, before: map[string][]refbuyer.Lead{}, after: map[string][]refbuyer.Lead{},
	}}
	f.log("names_given", `"names":[{"kind":3,"ref":1,"id":"cmp"},{"kind":2,"ref":1,"id":"blue"},{"kind":2,"ref":2,"id":"red"}]`)
	for _, name := range []string{"a", "b", "letgo", "late"} {
		f.auction(name, bidOfBlue+","+bidOfRed)
		f.pinged(name, 8*unit, "")
	}
	f.log("auction_held", `"request":"req_ping_none","campaign":1,"name":"none","theirs":"none","reason":"no_bid"`)
	f.pinged("none", 0, "no_bid")
	f.posted("one", "a", "delivered", "")
	f.sale("a", "one", "blue", 8*unit)
	f.posted("two", "b", "refused", `,"reason":"post_rejected"`)
	f.refusal("b", "two", "post_rejected")
	f.decided("three", `"bids":[`+bidOfBlue+","+bidOfRed+`],"sale":`+soldRed+`,"post":"http://red/v1/post"`)
	f.settled("three", "delivered", soldRed, "")
	f.told("three", "ACCEPTED", "red", 4*unit, "")
	f.holds("red", "three")
	f.late = []string{"post-late"}
	f.stats = map[string]refbuyer.Stats{"blue": {Revenue: 10 * unit}, "red": {Revenue: 5 * unit}}
	f.funds = map[string]account{"blue": {}, "red": {}}
	return f
}

func (f *forged) auction(name, bids string) {
	f.log("auction_held", fmt.Sprintf(`"request":"req_ping_%s","campaign":1,"name":%[1]q,"theirs":%[1]q,"bids":[%s]`, name, bids))
}

// posted is a lead that was sold at the bid of a ping, and what came of it.
func (f *forged) posted(lead, ping, settlement, rest string) {
	sale := fmt.Sprintf(soldBlue, ping)
	f.decided(lead, `"sale":`+sale+`,"post":"http://blue/v1/post"`)
	if settlement != "" {
		f.settled(lead, settlement, sale, rest)
	}
	if settlement == "delivered" {
		f.holds("blue", lead)
	}
}

func (f *forged) pinged(name string, bid market.Money, reason string) {
	t := &told{order: &order{path: pathPing, key: "ping-" + name, campaign: "cmp"}, bid: bid}
	t.Request, t.said.Data.Reason = "req_ping_"+name, reason
	f.pings = append(f.pings, t)
}

func (f *forged) sale(name, lead, buyer string, price market.Money) {
	t := f.told(lead, "ACCEPTED", buyer, price, "")
	t.path, t.key = pathPost, "post-"+name
}

func (f *forged) refusal(name, lead, reason string) {
	t := &told{order: &order{path: pathPost, key: "post-" + name, campaign: "cmp"}, refused: true}
	t.Request, t.said.Data.Reason = "req_"+lead, reason
	f.refused = append(f.refused, t)
}

func TestAuditOfAuctionsHonest(t *testing.T) {
	if found := auctioned().findings(); len(found) > 0 {
		t.Errorf("an honest world has findings: %q", found)
	}
}

// TestAuditOfAuctionsSees tells one lie at a time.
func TestAuditOfAuctionsSees(t *testing.T) {
	foundOut(t, auctioned, []lie{
		{"a bid that is lost", "was given and is lost", func(f *forged) { f.pinged("gone", 8*unit, "") }},
		{"another bid told", "was told 7", func(f *forged) { f.pings[0].bid = 7 * unit }},
		{"another reason told", `was told 0, "timeout"`, func(f *forged) { f.pings[4].said.Data.Reason = "timeout" }},
		{"an auction of nobody's", "no seller knows of it", func(f *forged) { f.auction("secret", bidOfBlue) }},
		{"an auction twice", "is held twice", func(f *forged) { f.auction("a", bidOfBlue) }},
		{"a name twice", "two auctions have the name", func(f *forged) {
			f.log("auction_held", `"request":"req_x","campaign":1,"name":"a","theirs":"x","bids":[`+bidOfBlue+`]`)
		}},
		{"a bid and a reason for none", "and the reason", func(f *forged) {
			f.log("auction_held", `"request":"req_x","campaign":1,"name":"x","theirs":"x","reason":"no_bid","bids":[`+bidOfBlue+`]`)
		}},
		{"neither", "has bids up to 0", func(f *forged) { f.auction("x", "") }},
		{"bids out of order", "stands behind", func(f *forged) { f.auction("x", bidOfRed+","+bidOfBlue) }},
		{"a bid below the floor", "a bid of 1 stands", func(f *forged) { f.auction("x", `{"buyer":1,"amount":1,"payout":0.8}`) }},
		{"a payout of its own", "with a payout of 9", func(f *forged) { f.auction("x", `{"buyer":1,"amount":10,"payout":9}`) }},
		{"a lead too many", "sells the leads one and four", func(f *forged) { f.posted("four", "a", "delivered", "") }},
		{"a sale in no auction", "which nobody held", func(f *forged) { f.posted("four", "x", "", "") }},
		{"a sale below the promise", "10 was promised", func(f *forged) {
			f.decided("four", `"sale":{"buyer":2,"price":5,"payout":4,"ping":"letgo"},"post":"http://red"`)
		}},
		{"a price that nobody bid", "is sold to", func(f *forged) {
			f.decided("four", `"bids":[`+bidOfRed+`],"sale":{"buyer":2,"price":6,"payout":4.8},"post":"http://red"`)
		}},
		{"a buyer that did not bid", "is sold to", func(f *forged) {
			f.decided("four", `"bids":[`+bidOfBlue+`],"sale":`+soldRed+`,"post":"http://red"`)
		}},
		{"another buyer than was promised", "whose bid was promised", func(f *forged) {
			f.posted("four", "letgo", "refused", `,"next":`+soldRed)
		}},
		{"sold though it was too late", "was told that its bid is over", func(f *forged) { f.posted("four", "late", "delivered", "") }},
		{"less than was promised", "was promised 8", func(f *forged) { f.answers[0].said.Data.Price.Amount-- }},
		{"a refusal that is lost", "was given and is lost", func(f *forged) { f.refusal("x", "gone", "duplicate") }},
		{"refused, and sold", "post-a was refused", func(f *forged) { f.refusal("a", "one", "post_rejected") }},
		{"refused for another reason", "was refused, duplicate", func(f *forged) { f.refused[0].said.Data.Reason = "duplicate" }},
		{"a person in a ping", "told 1 persons", func(f *forged) { f.stats["blue"] = refbuyer.Stats{Revenue: 10 * unit, ContactSeen: 1} }},
	})
}

// TestLedgerReadsAuctions: what is final, what uses up no key, and what is no
// answer at all.
func TestLedgerReadsAuctions(t *testing.T) {
	for name, test := range map[string]struct {
		path, text             string
		status, kept, breaches int
	}{
		"a bid":               {pathPing, `{"bid":{"amount":8,"bid_token":"t"}}`, 200, 1, 0},
		"no bid":              {pathPing, `{"bid":null,"reject_reason":"no_bid"}`, 200, 1, 0},
		"neither":             {pathPing, `{"bid":null}`, 200, 0, 1},
		"a bid without token": {pathPing, `{"bid":{"amount":8}}`, 200, 0, 1},
		"a ping that is gone": {pathPing, `{"error":"bid_expired"}`, 410, 0, 1},
		"the id used before":  {pathPing, `{"error":"auction_exists"}`, 409, 0, 1},
		"sold":                {pathPost, `{"id":"lead_1","status":"ACCEPTED"}`, 201, 1, 0},
		"refused":             {pathPost, `{"error":"post_rejected","reason":"duplicate"}`, 422, 1, 0},
		"too late":            {pathPost, `{"error":"bid_expired"}`, 410, 0, 0},
		"sold before":         {pathPost, `{"error":"already_sold"}`, 409, 0, 1},
		"another's token":     {pathPost, `{"error":"invalid_bid_token"}`, 422, 0, 1},
		"an ingest's":         {pathPost, `{"data":{}}`, 200, 0, 1},
	} {
		var l ledger
		l.enter(&order{path: test.path, key: "k"}, Answer{Status: test.status, Text: test.text})
		if kept, breaches := l.page(); len(kept) != test.kept || len(breaches) != test.breaches || len(l.tooLate()) != 1-test.kept-test.breaches {
			t.Errorf("%s: %d kept, %q", name, len(kept), breaches)
		}
	}
}
