package witness

import (
	"encoding/json"
	"strings"
	"testing"
)

// read is the watched world, of which an operator has read all there is.
func read() *forged {
	f := watched()
	f.since, f.listed = 5, &listed{}
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
		s := &statement{}
		if err := json.Unmarshal([]byte(text), s); err != nil {
			panic(err)
		}
		f.statements = append(f.statements, s)
	}
	f.lists(`{"total":1,"deliveries":[{"lead_id":"five","state":"pending","buyer_id":"blue","price":{"amount":10,"currency":"USD"}}]}`,
		`{"total":1,"returns":[{"lead_id":"four","status":"ACCEPTED","buyer_id":"rec","campaign_id":"cmp","credit":5,"reverse":4}]}`)
	return f
}

func (f *forged) explains(lead, rest string) {
	t := f.answerOf(lead)
	t.Status = 201
	f.explained = append(f.explained, &explanation{of: t, text: `{"supplier_id":"sup_acme","campaign_id":"cmp","request_id":"` + t.Request + `",` + rest + "}"})
}

// lists has an operator find these on the lists of what is open.
func (f *forged) lists(deliveries, returns string) {
	f.listed = &listed{}
	if err := json.Unmarshal([]byte(deliveries), &f.listed.deliveries); err != nil {
		panic(err)
	}
	if err := json.Unmarshal([]byte(returns), &f.listed.returns); err != nil {
		panic(err)
	}
}

func TestAuditOfReadingsHonest(t *testing.T) {
	f := read()
	f.decided("six", `"slot":6,"sale":`+toRec) // after all was read
	f.terms.buyer("rec").credit, f.terms.caps[2].count, f.terms.caps[0].count = 5*unit, 3, 9
	f.changed("six", `"result":"waits","to":"returned"`)
	f.decided("seven", `"slot":7,"sale":`+toBlue+`,"post":"http://blue/v1/post"`)
	f.terms.buyer("blue").credit, f.terms.caps[1].money = 20*unit, 40*unit
	if found := f.findings(); len(found) > 0 {
		t.Errorf("an honest world has findings: %q", found)
	}
	if found := read().findings(); len(found) > 0 {
		t.Errorf("an honest world has findings: %q", found)
	}
}

func TestAuditOfExplanationsSees(t *testing.T) {
	says := func(at int, old, other string) func(f *forged) {
		return func(f *forged) {
			text := strings.Replace(f.explained[at].text, old, other, 1)
			if text == f.explained[at].text {
				panic("BUG: the lie is none: " + old)
			}
			f.explained[at].text = text
		}
	}
	foundOut(t, read, []lie{
		{"nothing", "key of one is explained by ", func(f *forged) { f.explained[0].text = "" }},
		{"another request", "key of one of cmp, request req_one", says(0, "req_one", "req_two")},
		{"another campaign", "key of one of cmp, request req_one", says(0, `"cmp"`, `"other"`)},
		{"another supplier", "key of one of cmp, request req_one", says(0, "sup_acme", "sup_best")},
		{"a test", "a test: false, is explained", says(0, `"kind"`, `"test":true,"kind"`)},
		{"another status", "lead one is explained with the status UNMATCHED", says(0, `"status":"ACCEPTED"`, `"status":"UNMATCHED"`)},
		{"another delivery", "lead one is explained with the delivery unknown", says(0, "delivered", "unknown")},
		{"another buyer", "lead one is explained with the buyer rec", says(0, "blue", "rec")},
		{"another price", "lead one is explained with the price 11", says(0, `"amount":10`, `"amount":11`)},
		{"another payout", "lead one is explained with the price 10", says(0, `"amount":8`, `"amount":9`)},
		{"another reason", "lead three is explained with the reason filtered", says(1, "caps_full", "filtered")},
		{"another answer", "lead one was answered 201 ACCEPTED", says(0, `"says":"ACCEPTED"`, `"says":"UNMATCHED"`)},
		{"an answer for another reason", "lead three was answered 201 UNMATCHED, caps_full", says(1, `"says":"UNMATCHED","reason":"caps_full"`, `"says":"UNMATCHED"`)},
		{"another lead", "and is explained as two", says(0, `"lead_id":"one"`, `"lead_id":"two"`)},
		{"erased, and is not", "lead one is explained as erased: true", says(0, `"kind"`, `"erased":true,"kind"`)},
		{"not erased, and is", "lead four is explained as erased: false", func(f *forged) {
			f.since = 99
			f.statements = nil
			says(2, `"erased":true,`, "")(f)
		}},
		{"who it is", "with who it is", says(0, `"kind"`, `"email":"person0@example.com","kind"`)},
		{"who it was", "with who it is", says(2, `"kind"`, `"phone":"+14155550103","kind"`)},
	})
}

