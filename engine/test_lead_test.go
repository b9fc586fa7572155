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

// testable gives every buyer of the rig that has endpoints those for tests.
func (r rig) testable() rig { return r.changeBuyers(func(b *buyer) { b.tests = true }) }

// What a test lead meets at a buyer that leads in earnest do not come to, or that
// they do: what the lead, the hour and the operator say holds for it, what is
// taken of caps, money and values does not.
func TestATestLeadMeetsWhatIsNotTaken(t *testing.T) {
	passing := map[string]bool{"caps_full": true, "insufficient_funds": true}
	for i, s := range stages() {
		bubble(t, fmt.Sprint(i, " ", s.reason), func(t *testing.T) {
			x := staged(t, s)
			if len(x.rig.buyers) == 1 && x.rig.buyers[0].posts {
				x.configure(x.rig.testable())
				x.world.script("blue.test", refuses)
			}
			want := s.reason
			if passing[s.reason] {
				want = "blue"
			}
			expectEqual(t, x.tell(person(1, "vehicles", "#2").asTest()), want, "a test lead")
			expectEqual(t, x.tell(person(1, "vehicles", "#2")), s.reason, "a lead in earnest after it")
		})
	}
}

// Where a test lead goes follows from what endpoints the buyer has.
func TestWhereTestLeadsGo(t *testing.T) {
	tests := []struct {
		what                string
		posts, pings, tests bool
		method              market.BuyerSelectionMethod
		want, tried         string
	}{
		{"recorded alone, as all its leads", false, false, false, market.Waterfall, "blue", "[]"},
		{"to its test endpoint", true, false, true, market.Waterfall, "blue", "[blue.test@0s]"},
		{"nowhere without one", true, false, false, market.Waterfall, "filtered", "[]"},
		{"by an auction", true, true, true, market.PingPost, "blue", "[blue.test@0s]"},
		{"by none without a test endpoint", true, true, false, market.PingPost, "filtered", "[]"},
	}
	for _, test := range tests {
		bubble(t, test.what, func(t *testing.T) {
			r := selling(test.method, buyer{id: "blue", posts: test.posts, pings: test.pings, tests: test.tests})
			r.testers = []string{"sandy"}
			x := begin(t, r)
			expectEqual(t, x.tell(person(1).asTest()), test.want)
			expectEqual(t, fmt.Sprint(x.world.tried()), test.tried, "posted to")
			expectEqual(t, x.tell(person(2, "flo_supplier_id", "sandy").by("sandy")), test.want, "of a supplier that only tests")
			for _, fact := range recordsOf[*event.LeadDecided](x) {
				if !fact.Sale.Test {
					t.Errorf("the log does not say that it is a test: %s", event.DescribeAsJSON(fact))
				}
			}
			expectEqual(t, x.noted.posted.Load(), 0, "a test was noted as a post to the buyer")
		})
	}
}

// Test leads between the others take nobody's turn, and go to the one whose turn
// it is.
func TestTestLeadsTakeNoTurn(t *testing.T) {
	for _, method := range []market.BuyerSelectionMethod{market.RoundRobin, market.Weighted} {
		for _, posts := range []bool{false, true} {
			bubble(t, fmt.Sprint(method, posts), func(t *testing.T) {
				r := three(method)
				r.campaigns[0].seats[0].weight = 3
				if posts {
					r = r.posting().testable()
				}
				x := begin(t, r)
				var earnest, tests []string
				for i := range 40 {
					for range i % 4 {
						tests = append(tests, x.tell(person(100+i).asTest()))
					}
					next := x.tell(person(i))
					for range i % 4 {
						expectEqual(t, tests[len(tests)-1], next, "the test before lead ", i)
						tests = tests[:len(tests)-1]
					}
					earnest = append(earnest, next)
				}
				if method == market.RoundRobin {
					runs(t, strings.Join(earnest, " "), 3, map[string]int{"blue": 1, "gold": 1, "red": 1})
				} else {
					runs(t, strings.Join(earnest, " "), 5, map[string]int{"blue": 3, "gold": 1, "red": 1})
				}
			})
		}
	}
}

