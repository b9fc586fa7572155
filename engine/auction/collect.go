package auction

import (
	"fmt"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	"pingpost/engine/market"
)

// bidCollector pings the buyers of one auction at once and collects their answers, until the last
// answer or the deadline.
//
// Each ping runs on a worker of its own. RunnerOptions.MaxPings and the filter sets of a campaign limit
// the pings in flight. In practice each buyer's ping rate limits them earlier, because a ping
// takes a few seconds at most.
//
// Invariants:
//
//   - The collection ends at one instant, under mu. An answer before it counts; a later answer
//     changes nothing.
//   - A ping that has not returned by then may still read its request and the body. So the
//     bidCollector counts its users, which are the auction and the pings. It returns to the pool
//     when the last of them has released it.
//   - The time of an answer is measured by the exchange's clock, never by the buyer or by the
//     Buyers port.
//
// Rejected: a channel of answers. A late ping would need another place for its answer, and each
// answer would be copied twice.
type bidCollector struct {
	runner *Runner
	pings  []pingInFlight // grows only before the first ping is sent

	// Shared by all pings, and read only after the first ping is sent.
	bodies  []byte // all bodies, one after the other
	common  [2]int // range in bodies of the body for buyers without an adapter
	auction []byte // text of the auction's id
	key     string // the same text, as the idempotency key

	mu       sync.Mutex
	answered int
	over     bool
	last     chan struct{} // gets one value at the last answer, unless the auction is over

	users atomic.Int32
}

// pingInFlight is one ping of an auction: the request to a buyer and, later, its answer.
type pingInFlight struct {
	filterSet int
	body      [2]int // range in bidCollector.bodies
	request   market.BuyerPingRequest
	limiter   *BuyerPingLimiter
	span      uint64 // id in the request's trace; 0: not traced

	// bidCollector.mu guards these until the collection is over. Then the auction owns them.
	result     market.BuyerPingResult
	answeredAt int64 // Unix nanoseconds; 0: no answer
}

// maxKeptBodyBytes limits the memory for request bodies that a collector keeps for its next auction.
const maxKeptBodyBytes = 256 << 10

func newBidCollector(r *Runner) *bidCollector {
	return &bidCollector{runner: r, last: make(chan struct{}, 1)}
}

// add appends a ping to the auction's pings and returns it, to be filled in. It reuses memory of
// earlier auctions.
func (c *bidCollector) add() *pingInFlight {
	if len(c.pings) < cap(c.pings) {
		c.pings = c.pings[:len(c.pings)+1]
	} else {
		c.pings = append(c.pings, pingInFlight{})
	}
	return &c.pings[len(c.pings)-1]
}

// sendPingsAndWait sends all pings. It returns at the last answer or at the deadline, in Unix
// nanoseconds; later answers do not count. The error is ErrUnavailable if the exchange stops.
func (c *bidCollector) sendPingsAndWait(deadlineNanos int64) error {
	clock := c.runner.opt.Clock
	for i := range c.pings {
		p := &c.pings[i]
		p.request.Body = c.bodies[p.body[0]:p.body[1]:p.body[1]]
		p.request.Deadline = time.Unix(0, deadlineNanos)
	}
	c.users.Add(int32(len(c.pings)))
	c.runner.pings.Add(int64(len(c.pings)))
	for i := range c.pings {
		c.runner.workers.startOnIdleOrNewWorker(pingJob{c, i})
	}
	// The timer is a nanosecond late, so that an answer at the deadline counts.
	fired, stop := clock.Timer(time.Duration(deadlineNanos + 1 - clock.Now()))
	defer stop()
	var err error
	select {
	case <-c.last:
	case <-fired:
	case <-c.runner.opt.Stop:
		err = ErrUnavailable
	}
	c.mu.Lock()
	c.over = true
	c.mu.Unlock()
	return err
}

// runPing sends the ping with this index and records its answer. It runs on a worker of the pool.
func (c *bidCollector) runPing(pingIndex int) {
	defer c.endUseAndRecycleIfLast()
	defer c.runner.pings.Add(-1)
	result := c.sendPingRecoveringPanic(&c.pings[pingIndex].request)
	c.recordAnswerUnlessOver(pingIndex, &result, c.runner.opt.Clock.Now())
}

// sendPingRecoveringPanic pings the buyer and returns its answer. It reports a panic and returns
// OutcomeError for this ping alone. An unrecovered panic would end the process.
func (c *bidCollector) sendPingRecoveringPanic(req *market.BuyerPingRequest) (result market.BuyerPingResult) {
	defer func() {
		if cause := recover(); cause != nil {
			result = market.BuyerPingResult{Outcome: market.OutcomeError}
			c.runner.opt.ReportPanic(fmt.Errorf("%T at %s", cause, debug.Stack()))
		}
	}()
	return c.runner.opt.Buyers.Ping(req)
}

// recordAnswerUnlessOver stores a buyer's answer, unless the collection has ended. The last answer wakes
// the auction.
func (c *bidCollector) recordAnswerUnlessOver(pingIndex int, result *market.BuyerPingResult, answeredAtNanos int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.over {
		return
	}
	c.pings[pingIndex].result, c.pings[pingIndex].answeredAt = *result, answeredAtNanos
	if c.answered++; c.answered == len(c.pings) {
		c.last <- struct{}{}
	}
}

// endUseAndRecycleIfLast ends the use of the collector by the auction or by one ping. The last user
// empties the collector and returns it to the pool.
func (c *bidCollector) endUseAndRecycleIfLast() {
	if c.users.Add(-1) > 0 {
		return
	}
	select {
	case <-c.last:
	default:
	}
	clear(c.pings)
	c.pings, c.answered, c.over = c.pings[:0], 0, false
	c.common = [2]int{}
	if c.bodies = c.bodies[:0]; cap(c.bodies) > maxKeptBodyBytes {
		c.bodies = nil
	}
	c.runner.collectors.Put(c)
}
