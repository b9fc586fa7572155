package config

import (
	"strings"

	"pingpost/config/schema"
	"pingpost/config/syntax"
	"pingpost/engine/market"
)

const (
	bearerHeader = "Authorization"
	bearerScheme = "Bearer "
)

// compileAuth checks the credential that the exchange presents to a buyer. It stores in the
// endpoint under which name the exchange finds the credential.
func (c *compiler) compileAuth(at syntax.KeyPath, buyerID string, a *schema.BuyerAuth, endpoint *market.OutboundEndpoint, owner secretOwner) {
	forms := 0
	for _, is := range [...]bool{a.OAuth != nil, a.Bearer.IsGivenOrDeclared(), a.APIKey.IsGivenOrDeclared()} {
		if is {
			forms++
		}
	}
	if forms != 1 {
		c.reportMistake(at, "give exactly one of oauth, bearer and api_key")
		return
	}
	if a.Header != "" && !a.APIKey.IsGivenOrDeclared() {
		c.reportMistake(at.Key("header"), "is only for api_key; oauth and bearer use Authorization")
	}
	name := "buyer/" + buyerID + "/"
	endpoint.Header, endpoint.Scheme = bearerHeader, bearerScheme
	switch {
	case a.OAuth != nil:
		endpoint.Credential = name + "oauth"
		endpoint.OAuth = &market.OutboundOAuthClient{TokenURL: c.compileOAuth(at.Key("oauth"), name+"oauth", a.OAuth, owner), ClientID: a.OAuth.ClientID, Scope: a.OAuth.Scope}
	case a.Bearer.IsGivenOrDeclared():
		c.checkHeaderSecret(at.Key("bearer"), a.Bearer)
		endpoint.Credential = c.addInitialSecretOrRecordUnset(at.Key("bearer"), name+"bearer", a.Bearer)
	default:
		c.checkHeaderSecret(at.Key("api_key"), a.APIKey)
		c.checkHeaderName(at.Key("header"), a.Header)
		endpoint.Credential = c.addInitialSecretOrRecordUnset(at.Key("api_key"), name+"api_key", a.APIKey)
		endpoint.Header, endpoint.Scheme = a.Header, ""
	}
}

// compileOAuth checks the OAuth client with which the exchange gets tokens from a buyer. It
// returns the address that issues the tokens. secretName is the stored name of the client's secret.
func (c *compiler) compileOAuth(at syntax.KeyPath, secretName string, o *schema.BuyerOAuth, owner secretOwner) (tokenURL string) {
	if o.TokenURL == "" {
		c.reportMistake(at.Key("token_url"), "is missing; give the address that issues tokens")
	} else {
		tokenURL = c.compileAddress(at.Key("token_url"), o.TokenURL, true, owner)
	}
	if o.ClientID == "" || len(o.ClientID) > schema.MaxSecret || strings.ContainsFunc(o.ClientID, isNotPrintableASCII) {
		c.reportMistake(at.Key("client_id"), "is missing, or is not one line of printable text; give the client id")
	}
	if len(o.Scope) > schema.MaxSecret || strings.ContainsFunc(o.Scope, isNotPrintableASCII) {
		c.reportMistake(at.Key("scope"), "is not a list of scopes; write the names separated by spaces")
	}
	c.requireSecret(at.Key("client_secret"), o.ClientSecret)
	if secret := o.ClientSecret.Reveal(); len(secret) > schema.MaxSecret || strings.ContainsFunc(secret, isNotPrintableASCII) {
		c.reportMistake(at.Key("client_secret"), "is not one line of printable ASCII; check its ends")
	}
	c.addInitialSecretOrRecordUnset(at.Key("client_secret"), secretName, o.ClientSecret)
	return tokenURL
}

// isNotPrintableASCII reports whether a header or an address cannot contain the character.
func isNotPrintableASCII(r rune) bool { return r < ' ' || r > '~' }

// reservedHeaders are the headers that the exchange sets itself.
var reservedHeaders = map[string]bool{
	"host": true, "content-type": true, "content-length": true, "transfer-encoding": true,
	"connection": true, "te": true, "trailer": true, "upgrade": true, "expect": true,
	"accept": true, "accept-encoding": true, "user-agent": true, "idempotency-key": true,
	"x-request-id": true, "x-pingpost-hops": true, "x-pingpost-test": true, "traceparent": true, "keep-alive": true, "proxy-connection": true,
}

// checkHeaderName reports a mistake if the name is not a valid header name, or if the
// exchange sets this header itself.
func (c *compiler) checkHeaderName(at syntax.KeyPath, name string) {
	token := func(r rune) bool {
		return !('a' <= r|0x20 && r|0x20 <= 'z' && r < 0x80 || '0' <= r && r <= '9' || strings.ContainsRune("!#$%&'*+-.^_`|~", r))
	}
	switch {
	case name == "" || len(name) > maxID || strings.ContainsFunc(name, token):
		c.reportMistake(at, "is not a header's name; write for example x-api-key")
	case reservedHeaders[strings.ToLower(name)]:
		c.reportMistake(at, "is a header that the exchange sets; use another, such as x-api-key")
	}
}
