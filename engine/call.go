package engine

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"time"

	"pingpost/engine/event"
	"pingpost/engine/market"
	"pingpost/engine/state"
	"pingpost/engine/timing"
)

// commonRequestFields has the fields that the workspaces of all requests share: leads, pings and status
// reports. It belongs to the goroutine that serves the request.
type commonRequestFields struct {
	engine   *Engine
	now      int64           // Unix nanoseconds: the time by which the request is decided
	received int64           // Unix nanoseconds
	timings  *timing.Timings // nil: not measured
}

// errDeadline is returned by a wait that lasted until the request's answer was due.
var errDeadline = errors.New("the answer is due")

// answerDueNanos returns the time at which the answer is due, in Unix nanoseconds: Options.Ceiling
// after the request arrived.
func (c *commonRequestFields) answerDueNanos() int64 { return c.received + int64(c.engine.opt.Ceiling) }

// waitAndUpdateNow waits until the channel otherRequestOrDeliveryEnded closes, because another request
// ends its claim, reservation or delivery. Then it moves c.now, the time by which this request is
// decided, to the present. Errors: errDeadline, or ErrUnavailable if the engine stops.
//
// The caller has released its caps, funds and turn. It may keep its claims: the order of claims
// prevents a deadlock (see "What always holds" in ARCHITECTURE.md).
func (c *commonRequestFields) waitAndUpdateNow(otherRequestOrDeliveryEnded <-chan struct{}) error {
	err := c.engine.waitForEndUntil(otherRequestOrDeliveryEnded, c.answerDueNanos())
	if err == nil {
		c.now = max(c.now, c.engine.opt.Clock.Now())
	}
	return err
}

// waitOrUnavailable waits like waitAndUpdateNow. It is for a request
// that cannot be decided without another request's result, for example a repeat with the same
// idempotency key. Every error is ErrUnavailable, even at the deadline, so that the caller sends
// the request again.
func (c *commonRequestFields) waitOrUnavailable(otherRequestOrDeliveryEnded <-chan struct{}) error {
	err := c.waitAndUpdateNow(otherRequestOrDeliveryEnded)
	if errors.Is(err, errDeadline) {
		return ErrUnavailable
	}
	return err
}

// claimKeyOrFindEarlierUse claims an idempotency key for this request. If an earlier request used the
// key, it returns that use, and it waits for an earlier request that is still in progress. For a
// new key it returns the zero claim. The reservation then holds the key until the event with the
// key is applied. Errors: ErrUnavailable, or a *Refusal with KeyReused if the earlier request had
// another body.
func (c *commonRequestFields) claimKeyOrFindEarlierUse(reserved *state.RequestReservations, use *event.RequestIdempotencyKey) (firstUse state.IdempotencyKeyClaimResult, err error) {
	for {
		claim, err := c.engine.state.ClaimIdempotencyKey(reserved, use.Key, use.Fingerprint, c.now)
		switch {
		case err != nil:
			return firstUse, c.engine.reportIfColdRowUnreadable(err)
		case claim.Wait != nil:
			if err := c.waitOrUnavailable(claim.Wait); err != nil {
				return firstUse, err
			}
		case claim.IsUsed() && !claim.SameBody:
			return firstUse, &Refusal{Code: KeyReused}
		default:
			return claim, nil
		}
	}
}

// waitForEndUntil waits until the channel otherRequestOrDeliveryEnded closes, for example because
// another request ends its claim. deadlineNanos is the time limit in Unix nanoseconds. Errors:
// errDeadline at that time, or ErrUnavailable if the engine stops.
func (e *Engine) waitForEndUntil(otherRequestOrDeliveryEnded <-chan struct{}, deadlineNanos int64) error {
	left := deadlineNanos - e.opt.Clock.Now()
	if left <= 0 {
		return errDeadline
	}
	fired, stop := e.opt.Clock.Timer(time.Duration(left))
	defer stop()
	select {
	case <-otherRequestOrDeliveryEnded:
		return nil
	case <-fired:
		return errDeadline
	case <-e.stop:
		return errStopped
	}
}

// An idempotency key belongs to an owner and an endpoint. These numbers are part of the
// hashed keys in the log, so a number is never assigned again.
const (
	endpointIngest       = 1
	endpointPing         = 2 // POST /v1/ping
	endpointAvailability = 3 // POST /api/v1/ping
	endpointPost         = 4 // POST /v1/post
	endpointStatus       = 5 // POST /v1/leads/{id}/status
	endpointStatuses     = 6 // POST /v1/leads/status
)

// answerRepeatedIngestOrClaimKey returns the answer of the first ingest with this idempotency key,
// if there was one. It waits while the first request still waits for its buyer. Without a first
// request, isRepeat is false, and the key is claimed for this request.
func (in *ingestOrPostInput) answerRepeatedIngestOrClaimKey() (answer IngestAnswer, isRepeat bool, err error) {
	first, err := in.claimKeyOrFindFirstLead(endpointIngest)
	if err != nil || first.IsZero() {
		return IngestAnswer{}, false, err
	}
	answer, err = in.waitForFirstIngestAnswer(first)
	return answer, true, err
}

