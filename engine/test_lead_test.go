package engine_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"pingpost/engine"
	"pingpost/engine/event"
	"pingpost/engine/market"
)

// withTestEndpoints adds test endpoints to all buyers with endpoints.
func (r marketSpec) withTestEndpoints() marketSpec {
	return r.changeBuyers(func(b *buyer) { b.testEndpoints = true })
}

// A test lead is subject to filters, schedules and pauses like any lead.
func TestTestLeadIgnoresOnlyCapsAndFunds(t *testing.T) {
	ignored := map[string]bool{"caps_full": true, "insufficient_funds": true}
	for i, s := range exclusions() {
		runInVirtualTime(t, fmt.Sprint(i, " ", s.reason), func(t *testing.T) {
			x := newExchangeWith(t, s)
			if len(x.market.buyers) == 1 && x.market.buyers[0].postEndpoint {
				x.configure(x.market.withTestEndpoints())
				x.buyers.scriptPosts("blue.test", refuses)
			}
			want := s.reason
			if ignored[s.reason] {
				want = "blue"
			}
			expectEqual(t, x.ingestResult(leadRequest(1, "vehicles", "#2").asTest()), want, "test lead")
			expectEqual(t, x.ingestResult(leadRequest(1, "vehicles", "#2")), s.reason, "production lead after it")
		})
	}
}

// The buyer's endpoints decide whether it can get test leads.
func TestTestLeadUsesTestEndpoint(t *testing.T) {
	tests := []struct {
		name                string
		posts, pings, tests bool
		method              market.BuyerSelectionMethod
		want, attempts      string
	}{
		{"no endpoints, sold without delivery", false, false, false, market.Waterfall, "blue", "[]"},
		{"test endpoint", true, false, true, market.Waterfall, "blue", "[blue.test@0s]"},
		{"no test endpoint", true, false, false, market.Waterfall, "filtered", "[]"},
		{"auction with a test endpoint", true, true, true, market.PingPost, "blue", "[blue.test@0s]"},
		{"auction without a test endpoint", true, true, false, market.PingPost, "filtered", "[]"},
	}
	for _, test := range tests {
		runInVirtualTime(t, test.name, func(t *testing.T) {
			r := marketOf(test.method, buyer{id: "blue", postEndpoint: test.posts, pingEndpoint: test.pings, testEndpoints: test.tests})
			r.testSuppliers = []string{"sandy"}
			x := newExchange(t, r)
			expectEqual(t, x.ingestResult(leadRequest(1).asTest()), test.want)
			expectEqual(t, fmt.Sprint(x.buyers.postAttempts()), test.attempts, "posts")
			expectEqual(t, x.ingestResult(leadRequest(2, "flo_supplier_id", "sandy").fromSupplier("sandy")), test.want, "lead of a test supplier")
			for _, record := range eventsOf[*event.LeadDecided](x) {
				if !record.Sale.Test {
					t.Errorf("test lead without the test mark in the log: %s", event.DescribeAsJSON(record))
				}
			}
			expectEqual(t, x.observed.postAttempts.Load(), 0, "observed production posts")
		})
	}
}

// A test lead goes to the buyer whose turn is next, and does not use the turn.
func TestTestLeadsUseNoTurn(t *testing.T) {
	for _, method := range []market.BuyerSelectionMethod{market.RoundRobin, market.Weighted} {
		for _, posts := range []bool{false, true} {
			runInVirtualTime(t, fmt.Sprint(method, posts), func(t *testing.T) {
				r := threeBuyers(method)
				r.campaigns[0].filterSets[0].weight = 3
				if posts {
					r = r.withPostEndpoints().withTestEndpoints()
				}
				x := newExchange(t, r)
				var production, tests []string
				for i := range 40 {
					for range i % 4 {
						tests = append(tests, x.ingestResult(leadRequest(100+i).asTest()))
					}
					next := x.ingestResult(leadRequest(i))
					for range i % 4 {
						expectEqual(t, tests[len(tests)-1], next, "test lead before lead ", i)
						tests = tests[:len(tests)-1]
					}
					production = append(production, next)
				}
				if method == market.RoundRobin {
					checkEveryWindow(t, strings.Join(production, " "), 3, map[string]int{"blue": 1, "gold": 1, "red": 1})
				} else {
					checkEveryWindow(t, strings.Join(production, " "), 5, map[string]int{"blue": 3, "gold": 1, "red": 1})
				}
			})
		}
	}
}

