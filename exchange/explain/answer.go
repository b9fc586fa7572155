package explain

import (
	"net/http"

	"pingpost/engine/event"
	"pingpost/engine/market"
)

// What calls are answered, beside a lead's status.
const (
	answerBid         = "bid"
	answerNoBid       = "no_bid"
	answerRejected    = "post_rejected"
	answerUnavailable = "buyer_unavailable"
	answerTimeout     = "buyer_timeout"
)

// nobodyAnswered stands for an answer that nobody was left to get.
const noteUnanswered = "The exchange stopped before the call was answered, and took the delivery up when it started again. " +
	"The same request, sent again under the idempotency key that it came with, hears what has become of it."

// answerAtOnce tells what was answered where nothing was to be posted.
func (c *timeline) setImmediateAnswer(at int64) {
	if c.status == market.StatusAccepted {
		c.setAccepted(at)
	} else {
		c.setUnmatched(at, c.reason)
	}
}

// answer tells what was answered, by the first fact that an answer rests on. The two
// paths differ where the buyer's word is still out when the answer is due: an
// ingest is told ACCEPTED, since the lead has its buyer, and a post hears an error,
// since its success would mean that the buyer has it.
func (c *timeline) setAnswer(after *entry) {
	ev, ok := after.event.(*event.PostSettled)
	if !ok || c.doc.Answer != nil || c.unanswered {
		return
	}
	switch ev.Settlement {
	case event.SettledDelivered:
		c.setAccepted(after.at)
	case event.SettledRefused:
		switch {
		case ev.Next.Buyer == 0:
			c.setUnmatched(after.at, ev.Reason)
		case ev.Post.URL == "":
			c.setAccepted(after.at)
		}
	case event.SettledPending, event.SettledUnknown:
		c.setUndecidedAnswer(after.at, ev)
	}
}

// undecided tells what was answered while the buyer's word was out. A restart takes
// up what a crash has left open by such a fact too, and knows of no try.
func (c *timeline) setUndecidedAnswer(at int64, ev *event.PostSettled) {
	switch {
	case ev.Fault == market.FaultNone && ev.Status == 0:
		c.unanswered = true
		c.doc.Notes = append(c.doc.Notes, noteUnanswered)
	case c.doc.Kind != kindPost:
		c.setAccepted(at)
	case ev.Fault == market.FaultTimeout:
		c.doc.Answer = &Answer{At: Instant(at), Status: http.StatusGatewayTimeout, Result: answerTimeout}
	default:
		c.doc.Answer = &Answer{At: Instant(at), Status: http.StatusBadGateway, Result: answerUnavailable}
	}
}

func (c *timeline) setAccepted(at int64) {
	c.doc.Answer = &Answer{At: Instant(at), Status: http.StatusCreated, Result: market.StatusAccepted.String()}
}

func (c *timeline) setUnmatched(at int64, reason market.Reason) {
	c.doc.Answer = &Answer{At: Instant(at), Status: http.StatusCreated, Result: market.StatusUnmatched.String(), Reason: reason.String()}
	if c.doc.Kind == kindPost {
		c.doc.Answer.Status, c.doc.Answer.Result = http.StatusUnprocessableEntity, answerRejected
	}
}
