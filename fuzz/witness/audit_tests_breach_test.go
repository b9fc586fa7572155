package witness

import (
	"slices"
	"strings"
	"testing"

	"pingpost/loadtest/refbuyer"
	"pingpost/loadtest/refreceiver"
)

const toRecInTest = `{"buyer":2,"seat":1,"price":5,"payout":4,"currency":"USD","test":true}`

// rehearsed is the honest world, which was tried out too: with a person who came before,
// though the caps and the money are used up, and with one whom nobody took.
func rehearsed() *forged {
	f := honest()
	f.decided("trial", `"sale":`+toRecInTest)
	t := f.told("trial", "ACCEPTED", "rec", 4*unit, "")
	t.test, t.phone = true, "phone-one"
	f.decided("failed", `"reason":"filtered","test":true`)
	f.told("failed", "UNMATCHED", "", 0, "filtered").test = true
	f.changed("trial", `"result":"done","to":"returned"`)
	return f
}

func TestAuditOfTestsHonest(t *testing.T) {
	if found := rehearsed().findings(); len(found) > 0 {
		t.Errorf("an honest world has findings: %q", found)
	}
}

func TestAuditOfTestsSees(t *testing.T) {
	foundOut(t, rehearsed, []lie{
		{"a test in earnest", "lead three was sent as a test: true, and is one: false", func(f *forged) { f.answers[2].test = true }},
		{"a lead as a test", "lead trial was sent as a test: false, and is one: true", func(f *forged) { f.answers[3].test = false }},
		{"it cost money", "rec has 0", func(f *forged) { f.funds["rec"] = account{} }},
		{"its return paid", "5 and 4 are given back", func(f *forged) {
			f.decided("again", `"sale":`+toRecInTest)
			f.told("again", "ACCEPTED", "rec", 4*unit, "").test = true
			f.changed("again", `"result":"done","to":"returned","credit":5,"reverse":4`)
		}},
	})
}

const toBlueInTest = `{"buyer":1,"seat":0,"price":10,"payout":8,"currency":"USD","test":true}`

// staged is the rehearsed world, where a test was delivered at an endpoint for tests, too.
func staged() *forged {
	f := rehearsed()
	f.terms.buyer("blue").rehearses = true
	f.terms.endpoints = map[string]string{"blue": "http://blue", "blue" + testMark: "http://blue.test"}
	f.decided("tried", `"sale":`+toBlueInTest+`,"post":"http://blue.test/v1/post"`)
	f.settled("tried", "delivered", toBlueInTest, "")
	f.told("tried", "ACCEPTED", "blue", 8*unit, "").test = true
	f.holds("blue"+testMark, "tried")
	f.stats["blue"+testMark] = refbuyer.Stats{Revenue: 10 * unit, Posts: 1, Tests: 1}
	f.events = []refreceiver.Event{{ID: "evt_1", Lead: "tried", Type: "lead.posted", Test: true}, {ID: "evt_2", Lead: "one", Type: "lead.posted"}}
	return f
}

func TestAuditOfStagesHonest(t *testing.T) {
	f := staged()
	f.terms.caps[1].money, f.terms.buyer("blue").credit = 10*unit, -10*unit // no room is left, and no money
	if found := f.findings(); len(found) > 0 {
		t.Errorf("an honest world has findings: %q", found)
	}
}