func TestTestLeadsSkipDuplicateCheck(t *testing.T) {
	for _, rule := range []market.DuplicateRule{anyOf, byBuyer} {
		runWithExchange(t, fmt.Sprint(rule.PerBuyer), duplicatesMarket(rule, true).withTestEndpoints(), func(t *testing.T, x *testExchange) {
			got := []string{
				x.ingestResult(leadRequest(1).asTest()), x.ingestResult(leadRequest(1).asTest()), x.ingestResult(leadRequest(1)), x.ingestResult(leadRequest(1).asTest()), x.ingestResult(leadRequest(1)),
			}
			want := "blue blue blue blue duplicate"
			if rule.PerBuyer {
				want = "blue blue blue blue gold"
			}
			if strings.Join(got, " ") != want {
				t.Errorf("got %v, want %s", got, want)
			}
		})
	}
}

func TestTestLeadGoesToNextBuyerAfterRefusal(t *testing.T) {
	runInVirtualTime(t, "", func(t *testing.T) {
		r := threeBuyers(market.Waterfall).withPostEndpoints().withTestEndpoints()
		r.buyers[2].postEndpoint = false
		r.buyers[1].caps = []string{"day 0"}
		x := newExchange(t, r)
		x.buyers.scriptPosts("blue.test", refuses)
		x.buyers.scriptPosts("gold.test", refuses)
		expectEqual(t, x.ingestResult(leadRequest(1).asTest()), "red")
		x.buyers.scriptPosts("blue.test", serverError)
		a, err := x.ingest(leadRequest(2).asTest())
		if describeIngest(a, err) != "blue" || x.leadState(a) != "ACCEPTED pending" {
			t.Errorf("got %s, lead %s, want blue, ACCEPTED pending", describeIngest(a, err), x.leadState(a))
		}
		time.Sleep(time.Minute)
		expectEqual(t, x.leadState(a), "ACCEPTED unknown")
		if err := x.engine.AsOperator("").ResolveUnconfirmedDelivery(a.Lead, event.SettledReleased); err != nil || x.leadState(a) != "UNMATCHED released post_rejected" {
			t.Errorf("release: error %v, lead %s", err, x.leadState(a))
		}
		expectEqual(t, x.observed.unknownDeliveries.Load(), 0, "observed unknown deliveries")
	})
}

// fakeBuyers checks that each attempt is marked as a test.
func TestTestLeadRetriesContinueAfterCrash(t *testing.T) {
	runWithExchange(t, "", marketOf(market.Waterfall, buyer{id: "blue", postEndpoint: true, testEndpoints: true}), func(t *testing.T, x *testExchange) {
		x.buyers.scriptPosts("blue.test", serverError, hangs, serverError, accepts)
		lead := x.startIngest(leadRequest(1).asTest().withKey("k"))
		time.Sleep(2 * time.Second)
		x.crashAndRestart()
		lead.wait()
		a, err := x.ingest(leadRequest(1).asTest().withKey("k"))
		if describeIngest(a, err) != "blue" || !a.Replayed || !a.Test {
			t.Errorf("got %s, replayed %v, test %v", describeIngest(a, err), a.Replayed, a.Test)
		}
		time.Sleep(time.Minute)
		if x.leadState(a) != "ACCEPTED delivered" || len(x.buyers.postAttempts()) != 4 {
			t.Errorf("lead %s after attempts %v", x.leadState(a), x.buyers.postAttempts())
		}
		expectEqual(t, x.observed.sales.Load(), 0, "reports of a sale")
	})
}

