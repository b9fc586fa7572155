package main

import (
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// bareHouse has buyers and bare servers, and no exchange.
func bareHouse(t *testing.T, delay time.Duration, sizes ...int) *house {
	t.Helper()
	b := unbuilt(t)
	h, err := b.settle(&houseSpec{sizes: sizes, delay: delay})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(h.end)
	if err := h.openBare(sizes); err != nil {
		t.Fatal(err)
	}
	return h
}

func TestTheBareServerAsksEveryBuyerInEveryAuction(t *testing.T) {
	h := bareHouse(t, 0, 1, 3)
	for _, n := range []int{1, 3} {
		before, err := h.b.ask(h.buyers)
		if err != nil {
			t.Fatal(err)
		}
		for name, spec := range map[string]sellerSpec{
			"closed":  {Lasting: 100 * time.Millisecond},
			"poisson": {Lasting: 200 * time.Millisecond, Rate: 100},
			"even":    {Lasting: 100 * time.Millisecond, Rate: 100, Even: true},
		} {
			from := h.next
			spec.Lines, spec.Vertical = 2, verticalOf(n)
			r, err := h.sell(h.bare[n], spec)
			if err != nil || r.Trouble != "" {
				t.Fatalf("%s: %v %s", name, err, r.Trouble)
			}
			if r.Done == 0 || r.Done > r.Sent || r.Bid.P50 <= 0 || r.Bid.P50 > r.Bid.P99 || r.Bid.P99 > r.Bid.Max || r.Objects <= 0 || r.Bytes <= 0 || r.Busy <= 0 {
				t.Errorf("%s: %+v", name, r)
			}
			if name == "even" && (r.Sent != 9 || r.Done != 9) {
				t.Errorf("%d of %d auctions in a tenth of a second at 100 a second", r.Done, r.Sent)
			}
			if h.next < from+r.Sent {
				t.Errorf("%s: %d auctions from %d on, and the next would be %d", name, r.Sent, from, h.next)
			}
		}
		after, err := h.b.ask(h.buyers)
		if err != nil {
			t.Fatal(err)
		}
		if pings := after.Pings - before.Pings; pings == 0 || pings%int64(n) != 0 {
			t.Errorf("%d pings to %d buyers", pings, n)
		}
	}
}

func TestASlowBuyerIsSeenInTheBid(t *testing.T) {
	const slow = 30 * time.Millisecond
	h := bareHouse(t, slow, 2)
	r, err := h.sell(h.bare[2], sellerSpec{Vertical: verticalOf(2), Lines: 2, Lasting: 200 * time.Millisecond, Rate: 50, Even: true})
	if err != nil || time.Duration(r.Bid.P50) < slow {
		t.Errorf("a bid took %s: %v", time.Duration(r.Bid.P50), err)
	}
}

func TestNoBidIsNoMeasurement(t *testing.T) {
	h := bareHouse(t, 0, 1)
	h.buyers.end()
	_, err := h.sell(h.bare[1], sellerSpec{Vertical: verticalOf(1), Lines: 1, Lasting: 50 * time.Millisecond})
	if err == nil || !strings.Contains(err.Error(), "nothing came of any auction") {
		t.Errorf("auctions without buyers: %v", err)
	}
}

func TestTheCatalogOfAuctionsIsTaken(t *testing.T) {
	built := compiled(t, auctionsOf([]string{"127.0.0.1:1001", "127.0.0.1:1002", "127.0.0.1:1003"}, []int{1, 3}, 0))
	if n := len(built.Catalog.Campaigns); n != 2 {
		t.Fatalf("%d campaigns", n)
	}
	for id, campaign := range built.Catalog.Campaigns {
		want := map[string]int{"cmp_bench_1": 1, "cmp_bench_3": 3}[string(id)]
		if len(campaign.Lineup) != want {
			t.Errorf("%s has %d seats, want %d", id, len(campaign.Lineup), want)
		}
	}
}

func TestAHouseWhoseExchangeDoesNotStartSaysWhy(t *testing.T) {
	b := unbuilt(t)
	b.exchange = filepath.Join(b.dir, "no-such-program")
	if h, err := b.openHouse(&houseSpec{name: "broken", sizes: []int{1}}); err == nil {
		h.end()
		t.Fatal("nothing was started, and it serves")
	} else if !strings.Contains(err.Error(), "no-such-program") {
		t.Error(err)
	}
}