// claimKeyOrFindFirstLead claims the request's idempotency key at an endpoint. If an earlier request
// used the key, it returns that request's lead. For a new key it returns the zero id and writes
// the key into the lead's event.
func (in *ingestOrPostInput) claimKeyOrFindFirstLead(endpointNumber byte) (firstLead market.LeadID, err error) {
	req := in.req
	var use event.RequestIdempotencyKey
	use.Key, use.Fingerprint, in.hashInput = in.engine.hashIdempotencyKey(in.hashInput, endpointNumber, req.Supplier.Ref, req.Key, req.Body, in.test)
	claim, err := in.claimKeyOrFindEarlierUse(&in.reserved, &use)
	if err != nil || claim.IsUsed() {
		return claim.Lead, err
	}
	use.ExpiresAt = in.now + int64(in.engine.opt.Idempotency)
	in.record.Idempotency = use
	return firstLead, nil
}

// hashIdempotencyKey returns the hash of an idempotency key with its owner and endpoint, and a
// fingerprint of the request's body. A test request and a production request with equal bodies get
// different fingerprints, so neither counts as a repeat. scratch is memory for the hashed bytes;
// scratchForReuse is that memory for the next call.
func (e *Engine) hashIdempotencyKey(scratch []byte, endpointNumber byte, owner market.PermanentNumber, key, body []byte, isTest bool) (keyHash [16]byte, bodyFingerprint uint64, scratchForReuse []byte) {
	scratch = append(scratch[:0], e.opt.Secret[:]...)
	scratch = append(scratch, 'k', endpointNumber)
	scratch = binary.BigEndian.AppendUint32(scratch, uint32(owner))
	scratch = append(scratch, key...)
	sum := sha256.Sum256(scratch)
	copy(keyHash[:], sum[:])
	kind := byte('b')
	if isTest {
		kind = 't'
	}
	scratch = append(append(scratch[:len(e.opt.Secret)], kind), body...)
	sum = sha256.Sum256(scratch)
	return keyHash, binary.LittleEndian.Uint64(sum[:]), scratch[:0]
}

// waitForFirstIngestAnswer returns the answer for firstLead, which the first request with the same
// idempotency key created. If that request still waits for its buyer, waitForFirstIngestAnswer
// waits until the supplier's answer is committed.
func (in *ingestOrPostInput) waitForFirstIngestAnswer(firstLead market.LeadID) (IngestAnswer, error) {
	e := in.engine
	if d := e.deliveries.FindRunning(firstLead); d != nil {
		if err := in.waitOrUnavailable(d.SupplierAnswerCommitted()); err != nil {
			return IngestAnswer{}, err
		}
	}
	lead, ok, err := e.findLead(firstLead)
	if err != nil {
		return IngestAnswer{}, err
	}
	if !ok || lead.Answer == state.AnswerNone {
		return IngestAnswer{}, ErrUnavailable
	}
	return e.rebuildIngestAnswer(&lead), nil
}

// claimDuplicateValuesOrWait claims the lead's values (for example its phone number) that identify
// duplicates. A repeat counts within scope. If another lead with equal values is in progress, it
// waits, because the result of that lead decides. It returns ReasonNone, ReasonDuplicate, or ReasonTimeout at the deadline.
func (in *leadSaleWorkspace) claimDuplicateValuesOrWait(scope market.DuplicateScope) (market.UnsoldReason, error) {
	for {
		result, wait, err := in.tryClaimDuplicateValues(scope)
		if err != nil {
			return market.ReasonNone, err
		}
		switch result {
		case state.Reserved:
			return market.ReasonNone, nil
		case state.Full:
			return market.ReasonDuplicate, nil
		}
		if err := in.waitAndUpdateNow(wait); err != nil {
			return timeoutReasonOrError(err)
		}
	}
}

// tryClaimDuplicateValues claims the lead's values that identify duplicates within the scope, and
// does not wait. Full means that the lead is a duplicate. Contended means that another lead with
// equal values is in progress; the returned channel closes when that lead ends its claim.
func (in *leadSaleWorkspace) tryClaimDuplicateValues(scope market.DuplicateScope) (result state.ReserveResult, wait <-chan struct{}, err error) {
	e, rule := in.engine, &in.live.Campaign.Duplicates
	in.duplicateKeys = rule.AppendDuplicateKeys(&in.lead, scope, &e.opt.Secret, in.duplicateKeys[:0])
	result, first, wait, err := e.state.ClaimAllDuplicateKeys(&in.reserved, in.duplicateKeys, in.now)
	if err != nil {
		return result, nil, e.reportIfColdRowUnreadable(err)
	}
	switch result {
	case state.Reserved:
		in.recordDuplicateClaims(rule.Window)
	case state.Full:
		in.record.DuplicateOf = first
	}
	return result, wait, nil
}

// recordDuplicateClaims writes the claimed duplicate values into the lead's event. Each expires
// validForNanos nanoseconds from now.
func (in *leadSaleWorkspace) recordDuplicateClaims(validForNanos int64) {
	sale := &in.record.Sale
	sale.Duplicates = sale.Duplicates[:0]
	for _, key := range in.duplicateKeys {
		sale.Duplicates = append(sale.Duplicates, event.DuplicateCheckValue{Key: key, Until: in.now + validForNanos})
	}
}

// timeoutReasonOrError translates the error of a wait: errDeadline becomes ReasonTimeout, so
// that the lead stays unsold. Other errors are returned: the engine stops, the lead has no
// decision, and the supplier may send it again.
func timeoutReasonOrError(waitErr error) (market.UnsoldReason, error) {
	if errors.Is(waitErr, errDeadline) {
		return market.ReasonTimeout, nil
	}
	return market.ReasonNone, waitErr
}
