package server

import (
	"bytes"

	"github.com/valyala/fasthttp"

	"pingpost/api/errcode"
	"pingpost/engine/event"
	"pingpost/engine/market"
	"pingpost/engine/state"
)

var (
	faultNoBearer  = fault{401, errcode.Unauthorized, "The token is missing. Send Authorization: Bearer with an access token from /oauth/token."}
	faultBadBearer = fault{401, errcode.Unauthorized, "The token is not one of this exchange's, or has expired, or its client was revoked. Get a new one from /oauth/token."}
	faultNoScope   = fault{403, errcode.InsufficientScope, "The token lacks the scope that this path asks for. Get one with it, if the client has it."}
)

const (
	challengeBearer = `Bearer realm="pingpost"`
	challengeBad    = challengeBearer + `, error="invalid_token"`
	challengeScope  = challengeBearer + `, error="insufficient_scope", scope="`
)

// maxBearer bounds a token; longer ones are nobody's. A static token of a
// sandbox may have this length.
const maxBearer = 4096

// caller is who showed a credential: one of the two is there.
type caller struct {
	supplier *market.Supplier
	buyer    *market.Buyer
}

// bearerOf finds whose token came with the request, and sees that it has the
// scope. With a fault the challenge is written already, and the fault is to be
// answered.
func (s *Server) bearerOf(ctx *fasthttp.RequestCtx, scope event.Scopes) (caller, fault) {
	token, ok := bearerToken(&ctx.Request.Header)
	if !ok {
		ctx.Response.Header.Set(headerChallenge, challengeBearer)
		return caller{}, faultNoBearer
	}
	credential, scopes, ok := s.holderOf(token)
	if !ok {
		ctx.Response.Header.Set(headerChallenge, challengeBad)
		return caller{}, faultBadBearer
	}
	who, ok := s.callerOf(&credential)
	if !ok { // configured once, and gone
		ctx.Response.Header.Set(headerChallenge, challengeBad)
		return caller{}, faultBadBearer
	}
	credential.Used.Note(s.clock.Now())
	if !scopes.Has(scope) {
		ctx.Response.Header.Set(headerChallenge, challengeScope+scope.String()+`"`)
		return caller{}, faultNoScope
	}
	return who, fault{}
}

// bearerToken is the token in the Authorization header; not ok: there is none.
// Of two headers nobody knows which one is meant: then it is no token, and one
// all the same.
func bearerToken(header *fasthttp.RequestHeader) (token []byte, ok bool) {
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

// holderOf finds the live credential behind a token, and what of it the token
// opens. An access token opens no more than its client may at this moment.
func (s *Server) holderOf(token []byte) (credential state.Credential, scopes event.Scopes, ok bool) {
	if len(token) == 0 || len(token) > maxBearer {
		return state.Credential{}, 0, false
	}
	if claims, ok := s.opt.Tokens.Read(token, s.clock.Now()); ok {
		credential, ok = s.engine.State().Credential(claims.Secret)
		return credential, claims.Scopes & credential.Scopes,
			ok && credential.Kind == event.CredentialOAuthClient && credential.Owner == claims.Owner && credential.Ref == claims.Ref
	}
	if !s.opt.Sandbox {
		return state.Credential{}, 0, false
	}
	credential, ok = s.engine.State().Credential(s.opt.Tokens.HashBearer(token))
	return credential, credential.Scopes, ok && credential.Kind == event.CredentialBearer
}

// callerOf is the owner of a credential as the catalog in force has it.
func (s *Server) callerOf(c *state.Credential) (who caller, ok bool) {
	switch c.Owner {
	case event.NameSupplier:
		who.supplier, ok = (*s.suppliers.Load())[c.Ref]
	case event.NameBuyer:
		who.buyer, ok = (*s.buyers.Load())[c.Ref]
	}
	return who, ok
}
