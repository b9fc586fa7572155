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

// setSupplierAnswerAtDecision records the exchange's answer to the supplier for a lead that was posted
// to no buyer. Such a call was answered as soon as the decision was durable, at decidedAtNanos.
func (c *leadTimeline) setSupplierAnswerAtDecision(decidedAtNanos int64) {
	if c.status == market.StatusAccepted {
		c.setSupplierAnswerAccepted(decidedAtNanos)
	} else {
		c.setSupplierAnswerUnsold(decidedAtNanos, c.reason)
	}
}

// setSupplierAnswerIfDecidedBy records the exchange's answer to the supplier, if entry was
// the first one that decided this answer. It ignores entries after the first decisive one.
//
// If the delivery was still open when the answer was due, the answer depends on the call. An
// ingest (POST /api/v1/ingest) got ACCEPTED: its answer only promises that a buyer was chosen. A
// post (POST /v1/post, after a ping) got an error: its success would mean that the buyer has the
// lead.
func (c *leadTimeline) setSupplierAnswerIfDecidedBy(entry *logEntry) {
	ev, ok := entry.event.(*event.PostSettled)
	if !ok || c.doc.Answer != nil || c.unanswered {
		return
	}
	switch ev.Settlement {
	case event.SettledDelivered:
		c.setSupplierAnswerAccepted(entry.at)
	case event.SettledRefused:
		switch {
		case ev.Next.Buyer == 0:
			c.setSupplierAnswerUnsold(entry.at, ev.Reason)
		case ev.Post.URL == "":
			c.setSupplierAnswerAccepted(entry.at)
		}
	case event.SettledPending, event.SettledUnknown:
		c.setSupplierAnswerForOpenDelivery(entry.at, ev)
	}
}

// setSupplierAnswerForOpenDelivery records the answer to a call that ended while its delivery was still
// open, or without a clear result.
//
// A restart after a crash records the same kind of event for each open delivery whose call has no
// recorded answer, but without an HTTP status and without a fault. In that case the call got no answer.
func (c *leadTimeline) setSupplierAnswerForOpenDelivery(atNanos int64, ev *event.PostSettled) {
	c.doc.stoppedAtAnswer = ev.Settlement == event.SettledUnknown
	switch {
	case ev.Fault == market.FaultNone && ev.Status == 0:
		c.unanswered = true
		c.doc.Notes = append(c.doc.Notes, noteUnanswered)
	case c.doc.Kind != kindPost:
		c.setSupplierAnswerAccepted(atNanos)
	case ev.Fault == market.FaultTimeout:
		c.doc.Answer = &AnswerToSupplier{At: NanosAsRFC3339(atNanos), Status: http.StatusGatewayTimeout, Result: answerTimeout}
	default:
		c.doc.Answer = &AnswerToSupplier{At: NanosAsRFC3339(atNanos), Status: http.StatusBadGateway, Result: answerUnavailable}
	}
}

// setSupplierAnswerAccepted records that the exchange answered the supplier with 201 ACCEPTED at this time.
func (c *leadTimeline) setSupplierAnswerAccepted(atNanos int64) {
	c.doc.Answer = &AnswerToSupplier{At: NanosAsRFC3339(atNanos), Status: http.StatusCreated, Result: market.StatusAccepted.String()}
}

// setSupplierAnswerUnsold records that the exchange answered the supplier at this time that the lead is unsold:
// an ingest with 201 UNMATCHED, a post with 422 post_rejected.
func (c *leadTimeline) setSupplierAnswerUnsold(atNanos int64, reason market.UnsoldReason) {
	c.doc.Answer = &AnswerToSupplier{At: NanosAsRFC3339(atNanos), Status: http.StatusCreated, Result: market.StatusUnmatched.String(), Reason: reason.String()}
	if c.doc.Kind == kindPost {
		c.doc.Answer.Status, c.doc.Answer.Result = http.StatusUnprocessableEntity, answerRejected
	}
}
