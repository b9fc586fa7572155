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

// threeBuyers returns a market of one campaign and three buyers without endpoints.
func threeBuyers(method market.BuyerSelectionMethod) marketSpec {
	return marketOf(method, buyer{id: "blue"}, buyer{id: "gold"}, buyer{id: "red"})
}

// marketOf returns a market of one campaign with these buyers.
func marketOf(method market.BuyerSelectionMethod, buyers ...buyer) marketSpec {
	r := marketSpec{buyers: buyers, campaigns: []campaign{{method: method}}}
	for _, b := range buyers {
		r.campaigns[0].filterSets = append(r.campaigns[0].filterSets, filterSet{buyer: b.id})
	}
	return r
}

// cappedMarket returns a market of blue with one cap: of the buyer, the campaign, the pair or the terms.
func cappedMarket(where, limit string) marketSpec {
	r := marketOf(market.Waterfall, buyer{id: "blue"})
	switch where {
	case "buyer":
		r.buyers[0].caps = []string{limit}
	case "campaign":
		r.campaigns[0].caps = []string{limit}
	case "pair":
		r.campaigns[0].filterSets[0].caps = []string{limit}
	case "terms":
		r.campaigns[0].terms = []terms{{id: "all", caps: []string{limit}}}
	}
	return r
}

// withPostEndpoints returns the market with post endpoints for all buyers.
func (r marketSpec) withPostEndpoints() marketSpec {
	return r.changeBuyers(func(b *buyer) { b.postEndpoint = true })
}

// ingestResults ingests n leads in sequence and describes the answers.
func (x *testExchange) ingestResults(first, n int, pairs ...string) string {
	var list []string
	for i := range n {
		list = append(list, x.ingestResult(leadRequest(first+i, pairs...)))
	}
	return strings.Join(list, " ")
}

func TestWaterfallSellsByPriority(t *testing.T) {
	tests := []struct {
		name   string
		change func() marketSpec
		want   string
	}{
		{"no caps", func() marketSpec { return threeBuyers(market.Waterfall) }, "blue blue blue"},
		{"full buyers are skipped", func() marketSpec {
			r := threeBuyers(market.Waterfall)
			r.buyers[0].caps = []string{"day 2"}
			r.buyers[1].caps = []string{"total 1"}
			r.buyers[2].caps = []string{"hour 1"}
			return r
		}, "blue blue gold red caps_full caps_full"},
		{"a cap of the pair", func() marketSpec {
			r := threeBuyers(market.Waterfall)
			r.campaigns[0].filterSets[0].caps = []string{"month 1"}
			return r
		}, "blue gold gold"},
		{"the campaign's cap", func() marketSpec {
			r := threeBuyers(market.Waterfall)
			r.campaigns[0].caps = []string{"week 3"}
			r.buyers[0].caps = []string{"day 1"}
			return r
		}, "blue gold gold caps_full"},
		{"the first full cap of several", func() marketSpec {
			r := threeBuyers(market.Waterfall)
			r.buyers[0].caps = []string{"hour 9", "day 3", "total $15"}
			return r
		}, "blue gold gold"},
		{"a money cap counts the buyer's price", func() marketSpec {
			r := threeBuyers(market.Waterfall)
			r.buyers[0].caps = []string{"day $25"}
			r.campaigns[0].payout = "0.1"
			return r
		}, "blue blue gold"},
		{"count and money caps of the same period", func() marketSpec {
			r := threeBuyers(market.Waterfall)
			r.buyers[0].caps = []string{"day 2", "day $1000"}
			r.campaigns[0].caps = []string{"day $50", "day 4"}
			return r
		}, "blue blue gold gold caps_full"},
		{"a cap of 0", func() marketSpec {
			r := threeBuyers(market.Waterfall)
			r.buyers[0].caps = []string{"day 0"}
			return r
		}, "gold gold"},
		{"funds, exact to the millionth", func() marketSpec {
			r := threeBuyers(market.Waterfall)
			r.buyers[0].funds = "20"
			r.buyers[1].funds = "9.999999"
			return r
		}, "blue blue red red"},
		{"funds with credit", func() marketSpec {
			r := threeBuyers(market.Waterfall)
			r.buyers[0].funds, r.buyers[0].credit = "5", "15"
			return r
		}, "blue blue gold"},
	}
	for _, test := range tests {
		for _, posts := range []bool{false, true} {
			runInVirtualTime(t, fmt.Sprintf("%s/posts=%v", test.name, posts), func(t *testing.T) {
				r := test.change()
				if posts {
					r = r.withPostEndpoints()
				}
				x := newExchange(t, r)
				expectEqual(t, x.ingestResults(1, len(strings.Fields(test.want))), test.want)
			})
		}
	}
}

