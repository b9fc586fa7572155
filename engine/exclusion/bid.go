package exclusion

import (
	"fmt"

	"pingpost/engine/event"
	"pingpost/engine/market"
)

// HTTP statuses of buyers' answers.
const (
	statusOK              = 200
	statusMultipleChoices = 300
	statusTooManyRequests = 429
)

// describePingOrBidFailure returns the rule of an outcome that concerns the ping or the bid, or nil.
func (d *DecisionInputs) describePingOrBidFailure(set *market.FilterSet, outcome market.BuyerOutcome, bid *event.Bid) *UnmetRule {
	switch outcome {
	case market.OutcomeRateLimited:
		return d.describeRateOrConnectionLimit(set.Buyer, bid)
	case market.OutcomeWrongCurrency:
		if bid == nil {
			return nil
		}
		return newRule(KindCurrency, "bid", "an amount in "+d.Campaign.Currency.String(), pointerTo(bid.Currency.String()), "")
	case market.OutcomeLate, market.OutcomeTimeout:
		return d.describeMissedDeadline(bid)
	case market.OutcomeNoBid:
		return newRule(KindBid, "answer to the ping", "a bid", pointerTo("no bid"), "")
	case market.OutcomeInvalid:
		return d.describeInvalidBid(bid)
	case market.OutcomeError:
		return d.describeErrorOutcome(set, bid)
	case market.OutcomeLost:
		return d.describeLostBid(bid)
	}
	return nil
}

// describeRateOrConnectionLimit returns the rule of OutcomeRateLimited. A nil bid means that the
// configured ping rate was used up. Otherwise all connections to the buyer were in use, the buyer
// answered HTTP 429, or the pause after an earlier 429 lasted.
func (d *DecisionInputs) describeRateOrConnectionLimit(buyer *market.Buyer, bid *event.Bid) *UnmetRule {
	switch {
	case bid != nil && bid.Fault == market.FaultConnectionLimit:
		return newRule(KindConnections, "connections to the buyer", fmt.Sprintf("at most %d at once", buyer.MaxConnections), pointerTo("all in use"), "")
	case bid != nil && bid.Status == statusTooManyRequests:
		return newRule(KindPingRate, "answer to the ping", "a bid", pointerTo("HTTP 429: the buyer demands a pause"+describePingPauseEnd(bid)), "")
	case bid != nil:
		return newRule(KindPingRate, "pings to the buyer", "no pause", pointerTo("a pause that the buyer demanded with HTTP 429"+describePingPauseEnd(bid)), "")
	}
	return newRule(KindPingRate, "ping rate", fmt.Sprintf("at most %d pings per second", buyer.PingRate), pointerTo("all of them used"), "")
}

// describePingPauseEnd returns the end of the pause that the buyer demanded, or "" if it is unknown.
func describePingPauseEnd(bid *event.Bid) string {
	if bid.PausedUntil == 0 {
		return ""
	}
	return " until " + formatTime(bid.PausedUntil)
}

func (d *DecisionInputs) describeMissedDeadline(bid *event.Bid) *UnmetRule {
	wanted := fmt.Sprintf("within %d ms", d.Campaign.BidTimeout.Milliseconds())
	actual := "no answer"
	if bid != nil && bid.Status != 0 {
		actual = fmt.Sprintf("after %d ms", bid.Elapsed/1_000_000)
	}
	return newRule(KindDeadline, "answer to the ping", wanted, &actual, "")
}

func (d *DecisionInputs) describeInvalidBid(bid *event.Bid) *UnmetRule {
	if bid == nil {
		return nil
	}
	if bid.Currency != (market.Currency{}) && bid.Token == "" && bid.ValidUntil != 0 {
		return newRule(KindBidExpiry, "bid", "an expiry after its arrival", pointerTo(formatTime(bid.ValidUntil)), "")
	}
	return newRule(KindBid, "answer to the ping", "a bid of the documented form", pointerTo(describeFailedAnswer(bid)), "")
}

// describeErrorOutcome returns the rule of a buyer that could not be pinged or posted to, or whose answer was
// an error.
func (d *DecisionInputs) describeErrorOutcome(set *market.FilterSet, bid *event.Bid) *UnmetRule {
	switch {
	case bid != nil:
		return newRule(KindBid, "answer to the ping", "a bid", pointerTo(describeFailedAnswer(bid)), "")
	case d.Campaign.Method == market.PingPost && set.Buyer.Ping == nil:
		return newRule(KindPingEndpoint, "buyer", "a ping endpoint", nil, "")
	}
	return newRule(KindAdapter, "adapter", "a body for this lead", pointerTo("a body over 128 KiB, the limit for a template"), "")
}

func describeFailedAnswer(bid *event.Bid) string {
	switch {
	case bid.Status != 0 && (bid.Status < statusOK || bid.Status >= statusMultipleChoices):
		return fmt.Sprintf("HTTP %d", bid.Status)
	case bid.Fault != market.FaultNone:
		return describeFaultOfAnswer(bid.Fault, bid.Status, bid.Reason)
	case bid.Status != 0 && bid.Status != statusOK:
		return fmt.Sprintf("HTTP %d", bid.Status)
	case bid.Status == statusOK:
		return "an answer without a valid bid"
	}
	return "no answer"
}

// describeLostBid compares a valid bid that lost with the best one. Among equal bids the order is that of
// selection.RankedBid.
func (d *DecisionInputs) describeLostBid(bid *event.Bid) *UnmetRule {
	if bid == nil || bid.Currency == (market.Currency{}) || d.BestBid == 0 {
		return nil
	}
	wanted := "more than the winning bid of " + formatAmount(d.BestBid, d.Campaign.Currency)
	if bid.Amount == d.BestBid {
		wanted += ", or the same with a lower priority number or, at the same priority, a faster answer"
	}
	return newRule(KindOutbid, "bid", wanted, pointerTo(formatAmount(bid.Amount, bid.Currency)), "")
}

// NewUnacceptedPostRule returns the rule of a buyer that did not accept the post. answer describes its
// answer, or the operator's decision on the delivery. The buyer's code in it must not contain contact
// data.
func NewUnacceptedPostRule(answer string) *UnmetRule {
	return newRule(KindPost, "post", "acceptance of the lead", &answer, "")
}
