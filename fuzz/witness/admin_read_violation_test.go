package witness

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
)

// readEvidence is lookedUpEvidence with all admin reads.
func readEvidence() *forgedEvidence {
	f := lookedUpEvidence()
	f.sinceSeq, f.hasAdminReads = 5, true
	f.explains("one", `"kind":"ingest","lead_id":"one","status":"ACCEPTED","delivery":"delivered","buyer_id":"blue",
		"price":{"amount":10,"currency":"USD"},"payout":{"amount":8,"currency":"USD"},"answer":{"status":201,"says":"ACCEPTED"}`)
	f.explains("three", `"kind":"ingest","lead_id":"three","status":"UNMATCHED","reason":"caps_full","answer":{"status":201,"says":"UNMATCHED","reason":"caps_full"}`)
	f.explains("four", `"kind":"ingest","lead_id":"four","erased":true,"status":"ACCEPTED","delivery":"none","buyer_id":"rec",
		"price":{"amount":5,"currency":"USD"},"payout":{"amount":4,"currency":"USD"},"answer":{"status":201,"says":"ACCEPTED"}`)
	for _, text := range []string{
		`{"supplier_id":"sup_acme","as_of":{"entry":7},"count":2,"totals":[{"kind":"sale","count":2,"amount":12}],"entries":[
			{"entry":5,"kind":"sale","lead_id":"one","campaign_id":"cmp","amount":8},
			{"entry":6,"kind":"sale","lead_id":"two","campaign_id":"cmp","amount":4}]}`,
		`{"buyer_id":"blue","as_of":{"entry":10},"opening":{"balance":0,"held":0},"closing":{"balance":10,"held":10},"count":2,
			"totals":[{"kind":"opening","count":1,"amount":20},{"kind":"sale","count":1,"amount":-10}],"entries":[
			{"entry":2,"kind":"opening","amount":20,"balance":20},
			{"entry":5,"kind":"sale","lead_id":"one","campaign_id":"cmp","amount":-10,"balance":10}]}`,
	} {
		s := &accountStatement{}
		if err := json.Unmarshal([]byte(text), s); err != nil {
			panic(err)
		}
		f.statements = append(f.statements, s)
	}
	f.lists(`{"total":1,"deliveries":[{"lead_id":"five","state":"pending","buyer_id":"blue","price":{"amount":10,"currency":"USD"}}]}`,
		`{"total":1,"returns":[{"lead_id":"four","status":"ACCEPTED","buyer_id":"rec","campaign_id":"cmp","credit":5,"reverse":4}]}`)
	return f
}

func (f *forgedEvidence) explains(lead, rest string) {
	t := f.answerOf(lead)
	t.Status = 201
	f.explanations = append(f.explanations, &answerExplanation{request: t, text: `{"supplier_id":"sup_acme","campaign_id":"cmp","request_id":"` + t.RequestID + `",` + rest + "}"})
}

// lists sets the answers of the two lists.
func (f *forgedEvidence) lists(deliveries, returns string) {
	f.openDeliveries, f.pendingReturns = openList{}, openList{}
	if err := errors.Join(json.Unmarshal([]byte(deliveries), &f.openDeliveries), json.Unmarshal([]byte(returns), &f.pendingReturns)); err != nil {
		panic(err)
	}
}

func TestAuditIgnoresLaterLeadsInReads(t *testing.T) {
	f := readEvidence()
	f.decided("six", `"slot":6,"sale":`+toRec) // decided after all reads
	f.config.buyerByID("rec").credit, f.config.caps[2].count, f.config.caps[0].count = 5*unit, 3, 9
	f.changed("six", `"result":"waits","to":"returned"`)
	f.decided("seven", `"slot":7,"sale":`+toBlue+`,"post":"http://blue/v1/post"`)
	f.config.buyerByID("blue").credit, f.config.caps[1].money = 20*unit, 40*unit
	f.expectNothing(t)
}

