package oidc

import (
	"context"
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"crypto/subtle"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"time"

	gooidc "github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"
)

// flowLife is how long a person may take to sign in at the provider.
const flowLife = 10 * time.Minute

// flow is a sign-in that a browser has started. The browser keeps it, sealed, in a cookie, so that
// strangers who start sign-ins need no memory here.
type flow struct {
	State    string `json:"s"`
	Nonce    string `json:"n"`
	Verifier string `json:"v"` // of PKCE
	Redirect string `json:"r"` // the callback's address
	Expires  int64  `json:"e"` // Unix nanoseconds
}

// flowSealer encrypts flows with a random key of this process. A restart therefore ends them.
type flowSealer struct{ aead cipher.AEAD }

func newFlowSealer() flowSealer {
	var key [32]byte
	_, _ = rand.Read(key[:])
	block, err := aes.NewCipher(key[:])
	if err != nil {
		panic("BUG: AES rejects a key of 32 bytes: " + err.Error())
	}
	aead, err := cipher.NewGCMWithRandomNonce(block)
	if err != nil {
		panic("BUG: GCM rejects AES: " + err.Error())
	}
	return flowSealer{aead}
}

func (s flowSealer) seal(f *flow) (cookie string) {
	plain, err := json.Marshal(f)
	if err != nil {
		panic("BUG: cannot encode a sign-in: " + err.Error())
	}
	return base64.RawURLEncoding.EncodeToString(s.aead.Seal(nil, nil, plain, nil))
}

// open returns the flow of a cookie, or false if this process did not seal it or it has expired.
func (s flowSealer) open(cookie string, now time.Time) (f flow, ok bool) {
	sealed, err := base64.RawURLEncoding.DecodeString(cookie)
	if err != nil {
		return flow{}, false
	}
	plain, err := s.aead.Open(nil, nil, sealed, nil)
	if err != nil || json.Unmarshal(plain, &f) != nil || now.UnixNano() >= f.Expires {
		return flow{}, false
	}
	return f, true
}

// Begin starts a sign-in. It returns the provider's address for the browser, and the value of the
// cookie that Finish needs. redirectURL is the callback's address.
func (p *Provider) Begin(redirectURL string) (location, cookie string, err error) {
	loaded, err := p.metadataOrWaitForFirst()
	if err != nil {
		return "", "", err
	}
	f := &flow{
		State: rand.Text(), Nonce: rand.Text(), Verifier: oauth2.GenerateVerifier(), Redirect: redirectURL,
		Expires: p.options.Now().Add(flowLife).UnixNano(),
	}
	oauth := loaded.oauth
	oauth.RedirectURL = redirectURL
	return oauth.AuthCodeURL(f.State, gooidc.Nonce(f.Nonce), oauth2.S256ChallengeOption(f.Verifier)), p.flows.seal(f), nil
}

// Finish ends a sign-in with the query of the callback and the cookie of Begin. It returns the
// person with the role. The error wraps one of this package's errors.
func (p *Provider) Finish(ctx context.Context, cookie string, query url.Values) (Identity, error) {
	f, ok := p.flows.open(cookie, p.options.Now())
	if !ok || len(query["state"]) != 1 || !isEqualAndNotEmpty(query.Get("state"), f.State) {
		return Identity{}, fmt.Errorf("%w: the browser's sign-in cookie is missing or expired, or the callback has another state", ErrInvalid)
	}
	loaded, err := p.metadataOrWaitForFirst()
	if err != nil {
		return Identity{}, err
	}
	switch issuers := query["iss"]; {
	case len(issuers) > 1, len(issuers) == 1 && issuers[0] != p.options.Issuer, len(issuers) == 0 && loaded.sendsIssuer:
		return Identity{}, fmt.Errorf("%w: the callback's iss parameter is missing, repeated or names another issuer", ErrInvalid)
	case query.Has("error"):
		return Identity{}, ErrDenied // its description could be anyone's text
	case len(query["code"]) != 1 || query.Get("code") == "":
		return Identity{}, fmt.Errorf("%w: the callback has no code", ErrInvalid)
	}
	oauth := loaded.oauth
	oauth.RedirectURL = f.Redirect
	ctx = p.withHTTPClient(ctx)
	answer, err := oauth.Exchange(ctx, query.Get("code"), oauth2.VerifierOption(f.Verifier))
	if err != nil {
		return Identity{}, describeTokenRequestError(err)
	}
	raw, _ := answer.Extra("id_token").(string)
	token, err := loaded.verifier.Verify(ctx, raw)
	if err != nil {
		return Identity{}, fmt.Errorf("%w: the id token is not acceptable: %w", ErrInvalid, err)
	}
	if !isEqualAndNotEmpty(token.Nonce, f.Nonce) {
		return Identity{}, fmt.Errorf("%w: the id token has another nonce", ErrInvalid)
	}
	return p.identifyAndRequireRole(token)
}

// describeTokenRequestError returns the error of a failed request for tokens. It leaves out the answer's
// body, because that is the provider's text.
func describeTokenRequestError(err error) error {
	var refused *oauth2.RetrieveError
	if errors.As(err, &refused) {
		cause := ErrInvalid
		if refused.Response.StatusCode >= 500 {
			cause = ErrUnreachable
		}
		return fmt.Errorf("%w: the token endpoint answers %d %q", cause, refused.Response.StatusCode, refused.ErrorCode)
	}
	return fmt.Errorf("%w: %w", ErrUnreachable, err)
}

// isEqualAndNotEmpty compares two texts in constant time. An empty one equals none.
func isEqualAndNotEmpty(given, want string) bool {
	return want != "" && subtle.ConstantTimeCompare([]byte(given), []byte(want)) == 1
}
