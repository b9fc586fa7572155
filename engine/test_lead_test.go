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

// withTestEndpoints gives every buyer of the rig that has endpoints those for tests.
func (r marketSpec) withTestEndpoints() marketSpec {
	return r.changeBuyers(func(b *buyer) { b.testEndpoints = true })
}

// What a test lead meets at a buyer that leads in earnest do not come to, or that
// they do: what the lead, the hour and the operator say holds for it, what is
// taken of caps, money and values does not.
func TestATestLeadMeetsWhatIsNotTaken(t *testing.T) {
	passing := map[string]bool{"caps_full": true, "insufficient_funds": true}
	for i, s := range exclusions() {
		runInVirtualTime(t, fmt.Sprint(i, " ", s.reason), func(t *testing.T) {
			x := newExchangeWith(t, s)
			if len(x.market.buyers) == 1 && x.market.buyers[0].postEndpoint {
				x.configure(x.market.withTestEndpoints())
				x.buyers.scriptPosts("blue.test", refuses)
			}
			want := s.reason
			if passing[s.reason] {
				want = "blue"
			}
			expectEqual(t, x.ingestResult(leadRequest(1, "vehicles", "#2").asTest()), want, "a test lead")
			expectEqual(t, x.ingestResult(leadRequest(1, "vehicles", "#2")), s.reason, "a lead in earnest after it")
		})
	}
}

// Where a test lead goes follows from what endpoints the buyer has.
func TestWhereTestLeadsGo(t *testing.T) {
	tests := []struct {
		name                string
		posts, pings, tests bool
		method              market.BuyerSelectionMethod
		want, attempts      string
	}{
		{"recorded alone, as all its leads", false, false, false, market.Waterfall, "blue", "[]"},
		{"to its test endpoint", true, false, true, market.Waterfall, "blue", "[blue.test@0s]"},
		{"nowhere without one", true, false, false, market.Waterfall, "filtered", "[]"},
		{"by an auction", true, true, true, market.PingPost, "blue", "[blue.test@0s]"},
		{"by none without a test endpoint", true, true, false, market.PingPost, "filtered", "[]"},
	}
	for _, test := range tests {
		runInVirtualTime(t, test.name, func(t *testing.T) {
			r := marketOf(test.method, buyer{id: "blue", postEndpoint: test.posts, pingEndpoint: test.pings, testEndpoints: test.tests})
			r.testSuppliers = []string{"sandy"}
			x := newExchange(t, r)
			expectEqual(t, x.ingestResult(leadRequest(1).asTest()), test.want)
			expectEqual(t, fmt.Sprint(x.buyers.postAttempts()), test.attempts, "posted to")
			expectEqual(t, x.ingestResult(leadRequest(2, "flo_supplier_id", "sandy").fromSupplier("sandy")), test.want, "of a supplier that only tests")
			for _, record := range eventsOf[*event.LeadDecided](x) {
				if !record.Sale.Test {
					t.Errorf("the log does not say that it is a test: %s", event.DescribeAsJSON(record))
				}
			}
			expectEqual(t, x.observed.postAttempts.Load(), 0, "a test was noted as a post to the buyer")
		})
	}
}

// Test leads between the others take nobody's turn, and go to the one whose turn
// it is.
func TestTestLeadsTakeNoTurn(t *testing.T) {
	for _, method := range []market.BuyerSelectionMethod{market.RoundRobin, market.Weighted} {
		for _, posts := range []bool{false, true} {
			runInVirtualTime(t, fmt.Sprint(method, posts), func(t *testing.T) {
				r := threeBuyers(method)
				r.campaigns[0].filterSets[0].weight = 3
				if posts {
					r = r.withPostEndpoints().withTestEndpoints()
				}
				x := newExchange(t, r)
				var earnest, tests []string
				for i := range 40 {
					for range i % 4 {
						tests = append(tests, x.ingestResult(leadRequest(100+i).asTest()))
					}
					next := x.ingestResult(leadRequest(i))
					for range i % 4 {
						expectEqual(t, tests[len(tests)-1], next, "the test before lead ", i)
						tests = tests[:len(tests)-1]
					}
					earnest = append(earnest, next)
				}
				if method == market.RoundRobin {
					checkEveryWindow(t, strings.Join(earnest, " "), 3, map[string]int{"blue": 1, "gold": 1, "red": 1})
				} else {
					checkEveryWindow(t, strings.Join(earnest, " "), 5, map[string]int{"blue": 3, "gold": 1, "red": 1})
				}
			})
		}
	}
}

