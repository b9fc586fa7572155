package buyer

import (
	"time"

	"github.com/valyala/fasthttp"

	"pingpost/engine/market"
	"pingpost/outbound/dial"
)

// Ping asks a buyer for its bid. It returns when the buyer has answered or the deadline has
// passed, late by at most a second (see dial.Request). A failure is final for this auction. Ping
// sends the request again only if a reused connection was closed, or if a rejected credential was
// replaced.
//
// After a 429 it sends no pings to this endpoint until the time that the buyer named, at most an
// hour. During this pause it returns rate_limited. A test ping ignores the pause and causes none.
func (c *Client) Ping(p *market.BuyerPingRequest) market.BuyerPingResult {
	begun := c.options.Now()
	result := c.pingWithOneRepeatAfter401(p, begun)
	result.Elapsed = c.options.Now().Sub(begun)
	return result
}

func (c *Client) pingWithOneRepeatAfter401(p *market.BuyerPingRequest, now time.Time) market.BuyerPingResult {
	out, fault := c.resolveSecretsAndEndpoint(dial.ConnOwner{Name: string(p.Buyer), Test: p.Test}, &p.Endpoint, p.Body)
	if fault != market.FaultNone {
		return market.BuyerPingResult{Outcome: market.OutcomeError, Fault: fault}
	}
	a := out.endpoint
	if wait := a.remainingPauseAfter429(now); wait > 0 && !p.Test {
		return market.BuyerPingResult{Outcome: market.OutcomeRateLimited, RetryAfter: wait}
	}
	response := fasthttp.AcquireResponse()
	defer fasthttp.ReleaseResponse(response)

	s := buyerRequest{
		endpoint: a, key: p.IdempotencyKey, requestID: p.RequestID, hops: p.Hops, body: out.body, deadline: p.Deadline, ping: true, test: p.Test,
		traceparent: p.Traceparent,
		repeatable:  p.IdempotencyKey != "" || a.protocol != nil, // a ping buys no lead
	}
	done := s.sendOnce(response)
	if s.renewCredentialAfter401(done) {
		done = s.sendOnce(response)
	}
	result := c.judgePingAndPauseAfter429(p, a, done, response)
	out.credential = s.credential
	result.Reason = out.emptyIfContainsSecret(result.Reason)
	return result
}

// judgePingAndPauseAfter429 returns the outcome of a ping that was sent. Without an adapter protocol, only a
// 200 counts as an answer. A 429 is rate_limited and, unless the ping is a test, pauses the buyer's
// pings. Every other status is an error.
func (c *Client) judgePingAndPauseAfter429(p *market.BuyerPingRequest, a *buyerEndpoint, sendResult dial.SendResult, response *fasthttp.Response) market.BuyerPingResult {
	r := market.BuyerPingResult{Status: sendResult.Status, Fault: sendResult.Fault}
	switch {
	case sendResult.Status == fasthttp.StatusTooManyRequests:
		now := c.options.Now()
		r.Outcome, r.RetryAfter = market.OutcomeRateLimited, parseRetryAfterOrOneSecond(response.Header.Peek("Retry-After"), now)
		if !p.Test {
			a.pausePings(r.RetryAfter, now)
			r.RetryAfter = a.remainingPauseAfter429(now)
		}
		return r
	case sendResult.Fault != market.FaultNone && (sendResult.Status == 0 || a.isStatusWithBid(sendResult.Status)):
		r.Outcome = outcomeOfFailedPing(sendResult.Fault, p.Deadline)
		return r
	}
	if a.protocol != nil {
		a.protocol.setPingResult(&r, response.Body(), p.Auction)
		return r
	}
	parsed, _ := answerPool.Get().(*parsedJSONAnswer)
	defer parsed.releaseToPool()
	readable := sendResult.Fault == market.FaultNone && parsed.body.Parse(response.Body()) == nil
	switch {
	case sendResult.Status != fasthttp.StatusOK:
		r.Outcome = market.OutcomeError
		r.Reason = parsed.rejection().code
	case !readable:
		r.Outcome, r.Fault = market.OutcomeInvalid, market.FaultUnreadable
	default:
		parsed.readPingAnswer(&r, p.Auction)
	}
	return r
}

// isStatusWithBid reports whether an answer with this status has a body that may contain a bid: a
// 200, or any 2xx if the buyer endpoint has an adapter protocol.
func (a *buyerEndpoint) isStatusWithBid(status int) bool {
	if a.protocol != nil {
		return status >= 200 && status <= 299
	}
	return status == fasthttp.StatusOK
}

// outcomeOfFailedPing returns the outcome of a ping without a complete answer. If the buyer's
// connection limit was reached, the outcome is rate_limited, because the buyer received no ping
// and did not fail. An answer that is too large or unreadable is invalid. Any other delay until the
// deadline is a timeout, also of name resolution or of a token request.
func outcomeOfFailedPing(fault market.OutboundRequestFault, deadline time.Time) market.BuyerOutcome {
	switch {
	case fault == market.FaultConnectionLimit:
		return market.OutcomeRateLimited
	case fault == market.FaultTooLarge, fault == market.FaultUnreadable:
		return market.OutcomeInvalid
	case fault == market.FaultTimeout, !time.Now().Before(deadline):
		return market.OutcomeTimeout
	}
	return market.OutcomeError
}
