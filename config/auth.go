package config

import (
	"strings"

	"pingpost/engine/market"
)

// Auth is how the exchange shows a buyer who it is: exactly one of OAuth,
// Bearer and APIKey.
type Auth struct {
	OAuth  *OAuth `json:"oauth,omitempty"`
	Bearer Secret `json:"bearer,omitzero"`
	APIKey Secret `json:"api_key,omitzero"`
	Header string `json:"header,omitempty"` // of the API key
}

// OAuth is how tokens for a buyer's endpoint are got.
type OAuth struct {
	TokenURL     Address `json:"token_url"`
	ClientID     string  `json:"client_id"`
	ClientSecret Secret  `json:"client_secret,omitzero"`
	Scope        string  `json:"scope,omitempty"` // names with spaces between
}

const (
	defaultHeader = "x-api-key"
	bearerHeader  = "Authorization"
	bearerScheme  = "Bearer "
)

func (a *Auth) fill() {
	if a != nil && a.APIKey.IsSet() {
		orElse(&a.Header, defaultHeader)
	}
}

// auth judges the one form that is given and names its credential in the
// endpoint.
func (c *compiler) auth(at place, buyer string, a *Auth, endpoint *market.Endpoint, of owner) {
	forms := 0
	for _, is := range [...]bool{a.OAuth != nil, a.Bearer.IsSet(), a.APIKey.IsSet()} {
		if is {
			forms++
		}
	}
	if forms != 1 {
		c.fail(at, "give exactly one of oauth, bearer and api_key")
		return
	}
	if a.Header != "" && !a.APIKey.IsSet() {
		c.fail(at.key("header"), "goes with api_key only; the others use Authorization")
	}
	name := "buyer/" + buyer + "/"
	endpoint.Header, endpoint.Scheme = bearerHeader, bearerScheme
	switch {
	case a.OAuth != nil:
		endpoint.Credential = name + "oauth"
		endpoint.OAuth = &market.OAuthClient{TokenURL: c.oauth(at.key("oauth"), name+"oauth", a.OAuth, of), ClientID: a.OAuth.ClientID, Scope: a.OAuth.Scope}
	case a.Bearer.IsSet():
		c.carried(at.key("bearer"), a.Bearer)
		endpoint.Credential = c.keep(at.key("bearer"), name+"bearer", a.Bearer)
	default:
		c.carried(at.key("api_key"), a.APIKey)
		c.header(at.key("header"), a.Header)
		endpoint.Credential = c.keep(at.key("api_key"), name+"api_key", a.APIKey)
		endpoint.Header, endpoint.Scheme = a.Header, ""
	}
}

// oauth judges the client, and returns where it gets tokens.
func (c *compiler) oauth(at place, name string, o *OAuth, of owner) (tokens string) {
	if o.TokenURL == "" {
		c.fail(at.key("token_url"), "is missing; give the address that hands out tokens")
	} else {
		tokens = c.remote(at.key("token_url"), o.TokenURL, true, of)
	}
	if o.ClientID == "" || len(o.ClientID) > maxSecret || strings.ContainsFunc(o.ClientID, notInLine) {
		c.fail(at.key("client_id"), "is missing, or is not one line of printable text")
	}
	if len(o.Scope) > maxSecret || strings.ContainsFunc(o.Scope, notInLine) {
		c.fail(at.key("scope"), "is not a list of scopes; write their names with spaces between")
	}
	c.needed(at.key("client_secret"), o.ClientSecret)
	if secret := o.ClientSecret.Reveal(); len(secret) > maxSecret || strings.ContainsFunc(secret, notInLine) {
		c.fail(at.key("client_secret"), "is not one line of printable ASCII; check its ends")
	}
	c.keep(at.key("client_secret"), name, o.ClientSecret)
	return tokens
}

func notInLine(r rune) bool { return r < ' ' || r > '~' }

// ours are the headers that the exchange sets itself.
var ours = map[string]bool{
	"host": true, "content-type": true, "content-length": true, "transfer-encoding": true,
	"connection": true, "te": true, "trailer": true, "upgrade": true, "expect": true,
	"accept": true, "accept-encoding": true, "user-agent": true, "idempotency-key": true,
	"x-request-id": true, "x-pingpost-hops": true, "x-pingpost-test": true, "traceparent": true, "keep-alive": true, "proxy-connection": true,
}

func (c *compiler) header(at place, name string) {
	token := func(r rune) bool {
		return !('a' <= r|0x20 && r|0x20 <= 'z' && r < 0x80 || '0' <= r && r <= '9' || strings.ContainsRune("!#$%&'*+-.^_`|~", r))
	}
	switch {
	case name == "" || len(name) > maxID || strings.ContainsFunc(name, token):
		c.fail(at, "is not a header's name; write such as x-api-key")
	case ours[strings.ToLower(name)]:
		c.fail(at, "is a header that the exchange sets itself; use another, such as x-api-key")
	}
}
