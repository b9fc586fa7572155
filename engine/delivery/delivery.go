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

// retryPauses are the pauses before the next attempts, if an attempt may have reached the buyer
// or the lead is promised to this buyer.
var retryPauses = [...]time.Duration{1 * time.Second, 2 * time.Second, 4 * time.Second, 8 * time.Second, 16 * time.Second}

// A buyer that answers 429 without Retry-After gets the next attempt after minBusyPause. The
// pause doubles up to maxBusyPause, because each attempt is an event in the log.
const (
	minBusyPause = 50 * time.Millisecond
	maxBusyPause = time.Second
)

// maxRetryAfter limits the pause that a buyer can demand by the header Retry-After, after an
// attempt that may have reached it. Some buyers send days.
const maxRetryAfter = 30 * time.Second

// notSettled is the result of an attempt that does not end the delivery: another attempt follows.
const notSettled event.PostSettlement = 0

// Delivery posts one lead to one buyer's endpoint, and retries. A lead has at most one delivery
// at a time. All requests that need the lead's answer wait for that delivery.
//
// The request that started a delivery owns it until the supplier's answer is due. Then a
// goroutine of its own continues it. A delivery never uses the request's workspace: it sends the
// body from the committed intent (the record that the post will be sent).
//
// A delivery is in doubt if an attempt may have reached the buyer, but the buyer's answer is
// unclear. A lead in doubt goes to no other buyer, because two buyers could have it.
//
// A lead that was sold at a bid of its supplier's ping is promised: no other buyer may get it. So
// attempts that certainly did not reach the buyer are repeated too, by the schedule for attempts
// in doubt. The lead becomes unsold only if all of them certainly failed.
type Delivery struct {
	// RetryUnsent, for a promised lead, continues after the deadline even if no attempt
	// reached the buyer.
	RetryUnsent bool
	// Trace records the attempts until the supplier has its answer.
	Trace timing.DeliveryPostTracer

	all              *RunningDeliveries
	lead             market.LeadID
	supplierAnswered chan struct{} // closed when the supplier's answer is committed
	ended            chan struct{} // closed after the last attempt
	results          chan market.BuyerPostResult

	post             *state.UnfinishedPost
	body             []byte            // of every attempt
	unsendable       bool              // no attempt is made: the body is unreadable, or the post may have arrived and must not be repeated
	contactFields    []event.LeadField // of the lead, or nil before the first use
	supplierAccepted bool              // the supplier received ACCEPTED; set by NewSettlement
	attempts         uint32            // used steps of the schedule
	inDoubt          bool
	promised         bool
	inProgress       bool          // an attempt is in progress
	inBackground     bool          // the supplier has its answer: no request waits for the delivery
	pause            time.Duration // before the next attempt
	busyAnswers      uint          // number of 429 answers without doubt; the deadline allows less than ten
	uncounted        bool          // the last attempt used no step of the schedule: a 429 without doubt, or a 401 that renewed the credential
	lastResult       market.BuyerPostResult

	buyerSilent atomic.Bool // an attempt is in progress or the last one timed out
}

// SupplierAnswerCommitted returns a channel that closes when the answer to the lead's supplier is
// committed, or when the delivery ends without one after an error.
func (d *Delivery) SupplierAnswerCommitted() <-chan struct{} { return d.supplierAnswered }

// Ended returns a channel that closes when the delivery has ended.
func (d *Delivery) Ended() <-chan struct{} { return d.ended }

// IsAttemptInProgressOrTimedOut reports whether an attempt is in progress or the last one timed out. The
// supplier's answer then says buyer_timeout instead of buyer_unavailable.
func (d *Delivery) IsAttemptInProgressOrTimedOut() bool { return d.buyerSilent.Load() }

// SetIntentAndDecryptBody sets the committed intent (buyer, endpoint and encrypted body) that the delivery
// carries out. sendable is false if the body is erased or unreadable. The delivery then makes no
// attempt and is unconfirmed.
func (d *Delivery) SetIntentAndDecryptBody(post *state.UnfinishedPost) (sendable bool) {
	d.post, d.attempts, d.inDoubt, d.pause, d.busyAnswers = post, post.Attempts, post.Attempts > 0, 0, 0
	d.promised = post.Sale.Ping != [16]byte{}
	d.lastResult = market.BuyerPostResult{}
	contact, ok := d.all.opt.OpenContact(post)
	d.body, d.unsendable = contact.Body, !ok
	if len(contact.Fields) > 0 {
		d.contactFields = contact.Fields
	}
	return ok
}

// HasIntent reports whether SetIntentAndDecryptBody was called. The intent is durable then, so a post
// may have been sent.
func (d *Delivery) HasIntent() bool { return d.post != nil }

// MayGoToNextBuyer reports whether the lead may go to another buyer after a refusal. It may not if
// the buyer may have the lead from an earlier attempt, or if the lead is promised to it.
func (d *Delivery) MayGoToNextBuyer() bool { return !d.inDoubt && !d.promised }

// CapCharges returns the capacity that the sale to this buyer uses in each cap. After a refusal,
// the sale to the next buyer may use it.
func (d *Delivery) CapCharges() []event.CapCharge { return d.post.Sale.Charges }

// BuyerLeadID returns the id that the buyer gave to the lead in its last answer. It may be empty.
func (d *Delivery) BuyerLeadID() string { return d.lastResult.BuyerLeadID }

