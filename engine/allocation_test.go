//go:build !race

package engine_test

import (
	"fmt"
	"testing"
	"time"

	"pingpost/engine"
	"pingpost/engine/market"
)

// instantLog commits where it is told to, and keeps nothing.
type instantLog struct{ seq uint64 }

func (l *instantLog) Append(_ []byte, w engine.CommitWaiter) error {
	l.seq++
	w.Committed(l.seq, time.Now().UnixNano())
	return nil
}

// typical is a campaign as it is in use: caps, money, filters, states, a list,
// duplicates, turns, and a lead with a dozen fields.
func typical(method market.BuyerSelectionMethod) rig {
	one := "1"
	r := rig{
		lists: []list{{id: "dnc", field: market.ListPhone, hash: market.HashSHA256}},
		campaigns: []campaign{{
			method: method, payout: "0.8", duplicates: anyOf, suppress: []string{"dnc"}, consent: []string{"facebook"},
			filters: []market.FilterSpec{{Field: "vehicles", Min: &one}}, caps: []string{"day 1000000"},
		}},
	}
	for i := range 8 {
		id := fmt.Sprintf("b%d", i)
		r.buyers = append(r.buyers, buyer{id: id, funds: "900000", caps: []string{"day 100000", "month $900000"}, schedule: "UTC Mon-Sun 00:00-23:59"})
		r.campaigns[0].seats = append(r.campaigns[0].seats, seat{
			buyer: id, price: "0.01", states: "CA NV", weight: 1 + i, caps: []string{"hour 90000"},
			filters: []market.FilterSpec{{Field: "owns_home", In: []string{"true"}}},
		})
	}
	return r
}

// sender ingests a new person each time it is called.
func sender(t testing.TB, r rig, keyed bool) func() {
	x := &exchange{t: t, rig: r, log: newMemoryLog(t), world: newWorld(t)}
	x.tune = func(opt *engine.Options) { opt.Log = new(instantLog) }
	x.start()
	x.configure(r)
	t.Cleanup(x.log.close)
	const people = 6000
	requests := make([]engine.IngestRequest, people)
	for i := range requests {
		p := person(i, "vehicles", "#2", "homeowner", "#true", "zip", "94110", "source", "search", "tcpa_consent", "#true",
			"consent_cert_url", "https://cert.example/1", "city", "San Francisco", "line1", "1 Main St")
		requests[i] = engine.IngestRequest{
			Supplier: x.engine.ActiveCatalog().Suppliers["acme"], Members: p.members, Body: p.body, Request: market.RequestID{1, byte(i)},
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
			t.Fatalf("%d: %s", next, said(answer, err))
		}
	}
}

// toSeal is what the library allocates for AES-GCM under a key of the lead's own.
const toSeal = 2

// What an accepted lead allocates inside the engine, memory's own growth
// included.
func TestAllocationsOfAnIngest(t *testing.T) {
	for _, method := range []market.BuyerSelectionMethod{market.Waterfall, market.RoundRobin, market.Weighted} {
		for _, keyed := range []bool{false, true} {
			send := sender(t, typical(method), keyed)
			for range 3000 { // shards fill and grow at first
				send()
			}
			n := testing.AllocsPerRun(2000, send)
			t.Logf("%s, keyed=%v: %.0f allocations", method, keyed, n)
			if n > 2+toSeal {
				t.Errorf("%s, keyed=%v: %.0f allocations", method, keyed, n)
			}
		}
	}
}

// A supplier with a webhook costs its event's place in the cache and in the outbox.
func TestAllocationsOfAnIngestThatIsTold(t *testing.T) {
	send := sender(t, hooked(typical(market.Waterfall)), false)
	for range 3000 {
		send()
	}
	if n := testing.AllocsPerRun(2000, send); n > 3+toSeal {
		t.Errorf("%.0f allocations", n)
	}
}