// TestAuditOfPingsExplained: an auction is explained as its seller heard of it, with the
// lead that was sold at its bid.
func TestAuditOfPingsExplained(t *testing.T) {
	const honest = `{"kind":"ping","seller_id":"a","supplier_id":"sup_acme","campaign_id":"cmp","request_id":"req_ping_a","offers":[{"payout":{"amount":8,"currency":"USD"}}],"leads":[{"lead_id":"one"}]}`
	world := func(text string) string {
		f := auctioned()
		f.explained = []*explanation{{of: f.pings[0], text: text}}
		return strings.Join(f.findings(), "\n")
	}
	if found := world(honest); found != "" {
		t.Error(found)
	}
	for _, lie := range [][3]string{
		{`"amount":8`, `"amount":9`, "ping-a was told 8"},
		{`"seller_id":"a"`, `"seller_id":"b"`, "ping-a was told 8"},
		{`"seller_id":"a"`, `"seller_id":"(withheld: the person was erased)"`, "ping-a was told 8"},
		{`"kind":"ping"`, `"kind":"post"`, "ping-a was told 8"},
		{`"lead_id":"one"`, `"lead_id":"two"`, "lead two is explained as one of ping-a"},
		{`"lead_id":"one"`, `"lead_id":"nobody"`, "lead nobody is explained as one of ping-a"},
	} {
		if found := world(strings.Replace(honest, lie[0], lie[1], 1)); !strings.Contains(found, lie[2]) {
			t.Errorf("%q: %s", lie, found)
		}
	}
}

func TestAuditOfStatementsSees(t *testing.T) {
	foundOut(t, read, []lie{
		{"an entry is missing", "the statement of sup_acme has 1 entries, and says 2", func(f *forged) { f.statements[0].Entries = f.statements[0].Entries[:1] }},
		{"it counts otherwise", "the statement of sup_acme has 2 entries, and says 3", func(f *forged) { f.statements[0].Count = 3 }},
		{"another amount", "the statement of sup_acme has {", func(f *forged) { f.statements[0].Entries[0].Amount++ }},
		{"another lead", "the statement of sup_acme has {", func(f *forged) { f.statements[0].Entries[0].Lead = "two" }},
		{"another campaign", "the statement of sup_acme has {", func(f *forged) { f.statements[0].Entries[0].Campaign = "other" }},
		{"another kind", "the statement of sup_acme has {", func(f *forged) { f.statements[0].Entries[0].Kind = "reversal" }},
		{"another entry", "the statement of sup_acme has {", func(f *forged) { f.statements[0].Entries[0].Entry = 4 }},
		{"another total", "the total of sale is off by -0.000001", func(f *forged) { f.statements[0].Totals[0].Amount++ }},
		{"another balance", "has the balance of", func(f *forged) { *f.statements[1].Entries[1].Balance = 9 }},
		{"it closes otherwise", "the statement of blue goes from", func(f *forged) { f.statements[1].Closing.Balance++ }},
		{"it holds otherwise", "the statement of blue goes from", func(f *forged) { f.statements[1].Closing.Held++ }},
		{"it opens otherwise", "the statement of blue goes from", func(f *forged) { f.statements[1].Opening.Balance++ }},
		{"a supplier's account", "the statement of sup_acme closes with", func(f *forged) { f.statements[0].Closing = &statedAt{} }},
		{"it is old", "the statement of sup_acme is read to entry 4", func(f *forged) { f.statements[0].AsOf.Entry = 4 }},
		{"it is of tomorrow", "the statement of sup_acme is read to entry 99", func(f *forged) { f.statements[0].AsOf.Entry = 99 }},
	})
}

func TestAuditOfListsSees(t *testing.T) {
	foundOut(t, read, []lie{
		{"a delivery that is none", "a delivery is listed as {Lead:one", func(f *forged) { f.listed.deliveries.Deliveries[0].Lead = "one" }},
		{"a delivery of nobody", "a delivery is listed as {Lead:nobody", func(f *forged) { f.listed.deliveries.Deliveries[0].Lead = "nobody" }},
		{"another state", "a delivery is listed as {Lead:five State:unknown", func(f *forged) { f.listed.deliveries.Deliveries[0].State = "unknown" }},
		{"another price", "a delivery is listed as {Lead:five", func(f *forged) { f.listed.deliveries.Deliveries[0].Price.Amount++ }},
		{"a test's", "a delivery is listed as {Lead:five", func(f *forged) { f.listed.deliveries.Deliveries[0].Test = true }},
		{"a delivery is missing", "the delivery of lead five is open, and on no list", func(f *forged) {
			f.since, f.statements = 99, nil
			f.lists(`{}`, `{"total":1,"returns":[{"lead_id":"four","status":"ACCEPTED","buyer_id":"rec","campaign_id":"cmp","credit":5,"reverse":4}]}`)
		}},
		{"a return that is none", "a return is listed as {Lead:two", func(f *forged) { f.listed.returns.Returns[0].Lead = "two" }},
		{"another credit", "a return is listed as {Lead:four", func(f *forged) { f.listed.returns.Returns[0].Credit++ }},
		{"another reversal", "a return is listed as {Lead:four", func(f *forged) { f.listed.returns.Returns[0].Reverse++ }},
		{"a return is missing", "a return of lead four waits, and is on no list", func(f *forged) {
			f.since, f.statements = 99, nil
			f.listed.returns.Returns, f.listed.returns.Total = nil, 0
		}},
	})
}
