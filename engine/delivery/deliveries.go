// Package delivery posts leads to buyers' endpoints: it makes the attempts, retries them, and
// decides when a lead may go to another buyer.
//
// It chooses no buyer. Package engine commits the intent (the record that a post will be sent)
// and starts the delivery. While a supplier waits for the answer, package engine also commits the
// outcome. The log has each attempt. A lead is in doubt while its buyer may have it; it then goes
// to no other buyer. DESIGN.md in this folder explains that rule.
package delivery

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"pingpost/engine/event"
	"pingpost/engine/market"
	"pingpost/engine/state"
)

// Errors of RunningDeliveries.Register.
var (
	ErrClosed     = errors.New("the exchange is stopping and begins no delivery of a lead to a buyer; it continues open deliveries at its next start")
	ErrInProgress = errors.New("the lead's delivery is still in progress")
)

// Clock returns the time in Unix nanoseconds and starts timers. A timer sends one value on fired
// after d; stop releases it.
type Clock interface {
	Now() int64
	Timer(d time.Duration) (fired <-chan time.Time, stop func() bool)
}

// PostSender sends one post to a buyer's endpoint and returns the buyer's answer, by the request's
// deadline at the latest.
type PostSender interface {
	Post(req *market.BuyerPostRequest) market.BuyerPostResult
}

// Observer receives the results of attempts and deliveries, for metrics and log lines.
type Observer interface {
	SaleSettled(buyer string)
	PostAttempted(buyer string, result *market.BuyerPostResult)
	WarnOfUnconfirmedDelivery(lead market.LeadID, buyer string)
	ReportFault(what string, err error)
}

// Options are the functions and interfaces that the deliveries need from the engine: state, log,
// clock and buyers.
type Options struct {
	State    *state.State // the deliveries only read it
	Clock    Clock
	Buyers   PostSender
	Observer Observer
	Stop     <-chan struct{} // closed when the exchange stops

	NewRequestID func(now int64) market.RequestID
	// Commit makes an event durable, applies it and releases the reservations, which may be
	// nil. It retries while the log's queue is full.
	Commit func(record event.Event, reserved *state.RequestReservations) error
	// OpenContact decrypts the contact part of an intent: the body, and perhaps the fields.
	// ok is false if the contact part is erased or unreadable.
	OpenContact func(post *state.UnfinishedPost) (contact event.LeadPersonalData, ok bool)
	// ReadContactFields reads a lead's contact fields from its first event. It returns nil
	// if they are unreadable.
	ReadContactFields func(lead market.LeadID) []event.LeadField
	// SelectWebhook stores in a settlement the webhook event that it triggers.
	// supplierGotAccepted reports whether the supplier received ACCEPTED before.
	SelectWebhook func(record *event.PostSettled, supplierGotAccepted bool)
}

// RunningDeliveries is the set of running deliveries, at most one for each lead. Its methods may be
// called concurrently.
type RunningDeliveries struct {
	opt     Options
	mu      sync.Mutex
	byLead  map[market.LeadID]*Delivery
	closed  bool
	count   atomic.Int64
	running sync.WaitGroup // grows only under mu, and not after closed is set
}

// NewRunningDeliveries returns an empty set of deliveries. opt connects it to the engine.
func NewRunningDeliveries(opt Options) *RunningDeliveries {
	return &RunningDeliveries{opt: opt, byLead: make(map[market.LeadID]*Delivery)}
}

// Register adds a delivery for a lead to the running ones and returns it, so that other requests can
// find it and wait. The caller then loads the intent, runs the delivery, and calls
// UnregisterAndWakeWaiters or ContinueInBackground.
// ErrClosed: the exchange stops. ErrInProgress: the lead has a delivery, which may be about to end.
func (ds *RunningDeliveries) Register(lead market.LeadID) (*Delivery, error) {
	d := &Delivery{
		all: ds, lead: lead,
		supplierAnswered: make(chan struct{}), ended: make(chan struct{}), results: make(chan market.BuyerPostResult, 1),
	}
	ds.mu.Lock()
	defer ds.mu.Unlock()
	switch {
	case ds.closed:
		return nil, ErrClosed
	case ds.byLead[lead] != nil:
		return nil, ErrInProgress
	}
	ds.byLead[lead] = d
	ds.count.Add(1)
	ds.running.Add(1)
	return d, nil
}