// A test lead is no duplicate, and makes none.
func TestTestLeadsAreNoDuplicates(t *testing.T) {
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
				t.Errorf("%v, want %s", got, want)
			}
		})
	}
}

// A refusal by a test endpoint leads to the next one.
func TestATestLeadGoesOn(t *testing.T) {
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
			t.Errorf("%s, %s", describeIngest(a, err), x.leadState(a))
		}
		time.Sleep(time.Minute)
		expectEqual(t, x.leadState(a), "ACCEPTED unknown")
		if err := x.engine.AsOperator("").ResolveUnconfirmedDelivery(a.Lead, event.SettledReleased); err != nil || x.leadState(a) != "UNMATCHED released post_rejected" {
			t.Errorf("%v, %s", err, x.leadState(a))
		}
		expectEqual(t, x.observed.unknownDeliveries.Load(), 0, "an operator was told of a test lead")
	})
}

// Every try says that it is a test, over a crash too; see the world's enter.
func TestTestLeadsAreTriedOverACrash(t *testing.T) {
	runWithExchange(t, "", marketOf(market.Waterfall, buyer{id: "blue", postEndpoint: true, testEndpoints: true}), func(t *testing.T, x *testExchange) {
		x.buyers.scriptPosts("blue.test", serverError, hangs, serverError, accepts)
		lead := x.startIngest(leadRequest(1).asTest().withKey("k"))
		time.Sleep(2 * time.Second)
		x.crashAndRestart()
		lead.wait()
		a, err := x.ingest(leadRequest(1).asTest().withKey("k"))
		if describeIngest(a, err) != "blue" || !a.Replayed || !a.Test {
			t.Errorf("%s, replayed %v, a test %v", describeIngest(a, err), a.Replayed, a.Test)
		}
		time.Sleep(time.Minute)
		if x.leadState(a) != "ACCEPTED delivered" || len(x.buyers.postAttempts()) != 4 {
			t.Errorf("%s after %v", x.leadState(a), x.buyers.postAttempts())
		}
	})
}

// Test leads whose fate nobody knows shut no door to the others, and have a bound
// of their own.
func TestLostTestLeadsShutNoDoor(t *testing.T) {
	runInVirtualTime(t, "", func(t *testing.T) {
		x := newExchange(t, marketOf(market.Waterfall, buyer{id: "blue", postEndpoint: true, testEndpoints: true}), func(o *engine.Options) { o.Ceiling = time.Second })
		x.buyers.scriptPosts("blue.test", serverError)
		for i := range 1000 {
			expectEqual(t, x.ingestResult(leadRequest(i).asTest()), "blue", i)
		}
		time.Sleep(time.Minute)
		blue := x.engine.ActiveCatalog().Buyers["blue"].Ref
		if x.state.CountUnknownDeliveries(blue, true) != 1000 || x.state.CountUnknownDeliveries(blue, false) != 0 || x.state.CountUnknownDeliveriesExceptTests() != 0 {
			t.Fatalf("%d tests, %d in earnest, %d in all", x.state.CountUnknownDeliveries(blue, true), x.state.CountUnknownDeliveries(blue, false), x.state.CountUnknownDeliveriesExceptTests())
		}
		expectEqual(t, x.ingestResult(leadRequest(2000).asTest()), "no_bid", "one more test")
		expectEqual(t, x.ingestResult(leadRequest(2001)), "blue", "in earnest")
	})
}

