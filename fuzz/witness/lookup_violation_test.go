package witness

import (
	"fmt"
	"strings"
	"testing"
)

// lookedUpEvidence is honestEvidence with lookups by everyone who may read the leads. One lead
// has status reports, one is erased, one is in delivery and one has a pending return.
func lookedUpEvidence() *forgedEvidence {
	f := erasedEvidence()
	f.config.campaigns[0].manualReturns = true
	for i, t := range f.answers {
		t.phone, t.email = fmt.Sprintf("+1415555010%d", i), fmt.Sprintf("person%d@example.com", i)
	}
	f.idle = false
	f.decided("five", `"slot":5,"sale":`+toBlue+`,"post":"http://blue/v1/post"`)
	f.addAnswer("five", "ACCEPTED", "blue", 8*unit, "")
	f.settled("five", "pending", toBlue, "")
	f.changed("two", `"result":"done","to":"contacted"`)
	f.changed("four", `"result":"waits","to":"returned"`)
	f.statusReports = []*answeredRequest{f.reportedOn("two", "contacted")}
	f.looksAs("", "one", 200, `"status":"ACCEPTED","buyer_id":"blue","price":{"amount":8,"currency":"USD"},"delivery":"delivered"`)
	f.looksAs("blue", "one", 200, `"status":"ACCEPTED","buyer_id":"blue","price":{"amount":10,"currency":"USD"},"delivery":"delivered"`)
	f.looksAs("rec", "two", 200, `"status":"contacted","buyer_id":"rec","price":{"amount":5,"currency":"USD"},"delivery":"none"`)
	f.looksAs("", "two", 200, `"status":"ACCEPTED","buyer_id":"rec","price":{"amount":4,"currency":"USD"},"delivery":"none"`) // before the status report
	f.looksAs("blue", "two", 404, "")
	f.looksAs("", "three", 200, `"status":"UNMATCHED","reason":"caps_full","delivery":"none"`)
	f.looksAs("", "four", 200, `"status":"ACCEPTED","buyer_id":"rec","price":{"amount":4,"currency":"USD"},"delivery":"none","return":"waiting"`)
	f.looksAs("", "five", 200, `"status":"ACCEPTED","buyer_id":"blue","price":{"amount":8,"currency":"USD"},"delivery":"pending"`)
	return f
}

// looksAs adds a lookup by a buyer, or by the supplier if buyer is empty.
func (f *forgedEvidence) looksAs(buyer, lead string, status int, rest string) {
	one := &leadLookup{clientRequest: &clientRequest{isLookup: true, path: pathSupplierLead + lead}, lead: f.answerOf(lead), buyer: buyer}
	one.Status, one.Body = status, fmt.Sprintf(`{"data":{"id":%q,"campaign_id":"cmp",%s}}`, lead, rest)
	if buyer != "" {
		one.path, one.Body = pathTokenLead+lead, fmt.Sprintf(`{"id":%q,"campaign_id":"cmp",%s}`, lead, rest)
	}
	f.lookups = append(f.lookups, one)
}

func (f *forgedEvidence) answerOf(lead string) *answeredRequest {
	for _, t := range f.answers {
		if t.parsed.Data.ID == lead {
			return t
		}
	}
	panic("BUG: no answer names lead " + lead)
}

// replaceIn replaces the first occurrence of old, which must exist.
func replaceIn(text *string, old, other string) {
	if !strings.Contains(*text, old) {
		panic("BUG: the text to falsify is missing: " + old)
	}
	*text = strings.Replace(*text, old, other, 1)
}

func TestAuditDetectsFalseLookups(t *testing.T) {
	says := func(at int, old, other string) func(f *forgedEvidence) {
		return func(f *forgedEvidence) { replaceIn(&f.lookups[at].Body, old, other) }
	}
	expectDetected(t, lookedUpEvidence, []forgery{
		{"lead not found", "lead one: lookup by its supplier returned 404", func(f *forgedEvidence) { f.lookups[0].Status = 404 }},
		{"another status", "lead one: lookup by its supplier", says(0, "ACCEPTED", "UNMATCHED")},
		{"answered, and open", "lead one: lookup by its supplier", says(0, "ACCEPTED", "OPEN")},
		{"the buyer's price to the supplier", "lead one: lookup by its supplier", says(0, `"amount":8`, `"amount":10`)},
		{"the payout to the buyer", "lead one: lookup by blue", says(1, `"amount":10`, `"amount":8`)},
		{"another currency", "lead one: lookup by blue", says(1, "USD", "EUR")},
		{"another buyer", "lead one: lookup by its supplier", says(0, `"blue"`, `"rec"`)},
		{"another delivery", "lead one: lookup by its supplier", says(0, `"delivered"`, `"confirmed"`)},
		{"another reason", "lead three: lookup by its supplier", says(5, "caps_full", "filtered")},
		{"price of an unsold lead", "lead three: lookup by its supplier", says(5, `"reason"`, `"price":{"amount":1,"currency":"USD"},"reason"`)},
		{"return that is not pending", "lead one: lookup by its supplier", says(0, `"delivery"`, `"return":"waiting","delivery"`)},
		{"a return is not shown", "lead four: lookup by its supplier", func(f *forgedEvidence) {
			f.lookups[6].sinceSeq = 99
			says(6, `,"return":"waiting"`, "")(f)
		}},
		{"another lead", "lead one of campaign cmp, test false: lookup", says(0, `"one"`, `"two"`)},
		{"another campaign", "lead one of campaign cmp, test false: lookup", says(0, `"cmp"`, `"other"`)},
		{"as a test", "lead one of campaign cmp, test false: lookup", says(0, `"status"`, `"test":true,"status"`)},
		{"personal data", "contains personal data", says(0, `"status"`, `"phone":"4155550100","status"`)},
		{"personal data of an erased lead", "contains personal data", says(6, `"status"`, `"email":"person3@example.com","status"`)},
		{"another's lead", "lead two: lookup by blue", func(f *forgedEvidence) {
			f.lookups[4].Status, f.lookups[4].Body = 200, f.lookups[2].Body
		}},
		{"its own lead is hidden", "rec looked up lead two, which it has", func(f *forgedEvidence) { f.lookups[2].Status = 404 }},
		{"state before an acknowledged status", "lead two: lookup by its supplier", func(f *forgedEvidence) { f.lookups[3].reportCount = 1 }},
		{"state before the request", "lead two: lookup by its supplier", func(f *forgedEvidence) { f.lookups[3].sinceSeq = 99 }},
		{"nothing", "lead one: lookup by its supplier", func(f *forgedEvidence) { f.lookups[0].Body = "" }},
	})
}

// The lookup of a posted lead shows the supplier's own lead_uuid and auction_id.
func TestAuditDetectsFalseSellerIDs(t *testing.T) {
	world := func(own, auction string) string {
		f := auctionEvidence()
		f.looksAs("", "one", 200, fmt.Sprintf(`"lead_uuid":%q,"auction_id":%q,"status":"ACCEPTED","buyer_id":"blue","price":{"amount":8,"currency":"USD"},"delivery":"delivered"`, own, auction))
		return strings.Join(f.findings(), "\n")
	}
	if found := world("of a", "a"); found != "" {
		t.Error(found)
	}
	for _, forgery := range [][2]string{{"of b", "a"}, {"of a", "b"}, {"", "a"}} {
		if found := world(forgery[0], forgery[1]); !strings.Contains(found, `lead one has lead_uuid "of a" and auction_id "a", but the lookup`) {
			t.Errorf("%q: %s", forgery, found)
		}
	}
}
