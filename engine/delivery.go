package engine

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	"pingpost/engine/event"
	"pingpost/engine/market"
	"pingpost/engine/state"
)

// retryPauses are the pauses after attempts that may have reached the buyer.
var retryPauses = [...]time.Duration{1 * time.Second, 2 * time.Second, 4 * time.Second, 8 * time.Second, 16 * time.Second}

// A buyer that answers 429 without Retry-After gets the next attempt after minBusyPause. The
// pause doubles up to maxBusyPause, because each attempt is an event in the log.
const (
	minBusyPause = 50 * time.Millisecond
	maxBusyPause = time.Second
)

// maxRetryAfter limits the Retry-After of an answer that leaves doubt; some buyers send
// days.
const maxRetryAfter = 30 * time.Second

// delivery posts one lead to one buyer's endpoint, and retries. A lead has at most one
// delivery at a time; all requests that wait for the lead's answer wait for it.
//
// The request that started the delivery runs it until the answer is due. Then a goroutine
// of its own continues it. A delivery never uses the request's workspace: it sends the
// logged intent.
//
// The central rule is about doubt. An attempt is one send. The lead may go to another buyer
// while each send had a readable answer or certainly did not reach the buyer. After a send
// that may have reached the buyer, the lead never leaves that buyer. Then only success or
// the end of the schedule ends the delivery, for any answers to later sends. One exception:
// a refusal also ends it if the buyer certifies that a repeat gets the first send's answer
// (event.Post.Trusted).
//
// A lead that was sold at a bid of its supplier's ping is promised: it has no other buyer.
// So attempts that certainly did not reach the buyer are repeated, by the same schedule as
// attempts in doubt. The buyer does not have the lead only if all of them failed like that.
type delivery struct {
	engine           *Engine
	lead             market.LeadID
	supplierAnswered chan struct{} // closed when the supplier's answer is committed
	ended            chan struct{} // closed after the last attempt
	results          chan market.PostResult

	post             *state.OpenPost
	body             []byte        // of every attempt
	unsendable       bool          // no attempt is made: the body is unreadable, or the post may have arrived and must not be repeated
	knownContact     []event.Field // the lead's contact fields, or nil before the first use
	supplierAccepted bool          // the supplier received ACCEPTED; set by settlement
	attempts         uint32        // used steps of the schedule
	inDoubt          bool
	promised         bool
	retryUnsent      bool          // of a promised lead: retry past the deadline even if no attempt reached the buyer
	inProgress       bool          // an attempt is in progress
	inBackground     bool          // the supplier has its answer: no request waits for the delivery
	pause            time.Duration // before the next attempt
	busyAnswers      uint          // number of 429 answers without doubt; the deadline allows less than ten
	uncounted        bool          // the last attempt used no step of the schedule: a 429 without doubt, or a 401 that renewed the credential
	lastResult       market.PostResult
	attemptTrace     attemptTrace

	buyerSilent atomic.Bool // an attempt is in progress or the last one timed out; read by waiting requests
}

// deliveryOutcome is the result of a delivery.
type deliveryOutcome uint8

const (
	deliveryOpen     deliveryOutcome = iota // not known; the next attempt follows
	deliveryAccepted                        // the buyer has the lead
	deliveryRefused                         // the buyer certainly does not have the lead
	deliveryUnknown                         // in doubt, and no attempt is left or possible
)

// deliveryRegistry has the running deliveries by lead.
type deliveryRegistry struct {
	mu      sync.Mutex
	byLead  map[market.LeadID]*delivery
	closed  bool
	count   atomic.Int64
	running sync.WaitGroup // grows only under mu, and not after closed is set
}

// add starts a delivery for a lead. The error is ErrUnavailable if the exchange stops, and
// ErrConflict if the lead has a delivery, which may be about to end.
func (cs *deliveryRegistry) add(e *Engine, lead market.LeadID) (*delivery, error) {
	c := &delivery{
		engine: e, lead: lead,
		supplierAnswered: make(chan struct{}), ended: make(chan struct{}), results: make(chan market.PostResult, 1),
	}
	cs.mu.Lock()
	defer cs.mu.Unlock()
	switch {
	case cs.closed:
		return nil, ErrUnavailable
	case cs.byLead[lead] != nil:
		return nil, fmt.Errorf("%w: the delivery of lead %s is still in progress", ErrConflict, lead)
	}
	cs.byLead[lead] = c
	cs.count.Add(1)
	cs.running.Add(1)
	return c, nil
}

