package engine_test

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"pingpost/engine/event"
	"pingpost/engine/market"
	"pingpost/internal/must"
)

// threeBuyers buyers who only have leads recorded, in one campaign.
func threeBuyers(method market.BuyerSelectionMethod) marketSpec {
	return marketOf(method, buyer{id: "blue"}, buyer{id: "gold"}, buyer{id: "red"})
}

// marketOf is a market of one campaign that sells to these buyers.
func marketOf(method market.BuyerSelectionMethod, buyers ...buyer) marketSpec {
	r := marketSpec{buyers: buyers, campaigns: []campaign{{method: method}}}
	for _, b := range buyers {
		r.campaigns[0].filterSets = append(r.campaigns[0].filterSets, filterSet{buyer: b.id})
	}
	return r
}

// cappedMarket is a market of blue, with one cap: of the buyer, the campaign or the pair.
func cappedMarket(where, limit string) marketSpec {
	r := marketOf(market.Waterfall, buyer{id: "blue"})
	switch where {
	case "buyer":
		r.buyers[0].caps = []string{limit}
	case "campaign":
		r.campaigns[0].caps = []string{limit}
	case "pair":
		r.campaigns[0].filterSets[0].caps = []string{limit}
	}
	return r
}

// withPostEndpoints gives every buyer an endpoint.
func (r marketSpec) withPostEndpoints() marketSpec {
	return r.changeBuyers(func(b *buyer) { b.postEndpoint = true })
}

// ingestResults sends so many people, one after the other, and lists what came of each.
func (x *testExchange) ingestResults(first, n int, pairs ...string) string {
	var list []string
	for i := range n {
		list = append(list, x.ingestResult(leadRequest(first+i, pairs...)))
	}
	return strings.Join(list, " ")
}

func TestWaterfallGoesByPriority(t *testing.T) {
	tests := []struct {
		name string
		rig  func() marketSpec
		want string
	}{
		{"the first one, as long as it takes leads", func() marketSpec { return threeBuyers(market.Waterfall) }, "blue blue blue"},
		{"a full one is passed over, until all are", func() marketSpec {
			r := threeBuyers(market.Waterfall)
			r.buyers[0].caps = []string{"day 2"}
			r.buyers[1].caps = []string{"total 1"}
			r.buyers[2].caps = []string{"hour 1"}
			return r
		}, "blue blue gold red caps_full caps_full"},
		{"a buyer's cap in this campaign alone", func() marketSpec {
			r := threeBuyers(market.Waterfall)
			r.campaigns[0].filterSets[0].caps = []string{"month 1"}
			return r
		}, "blue gold gold"},
		{"the campaign's cap is everybody's", func() marketSpec {
			r := threeBuyers(market.Waterfall)
			r.campaigns[0].caps = []string{"week 3"}
			r.buyers[0].caps = []string{"day 1"}
			return r
		}, "blue gold gold caps_full"},
		{"the first cap reached shuts the door", func() marketSpec {
			r := threeBuyers(market.Waterfall)
			r.buyers[0].caps = []string{"hour 9", "day 3", "total $15"}
			return r
		}, "blue gold gold"},
		{"a cap on money counts the buyer's price", func() marketSpec {
			r := threeBuyers(market.Waterfall)
			r.buyers[0].caps = []string{"day $25"}
			r.campaigns[0].payout = "0.1"
			return r
		}, "blue blue gold"},
		{"caps on leads and on money over the same time", func() marketSpec {
			r := threeBuyers(market.Waterfall)
			r.buyers[0].caps = []string{"day 2", "day $1000"}
			r.campaigns[0].caps = []string{"day $50", "day 4"}
			return r
		}, "blue blue gold gold caps_full"},
		{"a cap of nothing", func() marketSpec {
			r := threeBuyers(market.Waterfall)
			r.buyers[0].caps = []string{"day 0"}
			return r
		}, "gold gold"},
		{"money that runs out, to the millionth", func() marketSpec {
			r := threeBuyers(market.Waterfall)
			r.buyers[0].funds = "20"
			r.buyers[1].funds = "9.999999"
			return r
		}, "blue blue red red"},
		{"and credit", func() marketSpec {
			r := threeBuyers(market.Waterfall)
			r.buyers[0].funds, r.buyers[0].credit = "5", "15"
			return r
		}, "blue blue gold"},
	}
	for _, test := range tests {
		for _, posts := range []bool{false, true} {
			runInVirtualTime(t, fmt.Sprintf("%s/posts=%v", test.name, posts), func(t *testing.T) {
				r := test.rig()
				if posts {
					r = r.withPostEndpoints()
				}
				x := newExchange(t, r)
				expectEqual(t, x.ingestResults(1, len(strings.Fields(test.want))), test.want)
			})
		}
	}
}

