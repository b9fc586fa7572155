package witness

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pingpost/engine/market"
	"pingpost/loadtest/refbuyer"
)

// forgedEvidence is a small set of evidence that a test can falsify.
type forgedEvidence struct {
	*Evidence
	lines []string
}

// forgery falsifies the evidence. finding is a part of the expected finding.
type forgery struct {
	name, finding string
	forge         func(f *forgedEvidence)
}

// expectNothing expects no finding in honest evidence.
func (f *forgedEvidence) expectNothing(t *testing.T) {
	t.Helper()
	if found := f.findings(); len(found) > 0 {
		t.Errorf("honest evidence has findings: %q", found)
	}
}

// expectDetected expects no finding in honest evidence. It applies each forgery to that evidence
// and expects its finding.
func expectDetected(t *testing.T, world func() *forgedEvidence, forgeries []forgery) {
	t.Helper()
	world().expectNothing(t)
	for _, forgery := range forgeries {
		t.Run(forgery.name, func(t *testing.T) {
			f := world()
			forgery.forge(f)
			found := f.findings()
			if !slices.ContainsFunc(found, func(s string) bool { return strings.Contains(s, forgery.finding) }) {
				t.Errorf("found %q, nothing with %q", found, forgery.finding)
			}
		})
	}
}

// plainConfig has one buyer with an endpoint, one without, and one cap of each kind.
func plainConfig() *Config {
	return &Config{
		campaigns: []campaignConfig{{id: "cmp", method: "waterfall", filterSets: []filterSet{{"blue", 10 * unit, 1}, {"rec", 5 * unit, 1}}}},
		buyers: []buyerConfig{
			{id: "blue", bid: 10 * unit, args: []string{"--latency", "0s"}, funded: true, balance: 20 * unit, credit: 10 * unit},
			{id: "rec", funded: true, balance: 10 * unit},
		},
		caps: []capConfig{{campaign: "cmp", per: "day", count: 4}, {buyer: "blue", per: "day", money: 20 * unit}, {campaign: "cmp", buyer: "rec", per: "day", count: 1}},
	}
}

const (
	toBlue = `{"buyer":1,"seat":0,"price":10,"payout":8,"currency":"USD"}`
	toRec  = `{"buyer":2,"seat":1,"price":5,"payout":4,"currency":"USD"}`
)

// honestEvidence has one lead delivered to blue, one recorded for rec and one unsold.
func honestEvidence() *forgedEvidence {
	f := &forgedEvidence{Evidence: &Evidence{config: plainConfig(), idle: true, buyerLeadsBefore: map[string][]refbuyer.Lead{}, buyerLeadsAfter: map[string][]refbuyer.Lead{}}}
	f.addEvent("names_given", `"names":[{"kind":3,"ref":1,"id":"cmp"},{"kind":2,"ref":1,"id":"blue"},{"kind":2,"ref":2,"id":"rec"}]`)
	f.addEvent("funds_moved", `"buyer":1,"amount":"20","opening":true`)
	f.addEvent("funds_moved", `"buyer":2,"amount":"10","opening":true`)
	f.decided("one", `"sale":`+toBlue+`,"post":"http://blue/v1/post"`)
	f.settled("one", "delivered", toBlue, "")
	f.decided("two", `"sale":`+toRec)
	f.decided("three", `"reason":"caps_full"`)
	f.addAnswer("one", "ACCEPTED", "blue", 8*unit, "")
	f.addAnswer("two", "ACCEPTED", "rec", 4*unit, "")
	f.addAnswer("three", "UNMATCHED", "", 0, "caps_full")
	f.holds("blue", "one")
	f.buyerStats = map[string]refbuyer.Stats{"blue": {Accepted: 1, Revenue: 10 * unit}}
	f.accounts = map[string]buyerAccount{"blue": {Balance: signedAmount(10 * unit)}, "rec": {Balance: signedAmount(5 * unit)}}
	return f
}

func (f *forgedEvidence) addEvent(kind, members string) {
	f.lines = append(f.lines, fmt.Sprintf(`{"seq":%d,"at":"2026-01-01T00:00:00Z","kind":%q,"fact":{%s}}`, len(f.lines)+1, kind, members))
}

