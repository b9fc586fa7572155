package webhook

import (
	"fmt"
	"math"
	"runtime/debug"
	"sync"
	"time"

	"pingpost/engine"
	"pingpost/engine/market"
	"pingpost/engine/state"
)

const (
	// attemptTimeout is the default of SenderOptions.AttemptTimeout.
	attemptTimeout = time.Second

	// slowThreshold is the duration from which an attempt makes its endpoint slow.
	slowThreshold = attemptTimeout / 4

	// faultPause is the pause of an endpoint after an attempt that could not be made or
	// logged, which is the exchange's own failure.
	faultPause = time.Second

	defaultPerEndpoint = 8
	defaultTotal       = 256
)

// Outbox gives access to the suppliers' pending webhooks. state.State implements it. Times are
// in Unix nanoseconds.
type Outbox interface {
	// ClaimDueWebhook returns a supplier's earliest due webhook. It returns the same webhook again
	// only after its attempt was logged or UnclaimWebhook was called.
	ClaimDueWebhook(supplier market.PermanentNumber, nowNanos int64) (claimed state.OutboxWebhook, ok bool)
	UnclaimWebhook(claimed state.OutboxWebhook)
	// NextWebhookDueTime returns the earliest due time of the supplier's webhooks that can be
	// claimed.
	NextWebhookDueTime(supplier market.PermanentNumber) (dueNanos int64, ok bool)
	SuppliersWithPendingWebhooks() []market.PermanentNumber
	// WebhookMayBeDue receives a value when a webhook may be due earlier than
	// NextWebhookDueTime reported.
	WebhookMayBeDue() <-chan struct{}
}

// MessageBuilderAndRecorder is the part of the engine that the Sender uses. It builds the messages of
// webhooks and logs the results of attempts. After an error the Sender returns the webhook to the outbox.
type MessageBuilderAndRecorder interface {
	BuildWebhookMessageOrDeadLetter(queued *state.OutboxWebhook) (engine.WebhookMessage, error)
	RecordWebhookAttempt(queued state.OutboxWebhook, result market.WebhookAttemptResult) error
}

// SenderOptions are the outbox, the engine, the functions and the limits with which a Sender sends webhooks.
type SenderOptions struct {
	Outbox      Outbox
	Engine      MessageBuilderAndRecorder
	Post        func(*market.WebhookRequest) market.WebhookAttemptResult // makes one attempt within the request's deadline: Client.Post
	Now         func() int64                                             // the exchange's clock, in Unix nanoseconds
	ReportFault func(what string, err error)                             // reports the exchange's own failures

	MaxPerEndpoint int // attempts in flight to one endpoint; default 8
	MaxTotal       int // attempts in flight to all endpoints; default 256

	// AttemptTimeout limits a whole attempt: name, connection, TLS, request and answer; default 1 s.
	AttemptTimeout time.Duration

	// AttemptRate returns how many attempts may begin per second. Each scan of the outbox
	// calls it. Nil means no limit.
	AttemptRate func() int
}

// Sender makes one attempt to send each webhook that is due. The engine decides when a failed
// webhook is due again.
//
// One loop manages the endpoints with due webhooks and the free slots; a slot permits one attempt
// in flight. The outbox, the clock and finished attempts wake the loop. It claims a webhook from
// the outbox only if a slot is free, and each attempt runs in its own goroutine. So a million
// waiting webhooks are a million rows of the outbox, and use no memory here.
//
// Invariants:
//
//   - An endpoint has at most MaxPerEndpoint attempts in flight, and all endpoints
//     together at most MaxTotal.
//   - Attempts begin no faster than AttemptRate, except for a burst of a hundredth of a
//     second's worth.
//   - Endpoints take turns, one webhook each. An endpoint with a thousand due webhooks waits
//     as long for its second turn as one with two.
//   - Slow endpoints have at most half of all slots, and a queue of their own. Any number
//     of hanging endpoints leaves the other half to the endpoints that answer.
//   - A slot becomes free only after its attempt is logged. The outbox then knows the
//     result when the loop asks for the endpoint's next webhook, so a lead's webhooks keep
//     their order.
//   - The result of a claimed webhook is logged, or the webhook is returned to the outbox.
//
// Only the loop accesses endpoints, queues and counts. Attempts report through
// completions, which has capacity for all of them.
//
// Rejected:
//
//   - a goroutine for each endpoint, with its own slots: thousands of endpoints, most of
//     them idle, and no limit on the total.
//   - one queue of webhooks by due time: a hanging endpoint's webhooks would fill its head.
//   - one heap of endpoints by due time: every scan would rebuild it. Rare scans of all
//     endpoints are cheaper (see queueEndpointsWithDueWebhooks).
type Sender struct {
	options        SenderOptions
	endpoints      map[market.PermanentNumber]*endpointState
	readyEndpoints [2]queueOfEndpoints // endpoints with a due webhook and a free slot; [1]: the slow ones
	lastQueue      int                 // index of the queue tried last
	inFlight       int                 // attempts in flight
	slowInFlight   int                 // attempts in flight that count as slow

	nextDue       int64     // earliest due time of endpoints that are not queued, or noTime
	outboxChanged bool      // the outbox needs a scan
	nextScan      time.Time // no scan before

	pacer      attemptRateLimiter
	paceResume int64 // Unix nanoseconds: when pacer allows the next attempt; 0: pacer does not delay

	completions chan attemptCompletion
	closing     chan struct{}
	loopDone    chan struct{} // closed when the loop ends
	closeOnce   sync.Once
	attempts    sync.WaitGroup
}

