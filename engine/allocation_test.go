//go:build !race

package engine_test

import (
	"fmt"
	"testing"
	"time"

	"pingpost/engine"
	"pingpost/engine/market"
)

// instantLog commits in Append and does not store the entry.
type instantLog struct{ seq uint64 }

func (l *instantLog) Append(_ []byte, w engine.CommitWaiter) error {
	l.seq++
	w.Committed(l.seq, time.Now().UnixNano())
	return nil
}

// typicalMarket returns a campaign with caps, funds, filters, states, a list and duplicates.
func typicalMarket(method market.BuyerSelectionMethod) marketSpec {
	one := "1"
	r := marketSpec{
		lists: []list{{id: "dnc", field: market.ListPhone, hash: market.HashSHA256}},
		campaigns: []campaign{{
			method: method, payout: "0.8", duplicates: anyOf, suppress: []string{"dnc"}, consent: []string{"facebook"},
			filters: []market.FilterSpec{{Field: "vehicles", Min: &one}}, caps: []string{"day 1000000"},
		}},
	}
	for i := range 8 {
		id := fmt.Sprintf("b%d", i)
		r.buyers = append(r.buyers, buyer{id: id, funds: "900000", caps: []string{"day 100000", "month $900000"}, schedule: "UTC Mon-Sun 00:00-23:59"})
		r.campaigns[0].filterSets = append(r.campaigns[0].filterSets, filterSet{
			buyer: id, price: "0.01", states: "CA NV", weight: 1 + i, caps: []string{"hour 90000"},
			filters: []market.FilterSpec{{Field: "owns_home", In: []string{"true"}}},
		})
	}
	return r
}

// ingester returns a function that ingests a new lead at each call.
func ingester(t testing.TB, r marketSpec, keyed bool) func() {
	x := &testExchange{t: t, market: r, log: newMemoryLog(t), buyers: newFakeBuyers(t)}
	x.setOptions = func(opt *engine.Options) { opt.Log = new(instantLog) }
	x.startProcess()
	x.configure(r)
	t.Cleanup(x.log.close)
	const people = 6000
	requests := make([]engine.IngestRequest, people)
	for i := range requests {
		p := leadRequest(i, "vehicles", "#2", "homeowner", "#true", "zip", "94110", "source", "search", "tcpa_consent", "#true",
			"consent_cert_url", "https://cert.example/1", "city", "San Francisco", "line1", "1 Main St")
		requests[i] = engine.IngestRequest{
			Supplier: x.engine.ActiveCatalogOrNil().Suppliers["acme"], Members: p.members, Body: p.body, Request: market.RequestID{1, byte(i)},
			Received: time.Now().UnixNano(),
		}
		if keyed {
			requests[i].Key = fmt.Appendf(nil, "key-%d", i)
		}
	}
	next := 0
	return func() {
		answer, err := x.engine.Ingest(&requests[next])
		next++
		if err != nil || !answer.Accepted {
			t.Fatalf("%d: %s", next, describeIngest(answer, err))
		}
	}
}

// sealAllocations is the number of allocations for ChaCha20-Poly1305 with the lead's own key.
const sealAllocations = 2

// The limit includes the growth of the tables in memory.
func TestIngestAllocations(t *testing.T) {
	for _, method := range []market.BuyerSelectionMethod{market.Waterfall, market.RoundRobin, market.Weighted} {
		for _, keyed := range []bool{false, true} {
			send := ingester(t, typicalMarket(method), keyed)
			for range 3000 { // shards fill and grow at first
				send()
			}
			n := testing.AllocsPerRun(2000, send)
			t.Logf("%s, keyed=%v: %.0f allocations", method, keyed, n)
			if n > 2+sealAllocations {
				t.Errorf("%s, keyed=%v: %.0f allocations", method, keyed, n)
			}
		}
	}
}

// A webhook allocates its entries in the cache and the outbox.
func TestIngestWithWebhookAllocations(t *testing.T) {
	send := ingester(t, withWebhooks(typicalMarket(market.Waterfall)), false)
	for range 3000 {
		send()
	}
	if n := testing.AllocsPerRun(2000, send); n > 3+sealAllocations {
		t.Errorf("%.0f allocations", n)
	}
}

// instantBuyers answer immediately and do not store the request.
type instantBuyers struct{}

func (instantBuyers) Post(*market.BuyerPostRequest) market.BuyerPostResult { return accepts.result }
func (instantBuyers) Ping(*market.BuyerPingRequest) market.BuyerPingResult {
	return market.BuyerPingResult{Status: 200, Bid: market.Bid{Amount: 1_000_000, Token: "token"}}
}

// pinger returns a function that runs an auction among the buyers at each call.
func pinger(t testing.TB, buyers, auctions int) func() {
	r := typicalMarket(market.PingPost)
	r.buyers, r.campaigns[0].filterSets, r.campaigns[0].filters = nil, nil, nil
	for i := range buyers {
		id := fmt.Sprintf("b%d", i)
		r.buyers = append(r.buyers, buyer{id: id, pingEndpoint: true, postEndpoint: true, funds: "900000", caps: []string{"day 100000"}})
		r.campaigns[0].filterSets = append(r.campaigns[0].filterSets, filterSet{buyer: id, states: "CA NV"})
	}
	x := &testExchange{t: t, market: r, log: newMemoryLog(t), buyers: newFakeBuyers(t)}
	x.setOptions = func(opt *engine.Options) { opt.Log, opt.Buyers, opt.Observer = new(instantLog), instantBuyers{}, nil }
	x.startProcess()
	x.configure(r)
	t.Cleanup(x.log.close)
	requests := make([]*engine.SupplierPingRequest, auctions)
	for i := range requests {
		requests[i] = x.pingRequest(supplierPing(i, "zip3", "941", "source", "search"))
	}
	next := 0
	return func() {
		requests[next].Received = time.Now().UnixNano()
		answer, err := x.engine.PingForBestBid(requests[next])
		next++
		if err != nil || !answer.Bid {
			t.Fatalf("%d: %s", next, describePing(answer, err))
		}
	}
}

// An auction allocates a timer, a few texts, and the cached copy for the post. The number does
// not grow with the buyers.
func TestAuctionAllocations(t *testing.T) {
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
