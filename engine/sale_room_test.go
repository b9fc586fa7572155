package engine_test

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"pingpost/engine"
	"pingpost/engine/market"
)

// Room that was there when the ping was answered and is gone by the post: nothing
// is logged and no key used. What only a request under way has taken is waited
// for.
func TestRoomIsGone(t *testing.T) {
	tests := []struct {
		name string
		rig  func(r *marketSpec)
	}{
		{"the buyer's cap", func(r *marketSpec) { r.buyers[0].caps = []string{"day 1"} }},
		{"the campaign's", func(r *marketSpec) { r.campaigns[0].caps = []string{"day 1"} }},
		{"the pair's, in money, by the bid", func(r *marketSpec) { r.campaigns[0].filterSets[0].caps = []string{"total $19.99"} }},
		{"the buyer's money", func(r *marketSpec) { r.buyers[0].funds = "19.999999" }},
	}
	for _, test := range tests {
		runInVirtualTime(t, test.name, func(t *testing.T) {
			r := twoBidders()
			test.rig(&r)
			x := newExchange(t, r)
			a, b := x.pingAuction(supplierPing(1)), x.pingAuction(supplierPing(2))
			expectEqual(t, x.saleResult(postFor(1, a)), soldToBlue)
			entries := x.log.len()
			p := postFor(2, b)
			if got := x.saleResult(p); got != "bid_expired" || x.log.len() != entries {
				t.Errorf("%s, %d entries", got, x.log.len()-entries)
			}
			p.supplierLeadID = "the key is free"
			expectEqual(t, x.saleResult(p), "bid_expired", "another body under the key")
			expectEqual(t, x.saleResult(postFor(2, b).withKey("x")), "bid_expired", "the values of the lead are not remembered")
		})
		runInVirtualTime(t, test.name+", and comes back", func(t *testing.T) {
			r := twoBidders()
			test.rig(&r)
			x := newExchange(t, r)
			x.buyers.replyTo = func(p *receivedPost) postReply {
				if p.person == phoneOf(1) {
					return refuses.after(time.Second)
				}
				return accepts
			}
			a, b := x.pingAuction(supplierPing(1)), x.pingAuction(supplierPing(2))
			first := x.startSale(postFor(1, a))
			synctest.Wait() // its intent is a event: the room is taken
			expectEqual(t, x.saleResult(postFor(2, b)), "bid_expired", "while the first is under way")
			first.wait()
			expectEqual(t, x.saleResult(postFor(2, b)), soldToBlue, "after it was refused")
		})
		runInVirtualTime(t, test.name+", and is only reserved", func(t *testing.T) {
			r := twoBidders()
			test.rig(&r)
			x := newExchange(t, r)
			a, b := x.pingAuction(supplierPing(1)), x.pingAuction(supplierPing(2))
			x.log.setSyncTime(time.Second)
			first := x.startSale(postFor(1, a))
			synctest.Wait()
			second := x.startSale(postFor(2, b))
			if got := second.wait(); got != "bid_expired" || second.took != time.Second {
				t.Errorf("%s after %s", got, second.took)
			}
			first.wait()
		})
	}
}

// A reservation that stays in the way to the ceiling is no event: nothing is
// decided.
func TestPostBehindASlowLog(t *testing.T) {
	runWithExchange(t, "", twoBidders(), func(t *testing.T, x *testExchange) {
		a, b := x.pingAuction(supplierPing(1)), x.pingAuction(supplierPing(2))
		entries := x.log.len()
		x.log.setSyncTime(7 * time.Second)
		first := x.startSale(postFor(1, a))
		synctest.Wait()
		for name, s := range map[string]*saleCall{
			"the same": x.startSale(postFor(1, a)), "for the same bid": x.startSale(postFor(2, a)), "of the same person": x.startSale(postFor(1, b).withKey("b")),
		} {
			<-s.done
			if !errors.Is(s.err, engine.ErrUnavailable) || s.took != 5*time.Second || x.log.len() != entries {
				t.Errorf("%s: %v after %s", name, s.err, s.took)
			}
		}
		x.log.setSyncTime(0)
		first.wait()
		time.Sleep(time.Minute)
	})
}

// What is waited for may come when the window is over, which stays over.
func TestWindowEndsWhileOthersAreWaitedFor(t *testing.T) {
	tests := []struct {
		name       string
		duplicates market.DuplicateRule
		first      func(long, short auctionInfo) postInput // is refused after three seconds
		second     func(short auctionInfo) postInput
	}{
		{"for the auction", anyOf, func(_, short auctionInfo) postInput { return postFor(1, short) }, func(short auctionInfo) postInput { return postFor(2, short) }},
		{"for a lead like it", anyOf, func(long, _ auctionInfo) postInput { return postFor(1, long) }, func(short auctionInfo) postInput { return postFor(1, short).withKey("b") }},
		{"for one at that buyer", byBuyer, func(long, _ auctionInfo) postInput { return postFor(1, long) }, func(short auctionInfo) postInput { return postFor(1, short).withKey("b") }},
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
				t.Errorf("%s after %s", got, s.took)
			}
			first.wait()
		})
	}
}
