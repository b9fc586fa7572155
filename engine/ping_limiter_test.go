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
// keeps this state, a restart clears it.
func TestFailingBuyerGetsFewerPings(t *testing.T) {
	runWithExchange(t, "", auctionMarket("failing", "healthy"), func(t *testing.T, x *testExchange) {
		n := 0
		pinged := func(auctions int) (count int) {
			before := len(eventsOf[*event.PingAuctionCompleted](x))
			for range auctions {
				n++
				x.pingAll(t, supplierPing(n))
			}
			for _, held := range eventsOf[*event.PingAuctionCompleted](x)[before:] {
				count += len(held.Bids) - 1
			}
			return count
		}
		x.buyers.scriptBids("failing", pingError)
		pinged(300)
		if got := pinged(100); got < 10 || got > 12 {
			t.Errorf("%d pings in 100 auctions, want 10 to 12", got)
		}
		if got := x.observed.outcomes[market.OutcomeUnhealthy].Load(); got < 88 {
			t.Errorf("%d unhealthy outcomes, want at least 88", got)
		}
		x.configure(x.market)
		if got := pinged(10); got > 2 {
			t.Errorf("%d pings in 10 auctions after a new configuration, want at most 2", got)
		}
		x.buyers.scriptBids("failing", noBid)
		pinged(60)
		expectEqual(t, pinged(20), 20, "pings in 20 auctions after recovery")
		x.buyers.scriptBids("failing", neverBids)
		pinged(60)
		x.crashAndRestart()
		expectEqual(t, pinged(3), 3, "pings in 3 auctions after a restart")
		pinged(60)
		time.Sleep(2 * time.Minute)
		expectEqual(t, pinged(2), 2, "pings in 2 auctions after two minutes")
	})
}

// The rate is also the burst; the bucket is empty after a start. An auction skips a
// buyer above its rate.
func TestBuyerPingRateLimit(t *testing.T) {
	runInVirtualTime(t, "", func(t *testing.T) {
		r := auctionMarket("slow", "other")
		r.buyers[0].pingRate = 3
		r.campaigns[0].floor = "11"
		x := newExchange(t, r)
		n := 0
		burst := func() string {
			before := len(x.buyers.pings)
			for range 10 {
				n++
				x.pingAll(t, supplierPing(n))
			}
			limited := 0
			for _, held := range eventsOf[*event.PingAuctionCompleted](x) {
				for _, step := range held.Trail {
					if step.Outcome == market.OutcomeRateLimited && step.FilterSets.Has(0) {
						limited++
					}
				}
			}
			return fmt.Sprint(len(x.buyers.pings)-before-10, "/", limited)
		}
		expectEqual(t, burst(), "0/10", "at the start")
		time.Sleep(time.Second)
		expectEqual(t, burst(), "3/17", "after a second")
		time.Sleep(time.Minute)
		expectEqual(t, burst(), "3/24", "after a minute")
		r.buyers[0].pingRate = 5
		x.configure(r)
		time.Sleep(time.Second)
		expectEqual(t, burst(), "5/29", "at the new rate")
		r.buyers[0].pingRate = 0
		x.configure(r)
		expectEqual(t, burst(), "10/29", "without a rate limit")
	})
	runInVirtualTime(t, "requests out of order", func(t *testing.T) {
		r := auctionMarket("slow")
		r.buyers[0].pingRate = 10
		x := newExchange(t, r)
		time.Sleep(time.Minute)
		for n := range 100 { // received a second ago and now, alternately
			request := x.pingRequest(supplierPing(n))
			request.Received -= int64(n%2) * int64(time.Second)
			if _, err := x.engine.PingForBestBid(request); err != nil {
				t.Fatal(err)
			}
		}
		expectEqual(t, len(x.buyers.pings), 10, "pings at a rate of 10")
	})
	runInVirtualTime(t, "no other buyer", func(t *testing.T) {
		r := auctionMarket("slow")
		r.buyers[0].pingRate = 1
		x := newExchange(t, r)
		expectEqual(t, describePing(x.ping(supplierPing(1)))+" "+x.ingestResult(leadRequest(1)), "rate_limited rate_limited")
	})
}

// A request above the limit is rejected and uses no key. Ingests with an auction count too.
func TestConcurrentAuctionsPerSupplierAreLimited(t *testing.T) {
	runInVirtualTime(t, "", func(t *testing.T) {
		r := auctionMarket("blue")
		r.concurrentAuctions, r.suppliers = 3, []string{"other"}
		x := newExchange(t, r)
		x.buyers.scriptBids("blue", bids("10").after(time.Second))
		first := []*pingCall{x.startPing(supplierPing(1)), x.startPing(supplierPing(2))}
		lead := x.startIngest(leadRequest(1))
		time.Sleep(500 * ms)
		expectEqual(t, x.engine.OpenAuctions(), 3, "open auctions")
		entries := x.log.len()
		for _, got := range []string{describePing(x.ping(supplierPing(3))), describePing(x.requestAvailability(availabilityRequest())), x.ingestResult(leadRequest(2).withKey("k"))} {
			expectEqual(t, got, "rate_limited", "request above the limit")
		}
		expectEqual(t, describePing(x.ping(supplierPing(9, "vertical", "boats"))), "no_campaign", "ping without an auction")
		expectEqual(t, x.log.len(), entries+1, "entries in the log")
		other := x.startPing(supplierPing(1).fromSupplier("other"))
		expectEqual(t, first[0].wait()+first[1].wait()+lead.wait()+other.wait(), "1010blue10")
		expectEqual(t, describePing(x.ping(supplierPing(3)))+" "+x.ingestResult(leadRequest(2).withKey("k")), "10 blue", "after the auctions ended")
	})
}

// Above Options.MaxPings no auction starts. Leads without an auction are still sold.
func TestConcurrentPingsAreLimited(t *testing.T) {
	runInVirtualTime(t, "", func(t *testing.T) {
		r := auctionMarket("blue", "gold")
		r.campaigns = append(r.campaigns, campaign{id: "fall", method: market.Waterfall, filterSets: []filterSet{{buyer: "blue"}}})
		x := newExchange(t, r, func(o *engine.Options) { o.MaxPings = 2 })
		x.buyers.scriptBids("blue", bids("10").after(time.Second))
		first := x.startPing(supplierPing(1))
		synctest.Wait()
		expectEqual(t, x.engine.PingsInFlight(), 1, "pings in flight")
		second := x.startPing(supplierPing(2))
		synctest.Wait()
		for _, got := range []string{describePing(x.ping(supplierPing(3))), x.ingestResult(leadRequest(1))} {
			expectEqual(t, got, "error: "+engine.ErrUnavailable.Error(), "request above the limit")
		}
		expectEqual(t, x.ingestResult(leadRequest(1, "flo_campaign_id", "fall")), "blue")
		if got := first.wait() + second.wait() + describePing(x.ping(supplierPing(3))); got != "101010" || x.engine.PingsInFlight() != 0 {
			t.Errorf("answers %s, want 101010; %d pings in flight, want 0", got, x.engine.PingsInFlight())
		}
	})
}
