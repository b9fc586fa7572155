package engine_test

import (
	"encoding/binary"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"pingpost/engine"
	"pingpost/engine/auction"
	"pingpost/engine/market"
	"pingpost/engine/sealtest"
	"pingpost/engine/state"
	"pingpost/internal/must"
	"pingpost/internal/timer"
)

// secret keys the hashes of these tests.
var secret = [32]byte{1, 2, 3}

// virtualClock is the clock of package time: virtual inside a synctest bubble.
type virtualClock struct{}

func (virtualClock) Now() int64 { return time.Now().UnixNano() }

func (virtualClock) Timer(d time.Duration) (fired <-chan time.Time, stop func() bool) {
	return timer.New(d)
}

// testExchange is an engine with simulated buyers, log and clock. At the end of each test
// checkInvariants checks its reservations, its events, and the replay of its log.
type testExchange struct {
	t          testing.TB
	market     marketSpec
	log        *memoryLog
	buyers     *fakeBuyers
	process    *testProcess
	sealer     *sealtest.InMemorySealer
	state      *state.State
	engine     *engine.Engine
	setOptions func(*engine.Options)
	counter    atomic.Uint64
	// shardSuffix is the end of all new identifiers, which selects their shard. nil: any.
	shardSuffix []byte
	stopping    sync.WaitGroup // goroutines of killed processes
	observed    testObserver

	highestLimits map[market.PermanentNumber]int64 // the highest limit of each cap so far
}

type request struct {
	supplier string
	members  []market.JSONMember
	body     []byte
	key      string
	badKey   bool
	hops     int // of a ping, through other exchanges
	test     bool
	badTest  bool
}

// withKey returns the same request with an idempotency key.
func (r request) withKey(key string) request { r.key = key; return r }

// asTest returns the same request for a test lead.
func (r request) asTest() request { r.test = true; return r }

// fromSupplier returns the same request with another supplier's credential.
func (r request) fromSupplier(supplier string) request { r.supplier = supplier; return r }

// testObserver counts the engine's reports.
type testObserver struct {
	decidedLeads      atomic.Int64
	sales             atomic.Int64
	postAttempts      atomic.Int64
	faults            atomic.Int64
	unknownDeliveries atomic.Int64
	auctions          atomic.Int64
	wrongAuctions     atomic.Int64 // auctions with a wrong number of outcomes

	outcomes [market.OutcomeCount]atomic.Int64

	testLeads, testAuctions atomic.Int64
}

func (n *testObserver) LeadDecided(_ *market.Campaign, _ *market.Supplier, a *engine.IngestAnswer) {
	n.decidedLeads.Add(1)
	if a.Accepted && !a.Unsettled && !a.Test {
		n.sales.Add(1)
	}
	if a.Test {
		n.testLeads.Add(1)
	}
}

func (n *testObserver) SaleSettled(string) { n.sales.Add(1) }

func (n *testObserver) WarnOfUnconfirmedDelivery(market.LeadID, string) { n.unknownDeliveries.Add(1) }

func (n *testObserver) PostAttempted(string, *market.BuyerPostResult) { n.postAttempts.Add(1) }
func (n *testObserver) ReportFault(string, error)                     { n.faults.Add(1) }

// AuctionHeldOrSkipped checks that each filter set has one outcome.
func (n *testObserver) AuctionHeldOrSkipped(campaign *market.Campaign, _ *market.Supplier, h *auction.AuctionOutcomeSummary) {
	n.auctions.Add(1)
	if h.Test {
		n.testAuctions.Add(1)
	}
	filterSets := 0
	for outcome, count := range h.Outcomes {
		filterSets += count
		n.outcomes[outcome].Add(int64(count))
	}
	if campaign != nil && filterSets != 0 && filterSets != len(campaign.FilterSets) || len(h.Pings) > filterSets {
		n.wrongAuctions.Add(1)
	}
}

// newExchange starts an exchange with an empty log. It is closed and checked after the test.
func newExchange(t testing.TB, r marketSpec, tune ...func(*engine.Options)) *testExchange {
	t.Helper()
	x := &testExchange{t: t, market: r, log: newMemoryLog(t), buyers: newFakeBuyers(t)}
	if len(tune) > 0 {
		x.setOptions = tune[0]
	}
	x.startProcess()
	x.configure(r)
	for _, b := range r.buyers {
		if b.bid != "" {
			x.buyers.scriptBids(b.id, bids(b.bid))
		}
	}
	t.Cleanup(x.closeAndCheck)
	return x
}

