package timeline

import (
	"encoding/json"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"pingpost/cmd/pingpost/terminal"
	"pingpost/exchange/explain"
	"pingpost/exchange/golden"
)

// began is when everything in these tests arrives.
const began explain.UnixNanos = 1_795_183_200_000_000_000

func after(milliseconds int64) explain.UnixNanos {
	return began + explain.UnixNanos(milliseconds*1_000_000)
}

func dollars(cents int64) *explain.Amount {
	return &explain.Amount{Amount: explain.MoneyInMillionths(cents * 10_000), Currency: "USD"}
}

// auctioned is a lead that four buyers were asked for: the best refuses it, the
// next has it at the third try.
func auctioned() *explain.Explanation {
	return &explain.Explanation{
		Kind: "ingest", ID: "lead_01jd0000000000000000000001", LeadID: "lead_01jd0000000000000000000001",
		AuctionID: "auc_01jd0000000000000000000002", RequestID: "req_01jd0000000000000000000003",
		Supplier: "sup_acme", Campaign: "cmp_auto", Method: "ping_post", Catalog: 3,
		Received: began, Decided: after(2003), BidsDue: after(2000), Settled: after(5250),
		Status: "ACCEPTED", Delivery: "delivered",
		Answer: &explain.AnswerToSupplier{At: after(5000), Status: 201, Result: "ACCEPTED"},
		Why:    "Sold to buy_blue for 9 USD. The buyer acknowledged the lead. Before that, buy_red did not accept it: HTTP 422 score_too_low.",
		Buyer:  "buy_blue", Price: dollars(900), Payout: dollars(720), Margin: dollars(180),
		Fields: map[string]json.RawMessage{"state": json.RawMessage(`"CA"`), "vehicle_count": json.RawMessage("2"), "tcpa_consent": json.RawMessage("true")},
		Candidates: []explain.FilterSetCandidate{
			{Buyer: "buy_red", Seat: 1, Outcome: "post_rejected", Pinged: true, Elapsed: 120_000_000, Bid: dollars(1250), Payout: dollars(1000), Until: after(5000), Status: 200},
			{Buyer: "buy_blue", Seat: 0, Outcome: "won", Pinged: true, Elapsed: 410_500_000, Bid: dollars(900), Payout: dollars(720), Until: after(5000), Status: 200},
			{Buyer: "buy_slow", Seat: 2, Outcome: "timeout", Pinged: true, Elapsed: 2_000_000_000, Fault: "timeout"},
			{Buyer: "buy_choosy", Seat: 5, Outcome: "no_bid", Pinged: true, Elapsed: 80_000_000, Status: 200, Reason: "score_too_low"},
			{Buyer: "buy_full", Seat: 3, Outcome: "capped"},
			{Buyer: "buy_nevada", Seat: 4, Outcome: "wrong_state"},
			{Seat: 6, Outcome: "unhealthy"},
		},
		Posts: []explain.PostToBuyer{
			{Buyer: "buy_red", Intended: after(2003), Price: dollars(1250), Payout: dollars(1000), Settlements: []explain.PostSettlement{
				{At: after(2090), Outcome: "refused", Status: 422, Elapsed: 86_000_000, Code: "score_too_low", Next: "buy_blue"},
			}},
			{
				Buyer: "buy_blue", Intended: after(2090), Price: dollars(900), Payout: dollars(720),
				Tries: []explain.FailedPostAttempt{
					{Attempt: 1, Ended: after(2140), Status: 503, Verdict: "unknown"},
					{Attempt: 2, Ended: after(3160), Fault: "connect", Verdict: "unreached"},
					{Attempt: 3, Ended: after(4165), Status: 422, Verdict: "refused", Code: "duplicate_lead"},
					{Attempt: 4, Ended: after(4700), Status: 429, Verdict: "busy"},
				},
				Settlements: []explain.PostSettlement{
					{At: after(5000), Outcome: "pending", Fault: "connect"},
					{At: after(5250), Outcome: "delivered", Status: 201, Failed: 2, Elapsed: 88_000_000, BuyerLead: "L-77"},
				},
			},
		},
	}
}