// A test lead is no duplicate, and makes none.
func TestTestLeadsAreNoDuplicates(t *testing.T) {
	for _, rule := range []market.DuplicateRule{anyOf, byBuyer} {
		trading(t, fmt.Sprint(rule.PerBuyer), duplicates(rule, true).testable(), func(t *testing.T, x *exchange) {
			got := []string{
				x.tell(person(1).asTest()), x.tell(person(1).asTest()), x.tell(person(1)), x.tell(person(1).asTest()), x.tell(person(1)),
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
	bubble(t, "", func(t *testing.T) {
		r := three(market.Waterfall).posting().testable()
		r.buyers[2].posts = false
		r.buyers[1].caps = []string{"day 0"}
		x := begin(t, r)
		x.world.script("blue.test", refuses)
		x.world.script("gold.test", refuses)
		expectEqual(t, x.tell(person(1).asTest()), "red")
		x.world.script("blue.test", breaks)
		a, err := x.send(person(2).asTest())
		if said(a, err) != "blue" || x.stands(a) != "ACCEPTED pending" {
			t.Errorf("%s, %s", said(a, err), x.stands(a))
		}
		time.Sleep(time.Minute)
		expectEqual(t, x.stands(a), "ACCEPTED unknown")
		if err := x.engine.AsOperator("").ResolveUnconfirmedDelivery(a.Lead, event.SettledReleased); err != nil || x.stands(a) != "UNMATCHED released post_rejected" {
			t.Errorf("%v, %s", err, x.stands(a))
		}
		expectEqual(t, x.noted.unknown.Load(), 0, "an operator was told of a test lead")
	})
}

// Every try says that it is a test, over a crash too; see the world's enter.
func TestTestLeadsAreTriedOverACrash(t *testing.T) {
	trading(t, "", selling(market.Waterfall, buyer{id: "blue", posts: true, tests: true}), func(t *testing.T, x *exchange) {
		x.world.script("blue.test", breaks, hangs, breaks, accepts)
		lead := x.goSend(person(1).asTest().withKey("k"))
		time.Sleep(2 * time.Second)
		x.crash()
		lead.wait()
		a, err := x.send(person(1).asTest().withKey("k"))
		if said(a, err) != "blue" || !a.Replayed || !a.Test {
			t.Errorf("%s, replayed %v, a test %v", said(a, err), a.Replayed, a.Test)
		}
		time.Sleep(time.Minute)
		if x.stands(a) != "ACCEPTED delivered" || len(x.world.tried()) != 4 {
			t.Errorf("%s after %v", x.stands(a), x.world.tried())
		}
	})
}

// Test leads whose fate nobody knows shut no door to the others, and have a bound
// of their own.
func TestLostTestLeadsShutNoDoor(t *testing.T) {
	bubble(t, "", func(t *testing.T) {
		x := begin(t, selling(market.Waterfall, buyer{id: "blue", posts: true, tests: true}), func(o *engine.Options) { o.Ceiling = time.Second })
		x.world.script("blue.test", breaks)
		for i := range 1000 {
			expectEqual(t, x.tell(person(i).asTest()), "blue", i)
		}
		time.Sleep(time.Minute)
		blue := x.engine.ActiveCatalog().Buyers["blue"].Ref
		if x.state.CountUnknownDeliveries(blue, true) != 1000 || x.state.CountUnknownDeliveries(blue, false) != 0 || x.state.CountUnknownDeliveriesExceptTests() != 0 {
			t.Fatalf("%d tests, %d in earnest, %d in all", x.state.CountUnknownDeliveries(blue, true), x.state.CountUnknownDeliveries(blue, false), x.state.CountUnknownDeliveriesExceptTests())
		}
		expectEqual(t, x.tell(person(2000).asTest()), "no_bid", "one more test")
		expectEqual(t, x.tell(person(2001)), "blue", "in earnest")
	})
}

// An idempotency key is of a request in earnest or of a test: the other is
// another request.
func TestKeysOfTestsAndOthers(t *testing.T) {
	trading(t, "", auctions("blue").testable(), func(t *testing.T, x *exchange) {
		first := func(r request, heard func(request) string) {
			t.Helper()
			if got := heard(r); strings.Contains(got, "reused") {
				t.Errorf("a key that is new: %s", got)
			}
			other := r
			other.test = !r.test
			expectEqual(t, heard(other), "idempotency_key_reused", "the other")
			if got := heard(r); strings.Contains(got, "reused") {
				t.Errorf("the same again: %s", got)
			}
		}
		first(person(1).withKey("i1"), x.tell)
		first(person(2).withKey("i2").asTest(), x.tell)
		first(inquiry(1), func(r request) string { return heard(x.ping(r)) })
		first(inquiry(2).asTest(), func(r request) string { return heard(x.ping(r)) })
		first(availability().withKey("a1"), func(r request) string { return heard(x.available(r)) })
		first(availability().withKey("a2").asTest(), func(r request) string { return heard(x.available(r)) })
	})
}

// What a request says of itself that is neither yes nor no is a fault like others.
func TestNeitherATestNorNot(t *testing.T) {
	trading(t, "", auctions("blue").testable(), func(t *testing.T, x *exchange) {
		odd := func(r request) request { r.badTest = true; return r }
		post := postOf(1, told{id: "a1", token: "none"})
		post.badTest = true
		const fault = "invalid_payload X-Pingpost-Test:invalid_format"
		for what, got := range map[string]string{
			"an ingest": x.tell(odd(person(1))), "a ping": heard(x.ping(odd(inquiry(1)))), "a question": heard(x.available(odd(availability()))),
			"a post": x.posted(post), "one with another fault": strings.Replace(x.tell(odd(person(1, "phone", "none"))), " phone:invalid_format", "", 1),
		} {
			expectEqual(t, got, fault, what)
		}
		if len(x.log.durable()) != 2 && len(recordsOf[*event.LeadDecided](x)) != 0 {
			t.Error("something was decided")
		}
	})
}

// A test that comes back gives nothing back, however often and to whatever share of
// a month that may.
func TestReturnedTestsGiveNothingBack(t *testing.T) {
	bubble(t, "", func(t *testing.T) {
		r := bought(returns(func(r *market.ReturnRule) { r.MaxShare, r.RestoreCaps = 0, true }))
		x := begin(t, r.testable())
		for i := range 3 {
			a, err := x.send(person(i).asTest())
			if err != nil || !a.Accepted {
				t.Fatal(said(a, err))
			}
			expectEqual(t, x.reported(saying(a, "returned")), "returned", "a test")
		}
		expectEqual(t, x.reported(saying(x.sold(10), "returned")), "no: share", "in earnest")
		expectEqual(t, x.balance("blue"), "90", "blue has")
	})
}

// An auction over a test lead asks the test endpoints alone; who has none is
// filtered.
func TestATestAuctionAsksTestEndpoints(t *testing.T) {
	bubble(t, "", func(t *testing.T) {
		r := auctions("blue", "gold", "red").testable()
		r.buyers[1].tests = false
		r.buyers[2].caps = []string{"day 0"}
		x := begin(t, r)
		x.world.offers("blue.test", bids("7"))
		x.world.offers("red.test", bids("9"))
		expectEqual(t, heard(x.ping(inquiry(1).asTest())), "9", "a seller's ping")
		expectEqual(t, heard(x.available(availability().asTest())), "red:9 blue:7", "who is there to buy")
		expectEqual(t, x.tell(person(1).asTest()), "red", "an ingest")
		if got := fmt.Sprint(x.world.rang()); strings.Count(got, "blue.test") != 3 || strings.Count(got, "red.test") != 3 || strings.Contains(got, "gold") {
			t.Errorf("asked %s", got)
		}
		for _, held := range recordsOf[*event.PingAuctionCompleted](x) {
			if !held.Test || !strings.Contains(event.DescribeAsJSON(held), `"filtered":[1]`) {
				t.Errorf("the log has %s", event.DescribeAsJSON(held))
			}
		}
	})
}

// A bid for a test is none for a lead in earnest, nor the other way round.
func TestBidsAreForTestsOrForOthers(t *testing.T) {
	bubble(t, "", func(t *testing.T) {
		r := bidders().testable()
		x := begin(t, r)
		tested, earnest := x.quoted(inquiry(1).asTest()), x.quoted(inquiry(2))
		expectEqual(t, x.posted(postOf(1, tested)), "invalid_bid_token", "a lead in earnest at a test's bid")
		expectEqual(t, x.posted(postOf(2, earnest).asTest()), "invalid_bid_token", "a test at another bid")
		expectEqual(t, x.posted(postOf(1, tested).asTest()), "blue theirs 8", "a test at a test's")
		expectEqual(t, x.posted(postOf(3, tested).asTest()), "already_sold", "a second one")
		expectEqual(t, x.posted(postOf(2, earnest)), "blue theirs 8", "in earnest")
		expectEqual(t, fmt.Sprint(x.world.tried()), "[blue.test@0s blue@0s]", "posted to")

		tried, asked := x.offered(availability().asTest()), x.offered(availability())
		chosen := func(n int, from told) request { return person(n, "flo_ping_id", from.id, "flo_buyer_id", "gold") }
		const unknown = "invalid_payload flo_ping_id:unknown"
		for i, row := range []struct {
			lead request
			want string
		}{
			{chosen(11, tried), unknown},
			{chosen(12, asked).asTest(), unknown},
			{chosen(11, tried).asTest(), "gold"},
			{chosen(12, asked), "gold"},
			{chosen(13, tried).asTest(), "bid_expired"},
		} {
			expectEqual(t, x.tell(row.lead), row.want, i)
		}
	})
}

// An auction's id that was tried out is not used up.
func TestTriedAuctionIDsAreNotUsedUp(t *testing.T) {
	trading(t, "", bidders().testable(), func(t *testing.T, x *exchange) {
		tested := x.quoted(inquiry(1).asTest())
		expectEqual(t, heard(x.ping(inquiry(1).asTest().withKey("again"))), "auction_exists", "tried twice")
		earnest := x.quoted(inquiry(1).withKey("earnest"))
		if tested.id != earnest.id || x.posted(postOf(1, earnest)) != "blue theirs 8" || x.posted(postOf(2, tested).asTest()) != "blue theirs 8" {
			t.Error("one of the two was not sold")
		}
	})
}

// Tests say nothing of a buyer's health, and are no pings of its rate.
func TestTestsWearNoBuyerOut(t *testing.T) {
	bubble(t, "", func(t *testing.T) {
		r := auctions("blue").testable()
		r.buyers[0].rate = 2
		x := begin(t, r)
		time.Sleep(time.Second) // the bucket fills
		x.world.offers("blue.test", fails)
		for i := range 50 {
			expectEqual(t, heard(x.ping(inquiry(i).asTest())), "no_bid", "test ", i)
		}
		expectEqual(t, len(x.world.rang()), 50, "asked of 50 times")
		got := []string{heard(x.ping(inquiry(101))), heard(x.ping(inquiry(102))), heard(x.ping(inquiry(103)))}
		expectEqual(t, strings.Join(got, " "), "10 10 rate_limited", "in earnest: ")
		x.world.offers("blue.test", bids("6"))
		expectEqual(t, heard(x.ping(inquiry(201).asTest())), "6", "a test while the buyer is at its limit")
		x.world.offers("blue", fails)
		for i := range 30 {
			time.Sleep(time.Second)
			_, _ = x.ping(inquiry(300 + i))
		}
		expectEqual(t, heard(x.ping(inquiry(401).asTest()))+heard(x.ping(inquiry(402).asTest())), "66", "tests while the buyer is unwell")
	})
}

// A test at a bid whose buyer has no test endpoint any more is sent nowhere.
func TestATestEndpointThatIsGone(t *testing.T) {
	bubble(t, "", func(t *testing.T) {
		r := bidders()
		x := begin(t, r.testable())
		tested := x.quoted(inquiry(1).asTest())
		x.configure(r)
		expectEqual(t, x.posted(postOf(1, tested).asTest()), "bid_expired", "and posted to ", x.world.tried())
		expectEqual(t, heard(x.ping(inquiry(2).asTest())), "filtered", "the next test")
	})
}

// A test endpoint that fails is tried on as any is, over a crash, under the bid.
func TestATestPostOverACrash(t *testing.T) {
	trading(t, "", bidders().testable(), func(t *testing.T, x *exchange) {
		x.world.script("blue.test", unreached, breaks, accepts)
		tested := x.quoted(inquiry(1).asTest())
		first := x.goSell(postOf(1, tested).asTest())
		time.Sleep(500 * ms)
		x.crash()
		first.wait()
		time.Sleep(time.Minute)
		expectEqual(t, x.posted(postOf(1, tested).asTest()), "blue theirs 8", "after ", x.world.tried())
		expectEqual(t, x.posted(postOf(2, tested).asTest()), "already_sold")
	})
}

// A test that its buyer refuses gives its auction back, as any lead does; and what
// is lost of tests counts against tests.
func TestARefusedTestGivesItsAuctionBack(t *testing.T) {
	trading(t, "", bidders().testable(), func(t *testing.T, x *exchange) {
		x.world.script("blue.test", refuses)
		tested := x.quoted(inquiry(1).asTest())
		expectEqual(t, x.posted(postOf(1, tested).asTest()), "post_rejected post_rejected", "refused")
		x.world.script("blue.test", accepts)
		expectEqual(t, x.posted(postOf(2, tested).asTest()), "blue theirs 8", "the next one")
	})
}

// What the metrics are told of tests says so.
func TestTestsAreNotedAsTests(t *testing.T) {
	trading(t, "", auctions("blue").testable(), func(t *testing.T, x *exchange) {
		x.tell(person(1).asTest())
		x.tell(person(2))
		_, _ = x.ping(inquiry(1).asTest())
		_, _ = x.ping(inquiry(2, "vertical", "none").asTest())
		_, _ = x.ping(inquiry(3))
		if d, h := x.noted.testLeads.Load(), x.noted.testAuctions.Load(); d != 1 || h != 3 {
			t.Errorf("%d test leads and %d test auctions were noted", d, h)
		}
		expectEqual(t, x.noted.posted.Load(), 1, "posts were noted")
	})
}
