package server

import (
	"encoding/hex"

	"github.com/valyala/fasthttp"

	"pingpost/api/errcode"
	"pingpost/engine"
	"pingpost/engine/event"
	"pingpost/engine/state"
)

// inSandbox is for what only a sandbox has: static tokens.
func (a *Admin) inSandbox(h func(*fasthttp.RequestCtx, *owner)) func(*fasthttp.RequestCtx, *owner) {
	return func(ctx *fasthttp.RequestCtx, o *owner) {
		if !a.operator.Sandbox() {
			a.fail(ctx, fault{404, errcode.NotFound, "Static tokens are for a sandbox alone; say sandbox: true in its configuration, or use an OAuth client."})
			return
		}
		h(ctx, o)
	}
}

// tokenID is by what an operator names a static token: the beginning of its
// hash. Tokens from a configuration may begin alike.
func tokenID(c *state.Credential) string { return hex.EncodeToString(c.Hash[:6]) }

// tokens lists an owner's static tokens.
func (a *Admin) tokens(ctx *fasthttp.RequestCtx, o *owner) {
	body := []byte(`{"tokens":[`)
	for i, c := range o.live(event.CredentialBearer) {
		if i > 0 {
			body = append(body, ',')
		}
		body = appendSecret(append(body, `{"id":"`+tokenID(&c)+`",`...), &c)
		body = append(appendScopes(append(body, ','), c.Scopes), '}')
	}
	ctx.SetContentType(typeJSON)
	ctx.SetBody(append(body, "]}\n"...))
}

// addToken makes a static token, which has no end but its revocation. It is
// shown this once. Without scopes in the body it has all of them.
func (a *Admin) addToken(ctx *fasthttp.RequestCtx, o *owner) {
	scopes, ok := a.scopes(ctx, event.ScopePing|event.ScopePost|event.ScopeWebhook)
	if !ok {
		return
	}
	token := newSecret("tok_", o.live(event.CredentialBearer))
	made := engine.Credential{
		Kind: event.CredentialBearer, Owner: o.kind, ID: o.id, Scopes: scopes,
		Hash: a.operator.Tokens().HashBearer([]byte(token)), Hint: KeyHint(token),
	}
	if err := o.engine.By(actorOf(ctx)).AddCredential(&made); err != nil {
		a.failWith(ctx, err)
		return
	}
	id := tokenID(&state.Credential{Hash: made.Hash})
	body := []byte(`{"token":"` + token + `","id":"` + id + `","hint":"` + KeyHint(token) + `",`)
	sendSecret(ctx, append(appendScopes(body, scopes), '}'))
}

func (a *Admin) revokeToken(ctx *fasthttp.RequestCtx, o *owner) {
	id := parameter(ctx, "token")
	a.revokeAll(ctx, o.engine, o.live(event.CredentialBearer), func(c *state.Credential) bool { return tokenID(c) == id })
}
