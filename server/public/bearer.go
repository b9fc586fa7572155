package public

import (
	"bytes"

	"github.com/valyala/fasthttp"

	"pingpost/api/errcode"
	"pingpost/engine"
	"pingpost/engine/event"
	"pingpost/engine/market"
	"pingpost/engine/state"
	"pingpost/server/httperror"
)

var (
	errNoBearer  = httperror.New(401, errcode.Unauthorized, "The token is missing. Send Authorization: Bearer with an access token from /oauth/token.")
	errBadBearer = httperror.New(401, errcode.Unauthorized, "The token is unknown or expired, or its client was revoked. Get a new one from /oauth/token.").CountedAsWrongCredential()
	errNoScope   = httperror.New(403, errcode.InsufficientScope, "The token lacks the scope that this path requires. Request a token with this scope, if the client has it.")
)

const (
	challengeBearer = `Bearer realm="pingpost"`
	challengeBad    = challengeBearer + `, error="invalid_token"`
	challengeScope  = challengeBearer + `, error="insufficient_scope", scope="`
)

// maxBearer is the greatest length of a bearer token in bytes. A static token of a sandbox may
// be this long.
const maxBearer = 4096

// supplierOrBuyer is the supplier or buyer to which a credential belongs. The other field is nil.
type supplierOrBuyer struct {
	supplier *market.Supplier
	buyer    *market.Buyer
}

// authenticateBearer returns the supplier or buyer to which the request's bearer token belongs.
// The token must have the scope. On an error it sets the challenge header only; the caller
// sends the error.
func (s *Server) authenticateBearer(ctx *fasthttp.RequestCtx, e *engine.Engine, scope event.OAuthScopes) (supplierOrBuyer, httperror.Error) {
	token, ok := readBearerToken(&ctx.Request.Header)
	if !ok {
		ctx.Response.Header.Set(httperror.HeaderChallenge, challengeBearer)
		return supplierOrBuyer{}, errNoBearer
	}
	credential, scopes, ok := s.findCredentialOfToken(e, token)
	if !ok {
		ctx.Response.Header.Set(httperror.HeaderChallenge, challengeBad)
		return supplierOrBuyer{}, errBadBearer
	}
	who, ok := s.findSupplierOrBuyer(&credential)
	if !ok { // removed from the configuration
		ctx.Response.Header.Set(httperror.HeaderChallenge, challengeBad)
		return supplierOrBuyer{}, errBadBearer
	}
	credential.LastUse.RecordUse(s.clock.Now())
	if !scopes.ContainsAll(scope) {
		ctx.Response.Header.Set(httperror.HeaderChallenge, challengeScope+scope.String()+`"`)
		return supplierOrBuyer{}, errNoScope
	}
	return who, httperror.Error{}
}

// readBearerToken returns the bearer token in the Authorization header. isPresent is false without such
// a header, or if it has another scheme. If the header is repeated, the token is empty and thus
// invalid, because it is unclear which one is meant.
func readBearerToken(header *fasthttp.RequestHeader) (token []byte, isPresent bool) {
	lines := header.PeekAll(fasthttp.HeaderAuthorization)
	if len(lines) != 1 {
		return nil, len(lines) > 1
	}
	scheme, token, _ := bytes.Cut(lines[0], []byte{' '})
	if !bytes.EqualFold(scheme, []byte("Bearer")) {
		return nil, false
	}
	return bytes.TrimSpace(token), true
}

// findCredentialOfToken returns the valid credential to which a bearer token belongs, and the token's
// scopes. An access token loses scopes that its OAuth client has lost. ok is false for an
// invalid token.
func (s *Server) findCredentialOfToken(e *engine.Engine, token []byte) (credential state.Credential, scopes event.OAuthScopes, ok bool) {
	if len(token) == 0 || len(token) > maxBearer {
		return state.Credential{}, 0, false
	}
	if claims, ok := s.opt.Tokens.OpenUnexpiredToken(token, s.clock.Now()); ok {
		credential, ok = e.State().CredentialByHash(claims.Secret)
		return credential, claims.Scopes & credential.Scopes,
			ok && credential.Kind == event.CredentialOAuthClient && credential.Owner == claims.Owner && credential.Ref == claims.Ref
	}
	if !s.opt.Sandbox {
		return state.Credential{}, 0, false
	}
	credential, ok = e.State().CredentialByHash(s.opt.Tokens.HashStaticBearerToken(token))
	return credential, credential.Scopes, ok && credential.Kind == event.CredentialBearer
}

// findSupplierOrBuyer returns the supplier or buyer to which a credential belongs. ok is false if
// the active configuration no longer has it.
func (s *Server) findSupplierOrBuyer(credential *state.Credential) (who supplierOrBuyer, ok bool) {
	switch credential.Owner {
	case event.ObjectSupplier:
		who.supplier, ok = (*s.suppliers.Load())[credential.Ref]
	case event.ObjectBuyer:
		who.buyer, ok = (*s.buyers.Load())[credential.Ref]
	}
	return who, ok
}
