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
		what string
		rig  func(r *rig)
	}{
		{"the buyer's cap", func(r *rig) { r.buyers[0].caps = []string{"day 1"} }},
		{"the campaign's", func(r *rig) { r.campaigns[0].caps = []string{"day 1"} }},
		{"the pair's, in money, by the bid", func(r *rig) { r.campaigns[0].seats[0].caps = []string{"total $19.99"} }},
		{"the buyer's money", func(r *rig) { r.buyers[0].funds = "19.999999" }},
	}
	for _, test := range tests {
		bubble(t, test.what, func(t *testing.T) {
			r := bidders()
			test.rig(&r)
			x := begin(t, r)
			a, b := x.quoted(inquiry(1)), x.quoted(inquiry(2))
			expectEqual(t, x.posted(postOf(1, a)), taken)
			entries := x.log.len()
			p := postOf(2, b)
			if got := x.posted(p); got != "bid_expired" || x.log.len() != entries {
				t.Errorf("%s, %d entries", got, x.log.len()-entries)
			}
			p.own = "the key is free"
			expectEqual(t, x.posted(p), "bid_expired", "another body under the key")
			expectEqual(t, x.posted(postOf(2, b).withKey("x")), "bid_expired", "the values of the lead are not remembered")
		})
		bubble(t, test.what+", and comes back", func(t *testing.T) {
			r := bidders()
			test.rig(&r)
			x := begin(t, r)
			x.world.behave = func(p *post) reply {
				if p.person == phoneOf(1) {
					return refuses.in(time.Second)
				}
				return accepts
			}
			a, b := x.quoted(inquiry(1)), x.quoted(inquiry(2))
			first := x.goSell(postOf(1, a))
			synctest.Wait() // its intent is a fact: the room is taken
			expectEqual(t, x.posted(postOf(2, b)), "bid_expired", "while the first is under way")
			first.wait()
			expectEqual(t, x.posted(postOf(2, b)), taken, "after it was refused")
		})
		bubble(t, test.what+", and is only reserved", func(t *testing.T) {
			r := bidders()
			test.rig(&r)
			x := begin(t, r)
			a, b := x.quoted(inquiry(1)), x.quoted(inquiry(2))
			x.log.slow(time.Second)
			first := x.goSell(postOf(1, a))
			synctest.Wait()
			second := x.goSell(postOf(2, b))
			if got := second.wait(); got != "bid_expired" || second.took != time.Second {
				t.Errorf("%s after %s", got, second.took)
			}
			first.wait()
		})
	}
}

// A reservation that stays in the way to the ceiling is no fact: nothing is
// decided.
func TestPostBehindASlowLog(t *testing.T) {
	trading(t, "", bidders(), func(t *testing.T, x *exchange) {
		a, b := x.quoted(inquiry(1)), x.quoted(inquiry(2))
		entries := x.log.len()
		x.log.slow(7 * time.Second)
		first := x.goSell(postOf(1, a))
		synctest.Wait()
		for what, s := range map[string]*sale{
			"the same": x.goSell(postOf(1, a)), "for the same bid": x.goSell(postOf(2, a)), "of the same person": x.goSell(postOf(1, b).withKey("b")),
		} {
			<-s.done
			if !errors.Is(s.err, engine.ErrUnavailable) || s.took != 5*time.Second || x.log.len() != entries {
				t.Errorf("%s: %v after %s", what, s.err, s.took)
			}
		}
		x.log.slow(0)
		first.wait()
		time.Sleep(time.Minute)
	})
}

// What is waited for may come when the window is over, which stays over.
func TestWindowEndsWhileOthersAreWaitedFor(t *testing.T) {
	tests := []struct {
		what       string
		duplicates market.DuplicateRule
		first      func(long, short told) posting // is refused after three seconds
		second     func(short told) posting
	}{
		{"for the auction", anyOf, func(_, short told) posting { return postOf(1, short) }, func(short told) posting { return postOf(2, short) }},
		{"for a lead like it", anyOf, func(long, _ told) posting { return postOf(1, long) }, func(short told) posting { return postOf(1, short).withKey("b") }},
		{"for one at that buyer", byBuyer, func(long, _ told) posting { return postOf(1, long) }, func(short told) posting { return postOf(1, short).withKey("b") }},
	}
	for _, test := range tests {
		bubble(t, test.what, func(t *testing.T) {
			r := bidders()
			r.campaigns[0].duplicates = test.duplicates
			x := begin(t, r)
			x.world.offers("blue", bids("10"), bids("10").until(2*time.Second))
			x.world.script("blue", refuses.in(3*time.Second))
			long, short := x.quoted(inquiry(1)), x.quoted(inquiry(2))
			first := x.goSell(test.first(long, short))
			synctest.Wait()
			s := x.goSell(test.second(short))
			if got := s.wait(); got != "bid_expired" || s.took != 3*time.Second {
				t.Errorf("%s after %s", got, s.took)
			}
			first.wait()
		})
	}
}
