package public

import (
	"bytes"
	"strings"
	"testing"

	"github.com/valyala/fasthttp"

	"pingpost/engine"
	"pingpost/engine/event"
	"pingpost/internal/must"
	"pingpost/keys/token"
	"pingpost/server/httperror"
)

// serveCaller answers 204 with the caller's id if the token has the scope.
func (d *testServer) serveCaller(ctx *fasthttp.RequestCtx, scope event.OAuthScopes) {
	who, bad := d.authenticateBearer(ctx, d.engine.Load(), scope)
	switch {
	case bad.Status != 0:
		httperror.Write(ctx, d.newRequestID(), bad)
		return
	case who.supplier != nil && who.buyer == nil:
		ctx.Response.Header.Set("Caller", string(who.supplier.ID))
	case who.buyer != nil && who.supplier == nil:
		ctx.Response.Header.Set("Caller", string(who.buyer.ID))
	}
	ctx.SetStatusCode(fasthttp.StatusNoContent)
}

// authenticateWith sends a request with these Authorization headers to serveCaller.
func (d *testServer) authenticateWith(scope event.OAuthScopes, lines ...string) *fasthttp.RequestCtx {
	ctx := newRequestCtx("GET", "/", nil)
	for _, line := range lines {
		ctx.Request.Header.Add("Authorization", line)
	}
	d.serveCaller(ctx, scope)
	return ctx
}

func (d *testServer) authenticate(token string, scope event.OAuthScopes) *fasthttp.RequestCtx {
	return d.authenticateWith(scope, "Bearer "+token)
}

// The challenges of RFC 6750.
const (
	challengeMissingToken = `Bearer realm="pingpost"`
	challengeInvalidToken = `Bearer realm="pingpost", error="invalid_token"`
)

// wantCaller checks that a token authenticates this caller, or for "" that it is rejected.
func (d *testServer) wantCaller(what, token string, scope event.OAuthScopes, who string) {
	d.t.Helper()
	ctx := d.authenticate(token, scope)
	header := &ctx.Response.Header
	if who == "" {
		if ctx.Response.StatusCode() != 401 || !bytes.Contains(ctx.Response.Body(), []byte(`"error":"unauthorized"`)) ||
			string(header.Peek("WWW-Authenticate")) != challengeInvalidToken {
			d.t.Errorf("%s: %d %s, %s", what, ctx.Response.StatusCode(), header.Peek("WWW-Authenticate"), ctx.Response.Body())
		}
		return
	}
	if got := string(header.Peek("Caller")); ctx.Response.StatusCode() != 204 || got != who || len(header.Peek("WWW-Authenticate")) > 0 {
		d.t.Errorf("%s: %d, caller %q, want %q: %s", what, ctx.Response.StatusCode(), got, who, ctx.Response.Body())
	}
}

func TestBearerTokenSyntax(t *testing.T) {
	d := newTestServer(t)
	acme, blue := d.requestToken("acme", acmeSecret, "ping"), d.requestToken("blue/1", blueSecret, "")
	d.wantCaller("token of acme", acme, event.ScopePing, "sup_acme")
	d.wantCaller("token of blue", blue, event.ScopeWebhook, "buy_blue")
	for what, lines := range map[string][]string{
		"no header": nil, "an empty line": {""}, "another scheme": {"Basic " + acme}, "no scheme": {acme}, "a similar scheme": {"BearerX " + acme},
	} {
		ctx := d.authenticateWith(event.ScopePing, lines...)
		if got := string(ctx.Response.Header.Peek("WWW-Authenticate")); ctx.Response.StatusCode() != 401 || got != challengeMissingToken {
			t.Errorf("%s: %d %q", what, ctx.Response.StatusCode(), got)
		}
	}
	for what, lines := range map[string][]string{
		"only the scheme": {"Bearer"}, "two headers": {"Bearer " + acme, "Bearer " + acme}, "two tokens": {"Bearer " + acme + " " + acme},
		"in quotes": {`Bearer "` + acme + `"`}, "a parameter": {"Bearer token=" + acme}, "too long": {"Bearer " + strings.Repeat("x", 5000)},
	} {
		ctx := d.authenticateWith(event.ScopePing, lines...)
		if got := string(ctx.Response.Header.Peek("WWW-Authenticate")); ctx.Response.StatusCode() != 401 || got != challengeInvalidToken {
			t.Errorf("%s: %d %q", what, ctx.Response.StatusCode(), got)
		}
	}
	for what, line := range map[string]string{"another case": "bEARER " + acme, "more spaces": "Bearer   " + acme} {
		if ctx := d.authenticateWith(event.ScopePing, line); ctx.Response.StatusCode() != 204 {
			t.Errorf("%s: %d", what, ctx.Response.StatusCode())
		}
	}
}