func TestAuditDetectsFalseExplanations(t *testing.T) {
	says := func(at int, old, other string) func(f *forgedEvidence) {
		return func(f *forgedEvidence) { replaceIn(&f.explanations[at].text, old, other) }
	}
	expectDetected(t, readEvidence, []forgery{
		{"nothing", "key of one: the explanation is not JSON", func(f *forgedEvidence) { f.explanations[0].text = "" }},
		{"another request", "key of one: expected campaign cmp, request req_one", says(0, "req_one", "req_two")},
		{"another campaign", "key of one: expected campaign cmp, request req_one", says(0, `"cmp"`, `"other"`)},
		{"another supplier", "key of one: expected campaign cmp, request req_one", says(0, "sup_acme", "sup_best")},
		{"a test", "test false; the explanation has", says(0, `"kind"`, `"test":true,"kind"`)},
		{"another status", "lead one: the explanation shows status UNMATCHED", says(0, `"status":"ACCEPTED"`, `"status":"UNMATCHED"`)},
		{"another delivery", "lead one: the explanation shows delivery unknown", says(0, "delivered", "unknown")},
		{"another buyer", "lead one: the explanation shows buyer rec", says(0, "blue", "rec")},
		{"another price", "lead one: the explanation shows price 11", says(0, `"amount":10`, `"amount":11`)},
		{"another payout", "lead one: the explanation shows price 10", says(0, `"amount":8`, `"amount":9`)},
		{"another reason", "lead three: the explanation shows reason filtered", says(1, "caps_full", "filtered")},
		{"another answer", "lead one: answered 201 ACCEPTED", says(0, `"says":"ACCEPTED"`, `"says":"UNMATCHED"`)},
		{"an answer for another reason", "lead three: answered 201 UNMATCHED, caps_full", says(1, `"says":"UNMATCHED","reason":"caps_full"`, `"says":"UNMATCHED"`)},
		{"another lead", "the explanation has lead two", says(0, `"lead_id":"one"`, `"lead_id":"two"`)},
		{"erased, and is not", "lead one: the explanation shows erased true", says(0, `"kind"`, `"erased":true,"kind"`)},
		{"not erased, and is", "lead four: the explanation shows erased false", func(f *forgedEvidence) {
			f.sinceSeq = 99
			f.statements = nil
			says(2, `"erased":true,`, "")(f)
		}},
		{"personal data", "contains personal data", says(0, `"kind"`, `"email":"person0@example.com","kind"`)},
		{"personal data of an erased lead", "contains personal data", says(2, `"kind"`, `"phone":"+14155550103","kind"`)},
	})
}

// The explanation of a ping must show the answered offer and the lead that was sold at its bid.
func TestAuditDetectsFalsePingExplanations(t *testing.T) {
	const honest = `{"kind":"ping","seller_id":"a","supplier_id":"sup_acme","campaign_id":"cmp","request_id":"req_ping_a","offers":[{"payout":{"amount":8,"currency":"USD"}}],"leads":[{"lead_id":"one"}]}`
	world := func(text string) string {
		f := auctionEvidence()
		f.explanations = []*answerExplanation{{request: f.pings[0], text: text}}
		return strings.Join(f.findings(), "\n")
	}
	if found := world(honest); found != "" {
		t.Error(found)
	}
	for _, forgery := range [][3]string{
		{`"amount":8`, `"amount":9`, "ping-a: answered with bid 8"},
		{`"seller_id":"a"`, `"seller_id":"b"`, "ping-a: answered with bid 8"},
		{`"seller_id":"a"`, `"seller_id":"(withheld: the person was erased)"`, "ping-a: answered with bid 8"},
		{`"kind":"ping"`, `"kind":"post"`, "ping-a: answered with bid 8"},
		{`"lead_id":"one"`, `"lead_id":"two"`, "lead two: the explanation lists it under ping-a"},
		{`"lead_id":"one"`, `"lead_id":"nobody"`, "lead nobody: the explanation lists it under ping-a"},
	} {
		if found := world(strings.Replace(honest, forgery[0], forgery[1], 1)); !strings.Contains(found, forgery[2]) {
			t.Errorf("%q: %s", forgery, found)
		}
	}
}