// remove removes a delivery that has ended.
func (cs *deliveryRegistry) remove(c *delivery) {
	cs.mu.Lock()
	delete(cs.byLead, c.lead)
	cs.mu.Unlock()
	close(c.ended)
	cs.count.Add(-1)
	cs.running.Done()
}

// closeAndWait rejects new deliveries and waits for the running ones.
func (cs *deliveryRegistry) closeAndWait() {
	cs.mu.Lock()
	cs.closed = true
	cs.mu.Unlock()
	cs.running.Wait()
}

// answeredChannel returns the channel that is closed when the supplier's answer is
// committed, or nil if the lead has no running delivery.
func (cs *deliveryRegistry) answeredChannel(lead market.LeadID) <-chan struct{} {
	if c := cs.find(lead); c != nil {
		return c.supplierAnswered
	}
	return nil
}

// find returns the running delivery of a lead, or nil. Callers other than its owner may read
// only its channels and buyerSilent.
func (cs *deliveryRegistry) find(lead market.LeadID) *delivery {
	cs.mu.Lock()
	defer cs.mu.Unlock()
	return cs.byLead[lead]
}

// load sets the intent that the delivery carries out.
func (c *delivery) load(post *state.OpenPost) {
	c.post, c.attempts, c.inDoubt, c.pause, c.busyAnswers = post, post.Attempts, post.Attempts > 0, 0, 0
	c.promised = post.Sale.Ping != [16]byte{}
	c.lastResult = market.PostResult{}
	c.unsendable = !c.decryptIntent(post)
}

// buyerID returns the id of the buyer that gets the lead.
func (c *delivery) buyerID() string {
	return c.engine.state.NameOf(event.ObjectBuyer, c.post.Sale.Buyer)
}

// startAttempt starts an attempt. Its result arrives on results.
func (c *delivery) startAttempt() {
	e, post := c.engine, c.post
	c.inProgress = true
	c.buyerSilent.Store(true)
	now := e.opt.Clock.Now()
	auction := [16]byte(post.Intent.Auction)
	if auction == [16]byte{} {
		auction = post.Lead
	}
	var key string
	if dialect := &post.Intent.Dialect; *dialect == (market.Dialect{}) || dialect.KeyHeader != "" {
		key = postKey(auction, post.Lead, c.buyerID())
	}
	req := &market.PostRequest{
		Buyer:             market.BuyerID(c.buyerID()),
		Endpoint:          post.Intent.Endpoint(),
		IdempotencyKey:    key,
		RequestID:         market.RequestID(e.newID(now, new([10]byte))),
		Body:              c.body,
		Deadline:          time.Unix(0, now+post.Intent.Timeout),
		Test:              post.Sale.Test,
		CredentialRenewed: c.lastResult.CredentialRenewed,

		Traceparent: c.attemptTrace.begin(c, now),
	}
	go func() { c.results <- c.sendPost(req) }()
}

// sendPost makes the attempt. It reports a panic and counts it as an attempt that may have
// reached the buyer. Otherwise the panic would end the process, and each next process that
// continues the post.
func (c *delivery) sendPost(req *market.PostRequest) (result market.PostResult) {
	defer func() {
		if cause := recover(); cause != nil {
			result = market.PostResult{Verdict: market.VerdictUnknown}
			c.engine.opt.Observer.ReportFault("a post panicked; please report it", fmt.Errorf("%T at %s", cause, debug.Stack()))
		}
	}()
	return c.engine.opt.Buyers.Post(req)
}

// postKey returns the idempotency key of a post: the same at every attempt, and different
// for each buyer. Without an auction, the lead's id takes the place of the auction's id.
func postKey(auction, lead [16]byte, buyer string) string {
	h := sha256.New()
	h.Write(auction[:])
	h.Write(lead[:])
	h.Write([]byte(buyer))
	return "post_" + hex.EncodeToString(h.Sum(nil)[:20])
}

