package delivery

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"runtime/debug"
	"sync/atomic"
	"time"

	"pingpost/engine/event"
	"pingpost/engine/market"
	"pingpost/engine/state"
	"pingpost/engine/timing"
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

// notSettled is the result of an attempt that another one follows.
const notSettled event.PostSettlement = 0

// Delivery posts one lead to one buyer's endpoint, and retries. A lead has at most one
// delivery at a time; all requests that wait for the lead's answer wait for it.
//
// The request that started the delivery owns it until the answer is due. Then a goroutine
// of its own continues it. A delivery never uses the request's workspace: it sends the
// logged intent.
//
// A lead that was sold at a bid of its supplier's ping is promised: it has no other buyer.
// So attempts that certainly did not reach the buyer are repeated, by the same schedule as
// attempts in doubt. The buyer does not have the lead only if all of them failed like that.
type Delivery struct {
	// RetryUnsent, for a promised lead, continues after the deadline even if no attempt
	// reached the buyer.
	RetryUnsent bool
	// Trace records the attempts until the supplier has its answer.
	Trace timing.PostTracer

	all              *Deliveries
	lead             market.LeadID
	supplierAnswered chan struct{} // closed when the supplier's answer is committed
	ended            chan struct{} // closed after the last attempt
	results          chan market.PostResult

	post             *state.OpenPost
	body             []byte        // of every attempt
	unsendable       bool          // no attempt is made: the body is unreadable, or the post may have arrived and must not be repeated
	contactFields    []event.Field // of the lead, or nil before the first use
	supplierAccepted bool          // the supplier received ACCEPTED; set by NewSettlement
	attempts         uint32        // used steps of the schedule
	inDoubt          bool
	promised         bool
	inProgress       bool          // an attempt is in progress
	inBackground     bool          // the supplier has its answer: no request waits for the delivery
	pause            time.Duration // before the next attempt
	busyAnswers      uint          // number of 429 answers without doubt; the deadline allows less than ten
	uncounted        bool          // the last attempt used no step of the schedule: a 429 without doubt, or a 401 that renewed the credential
	lastResult       market.PostResult

	buyerSilent atomic.Bool // an attempt is in progress or the last one timed out
}

// SupplierAnswered is closed when the supplier's answer is committed.
func (d *Delivery) SupplierAnswered() <-chan struct{} { return d.supplierAnswered }

// Ended is closed when the delivery has ended.
func (d *Delivery) Ended() <-chan struct{} { return d.ended }

// IsBuyerSilent reports whether an attempt is in progress or the last one timed out.
func (d *Delivery) IsBuyerSilent() bool { return d.buyerSilent.Load() }

// LoadIntent sets the intent that the delivery carries out. It returns false if no attempt can be
// made, because the body is erased or unreadable: then the delivery is unconfirmed.
func (d *Delivery) LoadIntent(post *state.OpenPost) (sendable bool) {
	d.post, d.attempts, d.inDoubt, d.pause, d.busyAnswers = post, post.Attempts, post.Attempts > 0, 0, 0
	d.promised = post.Sale.Ping != [16]byte{}
	d.lastResult = market.PostResult{}
	contact, ok := d.all.opt.OpenContact(post)
	d.body, d.unsendable = contact.Body, !ok
	if len(contact.Fields) > 0 {
		d.contactFields = contact.Fields
	}
	return ok
}

// HasIntent reports whether a durable intent was loaded, so that the buyer may have the lead.
func (d *Delivery) HasIntent() bool { return d.post != nil }

// MayChangeBuyer reports whether the lead may go to another buyer after a refusal.
func (d *Delivery) MayChangeBuyer() bool { return !d.inDoubt && !d.promised }

// CapCharges returns the cap charges of the intent's sale.
func (d *Delivery) CapCharges() []event.CapCharge { return d.post.Sale.Charges }

// BuyerLeadID returns the buyer's own id of the lead, from the last attempt. It may be empty.
func (d *Delivery) BuyerLeadID() string { return d.lastResult.BuyerLeadID }

// buyerID returns the id of the buyer that gets the lead.
func (d *Delivery) buyerID() string {
	return d.all.opt.State.NameOf(event.ObjectBuyer, d.post.Sale.Buyer)
}

// startAttempt starts an attempt. Its result arrives on results.
func (d *Delivery) startAttempt() {
	opt, post := &d.all.opt, d.post
	d.inProgress = true
	d.buyerSilent.Store(true)
	now := opt.Clock.Now()
	auction := [16]byte(post.Intent.Auction)
	if auction == [16]byte{} {
		auction = post.Lead
	}
	var key string
	if dialect := &post.Intent.Dialect; *dialect == (market.Dialect{}) || dialect.KeyHeader != "" {
		key = postKey(auction, post.Lead, d.buyerID())
	}
	req := &market.PostRequest{
		Buyer:             market.BuyerID(d.buyerID()),
		Endpoint:          post.Intent.Endpoint(),
		IdempotencyKey:    key,
		RequestID:         opt.NewRequestID(now),
		Body:              d.body,
		Deadline:          time.Unix(0, now+post.Intent.Timeout),
		Test:              post.Sale.Test,
		CredentialRenewed: d.lastResult.CredentialRenewed,

		Traceparent: d.Trace.BeginPost(d.buyerID(), post.Intent.Auction, len(d.body), now),
	}
	go func() { d.results <- d.sendPost(req) }()
}

