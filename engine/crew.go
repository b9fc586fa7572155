package engine

import "sync"

// crew are the goroutines that send pings. One that has sent its ping is kept
// for the next: a ping goes deep into HTTP and TLS, and a new goroutine would
// have to grow its stack on the way there each time.
//
// What must always hold:
//
//   - A ping never waits for a hand: where none is idle, another begins. So the
//     crew bounds how many are idle, and nothing else.
//   - An idle hand is in the list once, and whoever takes it out gives it a ping
//     or ends it.
//
// Rejected: ends by a timer for those that are idle for long. What the most idle
// hands hold is a few megabytes, and the collector shrinks their stacks.
type crew struct {
	mu     sync.Mutex
	idle   []*hand // the one idle for the shortest time last: its stack is in the cache
	closed bool
}

// hand is one goroutine of a crew.
type hand struct {
	jobs chan job // closed: to end
}

// job is one ping of a gathering.
type job struct {
	of   *gathering
	ping int
}

// maxIdle is how many hands are kept.
const maxIdle = 512

// send has a ping sent, on another goroutine.
func (c *crew) send(j job) {
	c.mu.Lock()
	last := len(c.idle) - 1
	if last < 0 {
		c.mu.Unlock()
		h := &hand{jobs: make(chan job, 1)}
		go h.work(c, j)
		return
	}
	h := c.idle[last]
	c.idle[last], c.idle = nil, c.idle[:last]
	c.mu.Unlock()
	h.jobs <- j
}

// work sends one ping after the other.
func (h *hand) work(c *crew, j job) {
	for more := true; more; j, more = <-h.jobs {
		j.of.ask(j.ping)
		if !c.keep(h) {
			return
		}
	}
}

// keep takes a hand that has nothing to do; false: it is not needed.
func (c *crew) keep(h *hand) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed || len(c.idle) >= maxIdle {
		return false
	}
	c.idle = append(c.idle, h)
	return true
}

// close ends the hands that are idle; the others end when their ping does.
func (c *crew) close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.closed = true
	for _, h := range c.idle {
		close(h.jobs)
	}
	c.idle = nil
}
