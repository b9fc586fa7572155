package engine_test

import (
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"pingpost/engine/event"
	"pingpost/engine/market"
	"pingpost/internal/must"
)

// withAuctions returns the market with ping_post campaigns. Each buyer bids 10 without delay.
func (r marketSpec) withAuctions() marketSpec {
	r = r.changeBuyers(func(b *buyer) { b.pingEndpoint = true })
	r.campaigns = slices.Clone(r.campaigns)
	for i := range r.campaigns {
		r.campaigns[i].method = market.PingPost
	}
	return r
}

// After a refusal the next best bidder gets the lead, like the next buyer of other methods.
func TestDeliveryAfterAuction(t *testing.T) {
	forEachDeliveryCase(twoPostBuyers().withAuctions(), func(h deliveryCase, r marketSpec) {
		runWithExchange(t, h.name, r, func(t *testing.T, x *testExchange) {
			x.buyers.replyTo = (&crashRun{testExchange: x, scenario: crashScenario{leads: []deliveryCase{h}}}).replyFor
			x.runDeliveryCase(h, leadRequest(0))
			expectEqual(t, len(x.buyers.pings), 2, "asked ", x.buyers.pingAttempts())
		})
	})
}

func TestPowerCutAtEveryEntryAfterAuction(t *testing.T) {
	forEachDeliveryCase(twoPostBuyers().withAuctions(), func(h deliveryCase, r marketSpec) {
		t.Run(h.name, func(t *testing.T) { crashAtEveryEntry(t, crashScenario{market: r, leads: []deliveryCase{h}}.run) })
	})
}

// Each buyer starts with a balance of 100.
func TestAuctionSaleBuyerPriceAndBalance(t *testing.T) {
	tests := []struct {
		name            string
		blue, gold, tan bidReply
		refusing        string
		want            string
		balances        string // of blue, gold, tan
	}{
		{"the best bid", bids("9"), bids("12.345678"), bids("10"), "", "gold 9.876542", "100 87.654322 100"},
		{"the best valid bid", bids("9"), bids("2"), bids("10").inCurrency("EUR"), "", "blue 7.2", "91 100 100"},
		{"the next best", bids("9"), bids("12"), bids("10"), "gold", "tan 8", "100 100 90"},
		{"the last", bids("9"), bids("12"), bids("10"), "gold tan", "blue 7.2", "91 100 100"},
		{"none", bids("9"), bids("12"), bids("10"), "gold tan blue", "post_rejected 0", "100 100 100"},
		{"no bid", noBid, bids("2.999999"), neverBids, "", "below_floor 0", "100 100 100"},
		{"no answer", neverBids, neverBids, neverBids, "", "timeout 0", "100 100 100"},
		{"more than it has", bids("9"), bids("100.000001"), noBid, "", "blue 7.2", "91 100 100"},
		{"all that it has", bids("9"), bids("100"), noBid, "", "gold 80", "100 0 100"},
	}
	for _, test := range tests {
		runInVirtualTime(t, test.name, func(t *testing.T) {
			r := auctionMarket("blue", "gold", "tan")
			for i := range r.buyers {
				r.buyers[i].funds = "100"
			}
			r.campaigns[0].floor, r.campaigns[0].payout = "3", "0.8"
			x := newExchange(t, r)
			x.buyers.scriptBids("blue", test.blue)
			x.buyers.scriptBids("gold", test.gold)
			x.buyers.scriptBids("tan", test.tan)
			for _, name := range strings.Fields(test.refusing) {
				x.buyers.scriptPosts(name, refuses)
			}
			answer, err := x.ingest(leadRequest(1))
			expectEqual(t, describeIngest(answer, err)+" "+answer.Payout.String(), test.want)
			var balances []string
			for _, name := range []string{"blue", "gold", "tan"} {
				balance, _ := x.state.BuyerBalance(x.state.RefOf(event.ObjectBuyer, name))
				balances = append(balances, balance.String())
			}
			expectEqual(t, strings.Join(balances, " "), test.balances, "balances")
			expectEqual(t, len(x.buyers.pings), 3, "asked ", x.buyers.pingAttempts())
		})
	}
}

func TestAuctionedLeadIsRecordedWithoutPostEndpoint(t *testing.T) {
	runInVirtualTime(t, "", func(t *testing.T) {
		r := auctionMarket("blue", "gold")
		r.buyers[1].postEndpoint = false
		x := newExchange(t, r)
		x.buyers.scriptBids("gold", bids("11"))
		answer, err := x.ingest(leadRequest(1))
		if got := describeIngest(answer, err) + ", " + x.leadState(answer); got != "gold, ACCEPTED none" || len(x.buyers.postAttempts()) > 0 {
			t.Errorf("%s, posted %v", got, x.buyers.postAttempts())
		}
		decided := last(t, eventsOf[*event.LeadDecided](x))
		if got := x.describeOutcomes(decided.Trail); got != "blue:lost gold:won" || decided.Auction.Deadline != virtualStart.Add(2*time.Second).UnixNano() {
			t.Errorf("%s, %+v", got, decided.Auction)
		}
	})
}

