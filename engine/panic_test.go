package engine_test

import (
	"sync/atomic"
	"testing"
	"time"

	"pingpost/engine"
	"pingpost/engine/auction"
	"pingpost/engine/market"
)

// touchy notes nothing of one kind, but panics.
type touchy struct {
	engine.Observer
	at *atomic.Pointer[string]
}

func (n touchy) trip(at string) {
	if on := n.at.Load(); on != nil && *on == at {
		n.at.Store(nil)
		panic("a bug, for the test's sake")
	}
}

func (n touchy) AuctionHeld(c *market.Campaign, s *market.Supplier, h *auction.AuctionSummary) {
	n.trip("an auction is noted")
	n.Observer.AuctionHeld(c, s, h)
}

func (n touchy) PostAttempted(buyer string, r *market.PostResult) {
	n.trip("a post is noted")
	n.Observer.PostAttempted(buyer, r)
}

// survived tells whether a call panicked, as the server finds out.
func survived(call func()) (panicked bool) {
	defer func() { panicked = recover() != nil }()
	call()
	return false
}

// A request that panics leaves no reservation, the same request can come again, and the
// exchange can be stopped. The next start takes up an intent that it leaves. Until then
// the values of the lead's duplicates stay claimed.
func TestAPanicReservesNothing(t *testing.T) {
	var ping told
	tests := []struct {
		what, at string
		call     func(x *exchange) string
		again    string
	}{
		{"a ping", "an auction is noted", func(x *exchange) string { return heard(x.ping(inquiry(2))) }, "8"},
		{"a question who buys", "an auction is noted", func(x *exchange) string { return heard(x.available(availability().withKey("q"))) }, "blue:8 gold:4.8"},
		{"a lead with an auction", "an auction is noted", func(x *exchange) string { return x.tell(person(1).withKey("k")) }, "blue"},
		{"a lead on its way", "a post is noted", func(x *exchange) string { return x.tell(person(1).withKey("k")) }, "error: " + engine.ErrUnavailable.Error()},
		{"a post on its way", "a post is noted", func(x *exchange) string { return x.posted(postOf(1, ping)) }, "buyer_unavailable"},
	}
	for _, test := range tests {
		bubble(t, test.what, func(t *testing.T) {
			var at atomic.Pointer[string]
			x := begin(t, bidders(), func(o *engine.Options) { o.Observer = touchy{o.Observer, &at} })
			ping = x.quoted(inquiry(1))
			at.Store(&test.at)
			if !survived(func() { t.Error(test.call(x)) }) {
				t.Fatal("nothing went wrong")
			}
			want := int64(0)
			if test.at == "a post is noted" {
				want = 2 // the phone and the e-mail address of a person whom blue may have
			}
			if held, open := x.state.ReservationCount(), x.engine.OpenAuctions(); held != want || open != 0 {
				t.Errorf("%d reservations and %d auctions are left", held, open)
			}
			expectEqual(t, test.call(x), test.again, "again")
			if test.at == "a post is noted" {
				if got := x.tell(person(1).withKey("another")); got == "blue" || got == "gold" {
					t.Errorf("the same person is sold to %s, and blue may have the lead", got)
				}
			}
			x.crash()
			time.Sleep(time.Minute)
			if test.at == "a post is noted" {
				if got := test.call(x); got != "blue" && got != "blue theirs 8" {
					t.Errorf("after the next start: %s", got)
				}
			}
		})
	}
}

// clumsy speaks to buyers and stumbles over the first answer.
type clumsy struct {
	engine.BuyerSender
	stumbled *atomic.Bool
}

func (c clumsy) Post(req *market.PostRequest) market.PostResult {
	result := c.BuyerSender.Post(req)
	if c.stumbled.CompareAndSwap(false, true) {
		panic("a bug, for the test's sake")
	}
	return result
}

// A post that goes wrong in our own house may have reached the buyer: it is made
// again there, under the same key, and what happened is told.
func TestAPanicIsOneTry(t *testing.T) {
	bubble(t, "", func(t *testing.T) {
		x := begin(t, bidders(), func(o *engine.Options) { o.Buyers = clumsy{o.Buyers, new(atomic.Bool)} })
		expectEqual(t, x.posted(postOf(1, x.quoted(inquiry(1)))), "blue theirs 8")
		expectEqual(t, x.noted.faults.Load(), 1, "faults were told")
		if got := x.world.tried(); len(got) != 2 || got[1] != "blue@1s" {
			t.Errorf("tried %v", got)
		}
	})
}
