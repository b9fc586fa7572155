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

// auctionEvidence has six auctions and leads: a post, a post that its buyer refused, an ingest,
// an unused bid, an expired bid and a ping without a bid.
func auctionEvidence() *forgedEvidence {
	f := &forgedEvidence{Evidence: &Evidence{
		config: &Config{
			campaigns: []campaignConfig{{id: "cmp", method: "ping_post", vertical: "auto", floor: 2 * unit, filterSets: []filterSet{{buyer: "blue"}, {buyer: "red"}}}},
			buyers:    []buyerConfig{{id: "blue", bidRange: "10", args: []string{"-"}}, {id: "red", bidRange: "5", args: []string{"-"}}},
		},
		idle: true, buyerLeadsBefore: map[string][]refbuyer.Lead{}, buyerLeadsAfter: map[string][]refbuyer.Lead{},
	}}
	f.addEvent("names_given", `"names":[{"kind":3,"ref":1,"id":"cmp"},{"kind":2,"ref":1,"id":"blue"},{"kind":2,"ref":2,"id":"red"}]`)
	for _, name := range []string{"a", "b", "letgo", "late"} {
		f.auction(name, bidOfBlue+","+bidOfRed)
		f.pinged(name, 8*unit, "")
	}
	f.addEvent("auction_held", `"request":"req_ping_none","campaign":1,"name":"none","theirs":"none","reason":"no_bid"`)
	f.pinged("none", 0, "no_bid")
	f.posted("one", "a", "delivered", "")
	f.sale("a", "one", "blue", 8*unit)
	f.posted("two", "b", "refused", `,"reason":"post_rejected"`)
	f.refusal("b", "two", "post_rejected")
	f.decided("three", `"bids":[`+bidOfBlue+","+bidOfRed+`],"sale":`+soldRed+`,"post":"http://red/v1/post"`)
	f.settled("three", "delivered", soldRed, "")
	f.addAnswer("three", "ACCEPTED", "red", 4*unit, "")
	f.holds("red", "three")
	f.expiredPosts = []string{"post-late"}
	f.buyerStats = map[string]refbuyer.Stats{"blue": {Revenue: 10 * unit}, "red": {Revenue: 5 * unit}}
	f.accounts = map[string]buyerAccount{"blue": {}, "red": {}}
	return f
}

func (f *forgedEvidence) auction(name, bids string) {
	f.addEvent("auction_held", fmt.Sprintf(`"request":"req_ping_%s","campaign":1,"name":%[1]q,"theirs":%[1]q,"bids":[%s]`, name, bids))
}

// posted adds a lead that was sold at a ping's bid, with its settlement.
func (f *forgedEvidence) posted(lead, ping, settlement, rest string) {
	sale := fmt.Sprintf(soldBlue, ping)
	f.decided(lead, `"sale":`+sale+`,"post":"http://blue/v1/post"`)
	if settlement != "" {
		f.settled(lead, settlement, sale, rest)
	}
	if settlement == "delivered" {
		f.holds("blue", lead)
	}
}

func (f *forgedEvidence) pinged(name string, bid market.Money, reason string) {
	t := &answeredRequest{clientRequest: &clientRequest{path: pathPing, key: "ping-" + name, campaign: "cmp"}, bid: bid}
	t.RequestID, t.parsed.Data.Reason = "req_ping_"+name, reason
	f.pings = append(f.pings, t)
}

func (f *forgedEvidence) sale(name, lead, buyer string, price market.Money) {
	t := f.addAnswer(lead, "ACCEPTED", buyer, price, "")
	t.path, t.key = pathPost, "post-"+name
}

func (f *forgedEvidence) refusal(name, lead, reason string) {
	t := &answeredRequest{clientRequest: &clientRequest{path: pathPost, key: "post-" + name, campaign: "cmp"}, postRejected: true}
	t.RequestID, t.parsed.Data.Reason = "req_"+lead, reason
	f.rejectedPosts = append(f.rejectedPosts, t)
}