// sendPost makes the attempt. It reports a panic and counts it as an attempt that may have
// reached the buyer. Otherwise the panic would end the process, and each next process that
// continues the post.
func (d *Delivery) sendPost(req *market.PostRequest) (result market.PostResult) {
	defer func() {
		if cause := recover(); cause != nil {
			result = market.PostResult{Verdict: market.VerdictUnknown}
			d.all.opt.Observer.ReportFault("a post panicked; please report it", fmt.Errorf("%T at %s", cause, debug.Stack()))
		}
	}()
	return d.all.opt.Buyers.Post(req)
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

// RunAttemptsUntil makes attempts until the result is known: SettledDelivered, SettledRefused or
// SettledUnknown. At the deadline it returns SettledPending, and attempts remain.
func (d *Delivery) RunAttemptsUntil(deadline int64) event.PostSettlement {
	if d.unsendable {
		return event.SettledUnknown
	}
	clock := d.all.opt.Clock
	fired, stop := clock.Timer(time.Duration(deadline - clock.Now()))
	defer stop()
	for {
		d.startAttempt()
		select {
		case result := <-d.results:
			if how := d.judgeResult(&result); how != notSettled {
				return how
			}
		case <-fired:
			return event.SettledPending
		}
		if clock.Now()+int64(d.pause) >= deadline {
			return d.settlementAtDeadline()
		}
		if d.commitAttempt() != nil || !d.waitForRetry() {
			return event.SettledPending
		}
	}
}

// settlementAtDeadline returns the result if the next attempt would be after the deadline. A
// buyer that was only busy or not reached does not have the lead. The delivery stays open in
// doubt, after a renewed credential (the next attempt is due at once), and if RetryUnsent
// applies.
func (d *Delivery) settlementAtDeadline() event.PostSettlement {
	if d.inDoubt || d.lastResult.CredentialRenewed || d.RetryUnsent && d.lastResult.Verdict == market.VerdictNotSent {
		_ = d.commitAttempt() // the caller commits the open delivery next, and gets the same error
		return event.SettledPending
	}
	return event.SettledRefused
}

// waitForRetry waits before the next attempt. It returns false if the exchange stops.
func (d *Delivery) waitForRetry() bool {
	if d.pause <= 0 {
		select {
		case <-d.all.opt.Stop:
			return false
		default:
			return true
		}
	}
	fired, stop := d.all.opt.Clock.Timer(d.pause)
	defer stop()
	select {
	case <-fired:
		d.pause = 0
		return true
	case <-d.all.opt.Stop:
		return false
	}
}

// judgeResult returns the settlement after an attempt. For notSettled it sets the pause
// before the next attempt.
func (d *Delivery) judgeResult(result *market.PostResult) event.PostSettlement {
	d.redactContact(result)
	d.inProgress, d.lastResult, d.uncounted = false, *result, false
	d.Trace.EndPost(result, d.all.opt.Clock.Now())
	d.buyerSilent.Store(result.Fault == market.FaultTimeout)
	if !d.post.Sale.Test {
		d.all.opt.Observer.PostAttempted(d.buyerID(), result)
	}
	switch result.Verdict {
	case market.VerdictAccepted:
		return event.SettledDelivered
	case market.VerdictRefused:
		if result.CredentialRenewed {
			d.uncounted = true
			return notSettled
		}
		if !d.inDoubt || result.Final && d.post.Intent.Trusted {
			return event.SettledRefused
		}
	case market.VerdictNotSent:
		if !d.inDoubt && !d.promised {
			return event.SettledRefused
		}
	case market.VerdictBusy:
		if !d.inDoubt && d.inBackground {
			return event.SettledRefused // the supplier has its answer, so a busy answer counts as a refusal
		}
		if !d.inDoubt {
			d.uncounted, d.pause = true, max(result.RetryAfter, min(minBusyPause<<d.busyAnswers, maxBusyPause))
			d.busyAnswers++
			return notSettled
		}
	}
	return d.countFailure(result)
}

// countFailure uses a step of the schedule. It counts an attempt that may have reached the
// buyer, that follows such an attempt, or that did not reach the buyer of a promised lead.
func (d *Delivery) countFailure(result *market.PostResult) event.PostSettlement {
	d.inDoubt = d.inDoubt || result.Verdict != market.VerdictNotSent
	d.attempts++
	switch {
	case int(d.attempts) <= len(retryPauses) && (d.post.Intent.Repeatable || !d.inDoubt):
		d.pause = max(retryPauses[d.attempts-1], min(result.RetryAfter, maxRetryAfter))
		return notSettled
	case d.inDoubt:
		return event.SettledUnknown
	}
	return event.SettledRefused
}

// commitAttempt commits the last attempt, if another one follows. After an error the
// delivery must not send again. The event of the settlement has the last attempt of a
// delivery.
func (d *Delivery) commitAttempt() error {
	last := &d.lastResult
	record := &event.PostAttempted{
		Lead: d.lead, Attempt: d.attempts, At: d.all.opt.Clock.Now(), Status: uint32(max(0, last.Status)), Fault: last.Fault,
		Verdict: last.Verdict, Code: last.Code, KeepsAttempt: d.uncounted,
	}
	if d.uncounted {
		record.Attempt++
	}
	return d.all.opt.Commit(record, nil)
}