// checkEveryWindow counts, in every window of n answers, how often each buyer stands there.
func checkEveryWindow(t *testing.T, answers string, n int, want map[string]int) {
	t.Helper()
	list := strings.Fields(answers)
	for i := 0; i+n <= len(list); i++ {
		got := map[string]int{}
		for _, buyer := range list[i : i+n] {
			got[buyer]++
		}
		expectEqual(t, fmt.Sprint(got), fmt.Sprint(want), "leads ", i, " to ", i+n-1)
	}
}

func TestTurnsAreFairInEveryStretch(t *testing.T) {
	for _, posts := range []bool{false, true} {
		rigged := func(method market.BuyerSelectionMethod) marketSpec {
			r := threeBuyers(method)
			r.campaigns[0].filterSets[0].weight = 3
			r.campaigns[0].filterSets[2].weight = 2
			if posts {
				r = r.withPostEndpoints()
			}
			return r
		}
		runWithExchange(t, fmt.Sprintf("round robin, posts=%v", posts), rigged(market.RoundRobin), func(t *testing.T, x *testExchange) {
			checkEveryWindow(t, x.ingestResults(1, 30), 3, map[string]int{"blue": 1, "gold": 1, "red": 1})
		})
		runWithExchange(t, fmt.Sprintf("weighted, posts=%v", posts), rigged(market.Weighted), func(t *testing.T, x *testExchange) {
			checkEveryWindow(t, x.ingestResults(1, 36), 6, map[string]int{"blue": 3, "gold": 1, "red": 2})
		})
	}
}

// A buyer that could not take its turn loses nothing and owes nothing, and
// those that could are served exactly among themselves.
func TestTurnsOfThoseThatComeAndGo(t *testing.T) {
	runInVirtualTime(t, "states", func(t *testing.T) {
		r := threeBuyers(market.Weighted)
		r.campaigns[0].filterSets[0].weight = 4
		r.campaigns[0].filterSets[1].states = "CA"
		x := newExchange(t, r)
		var california, nevada []string
		for i := range 40 {
			if i%3 == 0 {
				california = append(california, x.ingestResult(leadRequest(i, "state", "CA")))
			} else {
				nevada = append(nevada, x.ingestResult(leadRequest(i, "state", "NV")))
			}
		}
		checkEveryWindow(t, strings.Join(california, " "), 6, map[string]int{"blue": 4, "gold": 1, "red": 1})
		checkEveryWindow(t, strings.Join(nevada, " "), 5, map[string]int{"blue": 4, "red": 1})
	})
	runInVirtualTime(t, "a cap that fills", func(t *testing.T) {
		r := threeBuyers(market.RoundRobin)
		r.buyers[1].caps = []string{"day 2"}
		x := newExchange(t, r)
		all := x.ingestResults(1, 16)
		fills := strings.LastIndex(all, "gold") + len("gold")
		checkEveryWindow(t, all[:fills], 3, map[string]int{"blue": 1, "gold": 1, "red": 1})
		checkEveryWindow(t, all[fills:], 2, map[string]int{"blue": 1, "red": 1})
		sleepUntil(t, "2000-01-02 00:00:00")
		checkEveryWindow(t, x.ingestResults(20, 6), 3, map[string]int{"blue": 1, "gold": 1, "red": 1})
	})
	runInVirtualTime(t, "a turn survives a restart", func(t *testing.T) {
		r := threeBuyers(market.Weighted)
		r.campaigns[0].filterSets[1].weight = 5
		x := newExchange(t, r)
		var all []string
		for i := range 28 {
			all = append(all, x.ingestResult(leadRequest(i)))
			if i%5 == 2 {
				x.crashAndRestart()
			}
		}
		checkEveryWindow(t, strings.Join(all, " "), 7, map[string]int{"blue": 1, "gold": 5, "red": 1})
	})
	runWithExchange(t, "a refusal passes the turn on, to the others alone", threeBuyers(market.RoundRobin).withPostEndpoints(), func(t *testing.T, x *testExchange) {
		x.buyers.scriptPosts("gold", refuses)
		for i := range 3 { // 4 of 12 leads come by way of gold, and those are shared in turns too
			checkEveryWindow(t, x.ingestResults(100*i, 12), 12, map[string]int{"blue": 6, "red": 6})
		}
	})
}

