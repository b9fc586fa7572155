package engine

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"time"

	"pingpost/engine/event"
	"pingpost/engine/market"
	"pingpost/engine/state"
)

// call has what the workspaces of all kinds of requests share. It belongs to the
// goroutine of its request.
type call struct {
	engine   *Engine
	now      int64    // Unix nanoseconds: the time by which the request is decided
	received int64    // Unix nanoseconds
	timings  *Timings // nil: not measured
}

// errDeadline is returned when the answer is due.
var errDeadline = errors.New("the answer is due")

// deadline returns when the answer is due, in Unix nanoseconds.
func (c *call) deadline() int64 { return c.received + int64(c.engine.opt.Ceiling) }

// wait waits until another request ends its claim or reservation, and then moves the
// decision's time to the present. Errors: errDeadline, or ErrUnavailable if the engine
// stops.
func (c *call) wait(ended <-chan struct{}) error {
	err := c.engine.waitUntil(ended, c.deadline())
	if err == nil {
		c.now = max(c.now, c.engine.opt.Clock.Now())
	}
	return err
}

// waitForResult is wait for a request that cannot be decided without the other one's
// result. Every error is ErrUnavailable.
func (c *call) waitForResult(ended <-chan struct{}) error {
	if c.wait(ended) != nil {
		return ErrUnavailable
	}
	return nil
}

// claimKey claims an idempotency key. If a committed event has used the key, it returns
// that use; it waits for a first request that is still in progress. If the key is new,
// claimKey returns the zero KeyClaim, and the reservation holds the claim until the
// event that names the key is applied. Errors: ErrUnavailable, or a *Refusal with
// KeyReused if the first request had another body.
func (c *call) claimKey(reserved *state.Reservation, use *event.IdempotencyUse) (first state.IdempotencyKeyClaim, err error) {
	for {
		claim := c.engine.state.ClaimIdempotencyKey(reserved, use.Key, use.Fingerprint, c.now)
		switch {
		case claim.Wait != nil:
			if err := c.waitForResult(claim.Wait); err != nil {
				return first, err
			}
		case claim.IsUsed() && !claim.SameBody:
			return first, &Refusal{Code: KeyReused}
		default:
			return claim, nil
		}
	}
}

// waitUntil waits until another request ends its claim, at most until a time in Unix
// nanoseconds. Errors: errDeadline, or ErrUnavailable if the engine stops.
func (e *Engine) waitUntil(ended <-chan struct{}, until int64) error {
	left := until - e.opt.Clock.Now()
	if left <= 0 {
		return errDeadline
	}
	fired, stop := e.opt.Clock.Timer(time.Duration(left))
	defer stop()
	select {
	case <-ended:
		return nil
	case <-fired:
		return errDeadline
	case <-e.stop:
		return ErrUnavailable
	}
}

// Timings are the parts of a request's time that the engine waited for others, in
// nanoseconds. The rest of its time went into lookups, the decision, and waiting for
// other requests.
type Timings struct {
	Log    int64 // from the encoding of events until they are durable and applied
	Buyers int64 // pings, and posts until the answer is due

	Trace *Trace // nil: the request is not traced
}

// addLog adds the time since began to Log. A nil receiver measures nothing.
func (t *Timings) addLog(clock Clock, began int64) {
	if t != nil {
		now := clock.Now()
		t.Log += now - began
		t.Trace.Commit(began, now)
	}
}

