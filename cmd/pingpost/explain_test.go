package main

import (
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"pingpost/cmd/pingpost/exchange"
)

var update = flag.Bool("update", false, "write the golden files anew")

// began is when everything in these tests arrives.
const began exchange.Instant = 1_795_183_200_000_000_000

func after(milliseconds int64) exchange.Instant {
	return began + exchange.Instant(milliseconds*1_000_000)
}

func dollars(cents int64) *exchange.Amount {
	return &exchange.Amount{Amount: exchange.Millionths(cents * 10_000), Currency: "USD"}
}

// auctioned is a lead that four buyers were asked for: the best refuses it, the
// next has it at the third try.
func auctioned() *exchange.Explanation {
	return &exchange.Explanation{
		Kind: "ingest", ID: "lead_01jd0000000000000000000001", LeadID: "lead_01jd0000000000000000000001",
		AuctionID: "auc_01jd0000000000000000000002", RequestID: "req_01jd0000000000000000000003",
		Supplier: "sup_acme", Campaign: "cmp_auto", Method: "ping_post", Catalog: 3,
		Received: began, Decided: after(2003), BidsDue: after(2000), Settled: after(5250),
		Status: "ACCEPTED", Delivery: "delivered",
		Why:   "Sold to buy_blue for 9 USD, which has acknowledged it. Refused before: 1.",
		Buyer: "buy_blue", Price: dollars(900), Payout: dollars(720), Margin: dollars(180),
		Fields: map[string]json.RawMessage{"state": json.RawMessage(`"CA"`), "vehicle_count": json.RawMessage("2"), "tcpa_consent": json.RawMessage("true")},
		Candidates: []exchange.Candidate{
			{Buyer: "buy_red", Seat: 1, Outcome: "post_rejected", Asked: true, Elapsed: 120_000_000, Bid: dollars(1250), Payout: dollars(1000), Until: after(5000), Status: 200},
			{Buyer: "buy_blue", Seat: 0, Outcome: "won", Asked: true, Elapsed: 410_500_000, Bid: dollars(900), Payout: dollars(720), Until: after(5000), Status: 200},
			{Buyer: "buy_slow", Seat: 2, Outcome: "timeout", Asked: true, Elapsed: 2_000_000_000, Fault: "timeout"},
			{Buyer: "buy_choosy", Seat: 5, Outcome: "no_bid", Asked: true, Elapsed: 80_000_000, Status: 200, Reason: "score_too_low"},
			{Buyer: "buy_full", Seat: 3, Outcome: "capped"},
			{Buyer: "buy_nevada", Seat: 4, Outcome: "wrong_state"},
			{Seat: 6, Outcome: "unhealthy"},
		},
		Posts: []exchange.Post{
			{Buyer: "buy_red", Intended: after(2003), Price: dollars(1250), Payout: dollars(1000), Settlements: []exchange.Settlement{
				{At: after(2090), Came: "refused", Status: 422, Elapsed: 86_000_000, Code: "score_too_low", Next: "buy_blue"},
			}},
			{
				Buyer: "buy_blue", Intended: after(2090), Price: dollars(900), Payout: dollars(720),
				Tries: []exchange.Try{{Attempt: 1, Ended: after(2140), Status: 503}, {Attempt: 2, Ended: after(3160)}},
				Settlements: []exchange.Settlement{
					{At: after(5000), Came: "pending"},
					{At: after(5250), Came: "delivered", Status: 201, Failed: 2, Elapsed: 88_000_000, BuyerLead: "L-77"},
				},
			},
		},
	}
}

