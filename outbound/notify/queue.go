package notify

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"pingpost/outbound/mail"
)

// Item is one notification to one channel, or one e-mail of a scheduled report. Channel is then the
// report's ID.
type Item struct {
	ID       uint64 // the caller's; grows with time
	Channel  string
	Resolved bool // it says that an alert ended; such ones are dropped first
	Due      time.Time
	// Accepted are the recipients of an e-mail that have it after earlier attempts. The queue fills it.
	Accepted []string
}

// isSentToAllNotRefused reports whether the item is sent after an attempt with this error: without one,
// or if an e-mail has reached some recipients and the server refused all others for good.
func (i *Item) isSentToAllNotRefused(err error) bool {
	partly, ok := i.deliveredPart(err)
	return err == nil || ok && len(partly.Deferred) == 0
}

// deliveredPart returns the RecipientError of an attempt if this or an earlier attempt reached some of
// the recipients.
func (i *Item) deliveredPart(err error) (partly *mail.RecipientError, ok bool) {
	ok = errors.As(err, &partly) && len(i.Accepted)+len(partly.Accepted) > 0
	return partly, ok
}

// FinalOutcome is how an item ended.
type FinalOutcome uint8

const (
	Sent    FinalOutcome = iota + 1
	Failed               // its attempts failed until it was too old
	Dropped              // the channel's queue was full, or the channel no longer exists
)

// ErrNoChannel is returned by QueueOptions.Send for a channel that no longer exists or is off. The
// item is then dropped.
var ErrNoChannel = errors.New("the alert channel was removed or turned off")

// QueueOptions configure a Queue.
type QueueOptions struct {
	// Send makes one attempt. It returns soon after its context ends.
	Send func(ctx context.Context, item Item) error
	// Done records how an item ended; err is the last attempt's error. With Sent it names recipients that
	// the server refused. A worker calls it.
	Done func(item Item, outcome FinalOutcome, err error)

	Now   func() time.Time
	Sleep func(ctx context.Context, d time.Duration) // returns early when ctx ends

	Limit   int           // items of a channel that wait; 0: 1,000
	MaxAge  time.Duration // after Due, from which an item fails; 0: six hours
	Timeout time.Duration // of an attempt; 0: 30 seconds
}

// Queue sends the items of each channel one after the other. After a failed attempt, the channel
// pauses for a time that grows with each failure. It keeps nothing durably: the caller adds the
// unsent items again after a restart.
type Queue struct {
	options QueueOptions
	ctx     context.Context //nolint:containedctx // ends at Close
	cancel  context.CancelFunc
	workers sync.WaitGroup

	mu       sync.Mutex // guards the following field
	channels map[string]*channelQueue
}

// channelQueue is the queue of one channel, with the health that operators see.
type channelQueue struct {
	waiting []Item // oldest first; a worker sends the first
	running bool   // a worker runs
	health  ChannelHealth

	failures int                // failed attempts in a row since the last Resume
	endPause context.CancelFunc // nil: the channel does not pause
}

// ChannelHealth is the state of a channel.
type ChannelHealth struct {
	Queued                int
	Sent, Failed, Dropped uint64
	LastSuccess           time.Time // zero: none since the start
	FailingSince          time.Time // zero: the last attempt succeeded, or there was none
	LastError             string    // of the attempts since FailingSince, or of recipients that the last attempt did not reach
	Attempting            time.Time // start of the attempt that runs; zero: none runs
}

// pauses are the pauses of a channel after its first, second, … failed attempt in a row. The last
// one repeats.
var pauses = [...]time.Duration{5 * time.Second, 15 * time.Second, time.Minute, 5 * time.Minute, 15 * time.Minute}

// NewQueue returns an empty queue. Its workers start when there are items for them.
func NewQueue(options QueueOptions) *Queue {
	if options.Limit == 0 {
		options.Limit = 1000
	}
	if options.MaxAge == 0 {
		options.MaxAge = 6 * time.Hour
	}
	if options.Timeout == 0 {
		options.Timeout = 30 * time.Second
	}
	q := &Queue{options: options, channels: make(map[string]*channelQueue)}
	q.ctx, q.cancel = context.WithCancel(context.Background())
	return q
}

// Add queues an item, or ignores it after Close. If the channel's queue is full, it drops the oldest
// item that says that an alert ended, or else the oldest one. It never drops the first item, which a
// worker may be sending.
func (q *Queue) Add(item Item) {
	q.mu.Lock()
	if q.ctx.Err() != nil {
		q.mu.Unlock()
		return
	}
	c := q.channels[item.Channel]
	if c == nil {
		c = &channelQueue{}
		q.channels[item.Channel] = c
	}
	dropped, hasDropped := c.dropResolvedOrOldestIfFull(q.options.Limit)
	c.waiting = append(c.waiting, item)
	if !c.running {
		c.running = true
		q.workers.Add(1)
		go q.sendUntilEmptyOrClosed(c)
	}
	q.mu.Unlock()
	if hasDropped {
		q.options.Done(dropped, Dropped, errors.New("the channel's queue was full"))
	}
}