// runUntil makes attempts until the outcome is known. At the deadline it returns
// deliveryOpen.
func (c *delivery) runUntil(deadline int64) deliveryOutcome {
	if c.unsendable {
		return deliveryUnknown
	}
	clock := c.engine.opt.Clock
	fired, stop := clock.Timer(time.Duration(deadline - clock.Now()))
	defer stop()
	for {
		c.startAttempt()
		select {
		case result := <-c.results:
			if known := c.judgeResult(&result); known != deliveryOpen {
				return known
			}
		case <-fired:
			return deliveryOpen
		}
		if clock.Now()+int64(c.pause) >= deadline {
			return c.outcomeAtDeadline()
		}
		if c.commitAttempt() != nil || !c.waitForRetry() {
			return deliveryOpen
		}
	}
}

// outcomeAtDeadline returns the outcome if the next attempt would be after the deadline. A
// buyer that was only busy or not reached does not have the lead. The delivery stays open in
// doubt, after a renewed credential (the next attempt is due at once), and if retryUnsent
// applies.
func (c *delivery) outcomeAtDeadline() deliveryOutcome {
	if c.inDoubt || c.lastResult.CredentialRenewed || c.retryUnsent && c.lastResult.Verdict == market.VerdictNotSent {
		_ = c.commitAttempt() // the caller commits the open delivery next, and gets the same error
		return deliveryOpen
	}
	return deliveryRefused
}

// waitForRetry waits before the next attempt. It returns false if the exchange stops.
func (c *delivery) waitForRetry() bool {
	if c.pause <= 0 {
		return !c.engine.stopped.Load()
	}
	fired, stop := c.engine.opt.Clock.Timer(c.pause)
	defer stop()
	select {
	case <-fired:
		c.pause = 0
		return true
	case <-c.engine.stop:
		return false
	}
}

// judgeResult returns the outcome after an attempt. For deliveryOpen it sets the pause
// before the next attempt.
func (c *delivery) judgeResult(result *market.PostResult) deliveryOutcome {
	c.redact(result)
	c.inProgress, c.lastResult, c.uncounted = false, *result, false
	c.attemptTrace.end(result, c.engine.opt.Clock.Now())
	c.buyerSilent.Store(result.Fault == market.FaultTimeout)
	if !c.post.Sale.Test {
		c.engine.opt.Observer.PostAttempted(c.buyerID(), result)
	}
	switch result.Verdict {
	case market.VerdictAccepted:
		return deliveryAccepted
	case market.VerdictRefused:
		if result.CredentialRenewed {
			c.uncounted = true
			return deliveryOpen
		}
		if !c.inDoubt || result.Final && c.post.Intent.Trusted {
			return deliveryRefused
		}
	case market.VerdictNotSent:
		if !c.inDoubt && !c.promised {
			return deliveryRefused
		}
	case market.VerdictBusy:
		if !c.inDoubt && c.inBackground {
			return deliveryRefused // the supplier has its answer, so a busy answer counts as a refusal
		}
		if !c.inDoubt {
			c.uncounted, c.pause = true, max(result.RetryAfter, min(minBusyPause<<c.busyAnswers, maxBusyPause))
			c.busyAnswers++
			return deliveryOpen
		}
	}
	return c.countFailure(result)
}

// countFailure uses a step of the schedule. It counts an attempt that may have reached the
// buyer, that follows such an attempt, or that did not reach the buyer of a promised lead.
func (c *delivery) countFailure(result *market.PostResult) deliveryOutcome {
	c.inDoubt = c.inDoubt || result.Verdict != market.VerdictNotSent
	c.attempts++
	switch {
	case int(c.attempts) <= len(retryPauses) && (c.post.Intent.Repeatable || !c.inDoubt):
		c.pause = max(retryPauses[c.attempts-1], min(result.RetryAfter, maxRetryAfter))
		return deliveryOpen
	case c.inDoubt:
		return deliveryUnknown
	}
	return deliveryRefused
}

// commitAttempt commits the last attempt, if another one follows. After an error the
// delivery must not send again. The event of the outcome has the last attempt of a delivery.
func (c *delivery) commitAttempt() error {
	last := &c.lastResult
	fact := &event.PostAttempted{
		Lead: c.lead, Attempt: c.attempts, At: c.engine.opt.Clock.Now(), Status: uint32(max(0, last.Status)), Fault: last.Fault,
		Verdict: last.Verdict, Code: last.Code, KeepsAttempt: c.uncounted,
	}
	if c.uncounted {
		fact.Attempt++
	}
	return c.engine.commitOutcome(fact, nil)
}

// Deliveries returns the number of running deliveries.
func (e *Engine) Deliveries() int64 { return e.deliveries.count.Load() }
