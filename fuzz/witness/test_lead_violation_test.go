package witness

import (
	"slices"
	"strings"
	"testing"

	"pingpost/loadtest/refbuyer"
	"pingpost/loadtest/refreceiver"
)

const toRecInTest = `{"buyer":2,"seat":1,"price":5,"payout":4,"currency":"USD","test":true}`

// testLeadEvidence is honestEvidence with two test leads. One repeats a person although caps
// and money are used up; the other is unsold.
func testLeadEvidence() *forgedEvidence {
	f := honestEvidence()
	f.decided("trial", `"sale":`+toRecInTest)
	t := f.addAnswer("trial", "ACCEPTED", "rec", 4*unit, "")
	t.isTest, t.phone = true, "phone-one"
	f.decided("failed", `"reason":"filtered","test":true`)
	f.addAnswer("failed", "UNMATCHED", "", 0, "filtered").isTest = true
	f.changed("trial", `"result":"done","to":"returned"`)
	return f
}

func TestAuditDetectsFalseTestLeads(t *testing.T) {
	expectDetected(t, testLeadEvidence, []forgery{
		{"test lead logged as production", "lead three: test flag sent true, logged false", func(f *forgedEvidence) { f.answers[2].isTest = true }},
		{"production lead logged as test", "lead trial: test flag sent false, logged true", func(f *forgedEvidence) { f.answers[3].isTest = false }},
		{"it cost money", "account of rec: the exchange shows balance 0", func(f *forgedEvidence) { f.accounts["rec"] = buyerAccount{} }},
		{"its return paid", "credit 5 and reversal 4 are wrong", func(f *forgedEvidence) {
			f.decided("again", `"sale":`+toRecInTest)
			f.addAnswer("again", "ACCEPTED", "rec", 4*unit, "").isTest = true
			f.changed("again", `"result":"done","to":"returned","credit":5,"reverse":4`)
		}},
	})
}

const toBlueInTest = `{"buyer":1,"seat":0,"price":10,"payout":8,"currency":"USD","test":true}`

// testDeliveryEvidence is testLeadEvidence with a test lead delivered at a test endpoint.
func testDeliveryEvidence() *forgedEvidence {
	f := testLeadEvidence()
	f.config.buyerByID("blue").hasTestEndpoint = true
	f.config.endpoints = map[string]string{"blue": "http://blue", "blue" + testEndpointSuffix: "http://blue.test"}
	f.decided("tried", `"sale":`+toBlueInTest+`,"post":"http://blue.test/v1/post"`)
	f.settled("tried", "delivered", toBlueInTest, "")
	f.addAnswer("tried", "ACCEPTED", "blue", 8*unit, "").isTest = true
	f.holds("blue"+testEndpointSuffix, "tried")
	f.buyerStats["blue"+testEndpointSuffix] = refbuyer.Stats{Revenue: 10 * unit, Posts: 1, Tests: 1}
	f.webhookEvents = []refreceiver.Event{{ID: "evt_1", Lead: "tried", Type: "lead.posted", Test: true}, {ID: "evt_2", Lead: "one", Type: "lead.posted"}}
	return f
}

func TestAuditAcceptsTestDeliveryWithoutFunds(t *testing.T) {
	f := testDeliveryEvidence()
	f.config.caps[1].money, f.config.buyerByID("blue").credit = 10*unit, -10*unit // neither cap nor money is left
	f.expectNothing(t)
}

func TestAuditDetectsFalseTestDeliveries(t *testing.T) {
	expectDetected(t, testDeliveryEvidence, []forgery{
		{"test lead at the production endpoint", "blue holds lead tried, which the log does not sell to it", func(f *forgedEvidence) {
			f.buyerLeadsBefore = map[string][]refbuyer.Lead{"blue": {{LeadUUID: "tried"}}}
		}},
		{"test lead at both endpoints", "lead tried is held by two endpoints: blue", func(f *forgedEvidence) { f.holds("blue", "tried") }},
		{"production lead at the test endpoint", "blue (tests) holds lead one, which the log does not sell to it", func(f *forgedEvidence) {
			f.buyerLeadsBefore = map[string][]refbuyer.Lead{"blue (tests)": {{LeadUUID: "one"}}}
		}},
		{"it never arrived", "lead tried: the log says delivered to blue (tests), which does not hold it", func(f *forgedEvidence) { delete(f.buyerLeadsAfter, "blue (tests)") }},
		{"test URL of the production endpoint", "lead wrong, test true: the delivery URL http://blue/v1/post", func(f *forgedEvidence) {
			f.decided("wrong", `"sale":`+toBlueInTest+`,"post":"http://blue/v1/post"`)
		}},
		{"production URL of the test endpoint", "lead wrong, test false: the delivery URL http://blue.test/v1/post", func(f *forgedEvidence) {
			f.decided("wrong", `"sale":`+toBlue+`,"post":"http://blue.test/v1/post"`)
		}},
		{"no test endpoint", "test lead tried is delivered to blue, which has no test endpoint", func(f *forgedEvidence) { f.config.buyerByID("blue").hasTestEndpoint = false }},
		{"production endpoint received a test ping", "blue received 1 test requests", func(f *forgedEvidence) { f.buyerStats["blue"] = refbuyer.Stats{Revenue: 10 * unit, Tests: 1} }},
		{"test endpoint received a production ping", "blue (tests) received 2 pings and posts, of which only 1 are tests", func(f *forgedEvidence) {
			f.buyerStats["blue (tests)"] = refbuyer.Stats{Revenue: 10 * unit, Posts: 1, Pings: 1, Tests: 1}
		}},
		{"it cost money", "account of blue: the exchange shows balance 0, held 0", func(f *forgedEvidence) { f.accounts["blue"] = buyerAccount{} }},
		{"money is held for it", "account of blue: the exchange shows balance 10, held 10", func(f *forgedEvidence) {
			f.accounts["blue"] = buyerAccount{Balance: signedAmount(10 * unit), Held: 10 * unit}
		}},
		{"it is in a statement", "statement of sup_acme: 3 entries listed, count 3; the log has 2", func(f *forgedEvidence) {
			s := &accountStatement{Supplier: SupplierID, Count: 3}
			s.AsOf.Entry = uint64(len(f.lines))
			s.Entries = slices.Grow(s.Entries, 3)[:3]
			f.statements = append(f.statements, s)
		}},
		{"test webhook not marked as test", "webhook lead.posted of lead tried has test false", func(f *forgedEvidence) { f.webhookEvents[0].Test = false }},
		{"production webhook marked as test", "webhook lead.posted of lead one has test true", func(f *forgedEvidence) { f.webhookEvents[1].Test = true }},
	})
}

// Record 6 sold lead two to rec.
func TestAuditDetectsSalesDuringPause(t *testing.T) {
	for _, c := range []struct {
		buyerPause
		want string
	}{
		{buyerPause{"rec", 6, 99}, ""},
		{buyerPause{"rec", 0, 5}, ""},
		{buyerPause{"blue", 5, 6}, ""},
		{buyerPause{"rec", 5, 6}, "buyer rec was paused (acknowledged), but entry 6 sells it a lead"},
	} {
		f := honestEvidence()
		f.pauses = []buyerPause{c.buyerPause}
		if found := strings.Join(f.findings(), ""); found != c.want {
			t.Errorf("%+v: %q", c.buyerPause, found)
		}
	}
}
