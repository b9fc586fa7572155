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

// bubbleClock is the clock of package time: virtual inside a synctest bubble.
type bubbleClock struct{}

func (bubbleClock) Now() int64 { return time.Now().UnixNano() }

func (bubbleClock) Timer(d time.Duration) (fired <-chan time.Time, stop func() bool) {
	return timer.New(d)
}

// exchange is an engine with everything around it, and its end: whatever a test
// does with it, when the test is over nothing may be reserved, the facts must
// add up, and a replay must come to the same state.
type exchange struct {
	t      testing.TB
	rig    rig
	log    *memoryLog
	world  *world
	life   *life
	safe   *sealtest.Sealer
	state  *state.State
	engine *engine.Engine
	tune   func(*engine.Options)
	drawn  atomic.Uint64
	graves sync.WaitGroup // dead processes on their way out
	noted  noted

	highest map[market.PermanentNumber]int64 // limit that each cap ever had
}

type request struct {
	supplier string
	members  []market.JSONMember
	body     []byte
	key      string
	badKey   bool
	hops     int // of a ping
	test     bool
	badTest  bool
}

// withKey is the same request under an idempotency key.
func (r request) withKey(key string) request { r.key = key; return r }

// asTest is the same request as a test.
func (r request) asTest() request { r.test = true; return r }

// by is the same request with another supplier's credential.
func (r request) by(supplier string) request { r.supplier = supplier; return r }

// noted counts what the engine notes.
type noted struct {
	decided atomic.Int64
	posted  atomic.Int64
	faults  atomic.Int64
	unknown atomic.Int64
	held    atomic.Int64
	wrong   atomic.Int64 // auctions whose outcomes do not add up

	outcomes [market.OutcomeCount]atomic.Int64

	testLeads, testAuctions atomic.Int64
}

func (n *noted) LeadDecided(_ *market.Campaign, _ *market.Supplier, a *engine.IngestAnswer) {
	n.decided.Add(1)
	if a.Test {
		n.testLeads.Add(1)
	}
}
func (n *noted) DeliveryUnknown(market.LeadID, string)    { n.unknown.Add(1) }
func (n *noted) PostAttempted(string, *market.PostResult) { n.posted.Add(1) }
func (n *noted) ReportFault(string, error)                { n.faults.Add(1) }

// Held sees that every seat is accounted for, once.
func (n *noted) AuctionHeld(campaign *market.Campaign, _ *market.Supplier, h *auction.AuctionSummary) {
	n.held.Add(1)
	if h.Test {
		n.testAuctions.Add(1)
	}
	seats := 0
	for outcome, count := range h.Outcomes {
		seats += count
		n.outcomes[outcome].Add(int64(count))
	}
	if campaign != nil && seats != 0 && seats != len(campaign.FilterSets) || len(h.Pings) > seats {
		n.wrong.Add(1)
	}
}

// begin starts an exchange on an empty log. It ends with the test.
func begin(t testing.TB, r rig, tune ...func(*engine.Options)) *exchange {
	t.Helper()
	x := &exchange{t: t, rig: r, log: newMemoryLog(t), world: newWorld(t)}
	if len(tune) > 0 {
		x.tune = tune[0]
	}
	x.start()
	x.configure(r)
	for _, b := range r.buyers {
		if b.bid != "" {
			x.world.offers(b.id, bids(b.bid))
		}
	}
	t.Cleanup(x.finish)
	return x
}

// start is a process that comes up on what the log has.
func (x *exchange) start() {
	x.t.Helper()
	number := 1
	if x.life != nil {
		number = x.life.number + 1
	}
	x.life = &life{world: x.world, log: x.log, number: number}
	x.state = replayed(x.t, x.log.durable())
	if x.safe == nil {
		x.safe = sealtest.New()
	}
	opt := engine.Options{
		State: x.state, Log: x.life, History: x.life, Buyers: x.life, Clock: bubbleClock{}, Secret: secret,
		Sealer: x.safe.StartAboveSlot(x.state.HighestEncryptionKeySlot()), Entropy: x.entropy, Observer: &x.noted,
	}
	if x.tune != nil {
		x.tune(&opt)
	}
	x.engine = engine.New(opt)
}

// entropy gives ever new bytes, spread as shards expect them.
func (x *exchange) entropy(p []byte) {
	n := x.drawn.Add(1) * 0x9e3779b97f4a7c15
	for i := range p {
		p[i] = byte(n >> (8 * (i % 8)))
		if i%8 == 7 {
			n *= 0xd6e8feb86659fd93
		}
	}
}

func (x *exchange) configure(r rig) {
	x.t.Helper()
	x.rig = r
	c := x.configuration(r)
	must.Succeed(x.t, x.engine.Configure(c))
	if x.highest == nil {
		x.highest = map[market.PermanentNumber]int64{}
	}
	for ref, limit := range allCaps(c.Catalog) {
		x.highest[ref] = max(x.highest[ref], limit.Limit)
	}
}

// configuration is the rig as a document would give it; equal rigs give equal
// documents.
func (x *exchange) configuration(r rig) engine.NewCatalog {
	x.t.Helper()
	c := engine.NewCatalog{Catalog: r.catalog(x.t), Document: fmt.Sprintf("%+v", r)}
	c.Tables = r.tables(x.t, c.Catalog)
	for _, b := range r.buyers {
		if b.funds != "" {
			c.Initial.Balances = append(c.Initial.Balances, engine.BuyerOpeningBalance{Buyer: market.BuyerID(b.id), Amount: money(x.t, b.funds)})
		}
	}
	return c
}

