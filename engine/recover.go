package engine

import (
	"errors"
	"fmt"
	"time"

	"pingpost/engine/event"
	"pingpost/engine/market"
	"pingpost/engine/state"
)

// runInBackground runs a delivery to its end. The supplier has its answer.
func (e *Engine) runInBackground(c *delivery) {
	c.inBackground = true
	go func() {
		defer e.deliveries.remove(c)
		if err := c.runToEnd(); err != nil {
			e.opt.Observer.ReportFault("cannot commit the outcome of a delivery; the next start continues the delivery", err)
		}
	}()
}

// runToEnd makes attempts until the outcome is committed, or the exchange stops.
func (c *delivery) runToEnd() error {
	if c.unsendable && !c.inProgress {
		return c.settle(event.SettledUnknown)
	}
	for {
		if !c.inProgress {
			if !c.waitForRetry() {
				return nil
			}
			c.startAttempt()
		}
		result := <-c.results
		switch c.judgeResult(&result) {
		case deliveryOpen:
			if err := c.commitAttempt(); err != nil {
				return err
			}
		case deliveryAccepted:
			return c.settle(event.SettledDelivered)
		case deliveryUnknown:
			return c.settle(event.SettledUnknown)
		case deliveryRefused:
			fact := c.settlement(event.SettledRefused)
			fact.Reason = market.ReasonPostRejected
			return c.commitOutcome(fact, nil)
		}
	}
}

// Recover continues the open intents of the last run. Their last attempt may have reached the
// buyer, so each lead stays with its buyer: it is ACCEPTED, and its attempts continue by the
// schedule. A buyer that would treat a repeat as a second lead gets no attempt: that delivery
// is unconfirmed.
//
// It first erases the keys of erased leads again.
func (e *Engine) Recover() error {
	if err := e.eraseKeys(); err != nil {
		return err
	}
	var open []*state.OpenPost
	e.state.EachOpenPost(func(p *state.OpenPost) {
		if !p.Exhausted {
			open = append(open, p)
		}
	})
	for _, post := range open {
		c, err := e.deliveries.add(e, post.Lead)
		if errors.Is(err, ErrConflict) {
			continue // an operator resolves it already
		}
		if err != nil {
			return err
		}
		c.load(post)
		c.inDoubt, c.unsendable = true, c.unsendable || !post.Intent.Repeatable
		if !post.Answered {
			if err := c.commitOutcome(c.settlement(event.SettledPending), nil); err != nil {
				e.deliveries.remove(c)
				return fmt.Errorf("cannot continue the open post of lead %s: %w", post.Lead, err)
			}
		}
		close(c.supplierAnswered)
		if post.Attempts > 0 {
			gap := retryPauses[min(int(post.Attempts), len(retryPauses))-1]
			due := post.LastAttempt + int64(gap)
			c.pause = min(gap, time.Duration(max(0, due-e.opt.Clock.Now())))
		}
		e.runInBackground(c)
	}
	return nil
}
