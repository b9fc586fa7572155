package metrics

import (
	"bytes"
	"strings"
	"testing"

	"pingpost/engine/auction"
	"pingpost/engine/market"
	"pingpost/server/servertest"
)

// TestAuctionIsCounted checks the counters of auctions, candidates and ping times. Outcomes
// that did not occur have no line.
func TestAuctionIsCounted(t *testing.T) {
	m := NewMeter(func(string, error) {})
	cars, homes := &market.Campaign{ID: "cars"}, &market.Campaign{ID: "homes"}
	a, b := &market.Buyer{ID: "buy_a"}, &market.Buyer{ID: "buy_b"}
	sold := &auction.AuctionOutcomeSummary{Elapsed: 30e6, Pings: []auction.BuyerPingOutcome{{Buyer: a, Elapsed: 10e6}, {Buyer: b, Elapsed: 30e6}}}
	sold.Outcomes[market.OutcomeWon], sold.Outcomes[market.OutcomeLost], sold.Outcomes[market.OutcomeFiltered] = 1, 1, 3
	m.AuctionHeldOrSkipped(cars, nil, sold)
	m.AuctionHeldOrSkipped(cars, nil, sold)
	late := &auction.AuctionOutcomeSummary{Reason: market.ReasonTimeout, Elapsed: 2e9, Pings: []auction.BuyerPingOutcome{{Buyer: a, Outcome: market.OutcomeTimeout, Elapsed: 2e9}}}
	late.Outcomes[market.OutcomeTimeout] = 1
	m.AuctionHeldOrSkipped(homes, nil, late)
	m.AuctionHeldOrSkipped(nil, nil, &auction.AuctionOutcomeSummary{Reason: market.ReasonNoCampaign})
	tried := *sold
	tried.Test = true
	m.AuctionHeldOrSkipped(cars, nil, &tried)
	text := servertest.RequireMetrics(
		t, m,
		`pingpost_auctions_total{campaign="cars",reason=""} 2`, `pingpost_auctions_total{campaign="homes",reason="timeout"} 1`,
		`pingpost_auctions_total{campaign="",reason="no_campaign"} 1`,
		`pingpost_auction_candidates_total{campaign="cars",outcome="won"} 2`, `pingpost_auction_candidates_total{campaign="cars",outcome="filtered"} 6`,
		`pingpost_auction_candidates_total{campaign="homes",outcome="timeout"} 1`,
		`pingpost_auction_seconds_bucket{le="0.02"} 1`, `pingpost_auction_seconds_bucket{le="0.05"} 3`, `pingpost_auction_seconds_count 4`,
		`pingpost_ping_seconds_bucket{buyer="buy_a",le="0.01"} 2`, `pingpost_ping_seconds_count{buyer="buy_a"} 3`, `pingpost_ping_seconds_count{buyer="buy_b"} 2`,
	)
	for _, never := range []string{`{campaign="homes",outcome="won"}`, `{campaign="homes",reason=""}`, "not_asked"} {
		if strings.Contains(text, never) {
			t.Errorf("the metrics have a line with %s, want none", never)
		}
	}
}

// TestEachAuctionOutcomeHasLabel checks that each outcome of the engine has a label.
func TestEachAuctionOutcomeHasLabel(t *testing.T) {
	m := NewMeter(func(string, error) {})
	cars := &market.Campaign{ID: "cars"}
	for reason := market.ReasonNone; reason <= market.ReasonLoop; reason++ {
		m.AuctionHeldOrSkipped(cars, nil, &auction.AuctionOutcomeSummary{Reason: reason})
	}
	all := new(auction.AuctionOutcomeSummary)
	for outcome := range all.Outcomes {
		all.Outcomes[outcome] = outcome + 1
	}
	m.AuctionHeldOrSkipped(cars, nil, all)
	var text bytes.Buffer
	m.WriteMetrics(&text)
	for reason := market.ReasonNoBuyer; reason <= market.ReasonLoop; reason++ {
		if want := `pingpost_auctions_total{campaign="cars",reason="` + reason.String() + `"} 1`; !strings.Contains(text.String(), want+"\n") {
			t.Errorf("the metrics lack the line %s", want)
		}
	}
	if n := strings.Count(text.String(), "\npingpost_auction_candidates_total{"); n < market.OutcomeCount-1 {
		t.Errorf("%d outcomes, want %d", n, market.OutcomeCount)
	}
}