// An idempotency key is of a request in earnest or of a test: the other is
// another request.
func TestKeysOfTestsAndOthers(t *testing.T) {
	runWithExchange(t, "", auctionMarket("blue").withTestEndpoints(), func(t *testing.T, x *testExchange) {
		first := func(r request, received func(request) string) {
			t.Helper()
			if got := received(r); strings.Contains(got, "reused") {
				t.Errorf("a key that is new: %s", got)
			}
			other := r
			other.test = !r.test
			expectEqual(t, received(other), "idempotency_key_reused", "the other")
			if got := received(r); strings.Contains(got, "reused") {
				t.Errorf("the same again: %s", got)
			}
		}
		first(leadRequest(1).withKey("i1"), x.ingestResult)
		first(leadRequest(2).withKey("i2").asTest(), x.ingestResult)
		first(supplierPing(1), func(r request) string { return describePing(x.ping(r)) })
		first(supplierPing(2).asTest(), func(r request) string { return describePing(x.ping(r)) })
		first(availabilityRequest().withKey("a1"), func(r request) string { return describePing(x.requestAvailability(r)) })
		first(availabilityRequest().withKey("a2").asTest(), func(r request) string { return describePing(x.requestAvailability(r)) })
	})
}

// What a request says of itself that is neither yes nor no is a fault like others.
func TestNeitherATestNorNot(t *testing.T) {
	runWithExchange(t, "", auctionMarket("blue").withTestEndpoints(), func(t *testing.T, x *testExchange) {
		odd := func(r request) request { r.badTest = true; return r }
		post := postFor(1, auctionInfo{id: "a1", token: "none"})
		post.badTest = true
		const fault = "invalid_payload X-Pingpost-Test:invalid_format"
		for name, got := range map[string]string{
			"an ingest": x.ingestResult(odd(leadRequest(1))), "a ping": describePing(x.ping(odd(supplierPing(1)))), "a question": describePing(x.requestAvailability(odd(availabilityRequest()))),
			"a post": x.saleResult(post), "one with another fault": strings.Replace(x.ingestResult(odd(leadRequest(1, "phone", "none"))), " phone:invalid_format", "", 1),
		} {
			expectEqual(t, got, fault, name)
		}
		if len(x.log.durable()) != 2 && len(eventsOf[*event.LeadDecided](x)) != 0 {
			t.Error("something was decided")
		}
	})
}

// A test that comes back gives nothing back, however often and to whatever share of
// a month that may.
func TestReturnedTestsGiveNothingBack(t *testing.T) {
	runInVirtualTime(t, "", func(t *testing.T) {
		r := returnsMarket(returnRule(func(r *market.ReturnRule) { r.MaxShare, r.RestoreCaps = 0, true }))
		x := newExchange(t, r.withTestEndpoints())
		for i := range 3 {
			a, err := x.ingest(leadRequest(i).asTest())
			if err != nil || !a.Accepted {
				t.Fatal(describeIngest(a, err))
			}
			expectEqual(t, x.reportResult(newReport(a, "returned")), "returned", "a test")
		}
		expectEqual(t, x.reportResult(newReport(x.soldLead(10), "returned")), "no: share", "in earnest")
		expectEqual(t, x.balance("blue"), "90", "blue has")
	})
}

