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
	tokenTimeout = 10 * time.Second // for one request for a token
	maxToken     = 8 << 10          // bytes

	unsaidLife  = 5 * time.Minute // where the answer does not say how long a token lives
	longestLife = 24 * time.Hour  // what is believed at most
)

// fetchToken asks a token endpoint for a token, by the rules that hold for every
// endpoint: where it may live, how long its answer may be, and that redirects
// are not followed. The fault is always FaultCredential; what lies behind it
// goes to Options.TokenFailed.
func (c *Client) fetchToken(key grantKey) (granted, market.Fault) {
	got, status, fault := c.askForToken(key)
	if fault == market.FaultNone {
		return got, market.FaultNone
	}
	if c.options.TokenFailed != nil {
		c.options.TokenFailed(key.secret, fault, status)
	}
	return granted{}, market.FaultCredential
}

func (c *Client) askForToken(key grantKey) (got granted, status int, fault market.Fault) {
	out, fault := c.prepare(dial.Owner{}, &market.Endpoint{URL: key.client.TokenURL}, nil)
	if fault != market.FaultNone {
		return granted{}, 0, fault
	}
	deadline := time.Now().Add(tokenTimeout)
	secret, fault := static{secrets: c.options.Secrets, name: key.secret}.present(deadline)
	if fault != market.FaultNone {
		return granted{}, 0, fault
	}
	response := fasthttp.AcquireResponse()
	defer fasthttp.ReleaseResponse(response)

	s := sending{account: out.account, body: tokenRequest(&key.client, secret), deadline: deadline, repeatable: true}
	done := s.send(response)
	switch {
	case done.Fault != market.FaultNone:
		return granted{}, done.Status, done.Fault
	case done.Status != fasthttp.StatusOK:
		return granted{}, done.Status, market.FaultCredential
	}
	got, fault = readToken(response.Body())
	return got, done.Status, fault
}

// tokenRequest is the body of a request by client credentials. A scope that is
// not configured is not sent.
func tokenRequest(client *market.OAuthClient, secret string) []byte {
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

// readToken reads an answer of RFC 6749, 5.1. One that names no type of token
// gave a bearer token, as nearly all do; any other type cannot be presented.
func readToken(text []byte) (granted, market.Fault) {
	body, _ := answerPool.Get().(*answer)
	defer body.release()
	if body.whole.Parse(text) != nil {
		return granted{}, market.FaultUnreadable
	}
	kind, _ := body.whole.Lookup("token_type")
	bearer := kind.Kind == 0 || kind.Kind == market.JSONNull || kind.Kind == market.JSONString && strings.EqualFold(string(kind.Text), "bearer")
	token, _ := body.whole.Lookup("access_token")
	if !bearer || token.Kind != market.JSONString || len(token.Text) == 0 || len(token.Text) > maxToken || !isVisible(token.Text) {
		return granted{}, market.FaultMalformed
	}
	return granted{token: string(token.Text), life: body.life()}, market.FaultNone
}

// life reads expires_in: seconds, as a number or in a string. What says nothing,
// or nothing that can be meant, is as if it were absent.
func (a *answer) life() time.Duration {
	m, _ := a.whole.Lookup("expires_in")
	seconds, err := strconv.ParseFloat(scalar(m), 64)
	if err != nil || !(seconds >= 1) {
		return unsaidLife
	}
	return time.Duration(min(seconds, longestLife.Seconds()) * float64(time.Second))
}