// dropResolvedOrOldestIfFull removes an item if limit items wait. It never removes the first one, which
// may be on its way.
func (c *channelQueue) dropResolvedOrOldestIfFull(limit int) (dropped Item, hasDropped bool) {
	if len(c.waiting) < max(limit, 2) {
		return Item{}, false
	}
	at := 1 + slices.IndexFunc(c.waiting[1:], func(i Item) bool { return i.Resolved })
	if at == 0 {
		at = 1
	}
	dropped = c.waiting[at]
	c.waiting = slices.Delete(c.waiting, at, at+1)
	c.health.Dropped++
	return dropped, true
}

// sendUntilEmptyOrClosed sends the items of a channel until none is left or the queue is closed.
func (q *Queue) sendUntilEmptyOrClosed(c *channelQueue) {
	defer q.workers.Done()
	for {
		q.mu.Lock()
		if len(c.waiting) == 0 || q.ctx.Err() != nil {
			c.running = false
			q.mu.Unlock()
			return
		}
		item := c.waiting[0]
		c.health.Attempting = q.options.Now()
		q.mu.Unlock()

		err := q.send(item)
		if q.ctx.Err() != nil && !item.isSentToAllNotRefused(err) {
			continue // the queue closes; the item is added again after the restart
		}
		outcome, finished := q.recordAttemptAndDequeueFinished(c, item, err)
		if finished {
			q.options.Done(item, outcome, err)
		}
		q.pauseIfFailed(c, outcome != Sent && outcome != Dropped)
	}
}

// pauseIfFailed pauses after a failed attempt, until the pause's end, Resume or Close. After another
// attempt it only resets the count of failures.
func (q *Queue) pauseIfFailed(c *channelQueue, failed bool) {
	q.mu.Lock()
	if !failed {
		c.failures = 0
		q.mu.Unlock()
		return
	}
	pause := pauses[min(c.failures, len(pauses)-1)]
	c.failures++
	var ctx context.Context
	ctx, c.endPause = context.WithCancel(q.ctx)
	q.mu.Unlock()

	q.options.Sleep(ctx, pause)

	q.mu.Lock()
	c.endPause()
	c.endPause = nil
	q.mu.Unlock()
}

// Resume ends the pause of a channel and forgets its failures, because the caller knows that the
// channel works again.
func (q *Queue) Resume(channel string) {
	q.mu.Lock()
	defer q.mu.Unlock()
	c := q.channels[channel]
	if c == nil {
		return
	}
	c.failures, c.health.FailingSince, c.health.LastError = 0, time.Time{}, ""
	if c.endPause != nil {
		c.endPause()
	}
}

// send makes one attempt. A panic is a failed attempt: a library that cannot handle a mail server's
// answer must not end the exchange, and again after its restart.
func (q *Queue) send(item Item) (err error) {
	ctx, cancel := context.WithTimeout(q.ctx, q.options.Timeout)
	defer cancel()
	defer func() {
		if cause := recover(); cause != nil {
			err = fmt.Errorf("BUG: sending a notification panicked: %v", cause)
		}
	}()
	return q.options.Send(ctx, item)
}

// recordAttemptAndDequeueFinished updates the channel's health, and removes the item if it is finished.
func (q *Queue) recordAttemptAndDequeueFinished(c *channelQueue, item Item, err error) (outcome FinalOutcome, finished bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	now := q.options.Now()
	c.health.Attempting = time.Time{}
	switch {
	case item.isSentToAllNotRefused(err):
		outcome = Sent
		c.health.Sent++
		c.health.LastSuccess, c.health.FailingSince, c.health.LastError = now, time.Time{}, ""
		if err != nil { // some recipients are refused
			c.health.LastError = err.Error()
		}
	case errors.Is(err, ErrNoChannel):
		outcome = Dropped
		c.health.Dropped++
	default:
		if partly, ok := item.deliveredPart(err); ok {
			c.waiting[0].Accepted = slices.Concat(item.Accepted, partly.Accepted)
		}
		if c.health.LastError = err.Error(); c.health.FailingSince.IsZero() {
			c.health.FailingSince = now
		}
		if now.Sub(item.Due) < q.options.MaxAge {
			return 0, false
		}
		outcome = Failed
		c.health.Failed++
	}
	c.waiting = slices.Delete(c.waiting, 0, 1)
	return outcome, true
}

// HealthByChannel returns the state of each channel that had an item since the start.
func (q *Queue) HealthByChannel() map[string]ChannelHealth {
	q.mu.Lock()
	defer q.mu.Unlock()
	all := make(map[string]ChannelHealth, len(q.channels))
	for id, c := range q.channels {
		health := c.health
		health.Queued = len(c.waiting)
		all[id] = health
	}
	return all
}

// closeWait limits how long Close waits for attempts in progress.
const closeWait = 2 * time.Second

// Close stops the workers. It waits for attempts in progress, but not for a receiver that hangs: the
// result of its attempt is then lost, and the caller sends the notification again after a restart.
func (q *Queue) Close() {
	q.mu.Lock()
	q.cancel()
	q.mu.Unlock()
	ended := make(chan struct{})
	go func() {
		q.workers.Wait()
		close(ended)
	}()
	select {
	case <-ended:
	case <-time.After(closeWait):
	}
}