// readable compares with a file of testdata, whose lines must be readable at the
// width that is promised.
func readable(t *testing.T, name, got string) {
	t.Helper()
	for line := range strings.Lines(got) {
		if n := utf8.RuneCountInString(strings.TrimRight(line, "\n")); n > terminal.Width {
			t.Errorf("a line of %d characters: %s", n, line)
		}
	}
	golden.CompareWithFile(t, name, got)
}

func TestExplainedAuction(t *testing.T) { readable(t, "auction", FormatExplanation(auctioned())) }

// pinged is a seller's ping, whose best bid refuses the lead: so it is nobody's.
func pinged() *explain.Explanation {
	ping := auctioned()
	ping.Kind, ping.ID, ping.LeadID, ping.SellerID = "ping", ping.AuctionID, "", "theirs-1"
	ping.Status, ping.Delivery, ping.Posts, ping.Hops = "BID", "", nil, 1
	ping.Buyer, ping.Price, ping.Payout, ping.Margin = "", nil, nil, nil
	ping.Candidates[0].Outcome, ping.Candidates[1].Outcome = "won", "lost"
	ping.Answer = &explain.AnswerToSupplier{At: after(2003), Status: 200, Result: "bid"}
	ping.Offers = []explain.OfferToSupplier{{Buyer: "buy_red", Price: dollars(1250), Payout: dollars(1000), Until: after(5000)}}
	ping.Why = "buy_red made the highest of 2 valid bids, 12.5 USD. The seller's offer was 10 USD. No lead claimed it."
	ping.Notes = []string{"What is not listed here is found by the request id of its answer."}
	return ping
}

// postedAt is a lead that came for the best bid of that ping, when its buyer had gone
// away: the seller was told 502, and it goes on.
func postedAt(ping *explain.Explanation) *explain.Explanation {
	lead := auctioned()
	lead.Kind, lead.SellerID, lead.BidsDue, lead.Received, lead.Decided, lead.Settled = "post", "u-1", 0, after(3000), after(3001), 0
	lead.Delivery, lead.Buyer, lead.Price, lead.Payout, lead.Margin = "pending", "buy_red", dollars(1250), dollars(1000), dollars(250)
	lead.Candidates = []explain.FilterSetCandidate{{Buyer: "buy_red", Seat: 1, Outcome: "post_pending"}}
	lead.Posts = []explain.PostToBuyer{{
		Buyer: "buy_red", Intended: after(3001), Price: dollars(1250), Payout: dollars(1000),
		Tries: []explain.FailedPostAttempt{
			{Attempt: 1, Ended: after(3002), Fault: "connect"}, {Attempt: 2, Ended: after(4003), Fault: "broken"}, {Attempt: 3, Ended: after(6004), Status: 200, Fault: "malformed"},
		},
		Settlements: []explain.PostSettlement{{At: after(6004), Outcome: "pending", Status: 200, Fault: "malformed"}},
	}}
	lead.Answer = &explain.AnswerToSupplier{At: after(6004), Status: 502, Result: "buyer_unavailable"}
	lead.Why = "buy_red is the buyer, for 12.5 USD, but has not acknowledged the lead yet; the attempts continue. The buyer had not " +
		"acknowledged the lead when the answer was due, so the seller got 502 buyer_unavailable while the delivery continued."
	lead.Truncated = true
	ping.Status, ping.Notes = "TAKEN", nil
	ping.Buyer, ping.Price, ping.Payout, ping.Margin = lead.Buyer, lead.Price, lead.Payout, lead.Margin
	ping.Offers[0].Claims = []explain.OfferClaim{{Lead: lead.ID, Status: "ACCEPTED", Delivery: "pending"}}
	ping.Why = strings.Replace(ping.Why, "No lead claimed it.", lead.ID+" claimed it: ACCEPTED, pending.", 1)
	return lead
}

