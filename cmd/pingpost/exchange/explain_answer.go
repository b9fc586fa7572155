package exchange

import (
	"net/http"

	"pingpost/engine/event"
	"pingpost/engine/market"
)

// What calls are answered, beside a lead's status.
const (
	saysBid         = "bid"
	saysNoBid       = "no_bid"
	saysRejected    = "post_rejected"
	saysUnavailable = "buyer_unavailable"
	saysTimeout     = "buyer_timeout"
)

// nobodyAnswered stands for an answer that nobody was left to get.
const nobodyAnswered = "The exchange stopped before the call was answered, and took the delivery up when it started again. " +
	"The same request, sent again under the idempotency key that it came with, hears what has become of it."

// answerAtOnce tells what was answered where nothing was to be posted.
func (c *course) answerAtOnce(at int64) {
	if c.status == market.StatusAccepted {
		c.accepted(at)
	} else {
		c.unmatched(at, c.reason)
	}
}

// answer tells what was answered, by the first fact that an answer rests on. The two
// paths differ where the buyer's word is still out when the answer is due: an
// ingest is told ACCEPTED, since the lead has its buyer, and a post hears an error,
// since its success would mean that the buyer has it.
func (c *course) answer(after *entry) {
	fact, ok := after.fact.(*event.PostSettled)
	if !ok || c.told.Answer != nil || c.unanswered {
		return
	}
	switch fact.Settlement {
	case event.SettledDelivered:
		c.accepted(after.at)
	case event.SettledRefused:
		switch {
		case fact.Next.Buyer == 0:
			c.unmatched(after.at, fact.Reason)
		case fact.Post.URL == "":
			c.accepted(after.at)
		}
	case event.SettledPending, event.SettledUnknown:
		c.undecided(after.at, fact)
	}
}

// undecided tells what was answered while the buyer's word was out. A restart takes
// up what a crash has left open by such a fact too, and knows of no try.
func (c *course) undecided(at int64, fact *event.PostSettled) {
	switch {
	case fact.Fault == market.FaultNone && fact.Status == 0:
		c.unanswered = true
		c.told.Notes = append(c.told.Notes, nobodyAnswered)
	case c.told.Kind != kindPost:
		c.accepted(at)
	case fact.Fault == market.FaultTimeout:
		c.told.Answer = &Answer{At: Instant(at), Status: http.StatusGatewayTimeout, Says: saysTimeout}
	default:
		c.told.Answer = &Answer{At: Instant(at), Status: http.StatusBadGateway, Says: saysUnavailable}
	}
}

func (c *course) accepted(at int64) {
	c.told.Answer = &Answer{At: Instant(at), Status: http.StatusCreated, Says: market.StatusAccepted.String()}
}

func (c *course) unmatched(at int64, reason market.Reason) {
	c.told.Answer = &Answer{At: Instant(at), Status: http.StatusCreated, Says: market.StatusUnmatched.String(), Reason: reason.String()}
	if c.told.Kind == kindPost {
		c.told.Answer.Status, c.told.Answer.Says = http.StatusUnprocessableEntity, saysRejected
	}
}
