package engine_test

import (
	"fmt"
	"testing"

	"pingpost/engine/event"
	"pingpost/engine/market"
)

// texasMarket returns a market in which blue has two filter sets: one for Texas at 20, at most once a day, and one
// for all states at 10. Gold has one at 5.
func texasMarket(method market.BuyerSelectionMethod) marketSpec {
	r := marketOf(method, buyer{id: "blue", postEndpoint: true}, buyer{id: "gold", postEndpoint: true})
	r.campaigns[0].filterSets = []filterSet{
		{buyer: "blue", id: "texas", states: "TX", price: "20", caps: []string{"day 1"}},
		{buyer: "blue", price: "10"},
		{buyer: "gold", price: "5"},
	}
	return r
}

func TestFirstFilterSetThatAcceptsTheLead(t *testing.T) {
	runWithExchange(t, "", texasMarket(market.Waterfall), func(t *testing.T, x *testExchange) {
		for i, row := range []struct{ state, want string }{
			{"CA", "blue 10"},
			{"TX", "blue 20"},
			{"TX", "blue 10"}, // the cap of the set for Texas is full
		} {
			answer, err := x.ingest(leadRequest(i, "state", row.state))
			expectEqual(t, describeIngest(answer, err)+" "+answer.Payout.String(), row.want, "lead ", i)
		}
		x.crashAndRestart()
		answer, err := x.ingest(leadRequest(9, "state", "TX"))
		expectEqual(t, describeIngest(answer, err)+" "+answer.Payout.String(), "blue 10", "after a restart")
	})
}

// A buyer that refuses a lead gets no second offer of it by another filter set.
func TestRefusalCountsForAllFilterSetsOfBuyer(t *testing.T) {
	for _, method := range []market.BuyerSelectionMethod{market.Waterfall, market.RoundRobin, market.Weighted} {
		runWithExchange(t, method.String(), texasMarket(method), func(t *testing.T, x *testExchange) {
			x.buyers.scriptPosts("blue", refuses)
			for i := range 4 {
				expectEqual(t, x.ingestResult(leadRequest(i, "state", "TX")), "gold")
			}
			posts := 0
			for _, post := range x.receivedPosts() {
				if post.buyer == "blue" {
					posts++
				}
			}
			if posts > 4 {
				t.Errorf("blue got %d posts for 4 leads", posts)
			}
		})
	}
}

// A rotation gives a buyer one turn, however many filter sets it has.
func TestRotationByBuyer(t *testing.T) {
	r := texasMarket(market.RoundRobin)
	r.campaigns[0].filterSets[0].caps = nil
	runWithExchange(t, "", r, func(t *testing.T, x *testExchange) {
		counts := map[string]int{}
		for i := range 20 {
			answer, err := x.ingest(leadRequest(i, "state", "TX"))
			counts[fmt.Sprintf("%s %s", describeIngest(answer, err), answer.Payout)]++
		}
		expectEqual(t, fmt.Sprint(counts), "map[blue 20:10 gold 5:10]")
	})
}

// An auction sends a buyer one ping, for its first filter set that accepts the lead. The sale counts for the
// cap of that filter set.
func TestAuctionPingsBuyerOnce(t *testing.T) {
	runWithExchange(t, "", texasMarket(market.PingPost).withAuctions(), func(t *testing.T, x *testExchange) {
		x.buyers.scriptBids("blue", bids("12"))
		for i, want := range []string{"blue:post_pending blue:other_filter_set gold:lost", "blue:capped blue:post_pending gold:lost"} {
			expectEqual(t, x.ingestResult(leadRequest(i, "state", "TX")), "blue")
			expectEqual(t, len(x.buyers.pings), 2*(i+1), "pings ", x.buyers.pingAttempts())
			expectEqual(t, x.describeOutcomes(last(t, eventsOf[*event.LeadDecided](x)).Trail), want)
		}
	})
}

// The sale at a bid is one of the filter set that made it, also after a change of the configuration. Without that
// filter set the bid has expired.
func TestPostAtBidOfFilterSet(t *testing.T) {
	r := texasMarket(market.PingPost).withAuctions()
	runWithExchange(t, "", r, func(t *testing.T, x *testExchange) {
		x.buyers.scriptBids("blue", bids("12"))
		for i, state := range []string{"CA", "TX"} {
			quote := x.pingAuction(supplierPing(i, "state", state))
			if state == "TX" {
				r.campaigns[0].filterSets[0], r.campaigns[0].filterSets[1] = r.campaigns[0].filterSets[1], r.campaigns[0].filterSets[0]
				x.configure(r)
			}
			expectEqual(t, x.saleResult(postFor(i, quote)), "blue theirs 12")
			sale := &last(t, eventsOf[*event.LeadDecided](x)).Sale
			expectEqual(t, fmt.Sprint(sale.FilterSet, len(sale.Charges)), []string{"1 0", "1 1"}[i], state)
		}
		quote := x.pingAuction(supplierPing(9, "state", "CA"))
		r.campaigns[0].filterSets[0].id = "rest"
		x.configure(r)
		expectEqual(t, x.saleResult(postFor(9, quote)), "bid_expired")
	})
}