// Unconfirmed test leads have a limit of their own.
func TestUnconfirmedTestLeadsDoNotBlockProduction(t *testing.T) {
	runInVirtualTime(t, "", func(t *testing.T) {
		x := newExchange(t, marketOf(market.Waterfall, buyer{id: "blue", postEndpoint: true, testEndpoints: true}), func(o *engine.Options) { o.Ceiling = time.Second })
		x.buyers.scriptPosts("blue.test", serverError)
		for i := range 1000 {
			expectEqual(t, x.ingestResult(leadRequest(i).asTest()), "blue", i)
		}
		time.Sleep(time.Minute)
		blue := x.engine.ActiveCatalogOrNil().Buyers["blue"].Ref
		if x.state.CountUnknownDeliveries(blue, true) != 1000 || x.state.CountUnknownDeliveries(blue, false) != 0 || x.state.CountUnknownDeliveriesExceptTests() != 0 {
			t.Fatalf("unconfirmed: %d test leads, %d production leads, %d without test leads", x.state.CountUnknownDeliveries(blue, true), x.state.CountUnknownDeliveries(blue, false), x.state.CountUnknownDeliveriesExceptTests())
		}
		expectEqual(t, x.ingestResult(leadRequest(2000).asTest()), "no_bid", "test lead above the limit")
		expectEqual(t, x.ingestResult(leadRequest(2001)), "blue", "production lead")
	})
}

// A test request with the key of a production request is another request.
func TestTestAndProductionRequestsShareNoKey(t *testing.T) {
	runWithExchange(t, "", auctionMarket("blue").withTestEndpoints(), func(t *testing.T, x *testExchange) {
		checkKey := func(r request, send func(request) string) {
			t.Helper()
			if got := send(r); strings.Contains(got, "reused") {
				t.Errorf("new key: got %s", got)
			}
			other := r
			other.test = !r.test
			expectEqual(t, send(other), "idempotency_key_reused", "other kind with the same key")
			if got := send(r); strings.Contains(got, "reused") {
				t.Errorf("repeat: got %s", got)
			}
		}
		checkKey(leadRequest(1).withKey("i1"), x.ingestResult)
		checkKey(leadRequest(2).withKey("i2").asTest(), x.ingestResult)
		checkKey(supplierPing(1), func(r request) string { return describePing(x.ping(r)) })
		checkKey(supplierPing(2).asTest(), func(r request) string { return describePing(x.ping(r)) })
		checkKey(availabilityRequest().withKey("a1"), func(r request) string { return describePing(x.requestAvailability(r)) })
		checkKey(availabilityRequest().withKey("a2").asTest(), func(r request) string { return describePing(x.requestAvailability(r)) })
	})
}

func TestInvalidTestHeaderIsRejected(t *testing.T) {
	runWithExchange(t, "", auctionMarket("blue").withTestEndpoints(), func(t *testing.T, x *testExchange) {
		invalid := func(r request) request { r.badTest = true; return r }
		post := postFor(1, auctionInfo{id: "a1", token: "none"})
		post.badTest = true
		const fault = "invalid_payload X-Pingpost-Test:invalid_format"
		for name, got := range map[string]string{
			"ingest": x.ingestResult(invalid(leadRequest(1))), "ping": describePing(x.ping(invalid(supplierPing(1)))), "availability ping": describePing(x.requestAvailability(invalid(availabilityRequest()))),
			"post": x.saleResult(post), "ingest with another invalid field": strings.Replace(x.ingestResult(invalid(leadRequest(1, "phone", "none"))), " phone:invalid_format", "", 1),
		} {
			expectEqual(t, got, fault, name)
		}
		if len(x.log.durable()) != 2 || len(eventsOf[*event.LeadDecided](x)) != 0 {
			t.Error("a rejected request was logged")
		}
	})
}

// The return of a test lead moves no money and uses no return share.
func TestReturnedTestLeadsRestoreNothing(t *testing.T) {
	runInVirtualTime(t, "", func(t *testing.T) {
		r := returnsMarket(returnRule(func(r *market.ReturnRule) { r.MaxShare, r.RestoreCaps = 0, true }))
		x := newExchange(t, r.withTestEndpoints())
		for i := range 3 {
			a, err := x.ingest(leadRequest(i).asTest())
			if err != nil || !a.Accepted {
				t.Fatal(describeIngest(a, err))
			}
			expectEqual(t, x.reportResult(newReport(a, "returned")), "returned", "test lead")
		}
		expectEqual(t, x.reportResult(newReport(x.soldLead(10), "returned")), "no: share", "production lead")
		expectEqual(t, x.balance("blue"), "90", "blue's balance")
	})
}