func TestAuditOfStagesSees(t *testing.T) {
	foundOut(t, staged, []lie{
		{"it went to the buyer's own endpoint", "blue holds lead tried, and by the log it does not", func(f *forged) {
			f.before = map[string][]refbuyer.Lead{"blue": {{LeadUUID: "tried"}}}
		}},
		{"it went to both", "lead tried is at blue", func(f *forged) { f.holds("blue", "tried") }},
		{"a lead went to the endpoint for tests", "blue (tests) holds lead one, and by the log it does not", func(f *forged) {
			f.before = map[string][]refbuyer.Lead{"blue (tests)": {{LeadUUID: "one"}}}
		}},
		{"it never arrived", "lead tried was delivered to blue (tests), which does not hold it", func(f *forged) { delete(f.after, "blue (tests)") }},
		{"it was meant for the buyer's own endpoint", "lead wrong, a test: true, is to be posted to http://blue/v1/post", func(f *forged) {
			f.decided("wrong", `"sale":`+toBlueInTest+`,"post":"http://blue/v1/post"`)
		}},
		{"a lead was meant for the endpoint for tests", "lead wrong, a test: false, is to be posted to http://blue.test/v1/post", func(f *forged) {
			f.decided("wrong", `"sale":`+toBlue+`,"post":"http://blue.test/v1/post"`)
		}},
		{"there is no endpoint for tests", "lead tried is a test, and goes to blue, which has no endpoint for tests", func(f *forged) { f.terms.buyer("blue").rehearses = false }},
		{"the buyer's own endpoint was pinged", "blue was sent 1 requests that are tests", func(f *forged) { f.stats["blue"] = refbuyer.Stats{Revenue: 10 * unit, Tests: 1} }},
		{"the endpoint for tests was pinged in earnest", "blue (tests) was sent 2 pings and posts, of which 1 are tests", func(f *forged) {
			f.stats["blue (tests)"] = refbuyer.Stats{Revenue: 10 * unit, Posts: 1, Pings: 1, Tests: 1}
		}},
		{"it cost money", "blue has 0, of which 0 is held", func(f *forged) { f.funds["blue"] = account{} }},
		{"money is held for it", "blue has 10, of which 10 is held", func(f *forged) { f.funds["blue"] = account{Balance: balance(10 * unit), Held: 10 * unit} }},
		{"it is in a statement", "the statement of sup_acme has 3 entries, and says 3; by the log there are 2", func(f *forged) {
			s := &statement{Supplier: supplier, Count: 3}
			s.AsOf.Entry = uint64(len(f.lines))
			s.Entries = slices.Grow(s.Entries, 3)[:3]
			f.statements = append(f.statements, s)
		}},
		{"nobody was told that it is one", "told lead.posted of lead tried as of a test: false", func(f *forged) { f.events[0].Test = false }},
		{"a lead was told as one", "told lead.posted of lead one as of a test: true", func(f *forged) { f.events[1].Test = true }},
	})
}

// TestMistakenPosts: the bid of a test is none to a lead in earnest, and nothing but that
// may be said of it.
func TestMistakenPosts(t *testing.T) {
	for _, c := range []struct {
		Answer
		right bool
	}{
		{Answer{Status: 422, Text: `{"error":"invalid_bid_token"}`}, true},
		{Answer{Status: 422, Text: `{"error":"post_rejected"}`}, false},
		{Answer{Status: 410, Text: `{"error":"bid_expired"}`}, false},
		{Answer{Status: 201, Text: `{"id":"one","status":"ACCEPTED"}`}, false},
	} {
		var l ledger
		l.enter(&order{path: pathPost, key: "post-a-mistaken", foreign: true}, c.Answer)
		if (len(l.breaches) == 0) != c.right || (l.foreign == 1) != c.right || len(l.told) != 0 || len(l.expired) != 0 {
			t.Errorf("%d %s: %q", c.Status, c.Text, l.breaches)
		}
	}
}

// TestAuditOfPausesSees: the lead two, of entry 6, was sold to rec.
func TestAuditOfPausesSees(t *testing.T) {
	for _, c := range []struct {
		pause
		want string
	}{
		{pause{"rec", 6, 99}, ""},
		{pause{"rec", 0, 5}, ""},
		{pause{"blue", 5, 6}, ""},
		{pause{"rec", 5, 6}, "rec was paused, acknowledged, and entry 6 sells it a lead"},
	} {
		f := honest()
		f.pauses = []pause{c.pause}
		if found := strings.Join(f.findings(), ""); found != c.want {
			t.Errorf("%+v: %q", c.pause, found)
		}
	}
}