func (f *forgedEvidence) decided(lead, rest string) {
	f.addEvent("lead_decided", fmt.Sprintf(`"lead":%q,"request":"req_%s","campaign":1,%s`, lead, lead, rest))
}

func (f *forgedEvidence) settled(lead, how, sale, rest string) {
	f.addEvent("post_settled", fmt.Sprintf(`"lead":%q,"settlement":%q,"sale":%s%s`, lead, how, sale, rest))
}

func (f *forgedEvidence) addAnswer(lead, status, buyer string, price market.Money, reason string) *answeredRequest {
	t := &answeredRequest{clientRequest: &clientRequest{key: "key of " + lead, campaign: "cmp", phone: "phone-" + lead, email: lead + "@example.com"}}
	t.RequestID = "req_" + lead
	said := &t.parsed.Data
	said.ID, said.Status, said.BuyerID, said.CampaignID, said.Reason = lead, status, buyer, "cmp", reason
	said.Price.Amount, said.Price.Currency = price, "USD"
	f.answers = append(f.answers, t)
	return t
}

func (f *forgedEvidence) holds(buyer, lead string) {
	held := refbuyer.Lead{Key: "post_" + lead, LeadUUID: lead}
	f.buyerLeadsBefore[buyer], f.buyerLeadsAfter[buyer] = append(f.buyerLeadsBefore[buyer], held), append(f.buyerLeadsAfter[buyer], held)
}

// sold adds a sale to all sources.
func (f *forgedEvidence) sold(lead, buyer string) {
	if buyer == "rec" {
		f.decided(lead, `"sale":`+toRec)
		f.addAnswer(lead, "ACCEPTED", "rec", 4*unit, "")
		return
	}
	f.decided(lead, `"sale":`+toBlue+`,"post":"http://blue/v1/post"`)
	f.settled(lead, "delivered", toBlue, "")
	f.addAnswer(lead, "ACCEPTED", "blue", 8*unit, "")
	f.holds("blue", lead)
}

func (f *forgedEvidence) findings() []string {
	f.model = readLogModel(f.config, strings.Join(f.lines, "\n")+"\n")
	return f.runChecks()
}