// A buyer without a test endpoint is filtered.
func TestTestAuctionPingsTestEndpoints(t *testing.T) {
	runInVirtualTime(t, "", func(t *testing.T) {
		r := auctionMarket("blue", "gold", "red").withTestEndpoints()
		r.buyers[1].testEndpoints = false
		r.buyers[2].caps = []string{"day 0"}
		x := newExchange(t, r)
		x.buyers.scriptBids("blue.test", bids("7"))
		x.buyers.scriptBids("red.test", bids("9"))
		expectEqual(t, describePing(x.ping(supplierPing(1).asTest())), "9", "ping")
		expectEqual(t, describePing(x.requestAvailability(availabilityRequest().asTest())), "red:9 blue:7", "availability ping")
		expectEqual(t, x.ingestResult(leadRequest(1).asTest()), "red", "ingest")
		if got := fmt.Sprint(x.buyers.pingAttempts()); strings.Count(got, "blue.test") != 3 || strings.Count(got, "red.test") != 3 || strings.Contains(got, "gold") {
			t.Errorf("pings %s, want 3 to blue.test and 3 to red.test", got)
		}
		for _, held := range eventsOf[*event.PingAuctionCompleted](x) {
			if !held.Test || !strings.Contains(event.DescribeAsJSON(held), `"filtered":[1]`) {
				t.Errorf("auction is logged as %s", event.DescribeAsJSON(held))
			}
		}
	})
}

func TestTestBidsAndProductionBidsAreSeparate(t *testing.T) {
	runInVirtualTime(t, "", func(t *testing.T) {
		r := twoBidders().withTestEndpoints()
		x := newExchange(t, r)
		tested, production := x.pingAuction(supplierPing(1).asTest()), x.pingAuction(supplierPing(2))
		expectEqual(t, x.saleResult(postFor(1, tested)), "invalid_bid_token", "production lead for a test bid")
		expectEqual(t, x.saleResult(postFor(2, production).asTest()), "invalid_bid_token", "test lead for a production bid")
		expectEqual(t, x.saleResult(postFor(1, tested).asTest()), "blue theirs 8", "test lead for a test bid")
		expectEqual(t, x.saleResult(postFor(3, tested).asTest()), "already_sold", "second test lead")
		expectEqual(t, x.saleResult(postFor(2, production)), "blue theirs 8", "production lead for a production bid")
		expectEqual(t, fmt.Sprint(x.buyers.postAttempts()), "[blue.test@0s blue@0s]", "posts")

		testAuction, productionAuction := x.availabilityAuction(availabilityRequest().asTest()), x.availabilityAuction(availabilityRequest())
		chosen := func(n int, from auctionInfo) request {
			return leadRequest(n, "flo_ping_id", from.id, "flo_buyer_id", "gold")
		}
		const unknown = "invalid_payload flo_ping_id:unknown"
		for i, row := range []struct {
			lead request
			want string
		}{
			{chosen(11, testAuction), unknown},
			{chosen(12, productionAuction).asTest(), unknown},
			{chosen(11, testAuction).asTest(), "gold"},
			{chosen(12, productionAuction), "gold"},
			{chosen(13, testAuction).asTest(), "bid_expired"},
		} {
			expectEqual(t, x.ingestResult(row.lead), row.want, i)
		}
	})
}

func TestTestAuctionDoesNotUseAuctionID(t *testing.T) {
	runWithExchange(t, "", twoBidders().withTestEndpoints(), func(t *testing.T, x *testExchange) {
		tested := x.pingAuction(supplierPing(1).asTest())
		expectEqual(t, describePing(x.ping(supplierPing(1).asTest().withKey("again"))), "auction_exists", "second test auction")
		production := x.pingAuction(supplierPing(1).withKey("production"))
		if tested.id != production.id || x.saleResult(postFor(1, production)) != "blue theirs 8" || x.saleResult(postFor(2, tested).asTest()) != "blue theirs 8" {
			t.Error("want the same auction id in both auctions, and a sale in each")
		}
	})
}

