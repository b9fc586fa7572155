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

// retryGaps are the pauses between a try that may have reached the buyer and
// the next one.
var retryGaps = [...]time.Duration{1 * time.Second, 2 * time.Second, 4 * time.Second, 8 * time.Second, 16 * time.Second}

// A buyer that answers 429 and names no time is asked again after leastBusy, then after
// twice as long each time up to mostBusy, because each try is an event in the log.
const (
	leastBusy = 50 * time.Millisecond
	mostBusy  = time.Second
)

// longestAsked is how long a buyer may put such a try off; some ask for days.
const longestAsked = 30 * time.Second

// A courier brings one lead to one buyer's endpoint. There is at most one a
// lead, and everyone who waits for that lead's answer waits with it.
//
// The verb that made it runs it until the answer is due; from then on a
// goroutine of its own does. It never touches the verb's workspace: what it
// sends is the logged intent.
//
// What it must never get wrong is doubt. A try is one send. As long as every send
// had a readable answer or certainly did not reach the buyer, the lead may go to
// another. After a send that may have reached the buyer, the lead never leaves it.
// Then only success or the end of the schedule ends the delivery, whatever later
// sends are answered. A refusal ends it too where the buyer certifies that a repeat
// gets the first send's answer (event.Post.Trusted).
//
// A lead that is sold at a bid which was told to its supplier is promised: there
// is no other buyer for it. So a try that certainly did not reach the buyer is
// made again, by the same schedule as one in doubt; only when all have failed
// like that has the buyer not got it.
type courier struct {
	engine   *Engine
	lead     market.LeadID
	answered chan struct{} // closed when the lead's answer is settled
	ended    chan struct{} // closed when nothing is tried any more
	results  chan market.PostResult

	post     *state.OpenPost
	body     []byte        // that every try of it sends
	lost     bool          // nothing is sent: nobody can open it, or it may have arrived and must not be repeated
	person   []event.Field // that tell who the lead is, once known
	told     bool          // the supplier has been told ACCEPTED; as settlement found it
	attempts uint32        // steps of the schedule that are used
	doubtful bool
	promised bool
	patient  bool          // of a promised lead: the answer is no word on it, so it is tried on past the ceiling although nobody was reached
	running  bool          // a try is under way
	alone    bool          // the lead is answered: no request waits for the courier
	pause    time.Duration // before the next try
	busy     uint          // 429s without doubt so far; the ceiling allows less than ten
	free     bool          // the last try used no step of the schedule: a 429 without doubt, or a 401 that renewed the credential
	last     market.PostResult
	traced   tracedTry

	hangs atomic.Bool // a try is under way, or the last one timed out: for those who wait with it
}

// fate is what is known of a delivery.
type fate uint8

const (
	fateOpen      fate = iota // not known yet; the next try follows
	fateDelivered             // the buyer has the lead
	fateRefused               // the buyer certainly has it not
	fateUnknown               // no try is left, or none would tell
)

// couriers are those at work, by lead.
type couriers struct {
	mu     sync.Mutex
	byLead map[market.LeadID]*courier
	shut   bool
	count  atomic.Int64
	atWork sync.WaitGroup // grows only under mu, and no more once shut
}

// open takes a courier on for a lead. ErrUnavailable: the exchange stops.
// ErrConflict: the lead has a courier, who may be just about to leave.
func (cs *couriers) open(e *Engine, lead market.LeadID) (*courier, error) {
	c := &courier{
		engine: e, lead: lead,
		answered: make(chan struct{}), ended: make(chan struct{}), results: make(chan market.PostResult, 1),
	}
	cs.mu.Lock()
	defer cs.mu.Unlock()
	switch {
	case cs.shut:
		return nil, ErrUnavailable
	case cs.byLead[lead] != nil:
		return nil, fmt.Errorf("%w: the delivery of lead %s is still being tried", ErrConflict, lead)
	}
	cs.byLead[lead] = c
	cs.count.Add(1)
	cs.atWork.Add(1)
	return c, nil
}

func (cs *couriers) close(c *courier) {
	cs.mu.Lock()
	delete(cs.byLead, c.lead)
	cs.mu.Unlock()
	close(c.ended)
	cs.count.Add(-1)
	cs.atWork.Done()
}

// end takes no more couriers on and waits for those at work.
func (cs *couriers) end() {
	cs.mu.Lock()
	cs.shut = true
	cs.mu.Unlock()
	cs.atWork.Wait()
}

// answered is closed when the lead's answer is settled; nil where no courier
// is at work for it.
func (cs *couriers) answered(lead market.LeadID) <-chan struct{} {
	if c := cs.of(lead); c != nil {
		return c.answered
	}
	return nil
}

// of is the courier at work for a lead, or nil. Strangers to it read its
// channels and hangs, and nothing else.
func (cs *couriers) of(lead market.LeadID) *courier {
	cs.mu.Lock()
	defer cs.mu.Unlock()
	return cs.byLead[lead]
}

// take gives the courier the intent to carry out.
func (c *courier) take(post *state.OpenPost) {
	c.post, c.attempts, c.doubtful, c.pause, c.busy = post, post.Attempts, post.Attempts > 0, 0, 0
	c.promised = post.Sale.Ping != [16]byte{}
	c.last = market.PostResult{}
	c.lost = !c.open(post)
}

// buyer is whom the lead goes to.
func (c *courier) buyer() string {
	return c.engine.state.NameOf(event.NameBuyer, c.post.Sale.Buyer)
}

