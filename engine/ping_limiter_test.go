package engine_test

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"pingpost/engine"
	"pingpost/engine/event"
	"pingpost/engine/market"
)

// A buyer that keeps failing is asked one time in ten, and comes back by itself;
// a new configuration does not forget it, a restart does.
func TestAFailingBuyerIsAskedLess(t *testing.T) {
	trading(t, "", auctions("sick", "well"), func(t *testing.T, x *exchange) {
		n := 0
		asked := func(auctions int) (asked int) {
			before := len(recordsOf[*event.PingAuctionCompleted](x))
			for range auctions {
				n++
				x.pingAll(t, inquiry(n))
			}
			for _, held := range recordsOf[*event.PingAuctionCompleted](x)[before:] {
				asked += len(held.Bids) - 1
			}
			return asked
		}
		x.world.offers("sick", fails)
		asked(300)
		if got := asked(100); got < 10 || got > 12 {
			t.Errorf("asked %d times of 100", got)
		}
		if got := x.noted.outcomes[market.OutcomeUnhealthy].Load(); got < 88 {
			t.Errorf("spared %d times", got)
		}
		x.configure(x.rig)
		if got := asked(10); got > 2 {
			t.Errorf("after a new configuration asked %d times of 10", got)
		}
		x.world.offers("sick", passes)
		asked(60)
		expectEqual(t, asked(20), 20, "asked of 20 times, well again")
		x.world.offers("sick", sleeps)
		asked(60)
		x.crash()
		expectEqual(t, asked(3), 3, "asked of 3 times, after a restart")
		asked(60)
		time.Sleep(2 * time.Minute)
		expectEqual(t, asked(2), 2, "asked of 2 times, after two minutes")
	})
}

// A buyer gets so many pings a second, its burst the same, and none at first
// after a start; over it, it is left out of the auction.
func TestPingRateOfABuyer(t *testing.T) {
	bubble(t, "", func(t *testing.T) {
		r := auctions("slow", "other")
		r.buyers[0].rate = 3
		r.campaigns[0].floor = "11"
		x := begin(t, r)
		n := 0
		burst := func() string {
			before := len(x.world.pings)
			for range 10 {
				n++
				x.pingAll(t, inquiry(n))
			}
			limited := 0
			for _, held := range recordsOf[*event.PingAuctionCompleted](x) {
				for _, step := range held.Trail {
					if step.Outcome == market.OutcomeRateLimited && step.FilterSets.Has(0) {
						limited++
					}
				}
			}
			return fmt.Sprint(len(x.world.pings)-before-10, "/", limited)
		}
		expectEqual(t, burst(), "0/10", "at the start")
		time.Sleep(time.Second)
		expectEqual(t, burst(), "3/17", "after a second")
		time.Sleep(time.Minute)
		expectEqual(t, burst(), "3/24", "after a minute")
		r.buyers[0].rate = 5
		x.configure(r)
		time.Sleep(time.Second)
		expectEqual(t, burst(), "5/29", "at a new rate")
		r.buyers[0].rate = 0
		x.configure(r)
		expectEqual(t, burst(), "10/29", "without a limit")
	})
	bubble(t, "whatever order they come in", func(t *testing.T) {
		r := auctions("slow")
		r.buyers[0].rate = 10
		x := begin(t, r)
		time.Sleep(time.Minute)
		for n := range 100 { // those that came a second ago, and those that come now, by turns
			request := x.pingRequest(inquiry(n))
			request.Received -= int64(n%2) * int64(time.Second)
			if _, err := x.engine.PingForBestBid(request); err != nil {
				t.Fatal(err)
			}
		}
		expectEqual(t, len(x.world.pings), 10, "pings of 10 in a second")
	})
	bubble(t, "nobody else is left", func(t *testing.T) {
		r := auctions("slow")
		r.buyers[0].rate = 1
		x := begin(t, r)
		expectEqual(t, heard(x.ping(inquiry(1)))+" "+x.tell(person(1)), "rate_limited rate_limited")
	})
}

// A seller has so many auctions at once; the next is refused, uses up no key,
// and each that ends makes room. Ingests count with the rest.
func TestAuctionsOfOneSellerAtOnce(t *testing.T) {
	bubble(t, "", func(t *testing.T) {
		r := auctions("blue")
		r.auctions, r.suppliers = 3, []string{"other"}
		x := begin(t, r)
		x.world.offers("blue", bids("10").in(time.Second))
		first := []*pinging{x.goPing(inquiry(1)), x.goPing(inquiry(2))}
		lead := x.goSend(person(1))
		time.Sleep(500 * ms)
		expectEqual(t, x.engine.OpenAuctions(), 3, "auctions are open")
		begun := x.log.len()
		for _, got := range []string{heard(x.ping(inquiry(3))), heard(x.available(availability())), x.tell(person(2).withKey("k"))} {
			expectEqual(t, got, "rate_limited", "one too many")
		}
		expectEqual(t, heard(x.ping(inquiry(9, "vertical", "boats"))), "no_campaign", "what is no auction")
		expectEqual(t, x.log.len(), begun+1, "entries in the log")
		other := x.goPing(inquiry(1).by("other"))
		expectEqual(t, first[0].wait()+first[1].wait()+lead.wait()+other.wait(), "1010blue10")
		expectEqual(t, heard(x.ping(inquiry(3)))+" "+x.tell(person(2).withKey("k")), "10 blue", "afterwards")
	})
}

// Where too many pings are under way no auction begins, and what is no auction
// goes on.
func TestPingsAtOnce(t *testing.T) {
	bubble(t, "", func(t *testing.T) {
		r := auctions("blue", "gold")
		r.campaigns = append(r.campaigns, campaign{id: "fall", method: market.Waterfall, seats: []seat{{buyer: "blue"}}})
		x := begin(t, r, func(o *engine.Options) { o.MaxPings = 2 })
		x.world.offers("blue", bids("10").in(time.Second))
		first := x.goPing(inquiry(1))
		synctest.Wait()
		expectEqual(t, x.engine.PingsInFlight(), 1, "pings are under way")
		second := x.goPing(inquiry(2))
		synctest.Wait()
		for _, got := range []string{heard(x.ping(inquiry(3))), x.tell(person(1))} {
			expectEqual(t, got, "error: "+engine.ErrUnavailable.Error(), "one too many")
		}
		expectEqual(t, x.tell(person(1, "flo_campaign_id", "fall")), "blue")
		if got := first.wait() + second.wait() + heard(x.ping(inquiry(3))); got != "101010" || x.engine.PingsInFlight() != 0 {
			t.Errorf("%s, %d pings are under way", got, x.engine.PingsInFlight())
		}
	})
}
