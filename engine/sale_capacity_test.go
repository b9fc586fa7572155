package engine_test

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"pingpost/engine"
	"pingpost/engine/market"
)

// If caps or funds were used after the ping, the bid has expired: no event, no key used.
// A post waits only for reservations that are not yet durable.
func TestPostAfterCapOrFundsWereUsed(t *testing.T) {
	tests := []struct {
		name   string
		change func(r *marketSpec)
	}{
		{"buyer's cap", func(r *marketSpec) { r.buyers[0].caps = []string{"day 1"} }},
		{"campaign's cap", func(r *marketSpec) { r.campaigns[0].caps = []string{"day 1"} }},
		{"filter set's cap in money", func(r *marketSpec) { r.campaigns[0].filterSets[0].caps = []string{"total $19.99"} }},
		{"buyer's funds", func(r *marketSpec) { r.buyers[0].funds = "19.999999" }},
	}
	for _, test := range tests {
		runInVirtualTime(t, test.name, func(t *testing.T) {
			r := twoBidders()
			test.change(&r)
			x := newExchange(t, r)
			a, b := x.pingAuction(supplierPing(1)), x.pingAuction(supplierPing(2))
			expectEqual(t, x.saleResult(postFor(1, a)), soldToBlue)
			entries := x.log.len()
			p := postFor(2, b)
			if got := x.saleResult(p); got != "bid_expired" || x.log.len() != entries {
				t.Errorf("got %s and %d log entries, want bid_expired and none", got, x.log.len()-entries)
			}
			p.supplierLeadID = "the key is free"
			expectEqual(t, x.saleResult(p), "bid_expired", "another body with the same key")
			expectEqual(t, x.saleResult(postFor(2, b).withKey("x")), "bid_expired", "the same lead with another key")
		})
		runInVirtualTime(t, test.name+", released", func(t *testing.T) {
			r := twoBidders()
			test.change(&r)
			x := newExchange(t, r)
			x.buyers.replyTo = func(p *receivedPost) postReply {
				if p.person == phoneOf(1) {
					return refuses.after(time.Second)
				}
				return accepts
			}
			a, b := x.pingAuction(supplierPing(1)), x.pingAuction(supplierPing(2))
			first := x.startSale(postFor(1, a))
			synctest.Wait() // its intent is durable: cap and funds are used
			expectEqual(t, x.saleResult(postFor(2, b)), "bid_expired", "while the first is delivered")
			first.wait()
			expectEqual(t, x.saleResult(postFor(2, b)), soldToBlue, "after the first was refused")
		})
		runInVirtualTime(t, test.name+", only reserved", func(t *testing.T) {
			r := twoBidders()
			test.change(&r)
			x := newExchange(t, r)
			a, b := x.pingAuction(supplierPing(1)), x.pingAuction(supplierPing(2))
			x.log.setSyncTime(time.Second)
			first := x.startSale(postFor(1, a))
			synctest.Wait()
			second := x.startSale(postFor(2, b))
			if got := second.wait(); got != "bid_expired" || second.took != time.Second {
				t.Errorf("got %s after %s, want bid_expired after 1s", got, second.took)
			}
			first.wait()
		})
	}
}

// A post that waits for another one's reservation until its ceiling is not logged.
func TestPostTimesOutBehindReservation(t *testing.T) {
	runWithExchange(t, "", twoBidders(), func(t *testing.T, x *testExchange) {
		a, b := x.pingAuction(supplierPing(1)), x.pingAuction(supplierPing(2))
		entries := x.log.len()
		x.log.setSyncTime(7 * time.Second)
		first := x.startSale(postFor(1, a))
		synctest.Wait()
		for name, s := range map[string]*saleCall{
			"the same post": x.startSale(postFor(1, a)), "another lead with the same bid": x.startSale(postFor(2, a)), "the same lead with another bid": x.startSale(postFor(1, b).withKey("b")),
		} {
			<-s.done
			if !errors.Is(s.err, engine.ErrUnavailable) || s.took != 5*time.Second || x.log.len() != entries {
				t.Errorf("%s: error %v after %s, want unavailable after 5s", name, s.err, s.took)
			}
		}
		x.log.setSyncTime(0)
		first.wait()
		time.Sleep(time.Minute)
	})
}

func TestBidExpiresWhilePostWaits(t *testing.T) {
	tests := []struct {
		name       string
		duplicates market.DuplicateRule
		first      func(long, short auctionInfo) postInput // is refused after three seconds
		second     func(short auctionInfo) postInput
	}{
		{"wait for the auction", anyOf, func(_, short auctionInfo) postInput { return postFor(1, short) }, func(short auctionInfo) postInput { return postFor(2, short) }},
		{"wait for a duplicate", anyOf, func(long, _ auctionInfo) postInput { return postFor(1, long) }, func(short auctionInfo) postInput { return postFor(1, short).withKey("b") }},
		{"wait for a duplicate at the buyer", byBuyer, func(long, _ auctionInfo) postInput { return postFor(1, long) }, func(short auctionInfo) postInput { return postFor(1, short).withKey("b") }},
	}
	for _, test := range tests {
		runInVirtualTime(t, test.name, func(t *testing.T) {
			r := twoBidders()
			r.campaigns[0].duplicates = test.duplicates
			x := newExchange(t, r)
			x.buyers.scriptBids("blue", bids("10"), bids("10").validFor(2*time.Second))
			x.buyers.scriptPosts("blue", refuses.after(3*time.Second))
			long, short := x.pingAuction(supplierPing(1)), x.pingAuction(supplierPing(2))
			first := x.startSale(test.first(long, short))
			synctest.Wait()
			s := x.startSale(test.second(short))
			if got := s.wait(); got != "bid_expired" || s.took != 3*time.Second {
				t.Errorf("got %s after %s, want bid_expired after 3s", got, s.took)
			}
			first.wait()
		})
	}
}
