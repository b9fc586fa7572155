package child

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

// PingMemorySpec is a MemorySpec with the vertical of the pings.
type PingMemorySpec struct {
	MemorySpec
	Vertical string
}

// pingCatalog has one campaign, whose filter rejects every ping of this measurement.
const pingCatalog = `{"data_dir": "unused",
"suppliers": [{"id": "sup"}], "buyers": [{"id": "buy", "endpoint": "https://buyer.example"}],
"campaigns": [{"id": "cmp", "method": "ping_post", "vertical": "auto", "floor": 1,
"filters": [{"field": "state", "in": ["NY"]}], "buyers": [{"buyer": "buy"}]}]}`

// pingInterval is the time between two pings at the default ping_rate.
const pingInterval = 10 * time.Millisecond

// measurePingMemory sends pings to an engine and measures the live heap at each step.
func measurePingMemory(spec *PingMemorySpec) (*MemoryResult, error) {
	source, err := config.Parse("market.json", []byte(pingCatalog), nil)
	if err != nil {
		return nil, err
	}
	built, err := source.Compile()
	if err != nil {
		return nil, err
	}
	random := rand.New(rand.NewPCG(1, 2))
	m := &memoryPorts{now: time.Now().UnixNano()}
	e := engine.New(engine.Options{
		State: state.New(), Log: m, History: m, Clock: m,
		Entropy: func(p []byte) {
			for i := range p {
				p[i] = byte(random.Uint64())
			}
		},
	})
	if err := e.Configure(engine.CatalogUpdate{Catalog: built.Catalog, Document: "market"}); err != nil {
		return nil, err
	}
	supplier := built.Catalog.Suppliers["sup"]
	if err := sendPing(e, m, supplier, spec.Vertical, 0); err != nil {
		return nil, err
	}
	return spec.measureSteps(1, func(n int) error { return sendPing(e, m, supplier, spec.Vertical, n) })
}

// sendPing sends ping n, which must end without a bid.
func sendPing(e *engine.Engine, m *memoryPorts, supplier *market.Supplier, vertical string, n int) error {
	m.now += int64(pingInterval)
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
	answer, err := e.PingForBestBid(&engine.SupplierPingRequest{
		Supplier: supplier, Members: object.Members(), Body: body, Key: []byte("key-" + number),
		Request: e.NewRequestID(), Received: m.now,
	})
	if err != nil {
		return err
	}
	if want := map[string]market.UnsoldReason{"auto": market.ReasonFiltered, "boats": market.ReasonNoCampaign}[vertical]; answer.Reason != want {
		return fmt.Errorf("ping %d was answered %s, not %s", n, answer.Reason, want)
	}
	return nil
}

// memoryPorts implements the engine's ports: a log that stores no record, and a clock
// that only changes when it is set.
type memoryPorts struct {
	now int64
	seq uint64
}

// Append commits the entry at once.
func (m *memoryPorts) Append(_ []byte, w engine.CommitWaiter) error {
	m.seq++
	w.Committed(m.seq, m.now)
	return nil
}

// At returns an error: the measurement repeats no ping.
func (m *memoryPorts) At(uint64) ([]byte, error) { return nil, errors.New("no record is kept") }

// Now returns the time that was set.
func (m *memoryPorts) Now() int64 { return m.now }

// Timer returns a timer of real time.
func (m *memoryPorts) Timer(d time.Duration) (fired <-chan time.Time, stop func() bool) {
	timer := time.NewTimer(d)
	return timer.C, timer.Stop
}
