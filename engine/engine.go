// Package engine is the exchange's core: the actions of suppliers, buyers and operators, about
// one per file.
//
// An action, such as an ingest, decides in memory, concurrently with others, and reserves the
// capacity that it needs. Then it gives an event with its decision to the log. The log's
// committer makes the event durable, applies it to the state, and wakes the action, which then
// answers. So each decision is durable before its answer. Before each post to a buyer, an event
// with the intent to send it is durable.
//
// The package reads no clock, draws no random numbers and opens no socket or file. It uses the
// ports in ports.go, so a test can run days of an exchange in milliseconds.
package engine

import (
	"sync"
	"sync/atomic"
	"time"

	"pingpost/engine/auction"
	"pingpost/engine/delivery"
	"pingpost/engine/keyedmutex"
	"pingpost/engine/market"
	"pingpost/engine/pastauction"
	"pingpost/engine/state"
)

// Options are the engine's ports (the interfaces to log, clock, buyers and keys) and its
// settings.
type Options struct {
	State   *state.State // replayed up to the end of the log
	Log     Log
	History LogHistory // of that log
	Buyers  BuyerSender
	Clock   Clock
	Sealer  Sealer
	Entropy Entropy
	Secret  [32]byte // keys the hashes of phone numbers, e-mail addresses and idempotency keys

	// Admit returns an error to refuse new requests early, for example on a full disk or
	// with a long log queue. The engine calls it before it reserves anything. Nil admits
	// all.
	Admit func() error
	// Observer gets every decision and outcome, for metrics and log lines. It must not keep its
	// arguments. Nil: none.
	Observer Observer

	Ceiling     time.Duration // longest time from a request's arrival to its answer; default 5 s
	Idempotency time.Duration // how long a repeat gets the first answer; default 30 days
	Keep        time.Duration // how long a lead stays in the state; default 45 days
	MaxPosts    int           // limit of open posts; default 20,000
	MaxPings    int           // limit of pings in progress at which no new auction begins; default 100,000

	// PingIdempotency is Idempotency for pings, and how long an auction keeps its name;
	// default 30 days.
	PingIdempotency time.Duration
}

// Observer receives the engine's decisions and outcomes, for metrics and log lines.
type Observer interface {
	LeadDecided(campaign *market.Campaign, supplier *market.Supplier, a *IngestAnswer)
	// SaleSettled reports the sale of a lead that its supplier's answer did not know yet: the buyer confirmed it
	// later, or an operator did. Test leads are not reported.
	SaleSettled(buyer string)
	PostAttempted(buyer string, result *market.BuyerPostResult)
	// WarnOfUnconfirmedDelivery reports a delivery that remained in doubt and gets no further attempt: the
	// buyer may or may not have the lead. Test leads are not reported.
	WarnOfUnconfirmedDelivery(lead market.LeadID, buyer string)
	// AuctionHeldOrSkipped reports the end of an auction, or a supplier's ping that led to no auction.
	// campaign is nil if the ping matched no campaign.
	AuctionHeldOrSkipped(campaign *market.Campaign, supplier *market.Supplier, s *auction.AuctionOutcomeSummary)
	ReportFault(what string, err error)
}

// Engine decides about leads, pings and buyers' status reports, and about changes by operators. It
// uses files, sockets and the clock only through the ports in Options. Its methods are safe for
// concurrent use.
type Engine struct {
	opt            Options
	state          *state.State
	plan           atomic.Pointer[compiledCatalog]
	workspaces     sync.Pool // *ingestOrPostWorkspace
	pendingCommits sync.Pool // *pendingLogEvent
	decisions      sync.Pool // *PendingLeadDecision
	pings          sync.Pool // *pingWorkspace
	auctions       *auction.Runner
	recent         pastauction.AuctionCache
	log            logReader

	changing  keyedmutex.Mutex[market.LeadID]      // leads with a status change in progress
	returning keyedmutex.Mutex[campaignBuyerMonth] // months with a return in progress

	configuring sync.Mutex                  // one change of configuration at a time
	staffing    sync.Mutex                  // one change of operators' accounts at a time
	limiters    auction.PingLimitersByBuyer // changed under configuring

	deliveries *delivery.RunningDeliveries
	webhooks   webhookResources
	stop       chan struct{}
	stopped    atomic.Bool
}

