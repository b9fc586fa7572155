package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"pingpost/cmd/pingpost/exchange"
	"pingpost/engine/market"
)

// TestTimelineOfAnExplanation: of a lead that was posted at the bid of an earlier
// ping, the bids are that ping's, and what followed stands below them.
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
	told.Received, told.Decided = at(1290), at(1300)
	got := drawn(&told)
	order := []string{
		"lead_1", "by ping and post, NV: sold to bid_a for 10.00, the supplier gets 8.00",
		"no_bid", "won", "capped", "decided", "arrived", "pending", "delivered",
	}
	for from, i := 0, 0; i < len(order); i++ {
		found := strings.Index(got[from:], order[i])
		if found < 0 {
			t.Fatalf("%q does not follow in\n%s", order[i], got)
		}
		from += found
	}
	for line := range strings.Lines(got) {
		if n := utf8.RuneCountInString(strings.TrimRight(line, "\n")); n > demoColumns {
			t.Errorf("%d columns: %s", n, line)
		}
	}
	unsold := exchange.Explanation{Kind: "ingest", Reason: market.ReasonNoBid.String()}
	if said := story(&unsold); said != "by ingest, : not sold, no_bid" {
		t.Error(said)
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
		ids = append(ids, shown.ID)
	}
	if strings.Join(ids, " ") != "once twice bid" || a.example() != "once" {
		t.Errorf("%q are shown", ids)
	}
	server.Close()
	if a.explain(t.Context(), &demoExchange{private: server.URL, set: set}) == nil {
		t.Error("an exchange that does not answer was taken for one that explains")
	}
}