// startProcess starts a process with the state of the log.
func (x *testExchange) startProcess() {
	x.t.Helper()
	number := 1
	if x.process != nil {
		number = x.process.number + 1
	}
	x.process = &testProcess{fakeBuyers: x.buyers, log: x.log, number: number}
	x.state = replayState(x.t, x.log.durable())
	if x.sealer == nil {
		x.sealer = sealtest.New()
	}
	opt := engine.Options{
		State: x.state, Log: x.process, History: x.process, Buyers: x.process, Clock: virtualClock{}, Secret: secret,
		Sealer: x.sealer.StartAboveSlot(x.state.HighestEncryptionKeySlot()), Entropy: x.entropy, Observer: &x.observed,
	}
	if x.setOptions != nil {
		x.setOptions(&opt)
	}
	x.engine = engine.New(opt)
}

// entropy returns distinct bytes, spread evenly over the shards unless shardSuffix is set.
func (x *testExchange) entropy(p []byte) {
	n := x.counter.Add(1) * 0x9e3779b97f4a7c15
	for i := range p {
		p[i] = byte(n >> (8 * (i % 8)))
		if i%8 == 7 {
			n *= 0xd6e8feb86659fd93
		}
	}
	if suffix := x.shardSuffix; suffix != nil {
		copy(p[max(len(p)-len(suffix), 0):], suffix)
	}
}

func (x *testExchange) configure(r marketSpec) {
	x.t.Helper()
	x.market = r
	c := x.configuration(r)
	must.Succeed(x.t, x.engine.Configure(c))
	if x.highestLimits == nil {
		x.highestLimits = map[market.PermanentNumber]int64{}
	}
	for ref, limit := range highestLimits(c.Catalog) {
		x.highestLimits[ref] = max(x.highestLimits[ref], limit)
	}
}

// configuration returns the market as a configuration. Equal markets have equal documents.
func (x *testExchange) configuration(r marketSpec) engine.CatalogUpdate {
	x.t.Helper()
	c := engine.CatalogUpdate{Catalog: r.catalog(x.t), Document: fmt.Sprintf("%+v", r)}
	c.Tables = r.tables(x.t, c.Catalog)
	for _, b := range r.buyers {
		if b.funds != "" {
			c.Initial.Balances = append(c.Initial.Balances, engine.BuyerOpeningBalance{Buyer: market.BuyerID(b.id), Amount: money(x.t, b.funds)})
		}
	}
	return c
}

// crashAndRestart simulates a power cut and starts the next process from the log. It needs
// virtual time.
func (x *testExchange) crashAndRestart() {
	x.t.Helper()
	x.process.kill()
	x.log.failAfterEntries(x.log.len(), nil)
	x.abandonProcess()
	x.restart()
}

// abandonProcess closes a killed process in the background. The process can no longer reach the
// log or the buyers.
func (x *testExchange) abandonProcess() {
	x.stopping.Go(x.engine.Close)
	x.log.close()
}

// restart starts the next process after a crash.
func (x *testExchange) restart() {
	x.t.Helper()
	x.log.reopen()
	x.startProcess()
	x.configure(x.market)
	must.Succeed(x.t, x.engine.ResumeErasuresAndDeliveries())
}

// ingest ingests a request received now.
func (x *testExchange) ingest(r request) (engine.IngestAnswer, error) {
	return x.engine.Ingest(x.ingestRequest(r))
}

// ingestRequest returns the request as the server passes it to the engine.
func (x *testExchange) ingestRequest(r request) *engine.IngestRequest {
	return &engine.IngestRequest{
		Supplier: x.engine.ActiveCatalogOrNil().Suppliers[market.SupplierID(r.supplier)],
		Members:  r.members, Body: r.body, Key: []byte(r.key), BadKey: r.badKey, Test: r.test, BadTest: r.badTest,
		Request: x.newRequestID(), Received: time.Now().UnixNano(),
	}
}

// newRequestID returns a request id that no other request has.
func (x *testExchange) newRequestID() market.RequestID {
	id := market.RequestID{1}
	binary.BigEndian.PutUint64(id[8:], x.counter.Add(1))
	return id
}

// call is a request that runs on its own goroutine.
type call[A any] struct {
	answer   A
	err      error
	took     time.Duration
	done     chan struct{}
	describe func(A, error) string
}

type (
	ingestCall = call[engine.IngestAnswer]
	pingCall   = call[engine.SupplierPingAnswer]
	saleCall   = call[engine.SupplierPostAnswer]
)

// startCall runs the request on its own goroutine.
func startCall[A any](request func() (A, error), describe func(A, error) string) *call[A] {
	c := &call[A]{done: make(chan struct{}), describe: describe}
	start := time.Now()
	go func() {
		defer close(c.done)
		c.answer, c.err = request()
		c.took = time.Since(start)
	}()
	return c
}

