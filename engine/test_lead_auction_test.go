package engine_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"pingpost/engine/event"
)

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