// What the buyer is charged and the supplier paid.
func TestPriceAndPayout(t *testing.T) {
	tests := []struct {
		name, price, payout, floor string
		want                       string // answer, then payout
		balance                    string // of 100
	}{
		{"all of it", "10", "", "", "blue 10", "90"},
		{"a share, cut at the millionth", "10.000001", "0.333333", "", "blue 3.33333", "89.999999"},
		{"a fixed one", "10", "$6.50", "", "blue 6.5", "90"},
		{"a fixed one of the whole price", "6.5", "$6.50", "", "blue 6.5", "93.5"},
		{"a fixed one over the price", "6.499999", "$6.50", "", "below_floor 0", "100"},
		{"a price at the floor", "8", "", "8", "blue 8", "92"},
		{"a price under the floor", "7.999999", "", "8", "below_floor 0", "100"},
		{"for nothing", "0", "", "", "blue 0", "100"},
	}
	for _, test := range tests {
		runInVirtualTime(t, test.name, func(t *testing.T) {
			r := marketOf(market.Waterfall, buyer{id: "blue", funds: "100"})
			r.campaigns[0].payout, r.campaigns[0].floor, r.campaigns[0].filterSets[0].price = test.payout, test.floor, test.price
			x := newExchange(t, r)
			answer, err := x.ingest(leadRequest(1))
			expectEqual(t, describeIngest(answer, err)+" "+answer.Payout.String(), test.want)
			if answer.Accepted && answer.Currency.String() != "USD" {
				t.Errorf("in %s", answer.Currency)
			}
			if balance, held := x.state.BuyerBalance(1); balance.String() != test.balance || held != 0 {
				t.Errorf("the buyer has %s, want %s, and %s is held", balance, test.balance, held)
			}
		})
	}
}

// What is held for a post that is under way counts as taken.
func TestHeldRoomIsTaken(t *testing.T) {
	r := threeBuyers(market.Waterfall).withPostEndpoints()
	r.buyers[0].funds, r.buyers[0].caps = "15", []string{"day 1"}
	r.buyers[1].caps = []string{"day $10"}
	r.buyers[2].funds = "0"
	runWithExchange(t, "until it is refused", r, func(t *testing.T, x *testExchange) {
		x.buyers.replyTo = func(p *receivedPost) postReply {
			if p.person == phoneOf(1) {
				return refuses.after(1e9)
			}
			return accepts.after(2e9)
		}
		first := x.startIngest(leadRequest(1))
		synctest.Wait()
		balance, held := x.state.BuyerBalance(1)
		if balance.String() != "15" || held.String() != "10" {
			t.Errorf("%s, %s held", balance, held)
		}
		second := x.startIngest(leadRequest(2))
		synctest.Wait()
		third := x.ingestResult(leadRequest(3))
		expectEqual(t, third, "insufficient_funds", "the third")
		expectEqual(t, first.wait()+" "+second.wait(), "post_rejected gold")
		expectEqual(t, x.ingestResults(4, 2), "blue insufficient_funds", "after the refusal")
	})
}

// TestNoFunds: a buyer sells down to minus its credit limit and not a millionth
// further, holds of open posts included; it is back once money comes in, or back.
func TestNoFunds(t *testing.T) {
	runWithExchange(t, "recorded", marketOf(market.Waterfall, buyer{id: "blue", funds: "20", credit: "9.999999"}), func(t *testing.T, x *testExchange) {
		first := x.soldLead(1)
		got := []string{x.ingestResult(leadRequest(2)), x.ingestResult(leadRequest(3)), x.balance("blue")}
		for _, amount := range []market.Money{1, 1} {
			must.Succeed(t, x.engine.AsOperator("").TopUpBuyer("blue", amount, ""))
			got = append(got, x.ingestResult(leadRequest(4)), x.balance("blue"))
		}
		got = append(got, x.reportResult(newReport(first, "returned")), x.balance("blue"), x.ingestResult(leadRequest(5)), x.balance("blue"))
		if want := "blue insufficient_funds 0 blue -9.999999 insufficient_funds -9.999998 returned 0.000002 blue -9.999998"; strings.Join(got, " ") != want {
			t.Errorf("%s\nwant %s", strings.Join(got, " "), want)
		}
	})
	runWithExchange(t, "held", marketOf(market.Waterfall, buyer{id: "blue", postEndpoint: true, funds: "20"}), func(t *testing.T, x *testExchange) {
		x.buyers.scriptPosts("blue", serverError)
		first := x.soldLead(1)
		got := []string{x.balance("blue"), x.ingestResult(leadRequest(2)), x.ingestResult(leadRequest(3)), x.balance("blue")}
		time.Sleep(time.Hour)
		must.Succeed(t, x.engine.AsOperator("").ResolveUnconfirmedDelivery(first.Lead, event.SettledReleased))
		x.buyers.scriptPosts("blue", accepts)
		got = append(got, x.balance("blue"), x.ingestResult(leadRequest(4)), x.ingestResult(leadRequest(5)), x.balance("blue"))
		want := "20 of which is held 10 blue insufficient_funds 20 of which is held 20 20 of which is held 10 blue insufficient_funds 10 of which is held 10"
		expectEqual(t, strings.Join(got, " "), want)
	})
}