func TestTokenScopeIsEnforced(t *testing.T) {
	d := newTestServer(t)
	names := map[string]event.OAuthScopes{"ping": event.ScopePing, "post": event.ScopePost, "webhook": event.ScopeWebhook}
	for _, given := range []string{"ping", "post", "ping post"} {
		token := d.requestToken("acme", acmeSecret, given)
		for name, scope := range names {
			ctx := d.authenticate(token, scope)
			if strings.Contains(given, name) {
				d.wantCaller(given, token, scope, "sup_acme")
				continue
			}
			want := `Bearer realm="pingpost", error="insufficient_scope", scope="` + name + `"`
			if got := string(ctx.Response.Header.Peek("WWW-Authenticate")); ctx.Response.StatusCode() != 403 || got != want ||
				!bytes.Contains(ctx.Response.Body(), []byte(`"error":"insufficient_scope"`)) {
				t.Errorf("token with scopes %q used for %s: got %d %q %s, want 403 insufficient_scope", given, name, ctx.Response.StatusCode(), got, ctx.Response.Body())
			}
		}
	}
}

// A client may have two secrets at once. A third one replaces the secret that it names,
// and the tokens of the replaced secret end.
func TestRotatedSecretEndsItsTokens(t *testing.T) {
	d := newTestServer(t)
	client := engine.Credential{Kind: event.CredentialOAuthClient, Owner: event.ObjectSupplier, ID: "sup_acme", Client: "acme", Scopes: event.ScopePing}
	first := d.requestToken("acme", acmeSecret, "")
	d.addCredential(client, "canary-second")
	second := d.requestToken("acme", "canary-second", "")
	d.wantCaller("first token, two secrets", first, event.ScopePing, "sup_acme")
	d.wantCaller("second token", second, event.ScopePing, "sup_acme")
	d.requestToken("acme", acmeSecret, "")

	client.Replaces = acmeSecret[:3]
	d.addCredential(client, "canary-third")
	client.Replaces = ""
	third := d.requestToken("acme", "canary-third", "")
	d.wantCaller("first token, secret replaced", first, event.ScopePing, "")
	d.wantCaller("second token", second, event.ScopePing, "sup_acme")
	d.wantCaller("third token", third, event.ScopePing, "sup_acme")

	other := client
	other.Client = "acme2"
	d.addCredential(other, "canary-other")
	d.wantCaller("second token, secret of another client added", second, event.ScopePing, "sup_acme")

	d.revokeSecret("acme", "canary-second")
	d.wantCaller("second token, secret revoked", second, event.ScopePing, "")
	d.wantCaller("third token", third, event.ScopePing, "sup_acme")
	d.start()
	d.wantCaller("first token after a restart", first, event.ScopePing, "")
	d.wantCaller("second token after a restart", second, event.ScopePing, "")
	d.wantCaller("third token after a restart", third, event.ScopePing, "sup_acme")
	d.revokeSecret("acme", "canary-third")
	d.wantCaller("third token, secret revoked", third, event.ScopePing, "")
}