func TestAuditDetectsFalseStatements(t *testing.T) {
	expectDetected(t, readEvidence, []forgery{
		{"an entry is missing", "statement of sup_acme: 1 entries listed, count 2", func(f *forgedEvidence) { f.statements[0].Entries = f.statements[0].Entries[:1] }},
		{"it counts otherwise", "statement of sup_acme: 2 entries listed, count 3", func(f *forgedEvidence) { f.statements[0].Count = 3 }},
		{"another amount", "statement of sup_acme: entry {", func(f *forgedEvidence) { f.statements[0].Entries[0].Amount++ }},
		{"another lead", "statement of sup_acme: entry {", func(f *forgedEvidence) { f.statements[0].Entries[0].Lead = "two" }},
		{"another campaign", "statement of sup_acme: entry {", func(f *forgedEvidence) { f.statements[0].Entries[0].Campaign = "other" }},
		{"another kind", "statement of sup_acme: entry {", func(f *forgedEvidence) { f.statements[0].Entries[0].Kind = "reversal" }},
		{"another entry", "statement of sup_acme: entry {", func(f *forgedEvidence) { f.statements[0].Entries[0].Entry = 4 }},
		{"another total", "the total of sale is wrong by -0.000001", func(f *forgedEvidence) { f.statements[0].Totals[0].Amount++ }},
		{"another balance", ": balance in", func(f *forgedEvidence) { *f.statements[1].Entries[1].Balance = 9 }},
		{"it closes otherwise", "statement of blue: opening", func(f *forgedEvidence) { f.statements[1].Closing.Balance++ }},
		{"it holds otherwise", "statement of blue: opening", func(f *forgedEvidence) { f.statements[1].Closing.Held++ }},
		{"it opens otherwise", "statement of blue: opening", func(f *forgedEvidence) { f.statements[1].Opening.Balance++ }},
		{"a supplier's account", "statement of sup_acme: closing balance", func(f *forgedEvidence) { f.statements[0].Closing = &accountBalance{} }},
		{"stale statement", "statement of sup_acme: as of entry 4", func(f *forgedEvidence) { f.statements[0].AsOf.Entry = 4 }},
		{"statement of a future entry", "statement of sup_acme: as of entry 99", func(f *forgedEvidence) { f.statements[0].AsOf.Entry = 99 }},
	})
}

func TestAuditDetectsFalseLists(t *testing.T) {
	expectDetected(t, readEvidence, []forgery{
		{"delivery that is not open", "list of open deliveries: {Lead:one", func(f *forgedEvidence) { f.openDeliveries.Deliveries[0].Lead = "one" }},
		{"delivery of an unknown lead", "list of open deliveries: {Lead:nobody", func(f *forgedEvidence) { f.openDeliveries.Deliveries[0].Lead = "nobody" }},
		{"another state", "list of open deliveries: {Lead:five State:unknown", func(f *forgedEvidence) { f.openDeliveries.Deliveries[0].State = "unknown" }},
		{"another price", "list of open deliveries: {Lead:five", func(f *forgedEvidence) { f.openDeliveries.Deliveries[0].Price.Amount++ }},
		{"a test's", "list of open deliveries: {Lead:five", func(f *forgedEvidence) { f.openDeliveries.Deliveries[0].Test = true }},
		{"a delivery is missing", "list of open deliveries: lead five is missing", func(f *forgedEvidence) {
			f.sinceSeq, f.statements = 99, nil
			f.lists(`{}`, `{"total":1,"returns":[{"lead_id":"four","status":"ACCEPTED","buyer_id":"rec","campaign_id":"cmp","credit":5,"reverse":4}]}`)
		}},
		{"return that is not pending", "list of pending returns: {Lead:two", func(f *forgedEvidence) { f.pendingReturns.Returns[0].Lead = "two" }},
		{"another credit", "list of pending returns: {Lead:four", func(f *forgedEvidence) { f.pendingReturns.Returns[0].Credit++ }},
		{"another reversal", "list of pending returns: {Lead:four", func(f *forgedEvidence) { f.pendingReturns.Returns[0].Reverse++ }},
		{"a return is missing", "list of pending returns: lead four is missing", func(f *forgedEvidence) {
			f.sinceSeq, f.statements = 99, nil
			f.pendingReturns.Returns, f.pendingReturns.Total = nil, 0
		}},
	})
}
