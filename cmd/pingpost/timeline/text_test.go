package timeline

import (
	"encoding/json"
	"os"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"pingpost/cmd/pingpost/terminal"
	"pingpost/exchange/explain"
	"pingpost/exchange/golden"
	"pingpost/internal/must"
)

// arrival is the time at which all requests of these tests arrive.
const arrival explain.NanosAsRFC3339 = 1_795_183_200_000_000_000

func after(milliseconds int64) explain.NanosAsRFC3339 {
	return arrival + explain.NanosAsRFC3339(milliseconds*1_000_000)
}

func dollars(cents int64) *explain.Amount {
	return &explain.Amount{Amount: explain.SignedMoney(cents * 10_000), Currency: "USD"}
}

// readExplanation reads testdata/NAME.json, an answer of the admin API.
func readExplanation(t *testing.T, name string) *explain.Explanation {
	t.Helper()
	explanation := new(explain.Explanation)
	must.Succeed(t, json.Unmarshal(must.Value(os.ReadFile("testdata/"+name+".json"))(t), explanation))
	return explanation
}

// compareText compares the text with a golden file and checks the length of its lines.
func compareText(t *testing.T, name, got string) {
	t.Helper()
	for line := range strings.Lines(got) {
		if n := utf8.RuneCountInString(strings.TrimRight(line, "\n")); n > terminal.Width {
			t.Errorf("a line has %d characters: %s", n, line)
		}
	}
	golden.CompareWithFile(t, name, got)
}

// TestFormatExplanation formats whole documents.
func TestFormatExplanation(t *testing.T) {
	for _, name := range []string{
		"auction",     // the best of four buyers refuses the lead, the next accepts it at the third attempt
		"bid",         // a ping without a lead, with a note
		"post",        // a lead at the bid of a ping, answered 502 while its delivery continues
		"choice",      // an availability request: one bid was refused a lead, another is the sale
		"returned",    // reports, a return and webhooks, some of them days after the sale
		"no_campaign", // a ping without a campaign
	} {
		compareText(t, name, FormatExplanation(readExplanation(t, name)))
	}
	lead := readExplanation(t, "post")
	ping := lead.Auction
	lead.Auction, ping.Leads = nil, []*explain.Explanation{lead}
	compareText(t, "ping", FormatExplanation(ping))
	lead.Test = true
	if text := FormatExplanation(lead); !strings.Contains(text, "post for "+lead.Campaign+", ping_post, configuration 3, a test\n") {
		t.Errorf("the text does not name a test lead:\n%s", text)
	}
}

// TestRefusalAndUnreachableBuyerDiffer: the text distinguishes a refusal from a failed
// connection. The log calls both refused.
func TestRefusalAndUnreachableBuyerDiffer(t *testing.T) {
	for want, s := range map[string]explain.DeliveryStateChange{
		"  2090.0  buy  refused    HTTP 403 after 0.0 ms, forbidden\n":                 {Status: 403, Code: "forbidden"},
		"  2090.0  buy  not reached    no connection to the endpoint, then to other\n": {Fault: "connect", Next: "other"},
		"  2090.0  buy  refused    HTTP 200 after 0.0 ms, a connection that broke\n":   {Status: 200, Fault: "broken"},
	} {
		s.At, s.Outcome = after(2090), "refused"
		explanation := &explain.Explanation{Received: arrival, Decided: arrival, Posts: []explain.DeliveryToBuyer{{Buyer: "buy", Intended: arrival, Settlements: []explain.DeliveryStateChange{s}}}}
		if text := FormatTimeline(explanation, terminal.Width); !strings.HasSuffix(text, want) {
			t.Errorf("no %s at the end of\n%s", want, text)
		}
	}
}

// TestUnsentWebhooksInTimeline checks the text for webhooks without an attempt.
func TestUnsentWebhooksInTimeline(t *testing.T) {
	for state, want := range map[string]string{
		"pending": "lead.posted: pending, not sent yet",
		"dead":    "lead.posted: dead letter, not sent: the supplier's webhooks are switched off",
		"gone":    "lead.posted: the search ended before its result",
	} {
		explanation := readExplanation(t, "auction")
		explanation.Webhooks = []explain.SupplierWebhook{{Type: "lead.posted", Created: after(9000), State: state}}
		if text := FormatTimeline(explanation, terminal.Width); !strings.HasSuffix(strings.Join(strings.Fields(text), " "), want) {
			t.Errorf("%s:\n%s", state, text)
		}
	}
}

// TestStatusReportRows: a row names the operator for an operator's decision, and says if a
// report was rejected.
func TestStatusReportRows(t *testing.T) {
	for _, row := range []struct {
		report                explain.BuyerReportOrOperatorDecision
		actor, action, detail string
	}{
		{explain.BuyerReportOrOperatorDecision{By: "buyer", Result: "done", To: "sold"}, "buy", "reports sold", ""},
		{explain.BuyerReportOrOperatorDecision{By: "buyer", Result: "done", To: "returned"}, "buy", "returns it", ""},
		{explain.BuyerReportOrOperatorDecision{By: "buyer", Result: "waits", To: "returned"}, "buy", "asks to return", "waits for an operator"},
		{explain.BuyerReportOrOperatorDecision{By: "buyer", Result: "not_now", To: "returned"}, "buy", "asks to return", "rejected: not possible from the lead's status"},
		{explain.BuyerReportOrOperatorDecision{By: "buyer", Result: "invalid", To: "sold"}, "buy", "reports sold", "rejected: the report is invalid"},
		{explain.BuyerReportOrOperatorDecision{By: "operator", Result: "done", To: "returned"}, "operator", "approves the return", ""},
		{explain.BuyerReportOrOperatorDecision{By: "operator", Result: "refused", To: "returned", Reason: "r"}, "operator", "refuses the return", "reason r"},
	} {
		row.report.Buyer = "buy"
		got := buyerReportOrOperatorDecisionRows(&explain.Explanation{Reports: []explain.BuyerReportOrOperatorDecision{row.report}})
		if len(got) != 1 || got[0].actor != row.actor || got[0].action != row.action || got[0].detail != row.detail {
			t.Errorf("%+v: rows %+v", row.report, got)
		}
	}
}

