package engine

import (
	"errors"
	"fmt"
	"time"

	"pingpost/engine/event"
	"pingpost/engine/market"
	"pingpost/engine/state"
)

// goOn runs a courier to its end, in the background. Its lead is answered.
func (e *Engine) goOn(c *courier) {
	c.alone = true
	go func() {
		defer e.couriers.close(c)
		if err := c.finish(); err != nil {
			e.opt.Note.Fault("a delivery could not be settled; the next start takes it up", err)
		}
	}()
}

// finish tries until the fate is known, or the exchange stops.
func (c *courier) finish() error {
	if c.lost && !c.running {
		return c.settle(event.SettledUnknown)
	}
	for {
		if !c.running {
			if !c.rest() {
				return nil
			}
			c.try()
		}
		result := <-c.results
		switch c.judge(&result) {
		case fateOpen:
			if err := c.note(); err != nil {
				return err
			}
		case fateDelivered:
			return c.settle(event.SettledDelivered)
		case fateUnknown:
			return c.settle(event.SettledUnknown)
		case fateRefused:
			fact := c.settlement(event.SettledRefused)
			fact.Reason = market.ReasonPostRejected
			return c.commitOutcome(fact, nil)
		}
	}
}

// Recover takes up the intents that the last run left open. Whether their last
// try reached the buyer is not known, so each lead is its buyer's: it is
// ACCEPTED, and the tries go on where the schedule stood. A buyer that would take a
// repeat for a second lead gets none: the delivery is unknown.
//
// Who was erased is erased again before anything else.
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
		c, err := e.couriers.open(e, post.Lead)
		if errors.Is(err, ErrConflict) {
			continue // an operator was here first
		}
		if err != nil {
			return err
		}
		c.take(post)
		c.doubtful, c.lost = true, c.lost || !post.Intent.Repeatable
		if !post.Answered {
			if err := c.commitOutcome(c.settlement(event.SettledPending), nil); err != nil {
				e.couriers.close(c)
				return fmt.Errorf("cannot take up the post of lead %s: %w", post.Lead, err)
			}
		}
		close(c.answered)
		if post.Attempts > 0 {
			gap := retryGaps[min(int(post.Attempts), len(retryGaps))-1]
			due := post.Tried + int64(gap)
			c.pause = min(gap, time.Duration(max(0, due-e.opt.Clock.Now())))
		}
		e.goOn(c)
	}
	return nil
}