// A token never has more scopes than its secret has now.
func TestTokenLosesScopesOfItsSecret(t *testing.T) {
	d := newTestServer(t)
	wide := d.requestToken("acme", acmeSecret, "ping post")
	d.addCredential(engine.Credential{
		Kind: event.CredentialOAuthClient, Owner: event.ObjectSupplier, ID: "sup_acme", Client: "acme", Scopes: event.ScopePing,
	}, acmeSecret) // the same secret with fewer scopes
	d.wantCaller("ping scope", wide, event.ScopePing, "sup_acme")
	if ctx := d.authenticate(wide, event.ScopePost); ctx.Response.StatusCode() != 403 {
		t.Errorf("post scope that the secret lost: got %d, want 403", ctx.Response.StatusCode())
	}
}

// A client that moves to another owner with its secret keeps no token of the former owner.
func TestTokenEndsWhenClientChangesOwner(t *testing.T) {
	d := newTestServer(t)
	token := d.requestToken("acme", acmeSecret, "ping")
	d.revokeSecret("acme", acmeSecret)
	d.addCredential(engine.Credential{Kind: event.CredentialOAuthClient, Owner: event.ObjectBuyer, ID: "buy_blue", Client: "acme", Scopes: event.ScopePing}, acmeSecret)
	d.wantCaller("token of the former owner", token, event.ScopePing, "")
	d.wantCaller("token of the new owner", d.requestToken("acme", acmeSecret, "ping"), event.ScopePing, "buy_blue")
}

// A token is invalid at an exchange with another key, even if everything else is equal.
func TestTokenOfOtherExchangeIsRejected(t *testing.T) {
	here, there := newTestServer(t), newTestServer(t, func(o *Options) { o.Tokens = token.New([32]byte{8}) })
	foreign := there.requestToken("acme", acmeSecret, "")
	there.wantCaller("token at its own exchange", foreign, event.ScopePing, "sup_acme")
	here.wantCaller("token of another exchange", foreign, event.ScopePing, "")
	there.wantCaller("token of the first exchange", here.requestToken("acme", acmeSecret, ""), event.ScopePing, "")
}

func TestTokenOfRemovedOwnerIsRejected(t *testing.T) {
	d := newTestServer(t)
	acme, blue := d.requestToken("acme", acmeSecret, ""), d.requestToken("blue/1", blueSecret, "")
	d.configure("sup_acme")
	d.wantCaller("token of a removed buyer", blue, event.ScopeWebhook, "")
	d.wantCaller("token of acme", acme, event.ScopePing, "sup_acme")
	d.configure("sup_acme", "buy_blue")
	d.wantCaller("token of a buyer that was added again", blue, event.ScopeWebhook, "buy_blue")
}

func TestStaticTokenWorksOnlyInSandbox(t *testing.T) {
	d := newTestServer(t, sandbox)
	d.addCredential(engine.Credential{Kind: event.CredentialBearer, Owner: event.ObjectSupplier, ID: "sup_acme", Scopes: event.ScopePost}, sandboxKey)
	d.wantCaller("a static token", sandboxKey, event.ScopePost, "sup_acme")
	d.wantCaller("half of a static token", sandboxKey[:10], event.ScopePost, "")
	d.wantCaller("an access token", d.requestToken("acme", acmeSecret, ""), event.ScopePing, "sup_acme")
	if ctx := d.authenticate(sandboxKey, event.ScopePing); ctx.Response.StatusCode() != 403 {
		t.Errorf("static token without the scope: got %d, want 403", ctx.Response.StatusCode())
	}
	for what, secret := range map[string]string{"a client's secret": acmeSecret, "a client's name": "acme", "an empty token": ""} {
		d.wantCaller(what, secret, event.ScopePing, "")
	}
	d.start()
	d.wantCaller("a static token in production", sandboxKey, event.ScopePost, "")
	d.start(sandbox)
	d.wantCaller("a static token after a restart", sandboxKey, event.ScopePost, "sup_acme")
	c, _ := d.engine.Load().State().CredentialByHash(d.opt.Tokens.HashStaticBearerToken([]byte(sandboxKey)))
	must.Succeed(t, d.engine.Load().AsOperator("").RevokeCredential(&c))
	d.wantCaller("a static token, revoked", sandboxKey, event.ScopePost, "")
}
