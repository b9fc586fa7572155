//go:build !race

package engine_test

import (
	"fmt"
	"testing"
	"time"

	"pingpost/engine"
	"pingpost/engine/market"
)

// instantBuyers answer in no time and keep nothing.
type instantBuyers struct{}

func (instantBuyers) Post(*market.PostRequest) market.PostResult { return accepts.result }
func (instantBuyers) Ping(*market.PingRequest) market.PingResult {
	return market.PingResult{Status: 200, Bid: market.Bid{Amount: 1_000_000, Token: "token"}}
}

// pinger holds an auction among so many buyers each time it is called.
func pinger(t testing.TB, buyers, auctions int) func() {
	r := typical(market.PingPost)
	r.buyers, r.campaigns[0].seats, r.campaigns[0].filters = nil, nil, nil
	for i := range buyers {
		id := fmt.Sprintf("b%d", i)
		r.buyers = append(r.buyers, buyer{id: id, pings: true, posts: true, funds: "900000", caps: []string{"day 100000"}})
		r.campaigns[0].seats = append(r.campaigns[0].seats, seat{buyer: id, states: "CA NV"})
	}
	x := &exchange{t: t, rig: r, log: newMemoryLog(t), world: newWorld(t)}
	x.tune = func(opt *engine.Options) { opt.Log, opt.Buyers, opt.Observer = new(instantLog), instantBuyers{}, nil }
	x.start()
	x.configure(r)
	t.Cleanup(x.log.close)
	requests := make([]*engine.SupplierPingRequest, auctions)
	for i := range requests {
		requests[i] = x.pingRequest(inquiry(i, "zip3", "941", "source", "search"))
	}
	next := 0
	return func() {
		requests[next].Received = time.Now().UnixNano()
		answer, err := x.engine.PingForBestBid(requests[next])
		next++
		if err != nil || !answer.Bid {
			t.Fatalf("%d: %s", next, heard(answer, err))
		}
	}
}

// What an auction allocates inside the engine does not grow with its buyers: a
// timer, a few texts, and the copy that is kept of it for the post.
func TestAllocationsOfAnAuction(t *testing.T) {
	for _, buyers := range []int{1, 8, 40} {
		ping := pinger(t, buyers, 3001)
		for range 1500 {
			ping()
		}
		n := testing.AllocsPerRun(1500, ping)
		t.Logf("%d buyers: %.0f allocations", buyers, n)
		if most := 9; n > float64(most) {
			t.Errorf("%d buyers: %.0f allocations, at most %d", buyers, n, most)
		}
	}
}
