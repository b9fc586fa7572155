package webhook

import (
	"fmt"
	"math"
	"runtime/debug"
	"sync"
	"time"

	"pingpost/engine"
	"pingpost/engine/market"
	"pingpost/engine/state"
)

const (
	// patience is what an attempt may take in all: name, connection, TLS, request
	// and answer.
	patience = time.Second

	// slow is how long an attempt may take before its endpoint counts as slow.
	slow = patience / 4

	// pause is how long an endpoint is let be when an attempt could not be made or
	// logged, which is the exchange's own fault.
	pause = time.Second

	defaultInFlight = 8
	defaultInAll    = 256
)

// Outbox is what suppliers are owed, as state.State has it. Times are in Unix
// nanoseconds.
type Outbox interface {
	// TakeWebhook gives the earliest event of a supplier that is due, and gives it to
	// nobody else until it was tried or returned.
	TakeWebhook(supplier market.Ref, now int64) (h state.QueuedWebhook, ok bool)
	ReturnWebhook(h state.QueuedWebhook)
	// NextWebhookDue is when the earliest is due of those that can be taken.
	NextWebhookDue(supplier market.Ref) (due int64, ok bool)
	SuppliersWithPending() []market.Ref
	// WebhooksChanged gets a value when there may be an event that is due earlier than
	// all that NextWebhookDue has told of.
	WebhooksChanged() <-chan struct{}
}

// Engine says what an event is to say, and logs what an attempt to tell it came
// to. After an error the event is to be returned.
type Engine interface {
	WebhookMessage(h *state.QueuedWebhook) (engine.WebhookMessage, error)
	RecordWebhookAttempt(h state.QueuedWebhook, result market.WebhookResult) error
}

// Options say what a Sender needs.
type Options struct {
	Outbox Outbox
	Engine Engine
	Post   func(*market.WebhookRequest) market.WebhookResult // one attempt, by the request's deadline: Client.Post
	Now    func() int64                                      // by the exchange's clock, in Unix nanoseconds
	Fault  func(what string, err error)                      // is told what should not happen

	InFlight int // attempts under way to one endpoint; 8
	InAll    int // and to all together; 256

	// Pace is how many attempts may begin in a second, asked at each look at the
	// outbox. Nil: as many as there are places for.
	Pace func() int
}

// Sender has every event that is due tried, once.
//
// One loop knows whose events are due and who has places left. It is woken by the
// outbox, by the clock and by each place that becomes free; it takes an event out
// of the outbox only together with a place for it, and each place is a goroutine.
// So a million events that wait are a million rows of the outbox and nothing here.
//
// What always holds:
//
//   - No endpoint has more than InFlight places, and all have no more than InAll.
//   - Attempts begin no faster than Pace says, but for a hundredth of a second's worth
//     of them at once.
//   - Endpoints take turns, one event each. Who has a thousand due waits no less
//     long for its second turn than who has two.
//   - Those whose last attempt was slow have half of all places at most, and turns
//     of their own. However many endpoints hang, the other half of the places goes
//     round among those that answer.
//   - A place is free again only when its attempt is logged. So the outbox is asked
//     for an endpoint's next event when it knows of the last one, and one lead's
//     events keep their order.
//   - What was taken is tried or returned.
//
// Only the loop touches lanes, rounds and counts; a place hands its lane back
// through freed, which has room for all of them.
//
// Rejected: a goroutine for each endpoint with places of its own (thousands of
// endpoints, most of them idle, and nobody who keeps the total); a queue of events
// in the order in which they are due (a hanging endpoint's fill it from the front);
// one heap of endpoints by due time (every look at the outbox would rebuild it: it
// is cheaper to look at all endpoints, and to do that seldom; see look).
type Sender struct {
	opt   Options
	lanes map[market.Ref]*lane
	ready [2]round // lanes with something due and a place for it; [1]: the slow ones
	turn  int      // which of the two is asked first
	out   int      // places taken
	slow  int      // of these, by slow lanes

	next    int64     // when something is due for a lane that is not ready; noTime: unknown of any
	changed bool      // the outbox is to be looked at
	again   time.Time // not before this

	tempo tempo
	early int64 // when the next attempt may begin, where that alone is what it waits for; zero: it is not

	freed    chan place
	closing  chan struct{}
	ended    chan struct{} // closed when the loop has
	close    sync.Once
	attempts sync.WaitGroup
}

const noTime = int64(math.MaxInt64)

// New begins to send.
func New(opt Options) *Sender {
	if opt.InFlight <= 0 {
		opt.InFlight = defaultInFlight
	}
	if opt.InAll <= 0 {
		opt.InAll = defaultInAll
	}
	s := &Sender{
		opt: opt, lanes: make(map[market.Ref]*lane), changed: true, next: noTime,
		freed: make(chan place, opt.InAll), closing: make(chan struct{}), ended: make(chan struct{}),
	}
	go s.run()
	return s
}

// Close takes nothing more out of the outbox, waits for the attempts under way,
// which end within a second, and for their facts.
func (s *Sender) Close() {
	s.close.Do(func() { close(s.closing) })
	<-s.ended
	s.attempts.Wait()
}

// try fills a place: one attempt, from the message to its fact.
func (s *Sender) try(l *lane, h state.QueuedWebhook, wasSlow bool) {
	defer s.attempts.Done()
	done := place{lane: l, slow: wasSlow}
	result, err := s.attempt(&h)
	if err == nil {
		done.elapsed, err = result.Elapsed, s.opt.Engine.RecordWebhookAttempt(h, result)
	}
	if err != nil {
		s.opt.Outbox.ReturnWebhook(h)
		done.err = err
	}
	s.freed <- done
}

// attempt makes one. A panic there is one that failed, and told: it would end the
// process, and every next one that takes the event up again.
func (s *Sender) attempt(h *state.QueuedWebhook) (result market.WebhookResult, err error) {
	defer func() {
		if cause := recover(); cause != nil {
			result, err = market.WebhookResult{}, nil
			s.opt.Fault("a webhook panicked; please report it", fmt.Errorf("%T at %s", cause, debug.Stack()))
		}
	}()
	message, err := s.opt.Engine.WebhookMessage(h)
	if err != nil {
		return market.WebhookResult{}, err
	}
	if s.isClosing() {
		return market.WebhookResult{}, errClosing
	}
	return s.opt.Post(&market.WebhookRequest{
		Endpoint: message.Endpoint, ID: message.ID, Body: message.Body, Deadline: time.Now().Add(patience),
	}), nil
}

func (s *Sender) isClosing() bool {
	select {
	case <-s.closing:
		return true
	default:
		return false
	}
}
