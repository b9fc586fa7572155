package witness

import (
	"fmt"
	"strings"
	"testing"
)

// watched is the honest world, at whose leads everybody looks who may: one was reported
// on, one was erased, one is on its way, of one a return waits.
func watched() *forged {
	f := sealedWorld()
	f.terms.campaigns[0].manual = true
	for i, t := range f.answers {
		t.phone, t.email = fmt.Sprintf("+1415555010%d", i), fmt.Sprintf("person%d@example.com", i)
	}
	f.atRest = false
	f.decided("five", `"slot":5,"sale":`+toBlue+`,"post":"http://blue/v1/post"`)
	f.told("five", "ACCEPTED", "blue", 8*unit, "")
	f.settled("five", "pending", toBlue, "")
	f.changed("two", `"result":"done","to":"contacted"`)
	f.changed("four", `"result":"waits","to":"returned"`)
	f.reports = []*told{f.reportedOn("two", "contacted")}
	f.looksAs("", "one", 200, `"status":"ACCEPTED","buyer_id":"blue","price":{"amount":8,"currency":"USD"},"delivery":"delivered"`)
	f.looksAs("blue", "one", 200, `"status":"ACCEPTED","buyer_id":"blue","price":{"amount":10,"currency":"USD"},"delivery":"delivered"`)
	f.looksAs("rec", "two", 200, `"status":"contacted","buyer_id":"rec","price":{"amount":5,"currency":"USD"},"delivery":"none"`)
	f.looksAs("", "two", 200, `"status":"ACCEPTED","buyer_id":"rec","price":{"amount":4,"currency":"USD"},"delivery":"none"`) // before that
	f.looksAs("blue", "two", 404, "")
	f.looksAs("", "three", 200, `"status":"UNMATCHED","reason":"caps_full","delivery":"none"`)
	f.looksAs("", "four", 200, `"status":"ACCEPTED","buyer_id":"rec","price":{"amount":4,"currency":"USD"},"delivery":"none","return":"waiting"`)
	f.looksAs("", "five", 200, `"status":"ACCEPTED","buyer_id":"blue","price":{"amount":8,"currency":"USD"},"delivery":"pending"`)
	return f
}

// looksAs has a buyer, or without one the supplier, look at a lead.
func (f *forged) looksAs(buyer, lead string, status int, rest string) {
	one := &look{order: &order{look: true, path: pathLook + lead}, of: f.answerOf(lead), buyer: buyer}
	one.Status, one.Text = status, fmt.Sprintf(`{"data":{"id":%q,"campaign_id":"cmp",%s}}`, lead, rest)
	if buyer != "" {
		one.path, one.Text = pathSeen+lead, fmt.Sprintf(`{"id":%q,"campaign_id":"cmp",%s}`, lead, rest)
	}
	f.looks = append(f.looks, one)
}

func (f *forged) answerOf(lead string) *told {
	for _, t := range f.answers {
		if t.said.Data.ID == lead {
			return t
		}
	}
	panic("BUG: nobody was answered of " + lead)
}

func TestAuditOfLooksHonest(t *testing.T) {
	if found := watched().findings(); len(found) > 0 {
		t.Errorf("an honest world has findings: %q", found)
	}
}

func TestAuditOfLooksSees(t *testing.T) {
	says := func(at int, old, other string) func(f *forged) {
		return func(f *forged) {
			text := strings.Replace(f.looks[at].Text, old, other, 1)
			if text == f.looks[at].Text {
				panic("BUG: the lie is none: " + old)
			}
			f.looks[at].Text = text
		}
	}
	foundOut(t, watched, []lie{
		{"it is lost", "lead one was shown to its supplier as 404", func(f *forged) { f.looks[0].Status = 404 }},
		{"another status", "lead one was shown to its supplier", says(0, "ACCEPTED", "UNMATCHED")},
		{"answered, and open", "lead one was shown to its supplier", says(0, "ACCEPTED", "OPEN")},
		{"the buyer's price to the supplier", "lead one was shown to its supplier", says(0, `"amount":8`, `"amount":10`)},
		{"the payout to the buyer", "lead one was shown to blue", says(1, `"amount":10`, `"amount":8`)},
		{"another currency", "lead one was shown to blue", says(1, "USD", "EUR")},
		{"another buyer", "lead one was shown to its supplier", says(0, `"blue"`, `"rec"`)},
		{"another delivery", "lead one was shown to its supplier", says(0, `"delivered"`, `"confirmed"`)},
		{"another reason", "lead three was shown to its supplier", says(5, "caps_full", "filtered")},
		{"a price of a lead that nobody has", "lead three was shown to its supplier", says(5, `"reason"`, `"price":{"amount":1,"currency":"USD"},"reason"`)},
		{"a return that is none", "lead one was shown to its supplier", says(0, `"delivery"`, `"return":"waiting","delivery"`)},
		{"a return is not shown", "lead four was shown to its supplier", func(f *forged) {
			f.looks[6].since = 99
			says(6, `,"return":"waiting"`, "")(f)
		}},
		{"another lead", "lead one of cmp, a test: false, was shown", says(0, `"one"`, `"two"`)},
		{"another campaign", "lead one of cmp, a test: false, was shown", says(0, `"cmp"`, `"other"`)},
		{"as a test", "lead one of cmp, a test: false, was shown", says(0, `"status"`, `"test":true,"status"`)},
		{"who it is", "with who it is", says(0, `"status"`, `"phone":"4155550100","status"`)},
		{"who it was", "with who it is", says(6, `"status"`, `"email":"person3@example.com","status"`)},
		{"another's lead", "lead two was shown to blue", func(f *forged) {
			f.looks[4].Status, f.looks[4].Text = 200, f.looks[2].Text
		}},
		{"its own lead is hidden", "rec looked at lead two, which it has", func(f *forged) { f.looks[2].Status = 404 }},
		{"as it was before what was reported", "lead two was shown to its supplier", func(f *forged) { f.looks[3].reports = 1 }},
		{"as it was before it was asked", "lead two was shown to its supplier", func(f *forged) { f.looks[3].since = 99 }},
		{"nothing", "lead one was shown to its supplier", func(f *forged) { f.looks[0].Text = "" }},
	})
}

// TestLooksOfSellers: a lead that came by a post is shown to its seller under the seller's
// own names.
func TestLooksOfSellers(t *testing.T) {
	world := func(own, auction string) string {
		f := auctioned()
		f.looksAs("", "one", 200, fmt.Sprintf(`"lead_uuid":%q,"auction_id":%q,"status":"ACCEPTED","buyer_id":"blue","price":{"amount":8,"currency":"USD"},"delivery":"delivered"`, own, auction))
		return strings.Join(f.findings(), "\n")
	}
	if found := world("of a", "a"); found != "" {
		t.Error(found)
	}
	for _, lie := range [][2]string{{"of b", "a"}, {"of a", "b"}, {"", "a"}} {
		if found := world(lie[0], lie[1]); !strings.Contains(found, `lead one is "of a" in "a", by its seller's own word`) {
			t.Errorf("%q: %s", lie, found)
		}
	}
}