// wait waits for the answer and describes it.
func (c *call[A]) wait() string {
	<-c.done
	return c.describe(c.answer, c.err)
}

func (x *testExchange) startIngest(r request) *ingestCall {
	return startCall(func() (engine.IngestAnswer, error) { return x.ingest(r) }, describeIngest)
}

// ingestResult ingests a request and describes the answer.
func (x *testExchange) ingestResult(r request) string { return describeIngest(x.ingest(r)) }

// describeIngest returns the buyer, the reason without a sale, or the error's code with the
// invalid fields.
func describeIngest(a engine.IngestAnswer, err error) string {
	var refusal *engine.Refusal
	switch {
	case errors.As(err, &refusal):
		text := string(refusal.Code)
		for _, f := range refusal.Fields {
			text += " " + f.Field + ":" + f.Code
		}
		return text
	case err != nil:
		return "error: " + err.Error()
	case a.Accepted:
		return a.Buyer
	}
	return a.Reason.String()
}

// lead returns a lead from memory.
func (x *testExchange) lead(a engine.IngestAnswer) state.Lead {
	x.t.Helper()
	lead, ok := x.state.LeadInMemory(a.Lead)
	if !ok {
		x.t.Fatalf("lead %s is not in memory", a.Lead)
	}
	return lead
}

// leadState returns a lead's status, delivery and reason.
func (x *testExchange) leadState(a engine.IngestAnswer) string {
	x.t.Helper()
	lead := x.lead(a)
	text := lead.Status.String() + " " + lead.Delivery.String()
	if lead.Status == market.StatusUnmatched {
		text += " " + lead.Reason.String()
	}
	return text
}

// closeAndCheck closes the exchange and checks its invariants.
func (x *testExchange) closeAndCheck() {
	x.t.Helper()
	x.engine.Close()
	x.log.close()
	x.stopping.Wait()
	x.buyers.waitForAttempts()
	x.checkInvariants()
}

// checkInvariants checks an idle exchange: no reservations, consistent events, equal replay.
func (x *testExchange) checkInvariants() {
	x.t.Helper()
	expectEqual(x.t, x.state.ReservationCount(), 0, "reservations of an idle exchange")
	expectEqual(x.t, x.engine.OpenAuctions(), 0, "open auctions of an idle exchange")
	expectEqual(x.t, x.observed.wrongAuctions.Load(), 0, "auctions with a wrong number of outcomes")
	checkPromisedSales(x.t, x.log.durable())
	if x.log.failure != nil {
		return // the log may have entries that memory does not have
	}
	entries := x.log.durable()
	seq, live := x.state.Hash()
	again, replay := replayState(x.t, entries).Hash()
	if seq != again || live != replay {
		x.t.Errorf("live state %x at %d, replayed state %x at %d", live, seq, replay, again)
	}
	sumEvents(x.t, entries, x.engine.ActiveCatalogOrNil(), x.highestLimits).compare(x.t, x.state)
}

// runInVirtualTime runs a test in virtual time.
func runInVirtualTime(t *testing.T, name string, f func(t *testing.T)) {
	t.Helper()
	t.Run(name, func(t *testing.T) {
		t.Helper()
		synctest.Test(t, f)
	})
}

// runWithExchange runs a test in virtual time with a new exchange.
func runWithExchange(t *testing.T, name string, r marketSpec, f func(t *testing.T, x *testExchange)) {
	t.Helper()
	runInVirtualTime(t, name, func(t *testing.T) { f(t, newExchange(t, r)) })
}

// sleepUntil waits until a virtual time in UTC.
func sleepUntil(t testing.TB, text string) {
	t.Helper()
	moment := must.Value(time.Parse("2006-01-02 15:04:05.999999999", text))(t)
	if d := time.Until(moment); d > 0 {
		time.Sleep(d)
	} else if d < 0 {
		t.Fatalf("%s is in the past", text)
	}
}

// expectEqual reports an error if got is not want. The context says what was compared.
func expectEqual[T comparable](t testing.TB, got, want T, context ...any) {
	t.Helper()
	if got != want {
		t.Errorf("%s\ngot  %v\nwant %v", fmt.Sprint(context...), got, want)
	}
}

// expectError reports an error if err is not want. The context says what was done.
func expectError(t testing.TB, err, want error, context ...any) {
	t.Helper()
	if !errors.Is(err, want) {
		t.Errorf("%s: error %v, want %v", fmt.Sprint(context...), err, want)
	}
}

// errorOf returns the error of a call and discards the answer.
func errorOf[A any](_ A, err error) error { return err }