// addBuyers adds nanoseconds to Buyers. A nil receiver measures nothing.
func (t *Timings) addBuyers(nanoseconds int64) {
	if t != nil {
		t.Buyers += nanoseconds
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

// repeatIngest returns the answer of the key's first request, if the key has one. It
// claims a new key for this request.
func (in *ingest) repeatIngest() (answer Answer, found bool, err error) {
	first, err := in.claimLeadKey(endpointIngest)
	if err != nil || first.IsZero() {
		return Answer{}, false, err
	}
	answer, err = in.repeatAnswer(first)
	return answer, true, err
}

// claimLeadKey claims the request's idempotency key. It returns the lead of the key's
// first request, or zero if the key is new.
func (in *ingest) claimLeadKey(endpoint byte) (first market.LeadID, err error) {
	req := in.req
	var use event.IdempotencyUse
	use.Key, use.Fingerprint, in.body = in.engine.hashKey(in.body, endpoint, req.Supplier.Ref, req.Key, req.Body, in.test)
	claim, err := in.claimKey(&in.reserved, &use)
	if err != nil || claim.IsUsed() {
		return claim.Lead, err
	}
	use.ExpiresAt = in.now + int64(in.engine.opt.Idempotency)
	in.record.Idempotency = use
	return first, nil
}

// hashKey hashes an idempotency key with its owner and endpoint, and fingerprints the
// request's body. A test request has another fingerprint than a production request with
// the same body. scratch is memory for the hashed bytes; hashKey returns it, grown if
// necessary.
func (e *Engine) hashKey(scratch []byte, endpoint byte, owner market.Ref, key, body []byte, test bool) (hash [16]byte, fingerprint uint64, grown []byte) {
	scratch = append(scratch[:0], e.opt.Secret[:]...)
	scratch = append(scratch, 'k', endpoint)
	scratch = binary.BigEndian.AppendUint32(scratch, uint32(owner))
	scratch = append(scratch, key...)
	sum := sha256.Sum256(scratch)
	copy(hash[:], sum[:])
	kind := byte('b')
	if test {
		kind = 't'
	}
	scratch = append(append(scratch[:len(e.opt.Secret)], kind), body...)
	sum = sha256.Sum256(scratch)
	return hash, binary.LittleEndian.Uint64(sum[:]), scratch[:0]
}

// repeatAnswer returns the answer of a lead that an earlier request created. If that
// request still waits for its buyer, repeatAnswer waits with it.
func (in *ingest) repeatAnswer(id market.LeadID) (Answer, error) {
	e := in.engine
	if answered := e.deliveries.answeredChannel(id); answered != nil {
		if err := in.waitForResult(answered); err != nil {
			return Answer{}, err
		}
	}
	lead, ok := e.state.Lead(id)
	if !ok || lead.Answer == state.AnswerNone {
		return Answer{}, ErrUnavailable
	}
	return e.answerOf(&lead), nil
}

// claimDuplicates claims the values that identify a duplicate of this lead, within a
// scope: a campaign, or a campaign and a buyer. It waits for another lead in progress
// with the same values, because that lead's result decides. The result is ReasonNone,
// ReasonDuplicate, or ReasonTimeout.
func (in *ingest) claimDuplicates(scope uint64) (market.Reason, error) {
	for {
		result, wait := in.tryClaimDuplicates(scope)
		switch result {
		case state.Reserved:
			return market.ReasonNone, nil
		case state.Full:
			return market.ReasonDuplicate, nil
		}
		if err := in.wait(wait); err != nil {
			return reasonForDeadline(err)
		}
	}
}

// tryClaimDuplicates is claimDuplicates without the wait: for Contended it returns the
// channel to wait on.
func (in *ingest) tryClaimDuplicates(scope uint64) (state.ReserveResult, <-chan struct{}) {
	e, rule := in.engine, &in.live.Campaign.Duplicates
	in.duplicateKeys = rule.AppendKeys(&in.lead, scope, &e.opt.Secret, in.duplicateKeys[:0])
	result, first, wait := e.state.ClaimDuplicateKeys(&in.reserved, in.duplicateKeys, in.now)
	switch result {
	case state.Reserved:
		in.recordDuplicateKeys(rule.Window)
	case state.Full:
		in.record.DuplicateOf = first
	}
	return result, wait
}

// recordDuplicateKeys writes the claimed values, with their expiry, into the event.
func (in *ingest) recordDuplicateKeys(validFor int64) {
	sale := &in.record.Sale
	sale.Duplicates = sale.Duplicates[:0]
	for _, key := range in.duplicateKeys {
		sale.Duplicates = append(sale.Duplicates, event.DuplicateValue{Key: key, Until: in.now + validFor})
	}
}

// reasonForDeadline returns ReasonTimeout for errDeadline. It returns other errors
// unchanged: if the engine stops, the lead has no decision, and the supplier may send it
// again.
func reasonForDeadline(err error) (market.Reason, error) {
	if errors.Is(err, errDeadline) {
		return market.ReasonTimeout, nil
	}
	return market.ReasonNone, err
}
