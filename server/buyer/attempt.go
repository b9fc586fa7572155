package buyer

import (
	"github.com/valyala/fasthttp"

	"pingpost/engine/market"
)

// attempt sends the request until there is an outcome: once, and once more for
// each of two reasons at most.
//
// A connection kept from before was found closed: the buyer, most likely, had
// ended it for being idle while our request was on its way. The other idle ones
// have probably met the same end, so they are dropped and the second sending
// goes over a new connection. It is made only under an idempotency key, unless
// not a byte had left: the buyer may have read the request and died.
//
// The buyer answered 401: the credential is asked for anew, and where it is
// another one now, that is tried. A 401 took nothing, so no key is needed.
func (c *Client) attempt(p *market.PostRequest) market.PostResult {
	target, fault := c.targets.find(p.Endpoint.URL)
	if fault == market.FaultNone {
		fault = checkHeader(&p.Endpoint)
	}
	if fault != market.FaultNone {
		return unreached(fault)
	}

	request, response := fasthttp.AcquireRequest(), fasthttp.AcquireResponse()
	defer fasthttp.ReleaseRequest(request)
	defer fasthttp.ReleaseResponse(response)

	auth := c.authorizerOf(&p.Endpoint)
	doubt, redialed, renewed := false, false, false
	for {
		credential, fault := auth.present(p.Deadline)
		if fault != market.FaultNone {
			return settle(unreached(fault), doubt)
		}
		compose(request, target, p, credential)
		trip := target.host.exchange(request, response, p.Deadline)
		switch {
		case trip.stale && !redialed && (!trip.sent || p.Key != ""):
			redialed, doubt = true, doubt || trip.sent
			target.host.pool.CloseIdleConnections()
		case trip.status == fasthttp.StatusUnauthorized && !renewed && auth.renew(credential, p.Deadline):
			renewed = true
		default:
			return settle(c.judge(trip, response), doubt)
		}
	}
}

// compose writes the whole request anew. Host and path go out as configured:
// fasthttp rewrites neither as long as nobody asks it for the parsed URI.
func compose(r *fasthttp.Request, t *target, p *market.PostRequest, credential string) {
	r.Reset()
	r.Header.DisableNormalizing()
	r.Header.SetMethod(fasthttp.MethodPost)
	r.Header.SetHost(t.authority)
	r.Header.SetRequestURI(t.path)
	r.Header.SetUserAgent("pingpost")
	r.Header.SetContentType("application/json")
	r.Header.Set("Accept", "application/json")
	if p.Key != "" {
		r.Header.Set("Idempotency-Key", p.Key)
	}
	if !p.RequestID.IsZero() {
		r.Header.Set("X-Request-Id", p.RequestID.String())
	}
	if credential != "" {
		r.Header.Set(p.Endpoint.Header, p.Endpoint.Scheme+credential)
	}
	r.SetBodyRaw(p.Body)
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

func unreached(fault market.Fault) market.PostResult {
	return market.PostResult{Verdict: market.VerdictUnreached, Fault: fault}
}