// An auction over a test lead asks the test endpoints alone; who has none is
// filtered.
func TestATestAuctionAsksTestEndpoints(t *testing.T) {
	runInVirtualTime(t, "", func(t *testing.T) {
		r := auctionMarket("blue", "gold", "red").withTestEndpoints()
		r.buyers[1].testEndpoints = false
		r.buyers[2].caps = []string{"day 0"}
		x := newExchange(t, r)
		x.buyers.scriptBids("blue.test", bids("7"))
		x.buyers.scriptBids("red.test", bids("9"))
		expectEqual(t, describePing(x.ping(supplierPing(1).asTest())), "9", "a seller's ping")
		expectEqual(t, describePing(x.requestAvailability(availabilityRequest().asTest())), "red:9 blue:7", "who is there to buy")
		expectEqual(t, x.ingestResult(leadRequest(1).asTest()), "red", "an ingest")
		if got := fmt.Sprint(x.buyers.pingAttempts()); strings.Count(got, "blue.test") != 3 || strings.Count(got, "red.test") != 3 || strings.Contains(got, "gold") {
			t.Errorf("asked %s", got)
		}
		for _, held := range eventsOf[*event.PingAuctionCompleted](x) {
			if !held.Test || !strings.Contains(event.DescribeAsJSON(held), `"filtered":[1]`) {
				t.Errorf("the log has %s", event.DescribeAsJSON(held))
			}
		}
	})
}

// A bid for a test is none for a lead in earnest, nor the other way round.
func TestBidsAreForTestsOrForOthers(t *testing.T) {
	runInVirtualTime(t, "", func(t *testing.T) {
		r := twoBidders().withTestEndpoints()
		x := newExchange(t, r)
		tested, earnest := x.pingAuction(supplierPing(1).asTest()), x.pingAuction(supplierPing(2))
		expectEqual(t, x.saleResult(postFor(1, tested)), "invalid_bid_token", "a lead in earnest at a test's bid")
		expectEqual(t, x.saleResult(postFor(2, earnest).asTest()), "invalid_bid_token", "a test at another bid")
		expectEqual(t, x.saleResult(postFor(1, tested).asTest()), "blue theirs 8", "a test at a test's")
		expectEqual(t, x.saleResult(postFor(3, tested).asTest()), "already_sold", "a second one")
		expectEqual(t, x.saleResult(postFor(2, earnest)), "blue theirs 8", "in earnest")
		expectEqual(t, fmt.Sprint(x.buyers.postAttempts()), "[blue.test@0s blue@0s]", "posted to")

		attempts, asked := x.availabilityAuction(availabilityRequest().asTest()), x.availabilityAuction(availabilityRequest())
		chosen := func(n int, from auctionInfo) request {
			return leadRequest(n, "flo_ping_id", from.id, "flo_buyer_id", "gold")
		}
		const unknown = "invalid_payload flo_ping_id:unknown"
		for i, row := range []struct {
			lead request
			want string
		}{
			{chosen(11, attempts), unknown},
			{chosen(12, asked).asTest(), unknown},
			{chosen(11, attempts).asTest(), "gold"},
			{chosen(12, asked), "gold"},
			{chosen(13, attempts).asTest(), "bid_expired"},
		} {
			expectEqual(t, x.ingestResult(row.lead), row.want, i)
		}
	})
}

// An auction's id that was tried out is not used up.
func TestTriedAuctionIDsAreNotUsedUp(t *testing.T) {
	runWithExchange(t, "", twoBidders().withTestEndpoints(), func(t *testing.T, x *testExchange) {
		tested := x.pingAuction(supplierPing(1).asTest())
		expectEqual(t, describePing(x.ping(supplierPing(1).asTest().withKey("again"))), "auction_exists", "tried twice")
		earnest := x.pingAuction(supplierPing(1).withKey("earnest"))
		if tested.id != earnest.id || x.saleResult(postFor(1, earnest)) != "blue theirs 8" || x.saleResult(postFor(2, tested).asTest()) != "blue theirs 8" {
			t.Error("one of the two was not sold")
		}
	})
}