// buyerID returns the configured id of the buyer to which the lead is posted.
func (d *Delivery) buyerID() string {
	return d.all.opt.State.NameOf(event.ObjectBuyer, d.post.Sale.Buyer)
}

// startAttempt sends the post once, on a goroutine of its own. The result arrives on d.results.
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
	if protocol := &post.Intent.AdapterProtocol; *protocol == (market.AdapterProtocol{}) || protocol.KeyHeader != "" {
		key = postIdempotencyKey(auction, post.Lead, d.buyerID())
	}
	req := &market.BuyerPostRequest{
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

// sendPost sends one post and returns the buyer's answer. It reports a panic and counts it as an
// attempt that may have reached the buyer. Without that, the panic would end the process, and
// also each next process that continues the post.
func (d *Delivery) sendPost(req *market.BuyerPostRequest) (result market.BuyerPostResult) {
	defer func() {
		if cause := recover(); cause != nil {
			result = market.BuyerPostResult{Verdict: market.VerdictUnknown}
			d.all.opt.Observer.ReportFault("a post of a lead to a buyer panicked, and counts as possibly received; please report it", fmt.Errorf("%T at %s", cause, debug.Stack()))
		}
	}()
	return d.all.opt.Buyers.Post(req)
}

// postIdempotencyKey returns the idempotency key of a post: the same at every attempt, and
// different for each buyer. auctionOrLead is the auction's id, or the lead's without an auction.
func postIdempotencyKey(auctionOrLead, lead [16]byte, buyer string) string {
	h := sha256.New()
	h.Write(auctionOrLead[:])
	h.Write(lead[:])
	h.Write([]byte(buyer))
	return "post_" + hex.EncodeToString(h.Sum(nil)[:20])
}

// RunAttemptsUntil makes attempts until the delivery has an outcome: SettledDelivered,
// SettledRefused, or SettledUnknown without a further attempt. If the next attempt would start
// after the deadline (in Unix nanoseconds), decidePendingOrRefusedAtDeadline decides. SettledPending means that
// attempts remain: the deadline came first, the exchange stops, or the log has failed. The delivery
// must then continue in the background.
func (d *Delivery) RunAttemptsUntil(deadlineNanos int64) event.PostSettlement {
	if d.unsendable {
		return event.SettledUnknown
	}
	clock := d.all.opt.Clock
	fired, stop := clock.Timer(time.Duration(deadlineNanos - clock.Now()))
	defer stop()
	for {
		d.startAttempt()
		select {
		case result := <-d.results:
			if how := d.settleOrScheduleRetry(&result); how != notSettled {
				return how
			}
		case <-fired:
			return event.SettledPending
		}
		if clock.Now()+int64(d.pause) >= deadlineNanos {
			return d.decidePendingOrRefusedAtDeadline()
		}
		if d.commitFailedAttempt() != nil || !d.waitForRetryOrStop() {
			return event.SettledPending
		}
	}
}

// decidePendingOrRefusedAtDeadline returns the outcome if the next attempt would start after the deadline.
// For a pending delivery it commits the last attempt. A buyer that was only busy or not reached
// does not have the lead, so the outcome is SettledRefused. The result is SettledPending in
// three cases:
//
//   - An attempt may have reached the buyer.
//   - The last attempt renewed the credential, so the next one is due at once.
//   - The lead is promised to this buyer (RetryUnsent), and the last attempt did not reach it.
func (d *Delivery) decidePendingOrRefusedAtDeadline() event.PostSettlement {
	if d.inDoubt || d.lastResult.CredentialRenewed || d.RetryUnsent && d.lastResult.Verdict == market.VerdictNotSent {
		_ = d.commitFailedAttempt() // the caller commits the open delivery next, and gets the same error
		return event.SettledPending
	}
	return event.SettledRefused
}

// waitForRetryOrStop waits for the pause before the next attempt, and returns true. It returns false if
// the exchange stops meanwhile.
func (d *Delivery) waitForRetryOrStop() (waited bool) {
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

// settleOrScheduleRetry returns the outcome of the delivery after an attempt, or notSettled if another
// attempt follows. For notSettled it sets d.pause, the time before that attempt.
func (d *Delivery) settleOrScheduleRetry(result *market.BuyerPostResult) (settlementOrNotSettled event.PostSettlement) {
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
	return d.settleOrRetryFailedAttempt(result)
}

// settleOrRetryFailedAttempt counts a failed attempt against the retry schedule. It returns
// notSettled if another attempt follows. It returns the outcome if the schedule has ended, or if
// the buyer may have the lead and allows no repeated post. It is called if the attempt, or an
// earlier one, may have reached the buyer, or if the attempt did not reach the buyer of a promised
// lead.
func (d *Delivery) settleOrRetryFailedAttempt(result *market.BuyerPostResult) (settlementOrNotSettled event.PostSettlement) {
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

// commitFailedAttempt commits the result of the last attempt, if another attempt follows. After an
// error the delivery must not send again, because the log would not know it. The result of a
// delivery's final attempt is in the settlement's event instead.
func (d *Delivery) commitFailedAttempt() error {
	last := &d.lastResult
	record := &event.PostAttemptFailed{
		Lead: d.lead, Attempt: d.attempts, At: d.all.opt.Clock.Now(), Status: uint32(max(0, last.Status)), Fault: last.Fault,
		Verdict: last.Verdict, Code: last.Code, KeepsAttempt: d.uncounted,
	}
	if d.uncounted {
		record.Attempt++
	}
	return d.all.opt.Commit(record, nil)
}
