package servertest

import (
	"crypto/rand"
	"testing"
	"time"

	"pingpost/engine"
	"pingpost/engine/event"
	"pingpost/engine/market"
	"pingpost/engine/sealtest"
	"pingpost/engine/state"
	"pingpost/internal/must"
)

// EngineFixture is an engine for tests, with its log in memory. It has the supplier sup_acme
// and the buyer buy_blue, each with an OAuth client.
type EngineFixture struct {
	Engine *engine.Engine
	Log    *MemoryLog
}

// NewEngineFixture starts a new engine for a test: see EngineFixture.
func NewEngineFixture(t testing.TB) *EngineFixture {
	t.Helper()
	log := new(MemoryLog)
	e := engine.New(engine.Options{
		State: state.New(), Log: log, Clock: wallClock{}, Sealer: sealtest.New(), Entropy: func(p []byte) { _, _ = rand.Read(p) },
	})
	catalog := &market.Catalog{
		Suppliers: map[market.SupplierID]*market.Supplier{"sup_acme": {ID: "sup_acme", IngestRate: 100}},
		Buyers:    map[market.BuyerID]*market.Buyer{"buy_blue": {ID: "buy_blue", Zone: time.UTC}},
	}
	must.Succeed(t, e.Configure(engine.CatalogUpdate{Catalog: catalog, Document: "document"}))
	for i, c := range []engine.Credential{
		{Owner: event.ObjectSupplier, ID: "sup_acme", Client: "acme", Scopes: event.ScopePing | event.ScopePost},
		{Owner: event.ObjectBuyer, ID: "buy_blue", Client: "blue/1", Scopes: event.ScopeWebhook},
	} {
		c.Kind, c.Hash, c.Hint = event.CredentialOAuthClient, [32]byte{byte(i + 1)}, "can"
		must.Succeed(t, e.AsOperator("").AddCredential(&c))
	}
	return &EngineFixture{e, log}
}

// wallClock gives the engine the machine's clock.
type wallClock struct{}

func (wallClock) Now() int64 { return time.Now().UnixNano() }

func (wallClock) Timer(d time.Duration) (fired <-chan time.Time, stop func() bool) {
	timer := time.NewTimer(d)
	return timer.C, timer.Stop
}
