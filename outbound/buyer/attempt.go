package buyer

import (
	"github.com/valyala/fasthttp"

	"pingpost/engine/market"
	"pingpost/outbound/dial"
)

// attempt sends a lead once and returns the verdict.
func (c *Client) attempt(p *market.PostRequest) market.PostResult {
	out, fault := c.prepare(dial.Owner{Name: string(p.Buyer), Test: p.Test}, &p.Endpoint, p.Body)
	if fault != market.FaultNone {
		return c.judge(nil, dial.Result{Fault: fault}, nil)
	}
	a := out.account
	response := fasthttp.AcquireResponse()
	defer fasthttp.ReleaseResponse(response)

	s := sending{
		account: a, key: p.IdempotencyKey, requestID: p.RequestID, body: out.body, deadline: p.Deadline, test: p.Test,
		traceparent: p.Traceparent,
	}
	done := s.send(response)
	result := c.judge(a, done, response)
	out.credential = s.credential
	result.Code, result.BuyerLeadID = out.withhold(result.Code), out.withhold(result.BuyerLeadID)
	result.CredentialRenewed = !p.CredentialRenewed && s.renewed(done)
	return result
}
