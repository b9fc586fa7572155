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
		if got := heard(x.ping(inquiry(1).asTest())); got != "9" {
			t.Errorf("a seller's ping: %s", got)
		}
		if got := heard(x.available(availability().asTest())); got != "red:9 blue:7" {
			t.Errorf("who is there to buy: %s", got)
		}
		if got := x.tell(person(1).asTest()); got != "red" {
			t.Errorf("an ingest: %s", got)
		}
		if got := fmt.Sprint(x.world.rang()); strings.Count(got, "blue.test") != 3 || strings.Count(got, "red.test") != 3 || strings.Contains(got, "gold") {
			t.Errorf("asked %s", got)
		}
		for _, held := range recordsOf[*event.AuctionHeld](x) {
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
		x := opened(t, r)
		tested, earnest := x.quoted(inquiry(1).asTest()), x.quoted(inquiry(2))
		if got := x.posted(postOf(1, tested)); got != "invalid_bid_token" {
			t.Errorf("a lead in earnest at a test's bid: %s", got)
		}
		if got := x.posted(postOf(2, earnest).asTest()); got != "invalid_bid_token" {
			t.Errorf("a test at another bid: %s", got)
		}
		if got := x.posted(postOf(1, tested).asTest()); got != "blue theirs 8" {
			t.Errorf("a test at a test's: %s", got)
		}
		if got := x.posted(postOf(3, tested).asTest()); got != "already_sold" {
			t.Errorf("a second one: %s", got)
		}
		if got := x.posted(postOf(2, earnest)); got != "blue theirs 8" {
			t.Errorf("in earnest: %s", got)
		}
		if got := fmt.Sprint(x.world.tried()); got != "[blue.test@0s blue@0s]" {
			t.Errorf("posted to %s", got)
		}

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
			if got := x.tell(row.lead); got != row.want {
				t.Errorf("%d: %s, want %s", i, got, row.want)
			}
		}
	})
}

// An auction's id that was tried out is not used up.
func TestTriedAuctionIDsAreNotUsedUp(t *testing.T) {
	bubble(t, "", func(t *testing.T) {
		x := opened(t, bidders().testable())
		tested := x.quoted(inquiry(1).asTest())
		if got := heard(x.ping(inquiry(1).asTest().withKey("again"))); got != "auction_exists" {
			t.Errorf("tried twice: %s", got)
		}
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
			if got := heard(x.ping(inquiry(i).asTest())); got != "no_bid" {
				t.Fatalf("test %d: %s", i, got)
			}
		}
		if n := len(x.world.rang()); n != 50 {
			t.Errorf("asked %d times of 50", n)
		}
		got := []string{heard(x.ping(inquiry(101))), heard(x.ping(inquiry(102))), heard(x.ping(inquiry(103)))}
		if strings.Join(got, " ") != "10 10 rate_limited" {
			t.Errorf("in earnest: %v", got)
		}
		x.world.offers("blue.test", bids("6"))
		if got := heard(x.ping(inquiry(201).asTest())); got != "6" {
			t.Errorf("a test while the buyer is at its limit: %s", got)
		}
		x.world.offers("blue", fails)
		for i := range 30 {
			time.Sleep(time.Second)
			_, _ = x.ping(inquiry(300 + i))
		}
		if got := heard(x.ping(inquiry(401).asTest())) + heard(x.ping(inquiry(402).asTest())); got != "66" {
			t.Errorf("tests while the buyer is unwell: %s", got)
		}
	})
}

// A test at a bid whose buyer has no test endpoint any more is sent nowhere.
func TestATestEndpointThatIsGone(t *testing.T) {
	bubble(t, "", func(t *testing.T) {
		r := bidders()
		x := opened(t, r.testable())
		tested := x.quoted(inquiry(1).asTest())
		x.configure(r)
		if got := x.posted(postOf(1, tested).asTest()); got != "bid_expired" {
			t.Errorf("%s, and posted to %v", got, x.world.tried())
		}
		if got := heard(x.ping(inquiry(2).asTest())); got != "filtered" {
			t.Errorf("the next test: %s", got)
		}
	})
}

// A test endpoint that fails is tried on as any is, over a crash, under the bid.
func TestATestPostOverACrash(t *testing.T) {
	bubble(t, "", func(t *testing.T) {
		x := opened(t, bidders().testable())
		x.world.script("blue.test", unreached, breaks, accepts)
		tested := x.quoted(inquiry(1).asTest())
		first := x.goSell(postOf(1, tested).asTest())
		time.Sleep(500 * ms)
		x.crash()
		first.wait()
		time.Sleep(time.Minute)
		if got := x.posted(postOf(1, tested).asTest()); got != "blue theirs 8" {
			t.Errorf("%s after %v", got, x.world.tried())
		}
		if got := x.posted(postOf(2, tested).asTest()); got != "already_sold" {
			t.Error(got)
		}
	})
}

// A test that its buyer refuses gives its auction back, as any lead does; and what
// is lost of tests counts against tests.
func TestARefusedTestGivesItsAuctionBack(t *testing.T) {
	bubble(t, "", func(t *testing.T) {
		x := opened(t, bidders().testable())
		x.world.script("blue.test", refuses)
		tested := x.quoted(inquiry(1).asTest())
		if got := x.posted(postOf(1, tested).asTest()); got != "post_rejected post_rejected" {
			t.Errorf("refused: %s", got)
		}
		x.world.script("blue.test", accepts)
		if got := x.posted(postOf(2, tested).asTest()); got != "blue theirs 8" {
			t.Errorf("the next one: %s", got)
		}
	})
}

// What the metrics are told of tests says so.
func TestTestsAreNotedAsTests(t *testing.T) {
	bubble(t, "", func(t *testing.T) {
		x := begin(t, auctions("blue").testable())
		x.tell(person(1).asTest())
		x.tell(person(2))
		_, _ = x.ping(inquiry(1).asTest())
		_, _ = x.ping(inquiry(2, "vertical", "none").asTest())
		_, _ = x.ping(inquiry(3))
		if d, h := x.noted.testLeads.Load(), x.noted.testAuctions.Load(); d != 1 || h != 3 {
			t.Errorf("%d test leads and %d test auctions were noted", d, h)
		}
		if n := x.noted.posted.Load(); n != 1 {
			t.Errorf("%d posts were noted", n)
		}
	})
}
