package witness

import (
	"testing"

	"pingpost/engine/market"
	"pingpost/loadtest/refbuyer"
)

func revenue(sum market.Money) refbuyer.Stats { return refbuyer.Stats{Revenue: sum} }

// returnedEvidence is honestEvidence after status reports. blue returned its lead in a batch,
// and rec's lead advanced step by step.
func returnedEvidence() *forgedEvidence {
	f := honestEvidence()
	f.config.campaigns[0].returnFreesCap = true
	f.addEvent("status_changed", `"buyer":2,"changes":[{"lead":"two","result":"done","from":"ACCEPTED","to":"contacted"}]`)
	f.addEvent("status_changed", `"buyer":2,"changes":[{"lead":"two","result":"none","from":"contacted","to":"contacted"}]`)
	f.addEvent("status_changed", `"buyer":2,"changes":[{"lead":"two","result":"done","from":"contacted","to":"sold"}]`)
	f.addEvent("status_changed", `"buyer":1,"changes":[{"lead":"one","result":"done","from":"ACCEPTED","to":"returned","credit":10,"reverse":8},{"lead":"two","result":"not_now"}]`)
	f.accounts["blue"] = buyerAccount{Balance: signedAmount(20 * unit)}
	f.statusReports = []*answeredRequest{f.reportedOn("two", "contacted"), f.reportedOn("two", "sold"), {
		clientRequest: &clientRequest{path: pathBatch, key: "batch"}, statusReports: []statusReport{{Lead: "one", Status: "returned"}},
	}}
	return f
}

func TestAuditAcceptsSalesAfterReturn(t *testing.T) {
	f := returnedEvidence()
	for _, lead := range []string{"four", "five"} { // the cap on money has room again
		f.sold(lead, "blue")
	}
	f.buyerStats["blue"], f.accounts["blue"] = revenue(30*unit), buyerAccount{}
	f.expectNothing(t)
}

func TestAuditDetectsFalseReturns(t *testing.T) {
	back := func(f *forgedEvidence, lead, rest string) {
		f.addEvent("status_changed", `"buyer":2,"changes":[{"lead":"`+lead+`","result":"done","to":"returned"`+rest+`}]`)
	}
	expectDetected(t, returnedEvidence, []forgery{
		{"money back twice, in one fact", ": credit 10 and reversal 4 are wrong", func(f *forgedEvidence) { back(f, "two", `,"credit":10,"reverse":4`) }},
		{"a lead returned twice", "cannot become returned", func(f *forgedEvidence) {
			back(f, "two", `,"credit":5,"reverse":4`)
			back(f, "two", `,"credit":5,"reverse":4`)
		}},
		{"money back without a return", "credit 2 and reversal 0 are wrong", func(f *forgedEvidence) {
			f.decided("four", `"sale":`+toRec)
			f.addEvent("status_changed", `"buyer":2,"changes":[{"lead":"four","result":"done","to":"contacted","credit":2}]`)
		}},
		{"a return without its money", ": credit 0 and reversal 4 are wrong", func(f *forgedEvidence) { back(f, "two", `,"reverse":4`) }},
		{"another balance after it", "account of blue: the exchange shows balance 10", func(f *forgedEvidence) { f.accounts["blue"] = buyerAccount{Balance: signedAmount(10 * unit)} }},
		{"lost batch", "its status sold was acknowledged, but is not in the log", func(f *forgedEvidence) {
			f.statusReports[2].statusReports = append(f.statusReports[2].statusReports, statusReport{Lead: "three", Status: "sold"})
		}},
		{"return of an unsold lead", "which it does not have", func(f *forgedEvidence) { back(f, "three", "") }},
		{"lost decision", "delivery released, lead one was acknowledged, but is not in the log", func(f *forgedEvidence) {
			f.acknowledged = []operatorAction{{"delivery released, lead", "one"}}
		}},
	})
}