// golden compares with a file of testdata, whose lines must be readable at the
// width that is promised.
func golden(t *testing.T, name, got string) {
	t.Helper()
	for line := range strings.Lines(got) {
		if n := utf8.RuneCountInString(strings.TrimRight(line, "\n")); n > columns {
			t.Errorf("a line of %d characters: %s", n, line)
		}
	}
	path := filepath.Join("testdata", name+".golden")
	if *update {
		if err := os.MkdirAll("testdata", 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s: -update writes it anew; got\n%s", path, got)
	}
}

func TestExplainedAuction(t *testing.T) { golden(t, "explain_auction", explained(auctioned())) }

// TestExplainedPing: a ping and the lead that was posted at its bid, both ways
// round.
func TestExplainedPing(t *testing.T) {
	ping := auctioned()
	ping.Kind, ping.ID, ping.LeadID, ping.SellerID = "ping", ping.AuctionID, "", "theirs-1"
	ping.Status, ping.Delivery, ping.Posts, ping.Hops = "SOLD", "", nil, 1
	ping.Why = "buy_red bid the most, 12.5 USD, of 2 whose bids stand; the seller was offered 10 USD."
	lead := auctioned()
	lead.Kind, lead.SellerID, lead.BidsDue, lead.Received, lead.Decided = "post", "u-1", 0, after(3000), after(3001)
	lead.Candidates = []exchange.Candidate{{Buyer: "buy_blue", Seat: 1, Outcome: "won"}}
	lead.Posts = lead.Posts[1:]
	lead.Truncated = true
	lead.Auction = ping
	golden(t, "explain_post", explained(lead))
	lead.Auction, ping.Leads = nil, []*exchange.Explanation{lead}
	golden(t, "explain_ping", explained(ping))
	lead.Test = true
	if text := explained(lead); !strings.Contains(text, "post for "+lead.Campaign+", ping_post, configuration 3, a test\n") {
		t.Errorf("it does not say that it is a test:\n%s", text)
	}
}

// TestExplainedUnsold: a lead that nobody bought, out of more buyers than anyone
// reads one by one, with names and words as long as they may be.
func TestExplainedUnsold(t *testing.T) {
	long := strings.Repeat("buyer-with-a-long-name-", 3)[:64]
	told := &exchange.Explanation{
		Kind: "ingest", ID: "lead_01jd0000000000000000000001", LeadID: "lead_01jd0000000000000000000001",
		RequestID: "req_01jd0000000000000000000003", Supplier: "sup_acme", Campaign: "cmp_" + long[:60], Method: "waterfall", Catalog: 1,
		Received: began, Decided: after(4), Status: "UNMATCHED", Reason: "caps_full", DuplicateOf: "lead_01jd0000000000000000000009",
		Why:    strings.Repeat("The buyers that would have taken it had reached a cap. ", 3),
		Fields: map[string]json.RawMessage{"note": json.RawMessage(`"` + strings.Repeat("x", 230) + `"`), "state": json.RawMessage(`"NV"`)},
	}
	for seat := range uint32(1234) {
		told.Candidates = append(told.Candidates, exchange.Candidate{Buyer: long, Seat: seat, Outcome: "capped"})
	}
	told.Candidates = append(told.Candidates, exchange.Candidate{
		Buyer: long, Outcome: "wrong_currency", Asked: true, Elapsed: 3_000_000, Bid: dollars(99_999_999), Reason: strings.Repeat("r", 64), Fault: "unreadable", Status: 599,
	})
	golden(t, "explain_unsold", explained(told))
}

// TestExplainedNothing: what little a ping without a campaign leaves.
func TestExplainedNothing(t *testing.T) {
	golden(t, "explain_no_campaign", explained(&exchange.Explanation{
		Kind: "ping", ID: "auc_01jd0000000000000000000002", AuctionID: "auc_01jd0000000000000000000002", SellerID: "theirs-2",
		RequestID: "req_01jd0000000000000000000003", Supplier: "sup_acme", Catalog: 1,
		Received: began, Decided: began, BidsDue: began, Status: "NO_BID", Reason: "no_campaign",
		Why: "None of the supplier's ping_post campaigns takes this vertical.",
	}))
}

func TestWrapped(t *testing.T) {
	for _, row := range []struct {
		text  string
		width int
		want  []string
	}{
		{"", 10, nil},
		{"   ", 10, nil},
		{"one", 3, []string{"one"}},
		{"one two", 7, []string{"one two"}},
		{"one two", 6, []string{"one", "two"}},
		{"a muchlongerword b", 5, []string{"a", "muchl", "onger", "word", "b"}},
		{"a \x1b[31m\u009bb\x00", 20, []string{"a \ufffd[31m\ufffdb\ufffd"}},
		{"äöü äöü", 3, []string{"äöü", "äöü"}},
	} {
		if got := wrapped(row.text, row.width); !slices.Equal(got, row.want) {
			t.Errorf("%q in %d: %q, want %q", row.text, row.width, got, row.want)
		}
	}
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
		if got := bar(row.of, row.whole); got != row.want {
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
	text := timeline(told, columns)
	answer, decided, post := strings.Index(text, "post_rejected"), strings.Index(text, "decided"), strings.Index(text, "buy_red  post ")
	if answer < 0 || decided < answer || post < decided {
		t.Errorf("answer at %d, decision at %d, post at %d of\n%s", answer, decided, post, text)
	}
}