// checkEveryWindow checks each buyer's share in all windows of n consecutive answers.
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

func TestTurnsAreFairInEveryWindow(t *testing.T) {
	for _, posts := range []bool{false, true} {
		rotationMarket := func(method market.BuyerSelectionMethod) marketSpec {
			r := threeBuyers(method)
			r.campaigns[0].filterSets[0].weight = 3
			r.campaigns[0].filterSets[2].weight = 2
			if posts {
				r = r.withPostEndpoints()
			}
			return r
		}
		runWithExchange(t, fmt.Sprintf("round robin, posts=%v", posts), rotationMarket(market.RoundRobin), func(t *testing.T, x *testExchange) {
			checkEveryWindow(t, x.ingestResults(1, 30), 3, map[string]int{"blue": 1, "gold": 1, "red": 1})
		})
		runWithExchange(t, fmt.Sprintf("weighted, posts=%v", posts), rotationMarket(market.Weighted), func(t *testing.T, x *testExchange) {
			checkEveryWindow(t, x.ingestResults(1, 36), 6, map[string]int{"blue": 3, "gold": 1, "red": 2})
		})
	}
}

// An unavailable buyer's turns are not made up for later. The others share the leads exactly.
func TestTurnsWithUnavailableBuyers(t *testing.T) {
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
	runInVirtualTime(t, "a full cap", func(t *testing.T) {
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
	runInVirtualTime(t, "across a restart", func(t *testing.T) {
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
	runWithExchange(t, "after a refusal the others share the lead", threeBuyers(market.RoundRobin).withPostEndpoints(), func(t *testing.T, x *testExchange) {
		x.buyers.scriptPosts("gold", refuses)
		for i := range 3 { // gold refuses 4 of 12 leads, and the others share these too
			checkEveryWindow(t, x.ingestResults(100*i, 12), 12, map[string]int{"blue": 6, "red": 6})
		}
	})
}

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
				t.Errorf("currency %s", answer.Currency)
			}
			if balance, held := x.state.BuyerBalance(1); balance.String() != test.balance || held != 0 {
				t.Errorf("balance %s, want %s; %s on hold", balance, test.balance, held)
			}
		})
	}
}

// Caps and funds reserved for a running post count as used.
func TestRunningPostHoldsCapsAndFunds(t *testing.T) {
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
			t.Errorf("balance %s, %s on hold", balance, held)
		}
		second := x.startIngest(leadRequest(2))
		synctest.Wait()
		third := x.ingestResult(leadRequest(3))
		expectEqual(t, third, "insufficient_funds", "third lead")
		expectEqual(t, first.wait()+" "+second.wait(), "post_rejected gold")
		expectEqual(t, x.ingestResults(4, 2), "blue insufficient_funds", "after the refusal")
	})
}

// A buyer gets leads down to its credit limit, exact to the millionth; running posts count. It
// gets leads again after a top-up or a refusal.
func TestFundsAndCreditLimitAreExact(t *testing.T) {
	runWithExchange(t, "recorded", marketOf(market.Waterfall, buyer{id: "blue", funds: "20", credit: "9.999999"}), func(t *testing.T, x *testExchange) {
		first := x.soldLead(1)
		got := []string{x.ingestResult(leadRequest(2)), x.ingestResult(leadRequest(3)), x.balance("blue")}
		for _, amount := range []market.Money{1, 1} {
			must.Succeed(t, x.engine.AsOperator("").AdjustBuyerFunds("blue", amount, ""))
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
