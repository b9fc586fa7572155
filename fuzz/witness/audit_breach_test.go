package witness

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pingpost/engine/market"
	"pingpost/loadtest/refbuyer"
)

// forged is a small world that can be told to lie.
type forged struct {
	*Picture
	lines []string
}

// lie is what a forged world is told, and a word of the finding that it must be
// found out by.
type lie struct {
	what, finding string
	tell          func(f *forged)
}

// foundOut tells each lie to a world that is honest otherwise.
func foundOut(t *testing.T, world func() *forged, lies []lie) {
	for _, lie := range lies {
		t.Run(lie.what, func(t *testing.T) {
			f := world()
			lie.tell(f)
			found := f.findings()
			if !slices.ContainsFunc(found, func(s string) bool { return strings.Contains(s, lie.finding) }) {
				t.Errorf("found %q, nothing with %q", found, lie.finding)
			}
		})
	}
}

// plain terms: one buyer with an endpoint, one without, one cap of each sort.
func plain() *Terms {
	return &Terms{
		campaigns: []campaignTerms{{id: "cmp", method: "waterfall", seats: []seatTerms{{"blue", 10 * unit, 1}, {"rec", 5 * unit, 1}}}},
		buyers: []buyerTerms{
			{id: "blue", bid: 10 * unit, args: []string{"--latency", "0s"}, funded: true, balance: 20 * unit, credit: 10 * unit},
			{id: "rec", funded: true, balance: 10 * unit},
		},
		caps: []capTerms{{campaign: "cmp", per: "day", count: 4}, {buyer: "blue", per: "day", money: 20 * unit}, {campaign: "cmp", buyer: "rec", per: "day", count: 1}},
	}
}

const (
	toBlue = `{"buyer":1,"seat":0,"price":10,"payout":8,"currency":"USD"}`
	toRec  = `{"buyer":2,"seat":1,"price":5,"payout":4,"currency":"USD"}`
)

// honest: a lead delivered to blue, one recorded for rec, one of no interest.
func honest() *forged {
	f := &forged{Picture: &Picture{terms: plain(), atRest: true, before: map[string][]refbuyer.Lead{}, after: map[string][]refbuyer.Lead{}}}
	f.log("names_given", `"names":[{"kind":3,"ref":1,"id":"cmp"},{"kind":2,"ref":1,"id":"blue"},{"kind":2,"ref":2,"id":"rec"}]`)
	f.log("funds_moved", `"buyer":1,"amount":"20","opening":true`)
	f.log("funds_moved", `"buyer":2,"amount":"10","opening":true`)
	f.decided("one", `"sale":`+toBlue+`,"post":"http://blue/v1/post"`)
	f.settled("one", "delivered", toBlue, "")
	f.decided("two", `"sale":`+toRec)
	f.decided("three", `"reason":"caps_full"`)
	f.told("one", "ACCEPTED", "blue", 8*unit, "")
	f.told("two", "ACCEPTED", "rec", 4*unit, "")
	f.told("three", "UNMATCHED", "", 0, "caps_full")
	f.holds("blue", "one")
	f.stats = map[string]refbuyer.Stats{"blue": {Accepted: 1, Revenue: 10 * unit}}
	f.funds = map[string]account{"blue": {Balance: balance(10 * unit)}, "rec": {Balance: balance(5 * unit)}}
	return f
}

func (f *forged) log(kind, members string) {
	f.lines = append(f.lines, fmt.Sprintf(`{"seq":%d,"at":"2026-01-01T00:00:00Z","kind":%q,"fact":{%s}}`, len(f.lines)+1, kind, members))
}

func (f *forged) decided(lead, rest string) {
	f.log("lead_decided", fmt.Sprintf(`"lead":%q,"request":"req_%s","campaign":1,%s`, lead, lead, rest))
}

func (f *forged) settled(lead, how, sale, rest string) {
	f.log("post_settled", fmt.Sprintf(`"lead":%q,"settlement":%q,"sale":%s%s`, lead, how, sale, rest))
}

func (f *forged) told(lead, status, buyer string, price market.Money, reason string) *told {
	t := &told{order: &order{key: "key of " + lead, campaign: "cmp", phone: "phone-" + lead, email: lead + "@example.com"}}
	t.Request = "req_" + lead
	said := &t.said.Data
	said.ID, said.Status, said.BuyerID, said.CampaignID, said.Reason = lead, status, buyer, "cmp", reason
	said.Price.Amount, said.Price.Currency = price, "USD"
	f.answers = append(f.answers, t)
	return t
}

func (f *forged) holds(buyer, lead string) {
	held := refbuyer.Lead{Key: "post_" + lead, LeadUUID: lead}
	f.before[buyer], f.after[buyer] = append(f.before[buyer], held), append(f.after[buyer], held)
}

// sold is a sale with all its witnesses.
func (f *forged) sold(lead, buyer string) {
	if buyer == "rec" {
		f.decided(lead, `"sale":`+toRec)
		f.told(lead, "ACCEPTED", "rec", 4*unit, "")
		return
	}
	f.decided(lead, `"sale":`+toBlue+`,"post":"http://blue/v1/post"`)
	f.settled(lead, "delivered", toBlue, "")
	f.told(lead, "ACCEPTED", "blue", 8*unit, "")
	f.holds("blue", lead)
}