// unregisterAndCloseEnded removes a delivery that has ended from the running ones, and wakes the requests that
// wait for its end.
func (ds *RunningDeliveries) unregisterAndCloseEnded(d *Delivery) {
	ds.mu.Lock()
	delete(ds.byLead, d.lead)
	ds.mu.Unlock()
	close(d.ended)
	ds.count.Add(-1)
	ds.running.Done()
}

// Count returns the number of running deliveries, for metrics and limits.
func (ds *RunningDeliveries) Count() int64 { return ds.count.Load() }

// RejectNewAndWaitForRunning makes Register return ErrClosed from now on, and waits until the running
// deliveries have ended.
func (ds *RunningDeliveries) RejectNewAndWaitForRunning() {
	ds.mu.Lock()
	ds.closed = true
	ds.mu.Unlock()
	ds.running.Wait()
}

// FindRunning returns the running delivery of a lead, or nil. The goroutine that registered the
// delivery owns it; others may call only SupplierAnswerCommitted, Ended and IsAttemptInProgressOrTimedOut.
func (ds *RunningDeliveries) FindRunning(lead market.LeadID) *Delivery {
	ds.mu.Lock()
	defer ds.mu.Unlock()
	return ds.byLead[lead]
}

// ContinueOpenPosts continues the posts that were open when the previous process ended, by a crash or a
// stop. Their last attempt may have reached the buyer, so each lead stays with its buyer. The
// lead counts as ACCEPTED, and the attempts continue by the schedule. A buyer that would treat a
// repeated post as a second lead gets no attempt; the delivery is then unconfirmed, and an
// operator decides.
func (ds *RunningDeliveries) ContinueOpenPosts() error {
	var open []*state.UnfinishedPost
	ds.opt.State.EachUnfinishedPost(func(p *state.UnfinishedPost) {
		if !p.Exhausted {
			open = append(open, p)
		}
	})
	var continued []*Delivery
	var unanswered []*Delivery
	for _, post := range open {
		d, err := ds.Register(post.Lead)
		if errors.Is(err, ErrInProgress) {
			continue // an operator resolves it already
		}
		if err != nil {
			unregisterAll(continued)
			return err
		}
		d.SetIntentAndDecryptBody(post)
		d.inDoubt, d.unsendable = true, d.unsendable || !post.Intent.Repeatable
		if post.Attempts > 0 {
			gap := retryPauses[min(int(post.Attempts), len(retryPauses))-1]
			due := post.LastAttempt + int64(gap)
			d.pause = min(gap, time.Duration(max(0, due-ds.opt.Clock.Now())))
		}
		if continued = append(continued, d); !post.Answered {
			unanswered = append(unanswered, d)
		}
	}
	if err := commitPending(unanswered); err != nil {
		unregisterAll(continued)
		return err
	}
	for _, d := range continued {
		d.ContinueInBackground()
	}
	return nil
}

func unregisterAll(deliveries []*Delivery) {
	for _, d := range deliveries {
		d.UnregisterAndWakeWaiters()
	}
}

// maxPendingCommits is the number of settlements that commitPending has in the log's queue at once.
const maxPendingCommits = 256

// commitPending commits that the suppliers of the open posts got no result. It commits several at once,
// because a new leader of a cluster decides about requests only afterwards.
func commitPending(deliveries []*Delivery) error {
	var committed errgroup.Group
	committed.SetLimit(maxPendingCommits)
	for _, d := range deliveries {
		committed.Go(func() error {
			if err := d.CommitSettlement(d.NewSettlement(event.SettledPending), nil); err != nil {
				return fmt.Errorf("cannot continue the open post of lead %s: %w", d.lead, err)
			}
			return nil
		})
	}
	return committed.Wait()
}
