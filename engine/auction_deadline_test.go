package engine_test

import (
	"testing"
	"time"

	"pingpost/engine"
)

// delayedTimerClock delays all timers, as a busy machine does.
type delayedTimerClock struct {
	virtualClock
	delay time.Duration
}

func (c delayedTimerClock) Timer(d time.Duration) (fired <-chan time.Time, stop func() bool) {
	return c.virtualClock.Timer(d + c.delay)
}

// A bid at the deadline counts, and a later one does not, even if the auction's timer is late.
func TestAuctionDeadlineIsExact(t *testing.T) {
	tests := []struct {
		name  string
		offer bidReply
		busy  time.Duration // delay of the timers
		want  string
		took  time.Duration
	}{
		{"at once", bids("10"), 0, "10 blue:won", 0},
		{"just before", bids("10").after(2000*ms - 1), 0, "10 blue:won", 2000*ms - 1},
		{"at the deadline", bids("10").after(2000 * ms), 0, "10 blue:won", 2000 * ms},
		{"a millisecond after", bids("10").ignoringDeadline(2001 * ms), 0, "timeout blue:timeout", 2000*ms + 1},
		{"a millisecond after, noticed", bids("10").ignoringDeadline(2001 * ms), 10 * ms, "timeout blue:late", 2001 * ms},
		{"a no-bid after, noticed", noBid.ignoringDeadline(2001 * ms), 10 * ms, "no_bid blue:no_bid", 2001 * ms},
		{"much later", bids("10").ignoringDeadline(time.Minute), 0, "timeout blue:timeout", 2000*ms + 1},
		{"never", neverBids, 0, "timeout blue:timeout", 2000 * ms},
	}
	for _, test := range tests {
		runInVirtualTime(t, test.name, func(t *testing.T) {
			x := newExchange(t, auctionMarket("blue"), func(o *engine.Options) { o.Clock = delayedTimerClock{delay: test.busy} })
			x.buyers.scriptBids("blue", test.offer)
			p := x.startPing(supplierPing(1))
			if got := p.wait() + " " + x.auctionOutcomes(); got != test.want || p.took != test.took {
				t.Errorf("%s after %s, want %s after %s", got, p.took, test.want, test.took)
			}
			time.Sleep(2 * time.Minute)
		})
	}
}

// The deadline is the earliest of the campaign's timeout, the caller's minus 50 ms, and the
// ceiling minus the reserve for the post: PingReserve in a ping, PostReserve in an ingest. Buyers
// get it as expires_at.
func TestAuctionDeadlineLimits(t *testing.T) {
	tests := []struct {
		name    string
		timeout time.Duration
		reserve time.Duration // PostReserve of an ingest, else PingReserve; zero: the default
		expires time.Duration // of the ping, from its arrival; negative: none
		ingest  bool
		want    time.Duration
	}{
		{"the campaign's", 2 * time.Second, 0, -1, false, 2000 * ms},
		{"a long one", 5 * time.Second, 0, -1, false, 4500 * ms},
		{"less a long reserve", 5 * time.Second, 3200 * ms, -1, false, 1800 * ms},
		{"less a short reserve", 5 * time.Second, 100 * ms, -1, false, 4900 * ms},
		{"a reserve within the margin", 5 * time.Second, 20 * ms, -1, false, 4950 * ms},
		{"the caller's", 2 * time.Second, 0, 1000 * ms, false, 950 * ms},
		{"the caller's, far off", 5 * time.Second, 0, time.Hour, false, 4500 * ms},
		{"the caller's, before the reserve", 5 * time.Second, 0, 4540 * ms, false, 4490 * ms},
		{"the caller's, within the reserve", 5 * time.Second, 0, 4600 * ms, false, 4500 * ms},
		{"the caller's, near", 2 * time.Second, 0, 51 * ms, false, 1 * ms},
		{"the caller's, at the margin", 2 * time.Second, 0, 50 * ms, false, 0},
		{"the caller's, within the margin", 2 * time.Second, 0, 20 * ms, false, 0},
		{"an ingest's", 2 * time.Second, 0, -1, true, 2000 * ms},
		{"less what the post needs", 5 * time.Second, 0, -1, true, 4000 * ms},
		{"less what a slow post needs", 5 * time.Second, 3500 * ms, -1, true, 1500 * ms},
	}
	for _, test := range tests {
		runInVirtualTime(t, test.name, func(t *testing.T) {
			r := auctionMarket("blue", "gold")
			r.campaigns[0].timeout, r.campaigns[0].postReserve, r.campaigns[0].pingReserve = test.timeout, 0, test.reserve
			if test.ingest {
				r.campaigns[0].postReserve, r.campaigns[0].pingReserve = test.reserve, 0
			}
			x := newExchange(t, r)
			x.buyers.scriptBids("blue", neverBids)
			x.buyers.scriptBids("gold", noBid)
			start, want := time.Now(), "no_bid"
			if test.ingest {
				expectEqual(t, x.ingestResult(leadRequest(1)), want)
			} else {
				request := supplierPing(1)
				if test.expires >= 0 {
					zone := time.FixedZone("", 5*3600)
					request = supplierPing(1, "expires_at", start.Add(test.expires).In(zone).Format(time.RFC3339Nano))
				}
				if test.want == 0 {
					want = "timeout"
				}
				expectEqual(t, describePing(x.ping(request)), want)
			}
			expectEqual(t, time.Since(start), test.want, "duration")
			for _, p := range x.buyers.pings {
				expectEqual(t, p.expires.Sub(start), test.want, p.buyer, ": expires_at in the ping")
			}
			if asked := len(x.buyers.pings); (asked == 0) != (test.want == 0) {
				t.Errorf("%d pings", asked)
			}
		})
	}
}

// If a buyer hangs, the supplier gets the answer while the best bid is still valid, and can sell
// at it. The same holds for an availability ping and an ingest for the chosen buyer.
func TestHangingBuyerLeavesTimeForPost(t *testing.T) {
	r := auctionMarket("blue", "gold")
	r.campaigns[0].timeout = 5 * time.Second
	runWithExchange(t, "", r, func(t *testing.T, x *testExchange) {
		x.buyers.scriptBids("blue", bids("10"))
		x.buyers.scriptBids("gold", neverBids)
		for n, wait := range []time.Duration{80 * ms, 499 * ms} {
			start := time.Now()
			quote := x.pingAuction(supplierPing(n))
			expectEqual(t, time.Since(start), 4500*ms, "the time of the ping")
			time.Sleep(wait)
			expectEqual(t, x.saleResult(postFor(n, quote)), "blue theirs 10", "a post ", wait, " after the answer")
		}
		offer := x.availabilityAuction(availabilityRequest())
		time.Sleep(80 * ms)
		expectEqual(t, x.ingestResult(leadForBuyer(3, offer, "blue")), "blue", "an ingest 80ms after the answer")
	})
}