// New returns an engine over a state that was rebuilt from the log. It rejects all
// requests until Configure has activated a catalog. ResumeErasuresAndDeliveries continues
// interrupted deliveries.
func New(opt Options) *Engine {
	setDurationIfZero(&opt.Ceiling, 5*time.Second)
	setDurationIfZero(&opt.Idempotency, 30*24*time.Hour)
	setDurationIfZero(&opt.PingIdempotency, 30*24*time.Hour)
	setDurationIfZero(&opt.Keep, 45*24*time.Hour)
	if opt.MaxPosts == 0 {
		opt.MaxPosts = 20_000
	}
	if opt.MaxPings == 0 {
		opt.MaxPings = 100_000
	}
	if opt.Observer == nil {
		opt.Observer = discardObserver{}
	}
	e := &Engine{opt: opt, state: opt.State, stop: make(chan struct{})}
	e.limiters = make(auction.PingLimitersByBuyer)
	e.auctions, e.deliveries = e.newAuctionRunner(), e.newDeliveries()
	e.log = newLogReader(&e.opt, e.stop)
	e.webhooks.reads, e.webhooks.observer = make(chan struct{}, maxPayloadReads), discardWebhookObserver{}
	if observer, ok := opt.Observer.(WebhookObserver); ok {
		e.webhooks.observer = observer
	}
	e.workspaces.New = func() any { return new(ingestOrPostWorkspace) }
	e.pings.New = func() any { return &pingWorkspace{pending: pendingLogEvent{engine: e, done: make(chan error, 1)}} }
	e.pendingCommits.New = func() any { return &pendingLogEvent{engine: e, done: make(chan error, 1)} }
	e.decisions.New = func() any {
		return &PendingLeadDecision{pending: pendingLogEvent{engine: e, done: make(chan error, 1)}}
	}
	return e
}

func setDurationIfZero(d *time.Duration, value time.Duration) {
	if *d == 0 {
		*d = value
	}
}

// State returns the exchange's tables in memory. Callers only read them; events change them.
func (e *Engine) State() *state.State { return e.state }

// Close stops the engine: it rejects new requests and ends all deliveries, even if a supplier
// waits for the answer. It waits for attempts in progress; the next start of the process makes
// the remaining ones. The caller closes the log only after Close returns.
func (e *Engine) Close() {
	if e.stopped.CompareAndSwap(false, true) {
		close(e.stop)
		e.auctions.Close()
	}
	e.deliveries.RejectNewAndWaitForRunning()
}

// rejectIfStoppedOrAtLimit returns an error if the engine cannot accept a new request: it stops, too many
// deliveries run, or Options.Admit refuses.
func (e *Engine) rejectIfStoppedOrAtLimit() error {
	if e.stopped.Load() {
		return errStopped
	}
	if e.deliveries.Count() >= int64(e.opt.MaxPosts) {
		return ErrUnavailable
	}
	if e.opt.Admit != nil {
		return e.opt.Admit()
	}
	return nil
}

// unavailableBeforeEvent returns the ErrUnavailable of a request that has committed no event. If the engine
// stops, it is ErrNotLeader too: another node may decide the request.
func (e *Engine) unavailableBeforeEvent() error {
	if e.stopped.Load() {
		return errStopped
	}
	return ErrUnavailable
}

// newULID returns a new identifier: nowNanos in milliseconds, followed by random bytes.
// randomBuffer is memory for these bytes. The caller owns it, because a local variable would escape
// to the heap through the Entropy port.
func (e *Engine) newULID(nowNanos int64, randomBuffer *[10]byte) [16]byte {
	e.opt.Entropy(randomBuffer[:])
	return market.ComposeID(nowNanos/int64(time.Millisecond), *randomBuffer)
}

// NewRequestID returns a new identifier for a request, ordered by time.
func (e *Engine) NewRequestID() market.RequestID {
	return market.RequestID(e.newULID(e.opt.Clock.Now(), new([10]byte)))
}

type discardObserver struct{}

func (discardObserver) LeadDecided(*market.Campaign, *market.Supplier, *IngestAnswer) {}
func (discardObserver) PostAttempted(string, *market.BuyerPostResult)                 {}
func (discardObserver) SaleSettled(string)                                            {}
func (discardObserver) WarnOfUnconfirmedDelivery(market.LeadID, string)               {}
func (discardObserver) AuctionHeldOrSkipped(*market.Campaign, *market.Supplier, *auction.AuctionOutcomeSummary) {
}
func (discardObserver) ReportFault(string, error) {}
