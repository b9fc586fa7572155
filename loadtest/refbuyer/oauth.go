package refbuyer

import (
	"bytes"
	"crypto/subtle"
	"net/http"
	"net/url"
	"time"

	"github.com/valyala/fasthttp"

	"pingpost/internal/strictjson"
)

// OAuth is a client that may request access tokens. The zero value allows none.
type OAuth struct{ Client, Secret string }

// grant is a token request.
type grant struct {
	Type   string `json:"grant_type"`
	Client string `json:"client_id"`
	Secret string `json:"client_secret"`
	Scope  string `json:"scope"`
}

// granted is the answer to a token request.
type granted struct {
	Token     string `json:"access_token"`
	Type      string `json:"token_type"`
	ExpiresIn int64  `json:"expires_in"` // seconds
	Scope     string `json:"scope"`
}

// issueToken issues an access token by the client credentials grant of RFC 6749. The
// request is JSON or a form. The credentials are in the body or in a Basic header.
func (b *Buyer) issueToken(r *fasthttp.RequestCtx) {
	r.Response.Header.Set("Cache-Control", "no-store")
	g, ok := readGrant(r)
	if !ok {
		b.refuseGrant(r, fasthttp.StatusBadRequest, "invalid_request", "send JSON or a form with grant_type, client_id, client_secret and scope, each once")
		return
	}
	client, secret := b.options.OAuth.Client, b.options.OAuth.Secret
	if constantTimeEqual(g.Client, client)&constantTimeEqual(g.Secret, secret) == 0 {
		r.Response.Header.Set("WWW-Authenticate", "Basic")
		b.ledger.count(func(s *Stats) *int64 { return &s.Unauthorized })
		b.refuseGrant(r, fasthttp.StatusUnauthorized, "invalid_client", "unknown client_id or wrong client_secret")
		return
	}
	if g.Type != "client_credentials" {
		b.refuseGrant(r, fasthttp.StatusBadRequest, "unsupported_grant_type", "the only grant_type is client_credentials")
		return
	}
	s, ok := parseScope(g.Scope)
	if !ok {
		b.refuseGrant(r, fasthttp.StatusBadRequest, "invalid_scope", "the scopes are ping, post and webhook")
		return
	}
	answerJSON(r, fasthttp.StatusOK, granted{b.access.issue(s, b.now()), "Bearer", int64(b.options.TokenLifetime / time.Second), s.String()})
}

func readGrant(r *fasthttp.RequestCtx) (g grant, ok bool) {
	kind, _, _ := bytes.Cut(r.Request.Header.ContentType(), []byte(";"))
	switch string(bytes.ToLower(bytes.TrimSpace(kind))) {
	case "application/json":
		if strictjson.UnmarshalUnambiguous(r.PostBody(), &g) != nil {
			return g, false
		}
	case "application/x-www-form-urlencoded":
		form, err := url.ParseQuery(string(r.PostBody()))
		if err != nil {
			return g, false
		}
		for _, values := range form {
			if len(values) > 1 {
				return g, false
			}
		}
		g = grant{form.Get("grant_type"), form.Get("client_id"), form.Get("client_secret"), form.Get("scope")}
	default:
		return g, false
	}
	if header := r.Request.Header.Peek("Authorization"); len(header) > 0 {
		g.Client, g.Secret = parseBasicHeader(header)
	}
	return g, true
}

// parseBasicHeader parses a Basic header. RFC 6749 encodes both parts as in a form. An invalid header
// gives empty strings.
func parseBasicHeader(header []byte) (client, secret string) {
	name, password, _ := (&http.Request{Header: http.Header{"Authorization": {string(header)}}}).BasicAuth()
	client, errClient := url.QueryUnescape(name)
	secret, errSecret := url.QueryUnescape(password)
	if errClient != nil || errSecret != nil {
		return "", ""
	}
	return client, secret
}

func constantTimeEqual(given, wanted string) int {
	return subtle.ConstantTimeCompare([]byte(given), []byte(wanted))
}

// oauthRefusal combines the error bodies of RFC 6749 and of the API.
type oauthRefusal struct {
	refusal
	Description string `json:"error_description"`
}

func (b *Buyer) refuseGrant(r *fasthttp.RequestCtx, status int, code, message string) {
	b.ledger.count(func(s *Stats) *int64 { return &s.Invalid })
	id := requestID(r)
	r.Response.Header.Set("X-Request-Id", id)
	answerJSON(r, status, oauthRefusal{refusal{Error: code, Message: message, RequestID: id}, message})
}