// TestExplainedPing: a ping that nobody has used, with what it does not tell; and one
// with the lead that was posted at its bid, both ways round.
func TestExplainedPing(t *testing.T) {
	ping := pinged()
	readable(t, "bid", FormatExplanation(ping))
	lead := postedAt(ping)
	lead.Auction = ping
	readable(t, "post", FormatExplanation(lead))
	lead.Auction, ping.Leads = nil, []*explain.Explanation{lead}
	readable(t, "ping", FormatExplanation(ping))
	lead.Test = true
	if text := FormatExplanation(lead); !strings.Contains(text, "post for "+lead.Campaign+", ping_post, configuration 3, a test\n") {
		t.Errorf("it does not say that it is a test:\n%s", text)
	}
}

// TestExplainedChoice: who asked who would buy was offered every bid that stands, so
// none of them won or lost; of one a lead was refused, and another is the sale.
func TestExplainedChoice(t *testing.T) {
	ping := pinged()
	ping.Kind, ping.ID, ping.SellerID, ping.Hops, ping.Notes = "availability", "ping_01jd0000000000000000000002", "", 0, nil
	ping.Status, ping.Buyer, ping.Price, ping.Payout, ping.Margin = "SOLD", "buy_blue", dollars(900), dollars(720), dollars(180)
	ping.Offers = append(ping.Offers, explain.OfferToSupplier{Buyer: "buy_blue", Price: dollars(900), Payout: dollars(720), Until: after(4500)})
	ping.Offers[0].Claims = []explain.OfferClaim{{Lead: "lead_01jd0000000000000000000003", Status: "UNMATCHED", Delivery: "failed", Reason: "post_rejected"}}
	ping.Offers[1].Claims = []explain.OfferClaim{{Lead: "lead_01jd0000000000000000000001", Status: "ACCEPTED", Delivery: "none"}}
	ping.Why = "The supplier could choose from 2 valid bids."
	readable(t, "choice", FormatExplanation(ping))
}

// TestExplainedRefusals: a buyer that said no is told apart from one that was not
// reached; the log calls both refused.
func TestExplainedRefusals(t *testing.T) {
	for want, s := range map[string]explain.PostSettlement{
		"  2090.0  buy  refused    HTTP 403 after 0.0 ms, forbidden\n":              {Status: 403, Code: "forbidden"},
		"  2090.0  buy  not reached    no connection to the buyer, then to other\n": {Fault: "connect", Next: "other"},
		"  2090.0  buy  refused    HTTP 200 after 0.0 ms, the connection broke\n":   {Status: 200, Fault: "broken"},
	} {
		s.At, s.Outcome = after(2090), "refused"
		told := &explain.Explanation{Received: began, Decided: began, Posts: []explain.PostToBuyer{{Buyer: "buy", Intended: began, Settlements: []explain.PostSettlement{s}}}}
		if text := FormatTimeline(told, terminal.Width); !strings.HasSuffix(text, want) {
			t.Errorf("no %s at the end of\n%s", want, text)
		}
	}
}

// TestExplainedAfterTheSale: what the buyer reports of a lead, what a return gives back,
// and how the supplier was told, each in its place; with the date of what came days
// later.
func TestExplainedAfterTheSale(t *testing.T) {
	told := auctioned()
	day := int64(24 * 60 * 60 * 1000)
	told.Status = "returned"
	told.Why += " buy_blue returned it: the buyer got 9 USD back, and 7.2 USD of the payout were reversed."
	told.Reports = []explain.StatusReport{
		{At: after(60_000), By: "buyer", Buyer: "buy_blue", Result: "done", From: "ACCEPTED", To: "contacted", Occurred: after(50_000)},
		{At: after(70_000), By: "buyer", Buyer: "buy_blue", Result: "none", From: "contacted", To: "contacted"},
		{At: after(2 * day), By: "buyer", Buyer: "buy_blue", Result: "waits", From: "contacted", To: "returned", Reason: "wrong_number"},
		{At: after(3 * day), By: "operator", Buyer: "buy_blue", Result: "done", From: "contacted", To: "returned", Credit: dollars(900), Reversed: dollars(720), Caps: 2},
		{At: after(4 * day), By: "buyer", Buyer: "buy_blue", Result: "not_now", From: "returned", To: "sold"},
	}
	told.Webhooks = []explain.SupplierWebhook{
		{Type: "lead.posted", Created: after(5250), State: "delivered", Attempts: []explain.SupplierWebhookAttempt{
			{Attempt: 1, At: after(5300), Outcome: "failed", Fault: "connect", Next: after(65_300)},
			{Attempt: 2, At: after(65_310), Outcome: "delivered", Status: 200},
		}},
		{Type: "lead.contacted", Created: after(60_000), State: "dropped", Attempts: []explain.SupplierWebhookAttempt{
			{Attempt: 1, At: after(60_010), Outcome: "dead", Status: 500},
			{At: after(70_000), Outcome: "resent"},
			{Attempt: 1, At: after(70_010), Outcome: "dead", Status: 500},
			{At: after(80_000), Outcome: "dropped"},
		}},
		{Type: "lead.returned", Created: after(3 * day), State: "pending"},
	}
	readable(t, "returned", FormatExplanation(told))
}