// TestExplanationAfterRestart: a delivery that a restart continued has no answer.
func TestExplanationAfterRestart(t *testing.T) {
	explanation := readExplanation(t, "auction")
	explanation.Answer, explanation.Notes = nil, []string{"The exchange stopped before the call was answered."}
	explanation.Posts = explanation.Posts[1:]
	explanation.Posts[0].Tries = nil
	explanation.Posts[0].Settlements[0].Fault = ""
	text := FormatExplanation(explanation)
	if !strings.Contains(text, "  5000.0  buy_blue      pending                    continued after a restart; the attempts continue\n") ||
		strings.Contains(text, "is answered") || !strings.HasSuffix(text, "\n\nThe exchange stopped before the call was answered.\n") {
		t.Error(text)
	}
}

// TestExplanationWithManyCandidates has more than 1,000 buyers, with names and words of the
// greatest length.
func TestExplanationWithManyCandidates(t *testing.T) {
	explanation := readExplanation(t, "unsold")
	for seat := range uint32(1234) {
		explanation.Candidates = append(explanation.Candidates, explain.FilterSetCandidate{Buyer: explanation.Candidates[0].Buyer, Seat: seat, Outcome: "capped"})
	}
	compareText(t, "unsold", FormatExplanation(explanation))
}

func TestResponseTimeBars(t *testing.T) {
	for _, row := range []struct {
		of, whole int64
		want      string
	}{
		{0, 2000, "#........."},
		{1, 2000, "#........."},
		{200, 2000, "#........."},
		{201, 2000, "##........"},
		{1999, 2000, "##########"},
		{2000, 2000, "##########"},
		{9000, 2000, "##########"},
		{5, 0, "##########"},
	} {
		if got := drawResponseTimeBar(row.of, row.whole); got != row.want {
			t.Errorf("%d of %d: %s, want %s", row.of, row.whole, got, row.want)
		}
	}
}

// TestDecisionFollowsAnswers: rounding must not put the decision before an answer that it
// uses.
func TestDecisionFollowsAnswers(t *testing.T) {
	explanation := readExplanation(t, "auction")
	explanation.Candidates = explanation.Candidates[:1]
	explanation.Candidates[0].Elapsed = 3_900_000
	explanation.BidsDue, explanation.Decided = after(2000), after(3)
	explanation.Posts = explanation.Posts[:1]
	explanation.Posts[0].Intended = after(3)
	text := FormatTimeline(explanation, terminal.Width)
	answer, decided, post := strings.Index(text, "post_rejected  "), strings.Index(text, "decided"), strings.Index(text, "buy_red   post ")
	if answer < 0 || decided < answer || post < decided {
		t.Errorf("answer at %d, decision at %d, post at %d of\n%s", answer, decided, post, text)
	}
}

// TestSaleIsRecordedAfterRefusal: a buyer without an endpoint gets the sale after the
// refusal of the buyer before it, not at the lead's arrival.
func TestSaleIsRecordedAfterRefusal(t *testing.T) {
	explanation := &explain.Explanation{
		ID: "lead_1", LeadID: "lead_1", Kind: "ingest", Supplier: "sup", Received: after(0), Decided: after(1),
		Buyer: "buy_note", Price: dollars(1500), Payout: dollars(1200),
		Candidates: []explain.FilterSetCandidate{{Buyer: "buy_form", Outcome: "post_rejected"}, {Buyer: "buy_note", Outcome: "won"}},
		Posts: []explain.DeliveryToBuyer{{
			Buyer: "buy_form", Intended: after(1), Price: dollars(2000), Payout: dollars(1600),
			Settlements: []explain.DeliveryStateChange{{At: after(7), Outcome: "refused", Status: 422, Next: "buy_note"}},
		}},
	}
	text := FormatTimeline(explanation, terminal.Width)
	if !regexp.MustCompile(`buy_form +refused .*\n +7\.0 +buy_note +sale recorded +for 15 USD, payout 12 USD\n$`).MatchString(text) || strings.Contains(text, "won") {
		t.Error(text)
	}
	explanation.Posts[0].Settlements, explanation.Delivery = nil, "pending"
	if text := FormatTimeline(explanation, terminal.Width); strings.Contains(text, "recorded") {
		t.Errorf("before the refusal:\n%s", text)
	}
}

// TestOtherFilterSetsOfBuyerWithPost: the timeline shows why the buyer's first filter set did not get the lead, and
// names the one that did.
func TestOtherFilterSetsOfBuyerWithPost(t *testing.T) {
	explanation := &explain.Explanation{
		Received: arrival, Decided: arrival,
		Candidates: []explain.FilterSetCandidate{
			{Buyer: "apex", Set: "texas", Outcome: "capped"},
			{Buyer: "apex", Set: "rest", Seat: 1, Outcome: "won"},
		},
		Posts: []explain.DeliveryToBuyer{{Buyer: "apex", Intended: arrival}},
	}
	text := FormatTimeline(explanation, terminal.Width)
	for want, times := range map[string]int{"apex/texas  capped": 1, "apex/rest   post": 1, "apex/rest": 1} {
		if strings.Count(text, want) != times {
			t.Errorf("%q is not there %d times:\n%s", want, times, text)
		}
	}
}
