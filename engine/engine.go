package engine

import (
	"sync"
	"sync/atomic"
	"time"

	"pingpost/engine/market"
	"pingpost/engine/state"
)

// Options are the engine's ports and settings.
type Options struct {
	State   *state.State // replayed up to the end of the log
	Log     Log
	History History // of that log
	Buyers  Buyers
	Clock   Clock
	Sealer  Sealer
	Entropy Entropy
	Secret  [32]byte // keys the hashes of phone numbers, e-mail addresses and idempotency keys

	// Admit refuses intake ahead of trouble: a full disk, a long queue. It is
	// asked before anything is reserved. Nil admits all.
	Admit func() error
	// Note is told of every decision and settlement, for metrics and log lines.
	// It must not keep what it is given. Nil: nobody.
	Note Note

	Ceiling     time.Duration // from a request's arrival to its answer; default 5 s
	Idempotency time.Duration // how long an answer can be had again; default 30 days
	Keep        time.Duration // how long a lead stays in memory; default 45 days
	MaxPosts    int           // intents open at once; default 20,000
	MaxPings    int           // pings under way at which no auction begins; default 100,000

	// PingIdempotency is Idempotency of pings, and for how long an auction is
	// known by its name; default 30 days.
	PingIdempotency time.Duration
}

// Note is where decisions are noted.
type Note interface {
	Decided(campaign *market.Campaign, supplier *market.Supplier, a *Answer)
	Posted(buyer string, result *market.PostResult)
	// Unknown is a delivery whose tries are used up: nobody knows whether the
	// buyer has the lead.
	Unknown(lead market.LeadID, buyer string)
	// Held is an auction's end; campaign is nil where a ping found none.
	Held(campaign *market.Campaign, supplier *market.Supplier, h *Held)
	Fault(what string, err error)
}

// Engine is the exchange without its doors to the world. Its methods are safe
// for many goroutines.
type Engine struct {
	opt   Options
	state *state.State
	plan  atomic.Pointer[plan]
	rooms sync.Pool // *ingest
	waits sync.Pool // *pending

	decisions  sync.Pool // *Decision
	pings      sync.Pool // *ping
	gatherings sync.Pool // *gathering
	crew       crew
	sellers    sellers
	pinging    atomic.Int64 // pings under way
	recent     recent
	log        logReader

	changing  exclusive[market.LeadID] // leads whose status is being decided
	returning exclusive[month]         // months whose returns are

	configuring sync.Mutex // one change of configuration at a time
	staffing    sync.Mutex // one change of operators' accounts at a time
	askers      askers     // written under configuring

	couriers couriers
	webhooks webhooks
	stop     chan struct{}
	stopped  atomic.Bool
}

// New returns an engine over a replayed state. It has no catalog yet and
// refuses leads until SetCatalog; Recover takes up what a crash left open.
func New(opt Options) *Engine {
	setDefault(&opt.Ceiling, 5*time.Second)
	setDefault(&opt.Idempotency, 30*24*time.Hour)
	setDefault(&opt.PingIdempotency, 30*24*time.Hour)
	setDefault(&opt.Keep, 45*24*time.Hour)
	if opt.MaxPosts == 0 {
		opt.MaxPosts = 20_000
	}
	if opt.MaxPings == 0 {
		opt.MaxPings = 100_000
	}
	if opt.Note == nil {
		opt.Note = silent{}
	}
	e := &Engine{opt: opt, state: opt.State, stop: make(chan struct{})}
	e.couriers.byLead = make(map[market.LeadID]*courier)
	e.askers = make(askers)
	e.log = newLogReader(&e.opt, e.stop)
	e.webhooks.reads, e.webhooks.observer = make(chan struct{}, maxPayloadReads), noWebhookObserver{}
	if observer, ok := opt.Note.(WebhookObserver); ok {
		e.webhooks.observer = observer
	}
	e.rooms.New = func() any { return new(ingest) }
	e.pings.New = func() any { return &ping{way: pending{engine: e, done: make(chan error, 1)}} }
	e.gatherings.New = func() any { return newGathering(e) }
	e.waits.New = func() any { return &pending{engine: e, done: make(chan error, 1)} }
	e.decisions.New = func() any { return &Decision{way: pending{engine: e, done: make(chan error, 1)}} }
	return e
}

func setDefault(d *time.Duration, value time.Duration) {
	if *d == 0 {
		*d = value
	}
}

// State is the exchange's memory, for those who only look.
func (e *Engine) State() *state.State { return e.state }

// Close ends every delivery, also those whose lead is not answered yet. Attempts
// that are under way are waited for; posts between two tries are left to the
// next start. The log must stay open until Close returns.
func (e *Engine) Close() {
	if e.stopped.CompareAndSwap(false, true) {
		close(e.stop)
		e.crew.close()
	}
	e.couriers.end()
}

// admit tells whether a request may be taken now.
func (e *Engine) admit() error {
	if e.stopped.Load() || e.couriers.count.Load() >= int64(e.opt.MaxPosts) {
		return ErrUnavailable
	}
	if e.opt.Admit != nil {
		return e.opt.Admit()
	}
	return nil
}

// newID draws an identifier; what is drawn passes through random, which is the
// caller's because a port's argument lives on the heap.
func (e *Engine) newID(now int64, random *[10]byte) [16]byte {
	e.opt.Entropy(random[:])
	return market.MakeID(now/int64(time.Millisecond), *random)
}

// NewRequestID draws the identifier of a request.
func (e *Engine) NewRequestID() market.RequestID {
	return market.RequestID(e.newID(e.opt.Clock.Now(), new([10]byte)))
}

type silent struct{}

func (silent) Decided(*market.Campaign, *market.Supplier, *Answer) {}
func (silent) Posted(string, *market.PostResult)                   {}
func (silent) Unknown(market.LeadID, string)                       {}
func (silent) Held(*market.Campaign, *market.Supplier, *Held)      {}
func (silent) Fault(string, error)                                 {}