// crash ends the process as a power cut does, and starts the next one on what
// the log has. Inside a bubble only.
func (x *exchange) crash() {
	x.t.Helper()
	x.life.die()
	x.log.die(x.log.len(), nil)
	x.bury()
	x.rise()
}

// bury leaves what is left of a dead process to end by itself: nobody waits for
// it, and it reaches neither the log nor the buyers any more.
func (x *exchange) bury() {
	x.graves.Go(x.engine.Close)
	x.log.close()
}

// rise starts the next process after a death.
func (x *exchange) rise() {
	x.t.Helper()
	x.log.reopen()
	x.start()
	x.configure(x.rig)
	must.Succeed(x.t, x.engine.RecoverErasuresAndDeliveries())
}

// send ingests a request that has just arrived.
func (x *exchange) send(r request) (engine.IngestAnswer, error) {
	return x.engine.Ingest(x.ingestOf(r))
}

// ingestOf is the request as the server would hand it over.
func (x *exchange) ingestOf(r request) *engine.IngestRequest {
	return &engine.IngestRequest{
		Supplier: x.engine.ActiveCatalog().Suppliers[market.SupplierID(r.supplier)],
		Members:  r.members, Body: r.body, Key: []byte(r.key), BadKey: r.badKey, Test: r.test, BadTest: r.badTest,
		Request: x.newRequestID(), Received: time.Now().UnixNano(),
	}
}

// newRequestID returns a request id that no other request has.
func (x *exchange) newRequestID() market.RequestID {
	id := market.RequestID{1}
	binary.BigEndian.PutUint64(id[8:], x.drawn.Add(1))
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
	sent    = call[engine.IngestAnswer]
	pinging = call[engine.PingAnswer]
	sale    = call[engine.PostSaleAnswer]
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

func (x *exchange) goSend(r request) *sent {
	return startCall(func() (engine.IngestAnswer, error) { return x.send(r) }, said)
}

// tell ingests and says what came of it: the buyer, or why none.
func (x *exchange) tell(r request) string { return said(x.send(r)) }

// said is an answer in a word: the buyer's name, a reason, or an error's code
// with the failing fields.
func said(a engine.IngestAnswer, err error) string {
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

// lead is what memory has of a lead.
func (x *exchange) lead(a engine.IngestAnswer) state.Lead {
	x.t.Helper()
	lead, ok := x.state.Lead(a.Lead)
	if !ok {
		x.t.Fatalf("lead %s is not in memory", a.Lead)
	}
	return lead
}

// stands is where a lead stands: status and delivery.
func (x *exchange) stands(a engine.IngestAnswer) string {
	x.t.Helper()
	lead := x.lead(a)
	text := lead.Status.String() + " " + lead.Delivery.String()
	if lead.Status == market.StatusUnmatched {
		text += " " + lead.Reason.String()
	}
	return text
}

// finish ends the exchange and holds it to what is always true.
func (x *exchange) finish() {
	x.t.Helper()
	x.engine.Close()
	x.log.close()
	x.graves.Wait()
	x.world.end()
	x.audit()
}

// audit holds an exchange that is idle to what is always true.
func (x *exchange) audit() {
	x.t.Helper()
	expectEqual(x.t, x.state.ReservationCount(), 0, "reservations are out while nothing is under way")
	expectEqual(x.t, x.engine.OpenAuctions(), 0, "auctions are open while nothing is under way")
	expectEqual(x.t, x.noted.wrong.Load(), 0, "auctions were noted whose outcomes do not add up to the lineup")
	keptPromises(x.t, x.log.durable())
	if x.log.failure != nil {
		return // memory was left behind: it knows less than the log may have
	}
	entries := x.log.durable()
	seq, live := x.state.Hash()
	again, replay := replayed(x.t, entries).Hash()
	if seq != again || live != replay {
		x.t.Errorf("live state %x at %d, replayed state %x at %d", live, seq, replay, again)
	}
	addUp(x.t, entries, x.engine.ActiveCatalog(), x.highest).compare(x.t, x.state)
}

// bubble runs a test in virtual time.
func bubble(t *testing.T, name string, f func(t *testing.T)) {
	t.Helper()
	t.Run(name, func(t *testing.T) {
		t.Helper()
		synctest.Test(t, f)
	})
}

// trading runs a test in virtual time, with an exchange that begins there.
func trading(t *testing.T, name string, r rig, f func(t *testing.T, x *exchange)) {
	t.Helper()
	bubble(t, name, func(t *testing.T) { f(t, begin(t, r)) })
}

// at waits until a moment of virtual time, in UTC.
func at(t testing.TB, text string) {
	t.Helper()
	moment := must.Value(time.Parse("2006-01-02 15:04:05.999999999", text))(t)
	if d := time.Until(moment); d > 0 {
		time.Sleep(d)
	} else if d < 0 {
		t.Fatalf("%s is past", text)
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

// errorOf is the error of a call whose answer does not matter.
func errorOf[A any](_ A, err error) error { return err }