func TestAuditDetectsViolations(t *testing.T) {
	offered := func(f *forgedEvidence, lead string) {
		f.decided(lead, `"sale":`+toBlue+`,"post":"http://blue/v1/post"`)
	}
	expectDetected(t, honestEvidence, []forgery{
		{"lost lead", "acknowledged, but is not in the log", func(f *forgedEvidence) { f.addAnswer("four", "UNMATCHED", "", 0, "caps_full") }},
		{"lead without a supplier", "no supplier sent it", func(f *forgedEvidence) { f.decided("four", `"reason":"caps_full"`) }},
		{"a lead decided twice", "is decided twice", func(f *forgedEvidence) { f.decided("three", `"reason":"caps_full"`) }},
		{"a request with two leads", "created two leads", func(f *forgedEvidence) {
			f.addEvent("lead_decided", `"lead":"four","request":"req_one","campaign":1,"reason":"x"`)
		}},
		{"two keys with one lead", "is the answer to two keys", func(f *forgedEvidence) { f.addAnswer("three", "UNMATCHED", "", 0, "caps_full").key = "other" }},
		{"another request's id", "but its answer had request", func(f *forgedEvidence) { f.answers[0].RequestID = "req_other" }},
		{"answer with another buyer", "answered ACCEPTED with buyer rec", func(f *forgedEvidence) { f.answers[0].parsed.Data.BuyerID = "rec" }},
		{"answer with another reason", "answered UNMATCHED, no_buyer", func(f *forgedEvidence) { f.answers[2].parsed.Data.Reason = "no_buyer" }},
		{"answered UNMATCHED but sold", "answered UNMATCHED", func(f *forgedEvidence) { f.answers[1].parsed.Data.Status = "UNMATCHED" }},
		{"answered ACCEPTED but unsold", "answered ACCEPTED with buyer blue, but the log has state unsold", func(f *forgedEvidence) {
			f.answers[2].parsed.Data.Status, f.answers[2].parsed.Data.BuyerID = "ACCEPTED", "blue"
		}},
		{"a third status", `unknown status "PENDING"`, func(f *forgedEvidence) { f.answers[2].parsed.Data.Status = "PENDING" }},
		{"another payout", "answered with the wrong payout", func(f *forgedEvidence) { f.answers[0].parsed.Data.Price.Amount++ }},
		{"answered while open", "before the log had its outcome", func(f *forgedEvidence) { offered(f, "four"); f.addAnswer("four", "ACCEPTED", "blue", 8*unit, "") }},
		{"a person sold twice", "about the same person", func(f *forgedEvidence) { f.answers[1].phone = f.answers[0].phone }},
		{"a lead at two buyers", "is held by two endpoints", func(f *forgedEvidence) { f.holds("rec", "one") }},
		{"a lead twice at one buyer", "is held by two endpoints: blue and blue", func(f *forgedEvidence) { f.holds("blue", "one") }},
		{"lead at a buyer without a sale", "which the log does not sell to it", func(f *forgedEvidence) { f.holds("blue", "three") }},
		{"a lead that never arrived", "which does not hold it", func(f *forgedEvidence) { delete(f.buyerLeadsAfter, "blue") }},
		{"a double sale by the buyer's count", "1 leads sold twice", func(f *forgedEvidence) { f.buyerStats["blue"] = refbuyer.Stats{Revenue: 10 * unit, DoubleSold: 1} }},
		{"other revenue", "blue counts revenue of 20", func(f *forgedEvidence) { f.buyerStats["blue"] = refbuyer.Stats{Revenue: 20 * unit} }},
		{"another balance", "account of rec: the exchange shows balance 6", func(f *forgedEvidence) { f.accounts["rec"] = buyerAccount{Balance: signedAmount(6 * unit)} }},
		{"money still held", "held 1;", func(f *forgedEvidence) { f.accounts["rec"] = buyerAccount{Balance: signedAmount(5 * unit), Held: unit} }},
		{"a pair's cap, by the log", `over the cap of "cmp" and "rec"`, func(f *forgedEvidence) { f.sold("four", "rec") }},
		{"a campaign's cap, by the log", `over the cap of "cmp" and ""`, func(f *forgedEvidence) { f.sold("four", "rec"); f.sold("five", "rec"); f.sold("six", "rec") }},
		{"an account overdrawn, by the log", "rec is overdrawn", func(f *forgedEvidence) { f.sold("four", "rec"); f.sold("five", "rec") }},
		{"an account overdrawn by what is held", "blue is overdrawn", func(f *forgedEvidence) { offered(f, "four"); offered(f, "five"); offered(f, "six") }},
		{"lost top-up", "was acknowledged, but is not in the log", func(f *forgedEvidence) { f.acknowledged = []operatorAction{{"top-up of", "7"}} }},
		{"a top-up twice", "is in the log twice", func(f *forgedEvidence) {
			f.addEvent("funds_moved", `"buyer":2,"amount":"1"`)
			f.addEvent("funds_moved", `"buyer":2,"amount":"1"`)
		}},
		{"an opening balance twice", "second opening balance", func(f *forgedEvidence) { f.addEvent("funds_moved", `"buyer":2,"amount":"10","opening":true`) }},
		{"a post without an intent", "an attempt without an open delivery", func(f *forgedEvidence) { f.addEvent("post_tried", `"lead":"one","attempt":1`) }},
		{"settlement without a lead", "was never decided", func(f *forgedEvidence) { f.settled("four", "delivered", toBlue, "") }},
		{"a delivery twice", "in state delivered cannot be settled as delivered", func(f *forgedEvidence) { f.settled("one", "delivered", toBlue, "") }},
		{"pending after delivered", "in state delivered cannot be settled as pending", func(f *forgedEvidence) { f.settled("one", "pending", toBlue, "") }},
		{"confirmed while in delivery", "in state open cannot be settled as confirmed", func(f *forgedEvidence) { offered(f, "four"); f.settled("four", "confirmed", toBlue, "") }},
		{"settled for another buyer", "another buyer or price", func(f *forgedEvidence) { offered(f, "four"); f.settled("four", "delivered", toRec, "") }},
		{"possibly received lead moves to another buyer", "which may have it", func(f *forgedEvidence) {
			offered(f, "four")
			f.addEvent("post_tried", `"lead":"four","attempt":1`)
			f.settled("four", "refused", toBlue, `,"next":`+toRec)
		}},
		{"refusal of a repeated post trusted", "ends unsold after a refusal by blue, which may have it", func(f *forgedEvidence) {
			offered(f, "four")
			f.addEvent("post_tried", `"lead":"four","attempt":1,"verdict":"unknown"`)
			f.settled("four", "refused", toBlue, `,"reason":"post_rejected"`)
		}},
		{"accepted lead moves to another buyer", "which the ACCEPTED answer named", func(f *forgedEvidence) {
			offered(f, "four")
			f.settled("four", "pending", toBlue, "")
			f.settled("four", "refused", toBlue, `,"next":`+toRec)
		}},
		{"an end without a reason", "ends unsold without a reason", func(f *forgedEvidence) { offered(f, "four"); f.settled("four", "refused", toBlue, "") }},
		{"lead without an outcome", "decided without a sale and without a reason", func(f *forgedEvidence) { f.decided("four", `"catalog":1`) }},
		{"wrong price", "is sold to", func(f *forgedEvidence) { f.decided("four", `"sale":{"buyer":2,"price":6,"payout":4}`) }},
		{"an intent for a buyer without an endpoint", "has the delivery URL", func(f *forgedEvidence) { f.decided("four", `"sale":`+toRec+`,"post":"http://rec"`) }},
		{"open delivery when idle", "is still open although", func(f *forgedEvidence) { offered(f, "four") }},
		{"a gap in the log", "follows entry", func(f *forgedEvidence) { f.lines = slices.Delete(f.lines, 5, 6) }},
		{"invalid line", "invalid line", func(f *forgedEvidence) { f.lines = append(f.lines, "{") }},
	})
}

