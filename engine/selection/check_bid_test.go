package selection

import (
	"math"
	"testing"
	"time"

	"pgregory.net/rapid"

	"pingpost/engine/market"
)

const (
	dollar = market.Money(1_000_000)
	second = int64(time.Second)
	// The auction of these tests began at 100 s, collects bids until 102 and must be
	// sold by 105.
	deadline = 102 * second
	ceiling  = 105 * second
)

var (
	usd = market.Currency{'U', 'S', 'D'}
	eur = market.Currency{'E', 'U', 'R'}
)

func TestCheckBid(t *testing.T) {
	share := market.PayoutRule{Share: 800_000}
	fixed := market.PayoutRule{Fixed: 9 * dollar, IsFixed: true}
	rows := []struct {
		name    string
		bid     market.Bid
		arrived int64
		payout  market.PayoutRule
		want    market.BuyerOutcome
	}{
		{"valid", market.Bid{Amount: 12 * dollar}, 101 * second, share, market.OutcomeNone},
		{"explicit currency of the campaign", market.Bid{Amount: 12 * dollar, Currency: usd}, 101 * second, share, market.OutcomeNone},
		{"another currency", market.Bid{Amount: 12 * dollar, Currency: eur}, 101 * second, share, market.OutcomeWrongCurrency},
		{"at the floor", market.Bid{Amount: 8 * dollar}, 101 * second, share, market.OutcomeNone},
		{"a millionth below the floor", market.Bid{Amount: 8*dollar - 1}, 101 * second, share, market.OutcomeBelowFloor},
		{"the floor applies before the share", market.Bid{Amount: 8 * dollar}, 101 * second, market.PayoutRule{Share: 1}, market.OutcomeNone},
		{"at a fixed payout", market.Bid{Amount: 9 * dollar}, 101 * second, fixed, market.OutcomeNone},
		{"below a fixed payout", market.Bid{Amount: 9*dollar - 1}, 101 * second, fixed, market.OutcomeBelowFloor},
		{"at the deadline", market.Bid{Amount: 12 * dollar}, deadline, share, market.OutcomeNone},
		{"after the deadline", market.Bid{Amount: 12 * dollar}, deadline + 1, share, market.OutcomeLate},
		{"unexpired", market.Bid{Amount: 12 * dollar, ValidUntil: 101*second + 1}, 101 * second, share, market.OutcomeNone},
		{"expired within the tolerance of clocks", market.Bid{Amount: 12 * dollar, ValidUntil: 99*second + 1}, 101 * second, share, market.OutcomeNone},
		{"expired by two seconds", market.Bid{Amount: 12 * dollar, ValidUntil: 99 * second}, 101 * second, share, market.OutcomeInvalid},
		{"expired long ago", market.Bid{Amount: 12 * dollar, ValidUntil: 1}, 101 * second, share, market.OutcomeInvalid},
		{"never expires", market.Bid{Amount: 12 * dollar, ValidUntil: math.MaxInt64}, 101 * second, share, market.OutcomeNone},
		{"late before expired and currency", market.Bid{Currency: eur, ValidUntil: 1}, deadline + 1, share, market.OutcomeLate},
		{"expired before currency", market.Bid{Currency: eur, ValidUntil: 1}, 101 * second, share, market.OutcomeInvalid},
		{"currency before floor", market.Bid{Currency: eur}, 101 * second, share, market.OutcomeWrongCurrency},
	}
	for _, row := range rows {
		campaign := &market.Campaign{Currency: usd, Floor: 8 * dollar, Payout: row.payout}
		terms := NewBidRequirements(campaign, deadline, ceiling)
		if got := terms.CheckBid(&row.bid, row.arrived); got != row.want {
			t.Errorf("%s: %v, want %v", row.name, got, row.want)
		}
	}
}

func TestBidExpiresAtItsTimeOrAtCeiling(t *testing.T) {
	terms := BidRequirements{DecisionDeadline: ceiling}
	for _, row := range []struct{ own, want int64 }{
		{0, ceiling},
		{103 * second, 103 * second},
		{ceiling, ceiling},
		{ceiling + 1, ceiling},
		{math.MaxInt64, ceiling},
		{99 * second, 99 * second}, // without the tolerance of CheckBid
	} {
		if got := terms.BidValidUntil(&market.Bid{ValidUntil: row.own}); got != row.want {
			t.Errorf("%d: %d, want %d", row.own, got, row.want)
		}
	}
}

// A valid bid never costs the exchange money and is never below the floor. The test repeats the
// rules in a simple form.
func TestValidBidsMatchModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		amount := rapid.Int64Range(0, 40).Draw(t, "amount")
		terms := BidRequirements{
			Currency: usd, BidDeadline: 50, DecisionDeadline: 100,
			Floor:  market.Money(rapid.Int64Range(0, 40).Draw(t, "floor")),
			Payout: market.PayoutRule{Share: 500_000},
		}
		if rapid.Bool().Draw(t, "fixed") {
			terms.Payout = market.PayoutRule{IsFixed: true, Fixed: market.Money(rapid.Int64Range(0, 40).Draw(t, "payout"))}
		}
		bid := market.Bid{
			Amount:     market.Money(amount),
			Currency:   rapid.SampledFrom([]market.Currency{{}, usd, eur}).Draw(t, "currency"),
			ValidUntil: rapid.SampledFrom([]int64{0, 1, 40, math.MaxInt64}).Draw(t, "until"),
		}
		arrived := rapid.Int64Range(0, 100).Draw(t, "arrived")
		payout, covered := terms.Payout.AmountAtPrice(bid.Amount)
		valid := arrived <= 50 && bid.Currency != eur && bid.Amount >= terms.Floor && covered
		if got := terms.CheckBid(&bid, arrived); (got == market.OutcomeNone) != valid {
			t.Fatalf("%+v at %d with %+v: outcome %v, want valid %t", bid, arrived, terms, got, valid)
		}
		if valid && payout > bid.Amount {
			t.Fatalf("the payout %v exceeds the bid %v", payout, bid.Amount)
		}
	})
}