func (f *forged) findings() []string {
	f.book = readBook(f.terms, strings.Join(f.lines, "\n")+"\n")
	return f.audit()
}

func TestAuditHonest(t *testing.T) {
	if found := honest().findings(); len(found) > 0 {
		t.Errorf("an honest world has findings: %q", found)
	}
}

// TestAuditSees tells one lie at a time. Each has to be found.
func TestAuditSees(t *testing.T) {
	offered := func(f *forged, lead string) {
		f.decided(lead, `"sale":`+toBlue+`,"post":"http://blue/v1/post"`)
	}
	foundOut(t, honest, []lie{
		{"a lost acknowledgement", "acknowledged and is lost", func(f *forged) { f.told("four", "UNMATCHED", "", 0, "caps_full") }},
		{"a lead nobody sent", "no supplier knows of it", func(f *forged) { f.decided("four", `"reason":"caps_full"`) }},
		{"a lead decided twice", "is decided twice", func(f *forged) { f.decided("three", `"reason":"caps_full"`) }},
		{"a request with two leads", "brought the leads", func(f *forged) { f.log("lead_decided", `"lead":"four","request":"req_one","campaign":1,"reason":"x"`) }},
		{"two keys with one lead", "answered the keys", func(f *forged) { f.told("three", "UNMATCHED", "", 0, "caps_full").key = "other" }},
		{"another request's id", "was acknowledged as of", func(f *forged) { f.answers[0].Request = "req_other" }},
		{"another buyer told", "was told ACCEPTED with rec", func(f *forged) { f.answers[0].said.Data.BuyerID = "rec" }},
		{"another reason told", "was told UNMATCHED, no_buyer", func(f *forged) { f.answers[2].said.Data.Reason = "no_buyer" }},
		{"unmatched, and sold", "was told UNMATCHED", func(f *forged) { f.answers[1].said.Data.Status = "UNMATCHED" }},
		{"accepted, and unsold", "was told ACCEPTED with blue, and is unsold", func(f *forged) { f.answers[2].said.Data.Status, f.answers[2].said.Data.BuyerID = "ACCEPTED", "blue" }},
		{"a third status", `was told "PENDING"`, func(f *forged) { f.answers[2].said.Data.Status = "PENDING" }},
		{"another payout", "was told to pay", func(f *forged) { f.answers[0].said.Data.Price.Amount++ }},
		{"answered while open", "before its fate was logged", func(f *forged) { offered(f, "four"); f.told("four", "ACCEPTED", "blue", 8*unit, "") }},
		{"a person sold twice", "the same person's", func(f *forged) { f.answers[1].phone = f.answers[0].phone }},
		{"a lead at two buyers", "is at", func(f *forged) { f.holds("rec", "one") }},
		{"a lead twice at one buyer", "is at blue and at blue", func(f *forged) { f.holds("blue", "one") }},
		{"a lead at a buyer that was not sold it", "by the log it does not", func(f *forged) { f.holds("blue", "three") }},
		{"a lead that never arrived", "which does not hold it", func(f *forged) { delete(f.after, "blue") }},
		{"a double sale by the buyer's count", "sold 1 leads twice", func(f *forged) { f.stats["blue"] = refbuyer.Stats{Revenue: 10 * unit, DoubleSold: 1} }},
		{"other revenue", "blue owes 20", func(f *forged) { f.stats["blue"] = refbuyer.Stats{Revenue: 20 * unit} }},
		{"another balance", "rec has 6", func(f *forged) { f.funds["rec"] = account{Balance: balance(6 * unit)} }},
		{"money still held", "of which 1 is held", func(f *forged) { f.funds["rec"] = account{Balance: balance(5 * unit), Held: unit} }},
		{"a pair's cap, by the log", `over the cap of "cmp" and "rec"`, func(f *forged) { f.sold("four", "rec") }},
		{"a pair's cap, by the suppliers", `count 0.000002 over the cap of "cmp" and "rec"`, func(f *forged) { f.told("four", "ACCEPTED", "rec", 4*unit, "") }},
		{"a buyer's cap on money, by the buyer", `count 30 over the cap of "" and "blue"`, func(f *forged) {
			for _, lead := range []string{"four", "five"} {
				f.told(lead, "ACCEPTED", "blue", 8*unit, "")
				f.holds("blue", lead)
			}
		}},
		{"a campaign's cap, by the log", `over the cap of "cmp" and ""`, func(f *forged) { f.sold("four", "rec"); f.sold("five", "rec"); f.sold("six", "rec") }},
		{"an account overdrawn, by the log", "rec is overdrawn", func(f *forged) { f.sold("four", "rec"); f.sold("five", "rec") }},
		{"an account overdrawn by what is held", "blue is overdrawn", func(f *forged) { offered(f, "four"); offered(f, "five"); offered(f, "six") }},
		{"an account overdrawn, by the suppliers", "count 15 spent by rec", func(f *forged) {
			f.told("four", "ACCEPTED", "rec", 4*unit, "")
			f.told("five", "ACCEPTED", "rec", 4*unit, "")
		}},
		{"a lost top-up", "was acknowledged and is lost", func(f *forged) { f.added = []market.Money{7} }},
		{"a top-up twice", "is in the log twice", func(f *forged) {
			f.log("funds_moved", `"buyer":2,"amount":"1"`)
			f.log("funds_moved", `"buyer":2,"amount":"1"`)
		}},
		{"an opening balance twice", "second opening balance", func(f *forged) { f.log("funds_moved", `"buyer":2,"amount":"10","opening":true`) }},
		{"a post without an intent", "posted without an intent", func(f *forged) { f.log("post_tried", `"lead":"one","attempt":1`) }},
		{"a settlement of nothing", "was never decided", func(f *forged) { f.settled("four", "delivered", toBlue, "") }},
		{"a delivery twice", "is delivered and then settled as delivered", func(f *forged) { f.settled("one", "delivered", toBlue, "") }},
		{"pending after delivered", "is delivered and then settled as pending", func(f *forged) { f.settled("one", "pending", toBlue, "") }},
		{"confirmed unasked", "is open and then settled as confirmed", func(f *forged) { offered(f, "four"); f.settled("four", "confirmed", toBlue, "") }},
		{"settled for another buyer", "other terms", func(f *forged) { offered(f, "four"); f.settled("four", "delivered", toRec, "") }},
		{"a lead that left who may have it", "which may have it", func(f *forged) {
			offered(f, "four")
			f.log("post_tried", `"lead":"four","attempt":1`)
			f.settled("four", "refused", toBlue, `,"next":`+toRec)
		}},
		{"a refusal of a repeat that was believed", "was given up after a refusal of blue, which may have it", func(f *forged) {
			offered(f, "four")
			f.log("post_tried", `"lead":"four","attempt":1,"verdict":"unknown"`)
			f.settled("four", "refused", toBlue, `,"reason":"post_rejected"`)
		}},
		{"a lead that left who it was promised to", "with which it was accepted", func(f *forged) {
			offered(f, "four")
			f.settled("four", "pending", toBlue, "")
			f.settled("four", "refused", toBlue, `,"next":`+toRec)
		}},
		{"an end without a reason", "ends unsold without a reason", func(f *forged) { offered(f, "four"); f.settled("four", "refused", toBlue, "") }},
		{"a lead without a fate", "neither sold nor has a reason", func(f *forged) { f.decided("four", `"catalog":1`) }},
		{"a price of its own", "is sold to", func(f *forged) { f.decided("four", `"sale":{"buyer":2,"price":6,"payout":4}`) }},
		{"an intent for a buyer without an endpoint", "has the intent", func(f *forged) { f.decided("four", `"sale":`+toRec+`,"post":"http://rec"`) }},
		{"still on its way, at rest", "still on its way", func(f *forged) { offered(f, "four") }},
		{"a gap in the log", "follows entry", func(f *forged) { f.lines = slices.Delete(f.lines, 5, 6) }},
		{"a line that is none", "no entry", func(f *forged) { f.lines = append(f.lines, "{") }},
	})
}