const noTime = int64(math.MaxInt64)

// New returns a Sender and starts its loop, which sends due webhooks until Close.
func New(opt SenderOptions) *Sender {
	if opt.MaxPerEndpoint <= 0 {
		opt.MaxPerEndpoint = defaultPerEndpoint
	}
	if opt.MaxTotal <= 0 {
		opt.MaxTotal = defaultTotal
	}
	if opt.AttemptTimeout <= 0 {
		opt.AttemptTimeout = attemptTimeout
	}
	s := &Sender{
		options: opt, endpoints: make(map[market.PermanentNumber]*endpointState), outboxChanged: true, nextDue: noTime,
		completions: make(chan attemptCompletion, opt.MaxTotal), closing: make(chan struct{}), loopDone: make(chan struct{}),
	}
	go s.run()
	return s
}

// Close stops the loop, so no more attempts begin. It waits until those in flight have ended and
// are logged, which takes about AttemptTimeout at most.
func (s *Sender) Close() {
	s.closeOnce.Do(func() { close(s.closing) })
	<-s.loopDone
	s.attempts.Wait()
}

// runAttempt sends the queued webhook once, logs the result, and reports the end to the loop. If the
// attempt could not be made or logged, it returns the webhook to the outbox.
func (s *Sender) runAttempt(e *endpointState, queued state.OutboxWebhook, countedAsSlow bool) {
	defer s.attempts.Done()
	c := attemptCompletion{endpoint: e, countedAsSlow: countedAsSlow}
	result, err := s.postWebhook(&queued)
	if err == nil {
		c.elapsed, err = result.Elapsed, s.options.Engine.RecordWebhookAttempt(queued, result)
	}
	if err != nil {
		s.options.Outbox.UnclaimWebhook(queued)
		c.err = err
	}
	s.completions <- c
}

// postWebhook encodes and sends one webhook. After Close it sends no request and returns errClosing. If
// that panics, it reports the panic and counts a failed attempt. Otherwise the panic would end the
// process, and end it again at each later attempt of the same webhook.
func (s *Sender) postWebhook(queued *state.OutboxWebhook) (result market.WebhookAttemptResult, err error) {
	defer func() {
		if cause := recover(); cause != nil {
			result, err = market.WebhookAttemptResult{}, nil
			s.options.ReportFault("a webhook attempt panicked and counts as failed; please report it with the stack", fmt.Errorf("%T at %s", cause, debug.Stack()))
		}
	}()
	message, err := s.options.Engine.BuildWebhookMessageOrDeadLetter(queued)
	if err != nil {
		return market.WebhookAttemptResult{}, err
	}
	if s.isClosing() {
		return market.WebhookAttemptResult{}, errClosing
	}
	return s.options.Post(&market.WebhookRequest{
		Endpoint: message.Endpoint, ID: message.ID, Body: message.Body, Deadline: time.Now().Add(s.options.AttemptTimeout),
	}), nil
}

func (s *Sender) isClosing() bool {
	select {
	case <-s.closing:
		return true
	default:
		return false
	}
}
