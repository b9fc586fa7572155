package exclusion

import (
	"strings"
	"testing"

	"pingpost/engine/event"
	"pingpost/engine/market"
)

// TestRuleOfPing: the rule of a buyer without a bid describes the answer in words, and names an invalid
// member and the end of a pause.
func TestRuleOfPing(t *testing.T) {
	campaign := &market.Campaign{Method: market.PingPost, FilterSets: []market.FilterSet{{Buyer: &market.Buyer{ID: "buy", PingRate: 5, Ping: new(market.OutboundEndpoint)}}}}
	d := &DecisionInputs{Campaign: campaign}
	const until = int64(1_800_000_000_500_000_000) // 2027-01-15T08:00:00.500Z
	for _, test := range []struct {
		outcome market.BuyerOutcome
		bid     *event.Bid
		want    string
	}{
		{market.OutcomeError, &event.Bid{Fault: market.FaultConnect}, "answer to the ping: required a bid, got no connection to the endpoint"},
		{market.OutcomeError, &event.Bid{Status: 500}, "answer to the ping: required a bid, got HTTP 500"},
		{market.OutcomeInvalid, &event.Bid{Status: 200, Fault: market.FaultUnreadable}, "answer to the ping: required a bid of the documented form, got an answer whose body is not in the required format, such as a JSON object"},
		{market.OutcomeInvalid, &event.Bid{Fault: market.FaultUnreadable}, "answer to the ping: required a bid of the documented form, got an answer that is not valid HTTP"},
		{market.OutcomeInvalid, &event.Bid{Status: 200, Fault: market.FaultMalformed, Reason: "bid.amount"}, "answer to the ping: required a bid of the documented form, got an answer whose member bid.amount is missing or invalid"},
		{market.OutcomeInvalid, &event.Bid{Status: 201, Fault: market.FaultMalformed, Reason: "price"}, "answer to the ping: required a bid of the documented form, got an answer whose member price is missing or invalid"},
		{market.OutcomeRateLimited, nil, "ping rate: required at most 5 pings per second, got all of them used"},
		{market.OutcomeRateLimited, &event.Bid{Status: 429, PausedUntil: until}, "answer to the ping: required a bid, got HTTP 429: the buyer demands a pause until 2027-01-15T08:00:00.500Z"},
		{market.OutcomeRateLimited, &event.Bid{Status: 429}, "answer to the ping: required a bid, got HTTP 429: the buyer demands a pause"},
		{market.OutcomeRateLimited, &event.Bid{PausedUntil: until}, "pings to the buyer: required no pause, got a pause that the buyer demanded with HTTP 429 until 2027-01-15T08:00:00.500Z"},
	} {
		if got := d.UnmetRuleFor(0, test.outcome, test.bid).Text; got != test.want {
			t.Errorf("%s, %+v:\n got %s\nwant %s", test.outcome, test.bid, got, test.want)
		}
	}
}

// TestRuleOfLostBid: an equal bid lost by priority or speed, so its rule does not require a higher bid
// alone.
func TestRuleOfLostBid(t *testing.T) {
	usd := market.Currency{'U', 'S', 'D'}
	d := &DecisionInputs{Campaign: &market.Campaign{Method: market.PingPost, Currency: usd, FilterSets: []market.FilterSet{{Buyer: &market.Buyer{ID: "buy"}}}}, BestBid: 5_950_000}
	for amount, want := range map[market.Money]string{
		5_949_000: "bid: required more than the winning bid of 5.95 USD, got 5.949 USD",
		5_950_000: "bid: required more than the winning bid of 5.95 USD, or the same with a lower priority number or, at the same priority, a faster answer, got 5.95 USD",
	} {
		if got := d.UnmetRuleFor(0, market.OutcomeLost, &event.Bid{Amount: amount, Currency: usd}).Text; got != want {
			t.Errorf("%v:\n got %s\nwant %s", amount, got, want)
		}
	}
}

// TestFaultsHaveWords: no text has the name of a fault.
func TestFaultsHaveWords(t *testing.T) {
	for fault := market.FaultEndpoint; fault.String() != "unknown_fault"; fault++ {
		if text := DescribeFault(fault); text == fault.String() || strings.Contains(text, "_") != (fault == market.FaultForbidden) {
			t.Errorf("%s: %q", fault, text)
		}
	}
	if DescribeFault(market.FaultNone) != "" || DescribeFault(99) != "unknown_fault" {
		t.Errorf("%q, %q", DescribeFault(market.FaultNone), DescribeFault(99))
	}
}