// Tests say nothing of a buyer's health, and are no pings of its rate.
func TestTestsWearNoBuyerOut(t *testing.T) {
	runInVirtualTime(t, "", func(t *testing.T) {
		r := auctionMarket("blue").withTestEndpoints()
		r.buyers[0].pingRate = 2
		x := newExchange(t, r)
		time.Sleep(time.Second) // the bucket fills
		x.buyers.scriptBids("blue.test", pingError)
		for i := range 50 {
			expectEqual(t, describePing(x.ping(supplierPing(i).asTest())), "no_bid", "test ", i)
		}
		expectEqual(t, len(x.buyers.pingAttempts()), 50, "asked of 50 times")
		got := []string{describePing(x.ping(supplierPing(101))), describePing(x.ping(supplierPing(102))), describePing(x.ping(supplierPing(103)))}
		expectEqual(t, strings.Join(got, " "), "10 10 rate_limited", "in earnest: ")
		x.buyers.scriptBids("blue.test", bids("6"))
		expectEqual(t, describePing(x.ping(supplierPing(201).asTest())), "6", "a test while the buyer is at its limit")
		x.buyers.scriptBids("blue", pingError)
		for i := range 30 {
			time.Sleep(time.Second)
			_, _ = x.ping(supplierPing(300 + i))
		}
		expectEqual(t, describePing(x.ping(supplierPing(401).asTest()))+describePing(x.ping(supplierPing(402).asTest())), "66", "tests while the buyer is unwell")
	})
}

// A test at a bid whose buyer has no test endpoint any more is sent nowhere.
func TestATestEndpointThatIsGone(t *testing.T) {
	runInVirtualTime(t, "", func(t *testing.T) {
		r := twoBidders()
		x := newExchange(t, r.withTestEndpoints())
		tested := x.pingAuction(supplierPing(1).asTest())
		x.configure(r)
		expectEqual(t, x.saleResult(postFor(1, tested).asTest()), "bid_expired", "and posted to ", x.buyers.postAttempts())
		expectEqual(t, describePing(x.ping(supplierPing(2).asTest())), "filtered", "the next test")
	})
}

// A test endpoint that fails is tried on as any is, over a crash, under the bid.
func TestATestPostOverACrash(t *testing.T) {
	runWithExchange(t, "", twoBidders().withTestEndpoints(), func(t *testing.T, x *testExchange) {
		x.buyers.scriptPosts("blue.test", unreachable, serverError, accepts)
		tested := x.pingAuction(supplierPing(1).asTest())
		first := x.startSale(postFor(1, tested).asTest())
		time.Sleep(500 * ms)
		x.crashAndRestart()
		first.wait()
		time.Sleep(time.Minute)
		expectEqual(t, x.saleResult(postFor(1, tested).asTest()), "blue theirs 8", "after ", x.buyers.postAttempts())
		expectEqual(t, x.saleResult(postFor(2, tested).asTest()), "already_sold")
	})
}

// A test that its buyer refuses gives its auction back, as any lead does; and what
// is lost of tests counts against tests.
func TestARefusedTestGivesItsAuctionBack(t *testing.T) {
	runWithExchange(t, "", twoBidders().withTestEndpoints(), func(t *testing.T, x *testExchange) {
		x.buyers.scriptPosts("blue.test", refuses)
		tested := x.pingAuction(supplierPing(1).asTest())
		expectEqual(t, x.saleResult(postFor(1, tested).asTest()), "post_rejected post_rejected", "refused")
		x.buyers.scriptPosts("blue.test", accepts)
		expectEqual(t, x.saleResult(postFor(2, tested).asTest()), "blue theirs 8", "the next one")
	})
}

// What the metrics are told of tests says so.
func TestTestsAreNotedAsTests(t *testing.T) {
	runWithExchange(t, "", auctionMarket("blue").withTestEndpoints(), func(t *testing.T, x *testExchange) {
		x.ingestResult(leadRequest(1).asTest())
		x.ingestResult(leadRequest(2))
		_, _ = x.ping(supplierPing(1).asTest())
		_, _ = x.ping(supplierPing(2, "vertical", "none").asTest())
		_, _ = x.ping(supplierPing(3))
		if d, h := x.observed.testLeads.Load(), x.observed.testAuctions.Load(); d != 1 || h != 3 {
			t.Errorf("%d test leads and %d test auctions were noted", d, h)
		}
		expectEqual(t, x.observed.postAttempts.Load(), 1, "posts were noted")
	})
}