func TestAuditDetectsFalseAuctions(t *testing.T) {
	expectDetected(t, auctionEvidence, []forgery{
		{"lost bid", "was answered, but its auction is not in the log", func(f *forgedEvidence) { f.pinged("gone", 8*unit, "") }},
		{"answer with another bid", "answered with bid 7", func(f *forgedEvidence) { f.pings[0].bid = 7 * unit }},
		{"answer with another reason", `answered with bid 0, reason "timeout"`, func(f *forgedEvidence) { f.pings[4].parsed.Data.Reason = "timeout" }},
		{"auction without a supplier", "no supplier requested it", func(f *forgedEvidence) { f.auction("secret", bidOfBlue) }},
		{"an auction twice", "is used twice", func(f *forgedEvidence) { f.auction("a", bidOfBlue) }},
		{"a name twice", "two auctions have the name", func(f *forgedEvidence) {
			f.addEvent("auction_held", `"request":"req_x","campaign":1,"name":"a","theirs":"x","bids":[`+bidOfBlue+`]`)
		}},
		{"bid and no-bid reason", "and the reason", func(f *forgedEvidence) {
			f.addEvent("auction_held", `"request":"req_x","campaign":1,"name":"x","theirs":"x","reason":"no_bid","bids":[`+bidOfBlue+`]`)
		}},
		{"neither", "has a best bid of 0", func(f *forgedEvidence) { f.auction("x", "") }},
		{"bids out of order", "the bids are not sorted", func(f *forgedEvidence) { f.auction("x", bidOfRed+","+bidOfBlue) }},
		{"a bid below the floor", "a bid of 1 with", func(f *forgedEvidence) { f.auction("x", `{"buyer":1,"amount":1,"payout":0.8}`) }},
		{"wrong payout", "with payout 9", func(f *forgedEvidence) { f.auction("x", `{"buyer":1,"amount":10,"payout":9}`) }},
		{"a lead too many", "sells two leads, one and four", func(f *forgedEvidence) { f.posted("four", "a", "delivered", "") }},
		{"a sale in no auction", "which does not exist", func(f *forgedEvidence) { f.posted("four", "x", "", "") }},
		{"a sale below the promise", "10 was promised", func(f *forgedEvidence) {
			f.decided("four", `"sale":{"buyer":2,"price":5,"payout":4,"ping":"letgo"},"post":"http://red"`)
		}},
		{"price without a bid", "is sold to", func(f *forgedEvidence) {
			f.decided("four", `"bids":[`+bidOfRed+`],"sale":{"buyer":2,"price":6,"payout":4.8},"post":"http://red"`)
		}},
		{"a buyer that did not bid", "is sold to", func(f *forgedEvidence) {
			f.decided("four", `"bids":[`+bidOfBlue+`],"sale":`+soldRed+`,"post":"http://red"`)
		}},
		{"another buyer than was promised", "whose bid was promised", func(f *forgedEvidence) {
			f.posted("four", "letgo", "refused", `,"next":`+soldRed)
		}},
		{"sold though it was too late", "its post was answered bid_expired", func(f *forgedEvidence) { f.posted("four", "late", "delivered", "") }},
		{"less than was promised", "the bid promised 8", func(f *forgedEvidence) { f.answers[0].parsed.Data.Price.Amount-- }},
		{"lost rejection", "was rejected, but its lead is not in the log", func(f *forgedEvidence) { f.refusal("x", "gone", "duplicate") }},
		{"refused, and sold", "post-a: rejected", func(f *forgedEvidence) { f.refusal("a", "one", "post_rejected") }},
		{"refused for another reason", "rejected with duplicate", func(f *forgedEvidence) { f.rejectedPosts[0].parsed.Data.Reason = "duplicate" }},
		{"a person in a ping", "1 pings with contact data", func(f *forgedEvidence) { f.buyerStats["blue"] = refbuyer.Stats{Revenue: 10 * unit, ContactSeen: 1} }},
	})
}