// try starts an attempt; its result comes on results.
func (c *courier) try() {
	e, post := c.engine, c.post
	c.running = true
	c.hangs.Store(true)
	now := e.opt.Clock.Now()
	auction := [16]byte(post.Intent.Auction)
	if auction == [16]byte{} {
		auction = post.Lead
	}
	var key string
	if dialect := &post.Intent.Dialect; *dialect == (market.Dialect{}) || dialect.KeyHeader != "" {
		key = postKey(auction, post.Lead, c.buyer())
	}
	req := &market.PostRequest{
		Buyer:             market.BuyerID(c.buyer()),
		Endpoint:          post.Intent.Endpoint(),
		IdempotencyKey:    key,
		RequestID:         market.RequestID(e.newID(now, new([10]byte))),
		Body:              c.body,
		Deadline:          time.Unix(0, now+post.Intent.Timeout),
		Test:              post.Sale.Test,
		CredentialRenewed: c.last.CredentialRenewed,

		Traceparent: c.traced.begin(c, now),
	}
	go func() { c.results <- c.send(req) }()
}

// send makes the attempt. A panic there is one try that may have reached the
// buyer, and told: it would end the process, and every next one that takes the
// post up again.
func (c *courier) send(req *market.PostRequest) (result market.PostResult) {
	defer func() {
		if cause := recover(); cause != nil {
			result = market.PostResult{Verdict: market.VerdictUnknown}
			c.engine.opt.Note.Fault("a post panicked; please report it", fmt.Errorf("%T at %s", cause, debug.Stack()))
		}
	}()
	return c.engine.opt.Buyers.Post(req)
}

// postKey is the idempotency key of a post: the same for every try, another
// for every other buyer. Where there was no auction the lead's id stands for
// the auction's.
func postKey(auction, lead [16]byte, buyer string) string {
	h := sha256.New()
	h.Write(auction[:])
	h.Write(lead[:])
	h.Write([]byte(buyer))
	return "post_" + hex.EncodeToString(h.Sum(nil)[:20])
}

// until tries until the fate is known or the time comes; then it is open.
func (c *courier) until(deadline int64) fate {
	if c.lost {
		return fateUnknown
	}
	clock := c.engine.opt.Clock
	fired, stop := clock.Timer(time.Duration(deadline - clock.Now()))
	defer stop()
	for {
		c.try()
		select {
		case result := <-c.results:
			if known := c.judge(&result); known != fateOpen {
				return known
			}
		case <-fired:
			return fateOpen
		}
		if clock.Now()+int64(c.pause) >= deadline {
			return c.outOfTime()
		}
		if c.note() != nil || !c.rest() {
			return fateOpen
		}
	}
}

// outOfTime is the fate when the next try would come too late for the answer: a
// buyer that was only busy, or that nobody waits for any more, has not got the
// lead. After a renewed credential the next try is due at once, and goes on.
func (c *courier) outOfTime() fate {
	if c.doubtful || c.last.CredentialRenewed || c.patient && c.last.Verdict == market.VerdictNotSent {
		_ = c.note() // the caller logs the open delivery next, and sees the same error
		return fateOpen
	}
	return fateRefused
}

// rest waits before the next try; false: the exchange stops.
func (c *courier) rest() bool {
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

// judge reads a result. Where it stays open, pause says when to try again.
func (c *courier) judge(result *market.PostResult) fate {
	c.redact(result)
	c.running, c.last, c.free = false, *result, false
	c.traced.end(result, c.engine.opt.Clock.Now())
	c.hangs.Store(result.Fault == market.FaultTimeout)
	if !c.post.Sale.Test {
		c.engine.opt.Note.Posted(c.buyer(), result)
	}
	switch result.Verdict {
	case market.VerdictAccepted:
		return fateDelivered
	case market.VerdictRefused:
		if result.CredentialRenewed {
			c.free = true
			return fateOpen
		}
		if !c.doubtful || result.Final && c.post.Intent.Trusted {
			return fateRefused
		}
	case market.VerdictNotSent:
		if !c.doubtful && !c.promised {
			return fateRefused
		}
	case market.VerdictBusy:
		if !c.doubtful && c.alone {
			return fateRefused // the answer is out: there is no second chance to wait for
		}
		if !c.doubtful {
			c.free, c.pause = true, max(result.RetryAfter, min(leastBusy<<c.busy, mostBusy))
			c.busy++
			return fateOpen
		}
	}
	return c.failed(result)
}

// failed uses a step of the schedule for a try that may have reached the buyer, that
// follows such a try, or that did not reach a buyer to which the lead is promised.
func (c *courier) failed(result *market.PostResult) fate {
	c.doubtful = c.doubtful || result.Verdict != market.VerdictNotSent
	c.attempts++
	switch {
	case int(c.attempts) <= len(retryGaps) && (c.post.Intent.Repeatable || !c.doubtful):
		c.pause = max(retryGaps[c.attempts-1], min(result.RetryAfter, longestAsked))
		return fateOpen
	case c.doubtful:
		return fateUnknown
	}
	return fateRefused
}

// note logs the last try, after which another one follows. After an error nothing more
// may be sent. The try that ends the delivery is in the settlement.
func (c *courier) note() error {
	last := &c.last
	fact := &event.PostTried{
		Lead: c.lead, Attempt: c.attempts, At: c.engine.opt.Clock.Now(), Status: uint32(max(0, last.Status)), Fault: last.Fault,
		Verdict: last.Verdict, Code: last.Code, Free: c.free,
	}
	if c.free {
		fact.Attempt++
	}
	return c.engine.commitOutcome(fact, nil)
}

// Deliveries is how many leads are being brought to buyers' endpoints now.
func (e *Engine) Deliveries() int64 { return e.couriers.count.Load() }
