package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"strconv"
	"time"

	"pingpost/config"
	"pingpost/engine"
	"pingpost/engine/market"
	"pingpost/engine/state"
	"pingpost/internal/strictjson"
)

// pingMemory weighs pings that end before a buyer is asked: one that its campaign's
// filter rejects, and one without a campaign.
func (b *bench) pingMemory() (rows []row, err error) {
	for _, kind := range []struct {
		vertical, what, goal string
		most                 float64
		figure               figure
	}{
		{"auto", "a ping with an idempotency key and a campaign", "130 bytes or fewer", 130, figurePingMemory},
		{"boats", "a ping with an idempotency key and no campaign (no_campaign)", "65 bytes or fewer", 65, figureNoCampaignMemory},
	} {
		spec := pingMemorySpec{Vertical: kind.vertical, memorySpec: memorySpec{Smallest: b.size.smallest, Largest: b.size.largest}}
		var weighed memoryResult
		if err := child(b.ctx, nil, nil, "role-ping-memory", spec, &weighed); err != nil {
			return nil, err
		}
		each := series(weighed.PerLead)
		rows = append(rows, row{
			what: fmt.Sprintf("hot memory of %s at 100/s, kept for ping_idempotency, %d to %d pings",
				kind.what, weighed.Leads[0], weighed.Leads[len(weighed.Leads)-1]),
			measured: fmt.Sprintf("%.0f bytes", each.median()), spread: each.spread("%.0f"),
			goal: kind.goal, verdict: atMost(each.median(), kind.most, kind.most),
			figure: kind.figure, value: each.median(),
		})
	}
	return rows, nil
}

// pingMemorySpec says of which vertical the pings are, and how many.
type pingMemorySpec struct {
	memorySpec
	Vertical string
}

// pingsMarket has one auction whose filter rejects every ping here.
const pingsMarket = `{"data_dir": "unused",
"suppliers": [{"id": "sup"}], "buyers": [{"id": "buy", "endpoint": "https://buyer.example"}],
"campaigns": [{"id": "cmp", "method": "ping_post", "vertical": "auto", "floor": 1,
"filters": [{"field": "state", "in": ["NY"]}], "buyers": [{"buyer": "buy"}]}]}`

// pingsApart is the time between two pings: the default ping_rate.
const pingsApart = 10 * time.Millisecond

// weighPings has an engine answer pings and looks at the live heap at each step.
func weighPings(spec *pingMemorySpec) (*memoryResult, error) {
	source, err := config.Parse("market.json", []byte(pingsMarket), nil)
	if err != nil {
		return nil, err
	}
	built, err := source.Compile()
	if err != nil {
		return nil, err
	}
	chance := rand.New(rand.NewPCG(1, 2))
	m := &memoryOnly{now: time.Now().UnixNano()}
	e := engine.New(engine.Options{
		State: state.New(), Log: m, History: m, Clock: m,
		Entropy: func(p []byte) {
			for i := range p {
				p[i] = byte(chance.Uint64())
			}
		},
	})
	if err := e.Configure(engine.Configuration{Catalog: built.Catalog, Document: "market"}); err != nil {
		return nil, err
	}
	supplier := built.Catalog.Suppliers["sup"]
	if err := pingOnce(e, m, supplier, spec.Vertical, 0); err != nil {
		return nil, err
	}
	empty := liveHeap()
	result := new(memoryResult)
	for n, next := 1, spec.Smallest; next <= spec.Largest; next += next / 8 {
		for ; n < next; n++ {
			if err := pingOnce(e, m, supplier, spec.Vertical, n); err != nil {
				return nil, err
			}
		}
		result.Leads = append(result.Leads, n)
		result.PerLead = append(result.PerLead, float64(liveHeap()-empty)/float64(n))
	}
	return result, nil
}

// pingOnce sends ping n, which must end without a bid.
func pingOnce(e *engine.Engine, m *memoryOnly, supplier *market.Supplier, vertical string, n int) error {
	m.now += int64(pingsApart)
	number := strconv.Itoa(n)
	body, err := json.Marshal(map[string]any{
		"auction_id": "auction-" + number, "vertical": vertical, "state": "CA", "tcpa_consent": true,
	})
	if err != nil {
		return err
	}
	var object strictjson.Object
	if err := object.Parse(body); err != nil {
		return err
	}
	answer, err := e.Ping(&engine.PingRequest{
		Supplier: supplier, Members: object.Members(), Body: body, Key: []byte("key-" + number),
		Request: e.NewRequestID(), Received: m.now,
	})
	if err != nil {
		return err
	}
	if want := map[string]market.Reason{"auto": market.ReasonFiltered, "boats": market.ReasonNoCampaign}[vertical]; answer.Reason != want {
		return fmt.Errorf("ping %d was answered %s, not %s", n, answer.Reason, want)
	}
	return nil
}

// memoryOnly is a log that keeps nothing, and a clock that stands until it is set.
type memoryOnly struct {
	now int64
	seq uint64
}

// Append commits the entry at once.
func (m *memoryOnly) Append(_ []byte, w engine.Waiter) error {
	m.seq++
	w.Committed(m.seq, m.now)
	return nil
}

// At has no entry: no ping here is a repeat.
func (m *memoryOnly) At(uint64) ([]byte, error) { return nil, errors.New("nothing is kept here") }

// Now returns the time that was set.
func (m *memoryOnly) Now() int64 { return m.now }

// Timer returns a timer of real time.
func (m *memoryOnly) Timer(d time.Duration) (fired <-chan time.Time, stop func() bool) {
	timer := time.NewTimer(d)
	return timer.C, timer.Stop
}
