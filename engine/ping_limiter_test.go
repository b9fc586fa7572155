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

// A buyer whose pings fail gets one ping in ten, until it recovers. A new configuration
// keeps this state, a restart forgets it.
func TestFailingBuyerGetsFewerPings(t *testing.T) {
	trading(t, "", auctions("failing", "healthy"), func(t *testing.T, x *exchange) {
		n := 0
		pinged := func(auctions int) (count int) {
			before := len(recordsOf[*event.PingAuctionCompleted](x))
			for range auctions {
				n++
				x.pingAll(t, inquiry(n))
			}
			for _, held := range recordsOf[*event.PingAuctionCompleted](x)[before:] {
				count += len(held.Bids) - 1
			}
			return count
		}
		x.world.offers("failing", fails)
		pinged(300)
		if got := pinged(100); got < 10 || got > 12 {
			t.Errorf("%d pings in 100 auctions, want 10 to 12", got)
		}
		if got := x.noted.outcomes[market.OutcomeUnhealthy].Load(); got < 88 {
			t.Errorf("%d unhealthy outcomes, want at least 88", got)
		}
		x.configure(x.rig)
		if got := pinged(10); got > 2 {
			t.Errorf("%d pings in 10 auctions after a new configuration, want at most 2", got)
		}
		x.world.offers("failing", passes)
		pinged(60)
		expectEqual(t, pinged(20), 20, "pings in 20 auctions after recovery")
		x.world.offers("failing", sleeps)
		pinged(60)
		x.crash()
		expectEqual(t, pinged(3), 3, "pings in 3 auctions after a restart")
		pinged(60)
		time.Sleep(2 * time.Minute)
		expectEqual(t, pinged(2), 2, "pings in 2 auctions after two minutes")
	})
}

// The rate is also the burst; the bucket is empty after a start. An auction skips a
// buyer above its rate.
func TestBuyerPingRateLimit(t *testing.T) {
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
		expectEqual(t, burst(), "5/29", "at the new rate")
		r.buyers[0].rate = 0
		x.configure(r)
		expectEqual(t, burst(), "10/29", "without a rate limit")
	})
	bubble(t, "requests out of order", func(t *testing.T) {
		r := auctions("slow")
		r.buyers[0].rate = 10
		x := begin(t, r)
		time.Sleep(time.Minute)
		for n := range 100 { // received a second ago and now, alternately
			request := x.pingRequest(inquiry(n))
			request.Received -= int64(n%2) * int64(time.Second)
			if _, err := x.engine.PingForBestBid(request); err != nil {
				t.Fatal(err)
			}
		}
		expectEqual(t, len(x.world.pings), 10, "pings at a rate of 10")
	})
	bubble(t, "no other buyer", func(t *testing.T) {
		r := auctions("slow")
		r.buyers[0].rate = 1
		x := begin(t, r)
		expectEqual(t, heard(x.ping(inquiry(1)))+" "+x.tell(person(1)), "rate_limited rate_limited")
	})
}

// A request above the limit is rejected and uses no key. Ingests with an auction count too.
func TestConcurrentAuctionsPerSupplierAreLimited(t *testing.T) {
	bubble(t, "", func(t *testing.T) {
		r := auctions("blue")
		r.auctions, r.suppliers = 3, []string{"other"}
		x := begin(t, r)
		x.world.offers("blue", bids("10").in(time.Second))
		first := []*pinging{x.goPing(inquiry(1)), x.goPing(inquiry(2))}
		lead := x.goSend(person(1))
		time.Sleep(500 * ms)
		expectEqual(t, x.engine.OpenAuctions(), 3, "open auctions")
		begun := x.log.len()
		for _, got := range []string{heard(x.ping(inquiry(3))), heard(x.available(availability())), x.tell(person(2).withKey("k"))} {
			expectEqual(t, got, "rate_limited", "request above the limit")
		}
		expectEqual(t, heard(x.ping(inquiry(9, "vertical", "boats"))), "no_campaign", "ping without an auction")
		expectEqual(t, x.log.len(), begun+1, "entries in the log")
		other := x.goPing(inquiry(1).by("other"))
		expectEqual(t, first[0].wait()+first[1].wait()+lead.wait()+other.wait(), "1010blue10")
		expectEqual(t, heard(x.ping(inquiry(3)))+" "+x.tell(person(2).withKey("k")), "10 blue", "after the auctions ended")
	})
}

// Above Options.MaxPings no auction starts. Leads without an auction are still sold.
func TestConcurrentPingsAreLimited(t *testing.T) {
	bubble(t, "", func(t *testing.T) {
		r := auctions("blue", "gold")
		r.campaigns = append(r.campaigns, campaign{id: "fall", method: market.Waterfall, seats: []seat{{buyer: "blue"}}})
		x := begin(t, r, func(o *engine.Options) { o.MaxPings = 2 })
		x.world.offers("blue", bids("10").in(time.Second))
		first := x.goPing(inquiry(1))
		synctest.Wait()
		expectEqual(t, x.engine.PingsInFlight(), 1, "pings in flight")
		second := x.goPing(inquiry(2))
		synctest.Wait()
		for _, got := range []string{heard(x.ping(inquiry(3))), x.tell(person(1))} {
			expectEqual(t, got, "error: "+engine.ErrUnavailable.Error(), "request above the limit")
		}
		expectEqual(t, x.tell(person(1, "flo_campaign_id", "fall")), "blue")
		if got := first.wait() + second.wait() + heard(x.ping(inquiry(3))); got != "101010" || x.engine.PingsInFlight() != 0 {
			t.Errorf("answers %s, want 101010; %d pings in flight, want 0", got, x.engine.PingsInFlight())
		}
	})
}