// TestExplainedWebhooks: one that was never tried is told as what it is.
func TestExplainedWebhooks(t *testing.T) {
	for state, want := range map[string]string{
		"pending": "lead.posted: pending, not sent yet",
		"dead":    "lead.posted: dead letter, not sent: the supplier's webhooks are switched off",
		"gone":    "lead.posted: the search ended before its result",
	} {
		told := auctioned()
		told.Webhooks = []explain.SupplierWebhook{{Type: "lead.posted", Created: after(9000), State: state}}
		if text := FormatTimeline(told, terminal.Width); !strings.HasSuffix(strings.Join(strings.Fields(text), " "), want) {
			t.Errorf("%s:\n%s", state, text)
		}
	}
}

// TestExplainedReports: what an operator says is the operator's, and what was not taken
// is not told as if it had been.
func TestExplainedReports(t *testing.T) {
	for _, row := range []struct {
		report            explain.StatusReport
		who, what, detail string
	}{
		{explain.StatusReport{By: "buyer", Result: "done", To: "sold"}, "buy", "reports sold", ""},
		{explain.StatusReport{By: "buyer", Result: "done", To: "returned"}, "buy", "returns it", ""},
		{explain.StatusReport{By: "buyer", Result: "waits", To: "returned"}, "buy", "asks to return", "waits for an operator"},
		{explain.StatusReport{By: "buyer", Result: "not_now", To: "returned"}, "buy", "asks to return", "rejected: not possible from the lead's status"},
		{explain.StatusReport{By: "buyer", Result: "invalid", To: "sold"}, "buy", "reports sold", "rejected: the report is invalid"},
		{explain.StatusReport{By: "operator", Result: "done", To: "returned"}, "operator", "approves the return", ""},
		{explain.StatusReport{By: "operator", Result: "refused", To: "returned", Reason: "r"}, "operator", "refuses the return", "reason r"},
	} {
		row.report.Buyer = "buy"
		got := statusReportRows(&explain.Explanation{Reports: []explain.StatusReport{row.report}})
		if len(got) != 1 || got[0].who != row.who || got[0].what != row.what || got[0].detail != row.detail {
			t.Errorf("%+v", got)
		}
	}
}

// TestExplainedCrash: what a restart took up was answered to nobody.
func TestExplainedCrash(t *testing.T) {
	told := auctioned()
	told.Answer, told.Notes = nil, []string{"The exchange stopped before the call was answered."}
	told.Posts = told.Posts[1:]
	told.Posts[0].Tries = nil
	told.Posts[0].Settlements[0].Fault = ""
	text := FormatExplanation(told)
	if !strings.Contains(text, "  5000.0  buy_blue      pending                    continued after a restart; the attempts continue\n") ||
		strings.Contains(text, "is answered") || !strings.HasSuffix(text, "\n\nThe exchange stopped before the call was answered.\n") {
		t.Error(text)
	}
}

