package explain

import (
	"net/http"

	"pingpost/engine/event"
	"pingpost/engine/market"
)

// Answers to calls, in addition to the statuses of leads.
const (
	answerBid         = "bid"
	answerNoBid       = "no_bid"
	answerRejected    = "post_rejected"
	answerUnavailable = "buyer_unavailable"
	answerTimeout     = "buyer_timeout"
)

// noteUnanswered is the note on a call that never got an answer.
const noteUnanswered = "The exchange stopped before it answered the call, and continued the delivery after its restart. " +
	"If the caller repeats the request with the same idempotency key, it gets the result."

// setImmediateAnswer records the exchange's answer to the supplier for a lead that was posted
// to no buyer. Such a call was answered as soon as the decision was durable, at the time at.
func (c *timeline) setImmediateAnswer(at int64) {
	if c.status == market.StatusAccepted {
		c.setAcceptedAnswer(at)
	} else {
		c.setUnmatchedAnswer(at, c.reason)
	}
}

// setAnswerBySettlement records the exchange's answer to the supplier, if the entry after was
// the first one that decided this answer. It ignores entries after the first decisive one.
//
// If the delivery was still open when the answer was due, the answer depends on the call. An
// ingest got ACCEPTED, because the lead has its buyer. A post got an error, because its success
// would mean that the buyer has the lead.
func (c *timeline) setAnswerBySettlement(after *logEntry) {
	ev, ok := after.event.(*event.PostSettled)
	if !ok || c.doc.Answer != nil || c.unanswered {
		return
	}
	switch ev.Settlement {
	case event.SettledDelivered:
		c.setAcceptedAnswer(after.at)
	case event.SettledRefused:
		switch {
		case ev.Next.Buyer == 0:
			c.setUnmatchedAnswer(after.at, ev.Reason)
		case ev.Post.URL == "":
			c.setAcceptedAnswer(after.at)
		}
	case event.SettledPending, event.SettledUnknown:
		c.setAnswerOfOpenDelivery(after.at, ev)
	}
}

// setAnswerOfOpenDelivery records the answer to a call that ended while its delivery was still
// open.
//
// A restart after a crash records the same kind of event for each open delivery, but without an
// HTTP status and without a fault. In that case the call got no answer.
func (c *timeline) setAnswerOfOpenDelivery(at int64, ev *event.PostSettled) {
	switch {
	case ev.Fault == market.FaultNone && ev.Status == 0:
		c.unanswered = true
		c.doc.Notes = append(c.doc.Notes, noteUnanswered)
	case c.doc.Kind != kindPost:
		c.setAcceptedAnswer(at)
	case ev.Fault == market.FaultTimeout:
		c.doc.Answer = &Answer{At: Instant(at), Status: http.StatusGatewayTimeout, Result: answerTimeout}
	default:
		c.doc.Answer = &Answer{At: Instant(at), Status: http.StatusBadGateway, Result: answerUnavailable}
	}
}

func (c *timeline) setAcceptedAnswer(at int64) {
	c.doc.Answer = &Answer{At: Instant(at), Status: http.StatusCreated, Result: market.StatusAccepted.String()}
}

func (c *timeline) setUnmatchedAnswer(at int64, reason market.Reason) {
	c.doc.Answer = &Answer{At: Instant(at), Status: http.StatusCreated, Result: market.StatusUnmatched.String(), Reason: reason.String()}
	if c.doc.Kind == kindPost {
		c.doc.Answer.Status, c.doc.Answer.Result = http.StatusUnprocessableEntity, answerRejected
	}
}