func TestTestPingsDoNotAffectHealthOrPingRate(t *testing.T) {
	runInVirtualTime(t, "", func(t *testing.T) {
		r := auctionMarket("blue").withTestEndpoints()
		r.buyers[0].pingRate = 2
		x := newExchange(t, r)
		time.Sleep(time.Second) // fills the bucket
		x.buyers.scriptBids("blue.test", pingError)
		for i := range 50 {
			expectEqual(t, describePing(x.ping(supplierPing(i).asTest())), "no_bid", "test ping ", i)
		}
		expectEqual(t, len(x.buyers.pingAttempts()), 50, "pings in 50 test auctions")
		got := []string{describePing(x.ping(supplierPing(101))), describePing(x.ping(supplierPing(102))), describePing(x.ping(supplierPing(103)))}
		expectEqual(t, strings.Join(got, " "), "10 10 rate_limited", "production pings")
		x.buyers.scriptBids("blue.test", bids("6"))
		expectEqual(t, describePing(x.ping(supplierPing(201).asTest())), "6", "test ping at the buyer's rate limit")
		x.buyers.scriptBids("blue", pingError)
		for i := range 30 {
			time.Sleep(time.Second)
			_, _ = x.ping(supplierPing(300 + i))
		}
		expectEqual(t, describePing(x.ping(supplierPing(401).asTest()))+describePing(x.ping(supplierPing(402).asTest())), "66", "test pings to an unhealthy buyer")
	})
}

// The test endpoint was removed after the ping.
func TestTestPostWithoutTestEndpointIsRejected(t *testing.T) {
	runInVirtualTime(t, "", func(t *testing.T) {
		r := twoBidders()
		x := newExchange(t, r.withTestEndpoints())
		tested := x.pingAuction(supplierPing(1).asTest())
		x.configure(r)
		expectEqual(t, x.saleResult(postFor(1, tested).asTest()), "bid_expired", "test post; posts ", x.buyers.postAttempts())
		expectEqual(t, describePing(x.ping(supplierPing(2).asTest())), "filtered", "next test ping")
	})
}

func TestTestPostRetriesContinueAfterCrash(t *testing.T) {
	runWithExchange(t, "", twoBidders().withTestEndpoints(), func(t *testing.T, x *testExchange) {
		x.buyers.scriptPosts("blue.test", unreachable, serverError, accepts)
		tested := x.pingAuction(supplierPing(1).asTest())
		first := x.startSale(postFor(1, tested).asTest())
		time.Sleep(500 * ms)
		x.crashAndRestart()
		first.wait()
		time.Sleep(time.Minute)
		expectEqual(t, x.saleResult(postFor(1, tested).asTest()), "blue theirs 8", "after attempts ", x.buyers.postAttempts())
		expectEqual(t, x.saleResult(postFor(2, tested).asTest()), "already_sold")
	})
}

func TestRefusedTestPostReleasesAuction(t *testing.T) {
	runWithExchange(t, "", twoBidders().withTestEndpoints(), func(t *testing.T, x *testExchange) {
		x.buyers.scriptPosts("blue.test", refuses)
		tested := x.pingAuction(supplierPing(1).asTest())
		expectEqual(t, x.saleResult(postFor(1, tested).asTest()), "post_rejected post_rejected", "refused")
		x.buyers.scriptPosts("blue.test", accepts)
		expectEqual(t, x.saleResult(postFor(2, tested).asTest()), "blue theirs 8", "next test lead")
	})
}

func TestObserverSeesTestMark(t *testing.T) {
	runWithExchange(t, "", auctionMarket("blue").withTestEndpoints(), func(t *testing.T, x *testExchange) {
		x.ingestResult(leadRequest(1).asTest())
		x.ingestResult(leadRequest(2))
		_, _ = x.ping(supplierPing(1).asTest())
		_, _ = x.ping(supplierPing(2, "vertical", "none").asTest())
		_, _ = x.ping(supplierPing(3))
		if d, h := x.observed.testLeads.Load(), x.observed.testAuctions.Load(); d != 1 || h != 3 {
			t.Errorf("observed %d test leads and %d test auctions, want 1 and 3", d, h)
		}
		expectEqual(t, x.observed.postAttempts.Load(), 1, "observed production posts")
	})
}
