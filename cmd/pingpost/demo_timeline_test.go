package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"pingpost/cmd/pingpost/exchange"
	"pingpost/engine/market"
)

func TestTimelineIsToScale(t *testing.T) {
	const ms = time.Millisecond
	drawn := timeline{
		id: "lead_1", story: "by ingest, TX: sold to slow for 12.00", lasts: 320 * ms,
		asked: []askedBuyer{
			{"slow", "won", 320 * ms, 12_000_000},
			{"quick", "lost", 10 * ms, 9_500_000},
			{"mute", "timeout", 160 * ms, 0},
		},
		posts: []timelinePost{{"slow", "delivered", 320 * ms, 640 * ms}},
	}
	want := `  lead_1
  by ingest, TX: sold to slow for 12.00
               bid   ms             0 ms                            640
    slow     12.00  320  won        |----------------
    quick     9.50   10  lost       |-
    mute            160  timeout    |--------
    to slow         320  delivered  |                ================
`
	if got := drawn.String(); got != want {
		t.Errorf("%s, want\n%s", got, want)
	}
}

// TestTimelineStaysInItsColumns: times that are none, or lie outside, draw nothing
// outside.
func TestTimelineStaysInItsColumns(t *testing.T) {
	for name, stretch := range map[string][3]time.Duration{
		"nothing":  {0, 0, 1},
		"all":      {0, 9, 9},
		"the end":  {9, 9, 9},
		"too long": {5, 90, 9},
		"too soon": {-5, 2, 9},
	} {
		got := bar(stretch[0], stretch[1], stretch[2], '-')
		if !strings.HasPrefix(got, "|") || !strings.HasSuffix(got, "-") || len(got) > 1+timelineWidth {
			t.Errorf("%s: %q", name, got)
		}
	}
	if empty := (&timeline{}).String(); strings.Contains(empty, "NaN") || strings.Count(empty, "\n") != 3 {
		t.Errorf("%q", empty)
	}
}

// TestTimelineOfAnExplanation: of a lead that was posted at the bid of an earlier
// ping, the bids are that ping's, and only those who were asked are drawn.
func TestTimelineOfAnExplanation(t *testing.T) {
	at := func(ms int64) exchange.Instant { return exchange.Instant(ms * int64(time.Millisecond)) }
	usd := func(units int64) *exchange.Amount {
		return &exchange.Amount{Amount: exchange.Millionths(units * 1_000_000), Currency: "USD"}
	}
	told := exchange.Explanation{
		ID: "lead_1", Kind: "post", Buyer: "bid_a", Price: usd(10), Payout: usd(8),
		Fields: map[string]json.RawMessage{"state": json.RawMessage(`"NV"`)},
		Posts: []exchange.Post{{
			Buyer: "bid_a", Intended: at(1300), Settlements: []exchange.Settlement{{At: at(1330), Came: "pending"}, {At: at(1400), Came: "delivered"}},
		}, {Buyer: "bid_b", Intended: at(1400)}},
		Auction: &exchange.Explanation{
			Received: at(1000), Decided: at(1200),
			Candidates: []exchange.Candidate{
				{Buyer: "bid_a", Outcome: "won", Asked: true, Bid: usd(10), Elapsed: exchange.Milliseconds(90 * time.Millisecond)},
				{Buyer: "bid_b", Outcome: "no_bid", Asked: true},
				{Buyer: "bid_c", Outcome: "capped"},
			},
		},
	}
	got := timelineOf(&told)
	if got.id != "lead_1" || got.lasts != 200*time.Millisecond || got.story != "by ping and post, NV: sold to bid_a for 10.00, the supplier gets 8.00" {
		t.Errorf("%+v", got)
	}
	if len(got.asked) != 2 || got.asked[0] != (askedBuyer{"bid_a", "won", 90 * time.Millisecond, 10_000_000}) || got.asked[1].amount != 0 {
		t.Errorf("%+v", got.asked)
	}
	if len(got.posts) != 2 || got.posts[0] != (timelinePost{"bid_a", "delivered", 300 * time.Millisecond, 400 * time.Millisecond}) || got.posts[1].came != "open" {
		t.Errorf("%+v", got.posts)
	}
	unsold := exchange.Explanation{Kind: "ingest", Reason: market.ReasonNoBid.String()}
	if story := timelineOf(&unsold).story; story != "by ingest, : not sold, no_bid" {
		t.Error(story)
	}
}

// TestTellingAuctions: many ends are better than many buyers, and waiting for
// somebody is dull.
func TestTellingAuctions(t *testing.T) {
	of := func(outcomes ...string) int {
		var e exchange.Explanation
		for _, outcome := range outcomes {
			e.Candidates = append(e.Candidates, exchange.Candidate{Outcome: outcome, Asked: true})
		}
		return telling(&exchange.Explanation{Auction: &e})
	}
	if many, few, waited := of("won", "lost", "no_bid"), of("won", "lost", "lost", "lost"), of("won", "lost", "timeout"); many <= few || few <= waited {
		t.Error(many, few, waited)
	}
}

// TestOneAuctionOfEachKind: however much the others show, one that was posted at
// a bid is among them, and one in which a buyer refused.
func TestOneAuctionOfEachKind(t *testing.T) {
	posts := map[string]string{"once": `{}`, "plain": `{}`, "twice": `{},{}`, "thrice": `{},{},{}`, "bid": `{}`}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		id, kind, ends := strings.TrimPrefix(r.URL.Path, "/admin/v1/explain/"), "ingest", `{"outcome":"won","asked":true}`
		switch id {
		case "bid":
			kind = "post"
		case "plain":
		default:
			ends += `,{"outcome":"lost","asked":true}`
		}
		fmt.Fprintf(w, `{"id":%q,"kind":%q,"posts":[%s],"candidates":[%s]}`, id, kind, posts[id], ends)
	}))
	defer server.Close()
	set := &demoSet{}
	a := newAccount(set)
	if a.example() == "" {
		t.Error("nothing to ask about")
	}
	a.ingested, a.posted = []string{"plain", "once", "twice", "thrice"}, []string{"bid"}
	if err := a.explain(t.Context(), &demoExchange{private: server.URL, set: set}); err != nil {
		t.Fatal(err)
	}
	var ids []string
	for _, shown := range a.shown {
		ids = append(ids, shown.id)
	}
	if strings.Join(ids, " ") != "once twice bid" || a.example() != "once" {
		t.Errorf("%q are shown", ids)
	}
	server.Close()
	if a.explain(t.Context(), &demoExchange{private: server.URL, set: set}) == nil {
		t.Error("an exchange that does not answer was taken for one that explains")
	}
}