// TestExplainedUnsold: a lead that nobody bought, out of more buyers than anyone
// reads one by one, with names and words as long as they may be.
func TestExplainedUnsold(t *testing.T) {
	long := strings.Repeat("buyer-with-a-long-name-", 3)[:64]
	told := &explain.Explanation{
		Kind: "ingest", ID: "lead_01jd0000000000000000000001", LeadID: "lead_01jd0000000000000000000001",
		RequestID: "req_01jd0000000000000000000003", Supplier: "sup_acme", Campaign: "cmp_" + long[:60], Method: "waterfall", Catalog: 1,
		Received: began, Decided: after(4), Status: "UNMATCHED", Reason: "caps_full", DuplicateOf: "lead_01jd0000000000000000000009",
		Why:    strings.Repeat("The buyers that would have accepted it had reached a cap. ", 3),
		Fields: map[string]json.RawMessage{"note": json.RawMessage(`"` + strings.Repeat("x", 230) + `"`), "state": json.RawMessage(`"NV"`)},
	}
	for seat := range uint32(1234) {
		told.Candidates = append(told.Candidates, explain.FilterSetCandidate{Buyer: long, Seat: seat, Outcome: "capped"})
	}
	told.Candidates = append(told.Candidates, explain.FilterSetCandidate{
		Buyer: long, Outcome: "wrong_currency", Pinged: true, Elapsed: 3_000_000, Bid: dollars(99_999_999), Reason: strings.Repeat("r", 64), Fault: "unreadable", Status: 599,
	})
	readable(t, "unsold", FormatExplanation(told))
}

// TestExplainedNothing: what little a ping without a campaign leaves.
func TestExplainedNothing(t *testing.T) {
	readable(t, "no_campaign", FormatExplanation(&explain.Explanation{
		Kind: "ping", ID: "auc_01jd0000000000000000000002", AuctionID: "auc_01jd0000000000000000000002", SellerID: "theirs-2",
		RequestID: "req_01jd0000000000000000000003", Supplier: "sup_acme", Catalog: 1,
		Received: began, Decided: began, BidsDue: began, Status: "NO_BID", Reason: "no_campaign",
		Answer: &explain.AnswerToSupplier{At: began, Status: 200, Result: "no_bid", Reason: "no_campaign"},
		Why:    "The supplier has no ping_post campaign for this vertical.",
	}))
}

func TestBars(t *testing.T) {
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

// A time that is rounded down must not put the decision before an answer that it
// rests on.
func TestTheDecisionFollowsTheAnswers(t *testing.T) {
	told := auctioned()
	told.Candidates = told.Candidates[:1]
	told.Candidates[0].Elapsed = 3_900_000
	told.BidsDue, told.Decided = after(2000), after(3)
	told.Posts = told.Posts[:1]
	told.Posts[0].Intended = after(3)
	text := FormatTimeline(told, terminal.Width)
	answer, decided, post := strings.Index(text, "post_rejected  "), strings.Index(text, "decided"), strings.Index(text, "buy_red   post ")
	if answer < 0 || decided < answer || post < decided {
		t.Errorf("answer at %d, decision at %d, post at %d of\n%s", answer, decided, post, text)
	}
}

// TestTimelineOfASaleRecordedAfterARefusal: the buyer without an endpoint has the
// sale once the one before it refused, not when the lead arrived.
func TestTimelineOfASaleRecordedAfterARefusal(t *testing.T) {
	told := &explain.Explanation{
		ID: "lead_1", LeadID: "lead_1", Kind: "ingest", Supplier: "sup", Received: after(0), Decided: after(1),
		Buyer: "buy_note", Price: dollars(1500), Payout: dollars(1200),
		Candidates: []explain.FilterSetCandidate{{Buyer: "buy_form", Outcome: "post_rejected"}, {Buyer: "buy_note", Outcome: "won"}},
		Posts: []explain.PostToBuyer{{
			Buyer: "buy_form", Intended: after(1), Price: dollars(2000), Payout: dollars(1600),
			Settlements: []explain.PostSettlement{{At: after(7), Outcome: "refused", Status: 422, Next: "buy_note"}},
		}},
	}
	text := FormatTimeline(told, terminal.Width)
	if !regexp.MustCompile(`buy_form +refused .*\n +7\.0 +buy_note +sale recorded +for 15 USD, payout 12 USD\n$`).MatchString(text) || strings.Contains(text, "won") {
		t.Error(text)
	}
	told.Posts[0].Settlements, told.Delivery = nil, "pending"
	if text := FormatTimeline(told, terminal.Width); strings.Contains(text, "recorded") {
		t.Errorf("before the refusal:\n%s", text)
	}
}
