package engine_test

import (
	"sync/atomic"
	"testing"
	"time"

	"pingpost/engine"
	"pingpost/engine/auction"
	"pingpost/engine/market"
)

// panickingObserver panics once, in the method named by next.
type panickingObserver struct {
	engine.Observer
	next *atomic.Pointer[string]
}

func (o panickingObserver) panicIn(method string) {
	if next := o.next.Load(); next != nil && *next == method {
		o.next.Store(nil)
		panic("a bug, for the test")
	}
}

func (o panickingObserver) AuctionHeldOrSkipped(c *market.Campaign, s *market.Supplier, h *auction.AuctionOutcomeSummary) {
	o.panicIn("AuctionHeld")
	o.Observer.AuctionHeldOrSkipped(c, s, h)
}

func (o panickingObserver) PostAttempted(buyer string, r *market.BuyerPostResult) {
	o.panicIn("PostAttempted")
	o.Observer.PostAttempted(buyer, r)
}

// panics reports whether the call panics.
func panics(call func()) (panicked bool) {
	defer func() { panicked = recover() != nil }()
	call()
	return false
}

// After a panic, the same request can be repeated and the exchange can be stopped. An
// intent without an outcome is delivered after the next start; until then the duplicate
// values of its lead stay claimed.
func TestPanicLeavesNoReservations(t *testing.T) {
	var ping auctionInfo
	tests := []struct {
		name, panicIn string
		call          func(x *testExchange) string
		again         string
	}{
		{"ping", "AuctionHeld", func(x *testExchange) string { return describePing(x.ping(supplierPing(2))) }, "8"},
		{"availability ping", "AuctionHeld", func(x *testExchange) string {
			return describePing(x.requestAvailability(availabilityRequest().withKey("q")))
		}, "blue:8 gold:4.8"},
		{"ingest with an auction", "AuctionHeld", func(x *testExchange) string { return x.ingestResult(leadRequest(1).withKey("k")) }, "blue"},
		{"delivery of an ingested lead", "PostAttempted", func(x *testExchange) string { return x.ingestResult(leadRequest(1).withKey("k")) }, "error: " + engine.ErrUnavailable.Error()},
		{"delivery of a post", "PostAttempted", func(x *testExchange) string { return x.saleResult(postFor(1, ping)) }, "buyer_unavailable"},
	}
	for _, test := range tests {
		runInVirtualTime(t, test.name, func(t *testing.T) {
			var next atomic.Pointer[string]
			x := newExchange(t, twoBidders(), func(o *engine.Options) { o.Observer = panickingObserver{o.Observer, &next} })
			ping = x.pingAuction(supplierPing(1))
			next.Store(&test.panicIn)
			if !panics(func() { t.Error(test.call(x)) }) {
				t.Fatal("the request did not panic")
			}
			want := int64(0)
			if test.panicIn == "PostAttempted" {
				want = 2 // the duplicate claims of phone and email: blue may have the lead
			}
			if reserved, open := x.state.ReservationCount(), x.engine.OpenAuctions(); reserved != want || open != 0 {
				t.Errorf("%d reservations and %d open auctions, want %d and 0", reserved, open, want)
			}
			expectEqual(t, test.call(x), test.again, "the same request again")
			if test.panicIn == "PostAttempted" {
				if got := x.ingestResult(leadRequest(1).withKey("another")); got == "blue" || got == "gold" {
					t.Errorf("lead with the same contact data sold to %s, but blue may have the first lead", got)
				}
			}
			x.crashAndRestart()
			time.Sleep(time.Minute)
			if test.panicIn == "PostAttempted" {
				if got := test.call(x); got != "blue" && got != "blue theirs 8" {
					t.Errorf("the same request after a restart: got %s, want a sale to blue", got)
				}
			}
		})
	}
}

// panickingSender panics once, after it has posted a lead.
type panickingSender struct {
	engine.BuyerSender
	panicked *atomic.Bool
}

func (s panickingSender) Post(req *market.BuyerPostRequest) market.BuyerPostResult {
	result := s.BuyerSender.Post(req)
	if s.panicked.CompareAndSwap(false, true) {
		panic("a bug, for the test")
	}
	return result
}

// A post that panics may have reached the buyer, so it is repeated with the same key.
func TestPanicAfterPostIsRetried(t *testing.T) {
	runInVirtualTime(t, "", func(t *testing.T) {
		x := newExchange(t, twoBidders(), func(o *engine.Options) { o.Buyers = panickingSender{o.Buyers, new(atomic.Bool)} })
		expectEqual(t, x.saleResult(postFor(1, x.pingAuction(supplierPing(1)))), "blue theirs 8")
		expectEqual(t, x.observed.faults.Load(), 1, "reported faults")
		if got := x.buyers.postAttempts(); len(got) != 2 || got[1] != "blue@1s" {
			t.Errorf("attempts %v, want two, the second blue@1s", got)
		}
	})
}