// A repeated request with another answer must be a violation.
func TestCompareRepeatDetectsOtherAnswer(t *testing.T) {
	good := Response{Status: 201, RequestID: "req_1", Body: `{"data":{"id":"one","status":"UNMATCHED"}}`}
	again := good
	again.Replayed = true
	for what, forgery := range map[string]func(*Response){
		"another byte":      func(a *Response) { a.Body += " " },
		"another request":   func(a *Response) { a.RequestID = "req_2" },
		"another status":    func(a *Response) { a.Status = 200 },
		"not as a replay":   func(a *Response) { a.Replayed = false },
		"nothing different": nil,
	} {
		var l answerLog
		l.add(&clientRequest{key: "k"}, good)
		answered := again
		if forgery != nil {
			forgery(&answered)
		}
		l.compareRepeat(l.answers[0], answered)
		if _, violations := l.answersAndViolations(); (len(violations) > 0) != (forgery != nil) {
			t.Errorf("%s: %q", what, violations)
		}
	}
	var l answerLog
	l.add(&clientRequest{key: "k"}, Response{Status: 422, Body: "{}"})
	if _, violations := l.answersAndViolations(); len(violations) != 1 || len(l.answers) != 0 {
		t.Errorf("a 422 was taken for an acknowledgement: %q", violations)
	}
}

// startsWithLines accepts only a longer log with the same beginning.
func TestIsPrefix(t *testing.T) {
	before := []string{"1", "2"}
	for _, test := range []struct {
		now  []string
		grew bool
	}{{before, true}, {[]string{"1", "2", "3"}, true}, {[]string{"1"}, false}, {[]string{"1", "x", "3"}, false}} {
		if startsWithLines(before, test.now) != test.grew {
			t.Errorf("%q after %q: grew is %t", test.now, before, !test.grew)
		}
	}
}
