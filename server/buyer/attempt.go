package buyer

import (
	"github.com/valyala/fasthttp"

	"pingpost/engine/market"
	"pingpost/server/dial"
)

// attempt delivers a lead and says what came of it.
func (c *Client) attempt(p *market.PostRequest) market.PostResult {
	a, fault := c.accounts.find(&p.Endpoint)
	if fault != market.FaultNone {
		return c.judge(nil, dial.Trip{Fault: fault}, nil)
	}
	response := fasthttp.AcquireResponse()
	defer fasthttp.ReleaseResponse(response)

	s := sending{
		account: a, key: p.Key, requestID: p.RequestID, body: p.Body, deadline: p.Deadline, test: p.Test,
		traceparent: p.Traceparent,
		repeatable:  a.repeats(p.Key),
	}
	done := s.send(response)
	return settle(c.judge(a, done, response), done.Doubt)
}

// repeats tells whether a post may be sent twice: the contract knows it by its
// key, and a dialect says so itself.
func (a *account) repeats(key string) bool {
	if a.dialect != nil {
		return a.dialect.idempotent
	}
	return key != ""
}

// settle takes into account that an earlier sending of the same attempt may
// have arrived. Then nothing that leaves its fate open, a refusal of the second
// one for its own sake included, is better than unknown.
func settle(r market.PostResult, doubt bool) market.PostResult {
	if !doubt {
		return r
	}
	switch r.Verdict {
	case market.VerdictUnreached, market.VerdictBusy:
		r.Verdict = market.VerdictUnknown
	case market.VerdictRefused:
		if !r.Final {
			r.Verdict = market.VerdictUnknown
		}
	}
	return r
}