// The log of answers tells final answers from expired bids, late reports and invalid answers.
func TestAnswerLogParsesAnswers(t *testing.T) {
	const batch = `{"results":[{"lead_id":"a","status":"sold"},{"lead_id":"b","error":"invalid_transition","message":"m"}]}`
	ping, post, availability := clientRequest{path: pathPing}, clientRequest{path: pathPost}, clientRequest{path: pathAvailability}
	report, late, lateBatch := clientRequest{path: reportPath("a")}, clientRequest{path: reportPath("a"), mayConflict: true}, clientRequest{path: pathBatch, mayConflict: true}
	for name, test := range map[string]struct {
		request     clientRequest
		text        string
		status      int
		kept, wrong int
		parts       int // offers or accepted status reports
	}{
		"a bid":                      {ping, `{"bid":{"amount":8,"bid_token":"t"}}`, 200, 1, 0, 0},
		"no bid":                     {ping, `{"bid":null,"reject_reason":"no_bid"}`, 200, 1, 0, 0},
		"neither":                    {ping, `{"bid":null}`, 200, 0, 1, 0},
		"a bid without token":        {ping, `{"bid":{"amount":8}}`, 200, 0, 1, 0},
		"a ping with an expired bid": {ping, `{"error":"bid_expired"}`, 410, 0, 1, 0},
		"a used auction id":          {ping, `{"error":"auction_exists"}`, 409, 0, 1, 0},
		"a sold post":                {post, `{"id":"lead_1","status":"ACCEPTED"}`, 201, 1, 0, 0},
		"a refused post":             {post, `{"error":"post_rejected","reason":"duplicate"}`, 422, 1, 0, 0},
		"an expired bid":             {post, `{"error":"bid_expired"}`, 410, 0, 0, 0},
		"a used bid":                 {post, `{"error":"already_sold"}`, 409, 0, 1, 0},
		"a refused token":            {post, `{"error":"invalid_bid_token"}`, 422, 0, 1, 0},
		"an ingest's answer":         {post, `{"data":{}}`, 200, 0, 1, 0},
		"two offers":                 {availability, `{"data":{"ping_id":"ping_1","accepted":true,"buyers":[{"buyer_id":"blue","amount":8},{"buyer_id":"red","amount":4}]}}`, 200, 1, 0, 2},
		"no offers":                  {availability, `{"data":{"ping_id":"ping_1","accepted":false,"buyers":[]}}`, 200, 1, 0, 0},
		"no ping id":                 {availability, `{"data":{"ping_id":"","accepted":false,"buyers":[]}}`, 200, 0, 1, 0},
		"accepted without offers":    {availability, `{"data":{"ping_id":"ping_1","accepted":true,"buyers":[]}}`, 200, 0, 1, 0},
		"offers, but not accepted":   {availability, `{"data":{"ping_id":"ping_1","accepted":false,"buyers":[{"buyer_id":"blue","amount":8}]}}`, 200, 0, 1, 0},
		"invalid JSON":               {availability, `{"data":`, 200, 0, 1, 0},
		"a report":                   {report, `{"lead_id":"a","status":"sold"}`, 200, 1, 0, 1},
		"a late report":              {late, `{"error":"invalid_transition"}`, 409, 0, 0, 0},
		"a conflict without a cause": {report, `{"error":"invalid_transition"}`, 409, 0, 1, 0},
		"a report on no lead":        {late, `{"error":"not_found"}`, 404, 0, 1, 0},
		"a batch with a late report": {lateBatch, batch, 200, 1, 0, 1},
		"a batch with a conflict":    {clientRequest{path: pathBatch}, batch, 200, 1, 0, 2},
		"a batch without results":    {lateBatch, `{"results":[]}`, 200, 0, 1, 0},
		"a batch that is a list":     {lateBatch, `[]`, 200, 0, 1, 0},
	} {
		var l answerLog
		parts := 0
		if answer := l.add(&test.request, Response{Status: test.status, Body: test.text}); answer != nil {
			parts = len(answer.offers) + len(answer.statusReports)
		}
		if len(l.answers) != test.kept || len(l.violations) != test.wrong || len(l.expiredPosts) != 1-test.kept-test.wrong || parts != test.parts {
			t.Errorf("%s: %d kept with %d parts, %q", name, len(l.answers), parts, l.violations)
		}
	}
}
