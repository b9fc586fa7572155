package engine

import (
	"errors"
	"time"

	"pingpost/engine/event"
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
func (c *call) claimKey(reserved *state.Reservation, use *event.Idempotency) (first state.KeyClaim, err error) {
	for {
		claim := c.engine.state.ClaimKey(reserved, use.Key, use.Fingerprint, c.now)
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