func TestAuctionWithoutStateHasNoBuyer(t *testing.T) {
	runWithExchange(t, "", auctionMarket("blue"), func(t *testing.T, x *testExchange) {
		if got := x.ingestResult(leadRequest(1, "state", "-")); got != "no_state_match" || len(x.buyers.pings) > 0 {
			t.Errorf("%s, asked %v", got, x.buyers.pingAttempts())
		}
	})
}

func TestCampaignRejectsLeadBeforePings(t *testing.T) {
	runInVirtualTime(t, "", func(t *testing.T) {
		four := "4"
		r := auctionMarket("blue")
		r.lists = []list{{id: "dnc", field: market.ListPhone, hash: market.HashPlain, entries: []string{"415-200-0002"}}}
		c := &r.campaigns[0]
		c.suppress, c.duplicates, c.filters = []string{"dnc"}, anyOf, []market.FilterSpec{{Field: "vehicles", Max: &four}}
		x := newExchange(t, r)
		var got []string
		for _, p := range []request{leadRequest(1, "vehicles", "#1"), leadRequest(1, "vehicles", "#2"), leadRequest(2, "vehicles", "#1"), leadRequest(3, "vehicles", "#5")} {
			got = append(got, x.ingestResult(p))
		}
		if words := strings.Join(got, " "); words != "blue duplicate suppressed filtered" || len(x.buyers.pings) != 1 {
			t.Errorf("%s, asked %v", words, x.buyers.pingAttempts())
		}
	})
	runInVirtualTime(t, "duplicate in flight", func(t *testing.T) {
		r := auctionMarket("blue")
		r.campaigns[0].duplicates = anyOf
		x := newExchange(t, r)
		x.buyers.scriptBids("blue", bids("10").after(time.Second))
		first := x.startIngest(leadRequest(1))
		synctest.Wait()
		second := x.startIngest(leadRequest(1))
		if got := first.wait() + " " + second.wait(); got != "blue duplicate" || len(x.buyers.pings) != 1 {
			t.Errorf("%s, asked %v", got, x.buyers.pingAttempts())
		}
	})
}

// A buyer whose bid has expired gets no post, also after refusals of better bidders.
func TestExpiredBidIsSkipped(t *testing.T) {
	tests := []struct {
		name  string
		gold  bidReply // the best; blue bids 9 and tan 8
		blue  bidReply
		reply postReply // of gold
		want  string
		trail string
	}{
		{"before anything is posted", bids("10").validFor(-ms), bids("9").validFor(-ms), accepts, "tan", "blue:lost gold:lost tan:post_pending"},
		{"while the best refuses", bids("10"), bids("9").validFor(900 * ms), refuses.after(time.Second), "tan", "blue:lost gold:post_rejected tan:post_pending"},
		{"not quite", bids("10"), bids("9").validFor(1001 * ms), refuses.after(time.Second), "blue", "blue:post_pending gold:post_rejected tan:lost"},
	}
	for _, test := range tests {
		runWithExchange(t, test.name, auctionMarket("blue", "gold", "tan"), func(t *testing.T, x *testExchange) {
			x.buyers.scriptBids("gold", test.gold)
			x.buyers.scriptBids("blue", test.blue)
			x.buyers.scriptBids("tan", bids("8"))
			x.buyers.scriptPosts("gold", test.reply)
			expectEqual(t, x.ingestResult(leadRequest(1)), test.want, "sold to")
			trail := last(t, eventsOf[*event.LeadDecided](x)).Trail
			if settled := eventsOf[*event.PostSettled](x); len(settled) > 1 {
				trail = settled[0].Trail
			}
			expectEqual(t, x.describeOutcomes(trail), test.trail)
		})
	}
	runWithExchange(t, "all of them", auctionMarket("blue"), func(t *testing.T, x *testExchange) {
		x.buyers.scriptBids("blue", bids("10").validFor(-ms))
		if got := x.ingestResult(leadRequest(1)); got != "bid_expired" || len(x.buyers.postAttempts()) > 0 {
			t.Errorf("%s, posted %v", got, x.buyers.postAttempts())
		}
	})
}

