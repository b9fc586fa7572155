package buyer

import (
	"github.com/valyala/fasthttp"

	"pingpost/engine/market"
	"pingpost/outbound/dial"
)

// attemptPost makes one attempt to post a lead to a buyer, and returns the verdict on the answer.
// It omits texts of the answer that contain a secret. If the buyer rejected the credential, the
// result says whether a new one is available. It never says so in two consecutive attempts.
func (c *Client) attemptPost(p *market.BuyerPostRequest) market.BuyerPostResult {
	out, fault := c.resolveSecretsAndEndpoint(dial.ConnOwner{Name: string(p.Buyer), Test: p.Test}, &p.Endpoint, p.Body)
	if fault != market.FaultNone {
		return c.judgePost(nil, dial.SendResult{Fault: fault}, nil)
	}
	a := out.endpoint
	response := fasthttp.AcquireResponse()
	defer fasthttp.ReleaseResponse(response)

	s := buyerRequest{
		endpoint: a, key: p.IdempotencyKey, requestID: p.RequestID, body: out.body, deadline: p.Deadline, test: p.Test,
		traceparent: p.Traceparent,
	}
	done := s.sendOnce(response)
	result := c.judgePost(a, done, response)
	out.credential = s.credential
	result.Code, result.BuyerLeadID = out.emptyIfContainsSecret(result.Code), out.emptyIfContainsSecret(result.BuyerLeadID)
	result.CredentialRenewed = !p.CredentialRenewed && s.renewCredentialAfter401(done)
	return result
}
