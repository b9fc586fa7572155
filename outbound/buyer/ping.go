package buyer

import (
	"time"

	"github.com/valyala/fasthttp"

	"pingpost/engine/market"
	"pingpost/outbound/dial"
)

// Ping asks a buyer for its bid, and returns when it has answered or the
// deadline has passed (by a sixteenth of the time at most: see dial.Request), in
// the caller's goroutine. It asks once: what fails, fails
// for this auction. The same bytes go out again only at once, because a kept
// connection was found closed or a credential had changed.
//
// A buyer that has answered 429 is not asked again until the time that it named
// (an hour at most) has passed; until then Ping returns rate_limited and calls
// nobody. A test is asked whatever was said before, and its 429 keeps nobody away:
// a test endpoint may be the buyer's own.
func (c *Client) Ping(p *market.PingRequest) market.PingResult {
	begun := c.options.Now()
	result := c.ask(p, begun)
	result.Elapsed = c.options.Now().Sub(begun)
	return result
}

func (c *Client) ask(p *market.PingRequest, now time.Time) market.PingResult {
	out, fault := c.prepare(dial.Owner{Name: string(p.Buyer), Test: p.Test}, &p.Endpoint, p.Body)
	if fault != market.FaultNone {
		return market.PingResult{Outcome: market.OutcomeError, Fault: fault}
	}
	a := out.account
	if wait := a.resting(now); wait > 0 && !p.Test {
		return market.PingResult{Outcome: market.OutcomeRateLimited, RetryAfter: wait}
	}
	response := fasthttp.AcquireResponse()
	defer fasthttp.ReleaseResponse(response)

	s := sending{
		account: a, key: p.IdempotencyKey, requestID: p.RequestID, hops: p.Hops, body: out.body, deadline: p.Deadline, ping: true, test: p.Test,
		traceparent: p.Traceparent,
		repeatable:  p.IdempotencyKey != "" || a.dialect != nil, // a ping buys nothing
	}
	done := s.send(response)
	if s.renewed(done) {
		done = s.send(response)
	}
	result := c.hear(p, a, done, response)
	out.credential = s.credential
	result.Reason = out.withhold(result.Reason)
	return result
}

// hear says what one trip came to. Only a 200 is an answer to a ping; every
// other status is an error but 429.
func (c *Client) hear(p *market.PingRequest, a *account, done dial.Result, response *fasthttp.Response) market.PingResult {
	r := market.PingResult{Status: done.Status, Fault: done.Fault}
	switch {
	case done.Status == fasthttp.StatusTooManyRequests:
		now := c.options.Now()
		r.Outcome, r.RetryAfter = market.OutcomeRateLimited, retryAfter(response.Header.Peek("Retry-After"), now)
		if !p.Test {
			a.restFor(r.RetryAfter, now)
		}
		return r
	case done.Fault != market.FaultNone && (done.Status == 0 || a.answersPing(done.Status)):
		r.Outcome = unheard(done.Fault, p.Deadline)
		return r
	}
	if a.dialect != nil {
		a.dialect.reading.hear(&r, response.Body(), p.Auction)
		return r
	}
	body, _ := answerPool.Get().(*answer)
	defer body.release()
	readable := done.Fault == market.FaultNone && body.whole.Parse(response.Body()) == nil
	switch {
	case done.Status != fasthttp.StatusOK:
		r.Outcome = market.OutcomeError
		_, r.Reason = body.refusal()
	case !readable:
		r.Outcome, r.Fault = market.OutcomeInvalid, market.FaultUnreadable
	default:
		body.readBid(&r, p.Auction)
	}
	return r
}

// answersPing tells whether the body of an answer with this status is one to a
// ping.
func (a *account) answersPing(status int) bool {
	if a.dialect != nil {
		return status >= 200 && status <= 299
	}
	return status == fasthttp.StatusOK
}

// unheard is the outcome where no whole answer came. A buyer at its limit of
// connections was not asked, so that is no failure of the buyer. Whatever else held it up until
// the deadline, a name that was not resolved or a token that was not had, it is
// a timeout: the buyer was asked in vain for as long as there was.
func unheard(fault market.Fault, deadline time.Time) market.Outcome {
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
