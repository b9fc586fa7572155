package buyer

import (
	"strconv"
	"strings"
	"time"

	"github.com/valyala/fasthttp"

	"pingpost/engine/market"
	"pingpost/engine/market/escape"
	"pingpost/outbound/dial"
)

const (
	tokenTimeout = 10 * time.Second // for one token request
	maxToken     = 8 << 10          // in bytes

	defaultLifetime = 5 * time.Minute // if the answer has no valid lifetime
	maxLifetime     = 24 * time.Hour  // a longer one is shortened
)

// requestTokenAndReportFailure requests an access token from an OAuth token endpoint. The same rules
// apply as for buyers' endpoints: allowed addresses, size of the answer, no redirects. After any
// failure the fault is FaultCredential; Options.OnTokenFailure receives the real reason.
func (c *Client) requestTokenAndReportFailure(key oauthClientKey) (fetchedToken, market.OutboundRequestFault) {
	got, status, fault := c.requestToken(key)
	if fault == market.FaultNone {
		return got, market.FaultNone
	}
	if c.options.OnTokenFailure != nil {
		c.options.OnTokenFailure(key.secretName, fault, status)
	}
	return fetchedToken{}, market.FaultCredential
}

func (c *Client) requestToken(key oauthClientKey) (got fetchedToken, status int, fault market.OutboundRequestFault) {
	out, fault := c.resolveSecretsAndEndpoint(dial.ConnOwner{}, &market.OutboundEndpoint{URL: key.client.TokenURL}, nil)
	if fault != market.FaultNone {
		return fetchedToken{}, 0, fault
	}
	deadline := time.Now().Add(tokenTimeout)
	secret, fault := staticSecret{secrets: c.options.Secrets, name: key.secretName}.credential(deadline)
	if fault != market.FaultNone {
		return fetchedToken{}, 0, fault
	}
	response := fasthttp.AcquireResponse()
	defer fasthttp.ReleaseResponse(response)

	s := buyerRequest{endpoint: out.endpoint, body: encodeJSONTokenRequest(&key.client, secret), deadline: deadline, repeatable: true}
	done := s.sendOnce(response)
	switch {
	case done.Fault != market.FaultNone:
		return fetchedToken{}, done.Status, done.Fault
	case done.Status != fasthttp.StatusOK:
		return fetchedToken{}, done.Status, market.FaultCredential
	}
	got, fault = parseTokenAnswer(response.Body())
	return got, done.Status, fault
}

// encodeJSONTokenRequest returns the JSON body that asks for a token with the client's id and
// secret (grant type client_credentials). It contains a scope only if one is configured.
func encodeJSONTokenRequest(client *market.OutboundOAuthClient, secret string) []byte {
	body := []byte(`{"grant_type":"client_credentials","client_id":`)
	body = escape.AppendJSONString(body, []byte(client.ClientID))
	body = append(body, `,"client_secret":`...)
	body = escape.AppendJSONString(body, []byte(secret))
	if client.Scope != "" {
		body = append(body, `,"scope":`...)
		body = escape.AppendJSONString(body, []byte(client.Scope))
	}
	return append(body, '}')
}

// parseTokenAnswer parses a token endpoint's answer (RFC 6749, 5.1). An answer without a token type
// counts as a bearer token. It rejects other types, because the exchange cannot send them.
func parseTokenAnswer(text []byte) (fetchedToken, market.OutboundRequestFault) {
	parsed, _ := answerPool.Get().(*parsedJSONAnswer)
	defer parsed.releaseToPool()
	if parsed.body.Parse(text) != nil {
		return fetchedToken{}, market.FaultUnreadable
	}
	kind, _ := parsed.body.Lookup("token_type")
	bearer := kind.Kind == 0 || kind.Kind == market.JSONNull || kind.Kind == market.JSONString && strings.EqualFold(string(kind.Text), "bearer")
	token, _ := parsed.body.Lookup("access_token")
	if !bearer || token.Kind != market.JSONString || len(token.Text) == 0 || len(token.Text) > maxToken || !isVisibleASCII(token.Text) {
		return fetchedToken{}, market.FaultMalformed
	}
	return fetchedToken{token: string(token.Text), lifetime: parsed.tokenLifetime()}, market.FaultNone
}

// tokenLifetime returns the lifetime in the member expires_in, which has seconds as a number or
// a string, but at most maxLifetime. A missing or invalid value gives defaultLifetime.
func (a *parsedJSONAnswer) tokenLifetime() (lifetime time.Duration) {
	m, _ := a.body.Lookup("expires_in")
	seconds, err := strconv.ParseFloat(stringOrNumberText(m), 64)
	if err != nil || !(seconds >= 1) {
		return defaultLifetime
	}
	return time.Duration(min(seconds, maxLifetime.Seconds()) * float64(time.Second))
}
