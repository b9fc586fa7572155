package witness

import (
	"strings"
	"testing"

	"pingpost/engine/market"
	"pingpost/loadtest/refbuyer"
	"pingpost/loadtest/refreceiver"
)

func revenue(sum market.Money) refbuyer.Stats { return refbuyer.Stats{Revenue: sum} }

// returned is the honest world, in which blue has given its lead back in a batch, and
// rec's has come further step by step.
func returned() *forged {
	f := honest()
	f.terms.campaigns[0].capBack = true
	f.log("status_changed", `"buyer":2,"changes":[{"lead":"two","result":"done","from":"ACCEPTED","to":"contacted"}]`)
	f.log("status_changed", `"buyer":2,"changes":[{"lead":"two","result":"none","from":"contacted","to":"contacted"}]`)
	f.log("status_changed", `"buyer":2,"changes":[{"lead":"two","result":"done","from":"contacted","to":"sold"}]`)
	f.log("status_changed", `"buyer":1,"changes":[{"lead":"one","result":"done","from":"ACCEPTED","to":"returned","credit":10,"reverse":8},{"lead":"two","result":"not_now"}]`)
	f.funds["blue"] = account{Balance: balance(20 * unit)}
	f.reports = []*told{f.reportedOn("two", "contacted"), f.reportedOn("two", "sold"), {
		order: &order{path: pathBatch, key: "batch"}, reports: []reportOf{{Lead: "one", Status: "returned"}},
	}}
	return f
}

func TestAuditOfReturnsHonest(t *testing.T) {
	if found := returned().findings(); len(found) > 0 {
		t.Errorf("an honest world has findings: %q", found)
	}
	f := returned()
	for _, lead := range []string{"four", "five"} { // the cap of money has room again
		f.sold(lead, "blue")
	}
	f.stats["blue"], f.funds["blue"] = revenue(30*unit), account{}
	if found := f.findings(); len(found) > 0 {
		t.Errorf("what a return made room for has findings: %q", found)
	}
}

// TestAuditOfReturnsSees tells one lie at a time.
func TestAuditOfReturnsSees(t *testing.T) {
	back := func(f *forged, lead, rest string) {
		f.log("status_changed", `"buyer":2,"changes":[{"lead":"`+lead+`","result":"done","to":"returned"`+rest+`}]`)
	}
	foundOut(t, returned, []lie{
		{"money back twice, in one fact", ": 10 and 4 are given back", func(f *forged) { back(f, "two", `,"credit":10,"reverse":4`) }},
		{"a lead returned twice", "and then returned", func(f *forged) {
			back(f, "two", `,"credit":5,"reverse":4`)
			back(f, "two", `,"credit":5,"reverse":4`)
		}},
		{"money back without a return", "2 and 0 are given back", func(f *forged) {
			f.decided("four", `"sale":`+toRec)
			f.log("status_changed", `"buyer":2,"changes":[{"lead":"four","result":"done","to":"contacted","credit":2}]`)
		}},
		{"a return without its money", ": 0 and 4 are given back", func(f *forged) { back(f, "two", `,"reverse":4`) }},
		{"another balance after it", "blue has 10", func(f *forged) { f.funds["blue"] = account{Balance: balance(10 * unit)} }},
		{"a batch that is lost", "became sold was acknowledged and is lost", func(f *forged) {
			f.reports[2].reports = append(f.reports[2].reports, reportOf{Lead: "three", Status: "sold"})
		}},
		{"a return of a lead that is nobody's", "which it does not have", func(f *forged) { back(f, "three", "") }},
		{"the operator's word lost", "released by the operator was acknowledged and is lost", func(f *forged) {
			f.ruled = []ruling{{"one", "released"}}
		}},
	})
}

// TestLedgerReadsReports: what was taken of a batch counts, what came too late does not.
func TestLedgerReadsReports(t *testing.T) {
	batch := `{"results":[{"lead_id":"a","status":"sold"},{"lead_id":"b","error":"invalid_transition","message":"m"}]}`
	for name, test := range map[string]struct {
		order        order
		status       int
		text         string
		taken, wrong int
	}{
		"one":                      {order{path: reportPath("a")}, 200, `{"lead_id":"a","status":"sold"}`, 1, 0},
		"one that may clash":       {order{path: reportPath("a"), clashes: true}, 409, `{"error":"invalid_transition"}`, 0, 0},
		"one that may not":         {order{path: reportPath("a")}, 409, `{"error":"invalid_transition"}`, 0, 1},
		"one that is nobody's":     {order{path: reportPath("a"), clashes: true}, 404, `{"error":"not_found"}`, 0, 1},
		"a batch that may clash":   {order{path: pathBatch, clashes: true}, 200, batch, 1, 0},
		"a batch that may not":     {order{path: pathBatch}, 200, batch, 2, 0},
		"a batch without results":  {order{path: pathBatch}, 200, `{"results":[]}`, 0, 1},
		"a batch that is no batch": {order{path: pathBatch}, 200, `[]`, 0, 1},
	} {
		var l ledger
		taken := 0
		if heard := l.enter(&test.order, Answer{Status: test.status, Text: test.text}); heard != nil {
			taken = len(heard.reports)
		}
		if taken != test.taken || len(l.breaches) != test.wrong {
			t.Errorf("%s: %d taken, %q", name, taken, l.breaches)
		}
	}
}

func TestAfter(t *testing.T) {
	for became, want := range map[string]string{"": "contacted qualified sold returned", "contacted": "qualified sold returned", "contacted sold": "returned", "returned": ""} {
		if got := strings.Join(after(strings.Fields(became)), " "); got != want {
			t.Errorf("after %q: %q, want %q", became, got, want)
		}
	}
}

// TestTally: every witness's word is counted once, by kind and answer.
func TestTally(t *testing.T) {
	f := chosenWorld()
	f.reports = returned().reports
	f.hooks = refreceiver.Stats{Acknowledged: 5, Failed: 2, Malformed: 1}
	f.ruled = []ruling{{"one", "resent"}}
	tally := f.Tally()
	for kind, want := range map[string]map[string]int{
		"ingest":                        {"ACCEPTED": 1},
		"ingest for a chosen buyer":     {"ACCEPTED": 2},
		"post":                          {"ACCEPTED": 1, "post_rejected": 1, "bid_expired": 1},
		"ping":                          {"bid": 4, "no_bid": 1},
		"availability":                  {"bid": 3, "no_bid": 1},
		"report":                        {"contacted": 1, "sold": 1},
		"batch of reports":              {"returned": 1},
		"operator's word on a delivery": {"resent": 1},
		"webhook":                       {"delivered": 5, "failed": 2, "broken off": 1},
	} {
		sum := 0
		for answer, n := range want {
			sum += n
			if tally[kind][answer] != n {
				t.Errorf("%s, %s: %d, want %d", kind, answer, tally[kind][answer], n)
			}
		}
		if tally.Of(kind) != sum {
			t.Errorf("%s: %v, want %v", kind, tally[kind], want)
		}
	}
	if len(tally) != 9 {
		t.Errorf("kinds of nothing are counted: %v", tally)
	}
}