// Caps and funds count the bid's amount. If only another request's reservation is in the way, the
// request waits for its end.
func TestBidsRespectCapsAndFunds(t *testing.T) {
	tests := []struct {
		name   string
		change func(r *marketSpec)
		bids   []bidReply // of blue, one lead after the other; gold bids 5
		want   string
	}{
		{"a cap on money", func(r *marketSpec) { r.buyers[0].caps = []string{"day $15"} }, []bidReply{bids("10"), bids("6"), bids("5.5"), bids("5.5")}, "blue gold gold gold"},
		{"a cap on money that is met", func(r *marketSpec) { r.buyers[0].caps = []string{"day $15"} }, []bidReply{bids("9"), bids("6"), bids("6")}, "blue blue gold"},
		{"the pair's cap", func(r *marketSpec) { r.campaigns[0].filterSets[0].caps = []string{"day 1"} }, []bidReply{bids("9"), bids("9")}, "blue gold"},
		{"the campaign's cap", func(r *marketSpec) { r.campaigns[0].caps = []string{"day $12"} }, []bidReply{bids("9"), bids("9"), bids("9")}, "blue caps_full caps_full"},
		{"funds", func(r *marketSpec) { r.buyers[0].funds = "12" }, []bidReply{bids("9"), bids("9"), bids("5.5")}, "blue gold gold"},
	}
	for _, test := range tests {
		runInVirtualTime(t, test.name, func(t *testing.T) {
			r := auctionMarket("blue", "gold")
			test.change(&r)
			x := newExchange(t, r)
			x.buyers.scriptBids("blue", test.bids...)
			x.buyers.scriptBids("gold", bids("5"))
			if test.name == "a cap on money" {
				x.buyers.scriptPosts("gold", accepts)
			}
			expectEqual(t, x.ingestResults(1, len(test.bids)), test.want)
		})
	}
	runInVirtualTime(t, "capacity reserved by another request", func(t *testing.T) {
		r := auctionMarket("blue", "gold")
		r.buyers[0].caps = []string{"day 1"}
		x := newExchange(t, r)
		x.buyers.scriptBids("gold", bids("5"))
		x.log.setSyncTime(500 * ms)
		a, b := x.startIngest(leadRequest(1)), x.startIngest(leadRequest(2))
		got := []string{a.wait(), b.wait()}
		if strings.Join(got, " ") != "blue gold" && strings.Join(got, " ") != "gold blue" {
			t.Errorf("got answers %v", got)
		}
		expectEqual(t, len(x.buyers.pings), 4, "pings")
		x.log.setSyncTime(0)
	})
	runInVirtualTime(t, "capacity released by a refusal", func(t *testing.T) {
		r := auctionMarket("blue", "gold")
		r.campaigns[0].caps = []string{"day 1"}
		x := newExchange(t, r)
		x.buyers.scriptBids("gold", bids("5"))
		x.buyers.scriptPosts("blue", refuses)
		expectEqual(t, x.ingestResults(1, 2), "gold caps_full")
	})
}

// Availability is checked again after a refusal, before the next bidder gets the lead.
func TestNextBidderPausedDuringPostIsSkipped(t *testing.T) {
	runWithExchange(t, "", auctionMarket("blue", "gold", "tan"), func(t *testing.T, x *testExchange) {
		x.buyers.scriptPosts("blue", refuses.after(time.Second))
		s := x.startIngest(leadRequest(1))
		time.Sleep(500 * ms)
		must.Succeed(t, x.engine.AsOperator("").SetCampaignOrBuyerPaused(event.ObjectBuyer, "gold", true))
		expectEqual(t, s.wait(), "tan", "sold, after ", x.buyers.postAttempts())
	})
}

func TestBestBidderPausedDuringAuctionIsSkipped(t *testing.T) {
	runWithExchange(t, "", auctionMarket("blue", "gold"), func(t *testing.T, x *testExchange) {
		x.buyers.scriptBids("blue", bids("11"))
		x.buyers.scriptBids("gold", bids("10").after(time.Second))
		s := x.startIngest(leadRequest(1))
		time.Sleep(500 * ms)
		must.Succeed(t, x.engine.AsOperator("").SetCampaignOrBuyerPaused(event.ObjectBuyer, "blue", true))
		got := s.wait() + ", " + x.describeOutcomes(last(t, eventsOf[*event.LeadDecided](x)).Trail)
		expectEqual(t, got, "gold, blue:paused gold:post_pending")
	})
}

// The harness checks caps and funds after each event.
func TestConcurrentAuctionsRespectCapsAndFunds(t *testing.T) {
	runInVirtualTime(t, "", func(t *testing.T) {
		r := auctionMarket("blue", "gold", "tan", "red")
		r.buyers[0].caps, r.buyers[0].funds = []string{"total 20", "day $150"}, "400"
		r.buyers[1].caps, r.buyers[1].funds = []string{"total $90"}, "60"
		r.buyers[2].pingRate = 500
		r.campaigns[0].caps = []string{"total 70"}
		r.campaigns[0].payout = "0.777777"
		x := newExchange(t, r)
		x.buyers.scriptBids("blue", bids("7.000001"), bids("12").after(3*ms), bids("9.5").after(ms))
		x.buyers.scriptBids("gold", bids("8"), noBid, bids("11.999999").after(2*ms), neverBids)
		x.buyers.scriptBids("tan", bids("5").after(ms), bids("15"), pingError)
		x.buyers.scriptBids("red", bids("1"))
		x.buyers.scriptPosts("blue", accepts.after(ms))
		x.buyers.scriptPosts("tan", refuses.after(2*ms))
		x.log.setSyncTime(ms)
		var wg sync.WaitGroup
		for i := range 200 {
			wg.Go(func() {
				time.Sleep(time.Duration(i%17) * ms)
				switch i % 3 {
				case 0:
					x.pingAll(t, supplierPing(i/2), supplierPing(i/2))
				default:
					if got := x.ingestResult(leadRequest(i)); strings.HasPrefix(got, "error") {
						t.Error(got)
					}
				}
			})
		}
		wg.Wait()
		x.log.setSyncTime(0)
	})
}
