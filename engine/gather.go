package engine

import (
	"fmt"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	"pingpost/engine/market"
)

// gathering asks many buyers at once and takes their answers until the last has
// come or the deadline has.
//
// One goroutine a ping (see crew), and no more pings than there are seats. How many there
// are at once in all is bounded by Options.MaxPings and one auction's seats, and
// long before by each buyer's ping rate, times the few seconds that a ping lasts.
//
// What must always hold:
//
//   - The end is one instant, under mu: an answer that comes before is in, one
//     that comes after changes nothing, whatever it is.
//   - A goroutine that has not returned by then may still read its request and
//     the body. So the gathering counts those who use it, and goes back to the
//     pool when the last of them has let go, be that the auction or a laggard.
//   - When an answer came is told by our clock, never by the buyer or by the one
//     that spoke to it.
//
// Rejected: a channel of answers. A laggard would have to be given a way to
// leave its answer nowhere, and every answer would be copied twice.
type gathering struct {
	engine *Engine
	pings  []asked // grows only while nobody is asked yet

	// Of all pings, and read only from the first one sent on.
	bodies  []byte // one after the other
	common  [2]int // where the body of those is that speak the contract
	auction []byte // text of the auction's id
	key     string // the same, as the idempotency key

	mu       sync.Mutex
	answered int
	over     bool
	last     chan struct{} // one value when the last answer is in, unless it is over

	users atomic.Int32
}

// asked is one buyer that is asked.
type asked struct {
	seat  int
	body  [2]int // where in bodies
	req   market.PingRequest
	asker *asker
	span  uint64 // its id in the request's trace; 0: there is none

	// Guarded by the gathering's mu until it is over; then the auction's alone.
	result market.PingResult
	came   int64 // Unix nanoseconds; 0: no answer came
}

// keptBodies is how much memory for bodies is kept from auction to auction.
const keptBodies = 256 << 10

func newGathering(e *Engine) *gathering {
	return &gathering{engine: e, last: make(chan struct{}, 1)}
}

// add is room for one more ping.
func (g *gathering) add() *asked {
	if len(g.pings) < cap(g.pings) {
		g.pings = g.pings[:len(g.pings)+1]
	} else {
		g.pings = append(g.pings, asked{})
	}
	return &g.pings[len(g.pings)-1]
}

// run sends every ping and returns at the last answer or the deadline, in Unix
// nanoseconds. The error is ErrUnavailable where the exchange stops.
func (g *gathering) run(deadline int64) error {
	clock := g.engine.opt.Clock
	for i := range g.pings {
		p := &g.pings[i]
		p.req.Body = g.bodies[p.body[0]:p.body[1]:p.body[1]]
		p.req.Deadline = time.Unix(0, deadline)
	}
	g.users.Add(int32(len(g.pings)))
	g.engine.pinging.Add(int64(len(g.pings)))
	for i := range g.pings {
		g.engine.crew.send(job{g, i})
	}
	// A nanosecond later, so that an answer of the deadline itself is in.
	fired, stop := clock.Timer(time.Duration(deadline + 1 - clock.Now()))
	defer stop()
	var err error
	select {
	case <-g.last:
	case <-fired:
	case <-g.engine.stop:
		err = ErrUnavailable
	}
	g.mu.Lock()
	g.over = true
	g.mu.Unlock()
	return err
}

// ask sends one ping, on a hand of the crew.
func (g *gathering) ask(i int) {
	defer g.release()
	defer g.engine.pinging.Add(-1)
	result := g.send(&g.pings[i].req)
	g.answer(i, &result, g.engine.opt.Clock.Now())
}

// send asks the buyer. A panic there is one ping's error, and told: it would end
// the process, and with it what has nothing to do with this buyer.
func (g *gathering) send(req *market.PingRequest) (result market.PingResult) {
	defer func() {
		if cause := recover(); cause != nil {
			result = market.PingResult{Outcome: market.OutcomeError}
			g.engine.opt.Note.Fault("a ping panicked; please report it", fmt.Errorf("%T at %s", cause, debug.Stack()))
		}
	}()
	return g.engine.opt.Buyers.Ping(req)
}

func (g *gathering) answer(i int, result *market.PingResult, came int64) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.over {
		return
	}
	g.pings[i].result, g.pings[i].came = *result, came
	if g.answered++; g.answered == len(g.pings) {
		g.last <- struct{}{}
	}
}

// release lets go of the gathering; the last user empties it for the next
// auction.
func (g *gathering) release() {
	if g.users.Add(-1) > 0 {
		return
	}
	select {
	case <-g.last:
	default:
	}
	clear(g.pings)
	g.pings, g.answered, g.over = g.pings[:0], 0, false
	g.common = [2]int{}
	if g.bodies = g.bodies[:0]; cap(g.bodies) > keptBodies {
		g.bodies = nil
	}
	g.engine.gatherings.Put(g)
}