// TestLedgerCompares asks again, and is told something else.
func TestLedgerCompares(t *testing.T) {
	good := Answer{Status: 201, Request: "req_1", Text: `{"data":{"id":"one","status":"UNMATCHED"}}`}
	again := good
	again.Replayed = true
	for what, lie := range map[string]func(*Answer){
		"another byte":      func(a *Answer) { a.Text += " " },
		"another request":   func(a *Answer) { a.Request = "req_2" },
		"another status":    func(a *Answer) { a.Status = 200 },
		"not as a replay":   func(a *Answer) { a.Replayed = false },
		"nothing different": nil,
	} {
		var l ledger
		l.enter(&order{key: "k"}, good)
		told := again
		if lie != nil {
			lie(&told)
		}
		l.compare(l.told[0], told)
		if _, breaches := l.page(); (len(breaches) > 0) != (lie != nil) {
			t.Errorf("%s: %q", what, breaches)
		}
	}
	var l ledger
	l.enter(&order{key: "k"}, Answer{Status: 422, Text: "{}"})
	if _, breaches := l.page(); len(breaches) != 1 || len(l.told) != 0 {
		t.Errorf("a 422 was taken for an acknowledgement: %q", breaches)
	}
}

// TestLogGrows: a log is longer later, and begins the same.
func TestLogGrows(t *testing.T) {
	before := []string{"1", "2"}
	for _, test := range []struct {
		now  []string
		grew bool
	}{{before, true}, {[]string{"1", "2", "3"}, true}, {[]string{"1"}, false}, {[]string{"1", "x", "3"}, false}} {
		if grew(before, test.now) != test.grew {
			t.Errorf("%q after %q: grew is %t", test.now, before, !test.grew)
		}
	}
}
