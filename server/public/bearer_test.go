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

// guarded is a path that asks for a scope: 204 and the caller's name where the
// token opens it.
func (d *testServer) guarded(ctx *fasthttp.RequestCtx, scope event.TokenScopes) {
	who, bad := d.authenticateBearer(ctx, scope)
	switch {
	case bad.Status != 0:
		httperror.Write(ctx, d.engine.NewRequestID(), bad)
		return
	case who.supplier != nil && who.buyer == nil:
		ctx.Response.Header.Set("Caller", string(who.supplier.ID))
	case who.buyer != nil && who.supplier == nil:
		ctx.Response.Header.Set("Caller", string(who.buyer.ID))
	}
	ctx.SetStatusCode(fasthttp.StatusNoContent)
}

// showAs asks for a scope with Authorization headers.
func (d *testServer) showAs(scope event.TokenScopes, lines ...string) *fasthttp.RequestCtx {
	ctx := requestOf("GET", "/", nil)
	for _, line := range lines {
		ctx.Request.Header.Add("Authorization", line)
	}
	d.guarded(ctx, scope)
	return ctx
}

func (d *testServer) show(token string, scope event.TokenScopes) *fasthttp.RequestCtx {
	return d.showAs(scope, "Bearer "+token)
}

// The challenges of RFC 6750.
const (
	wantToken = `Bearer realm="pingpost"`
	wantOther = `Bearer realm="pingpost", error="invalid_token"`
)

// mustOpen sees that a token opens a scope for someone, or how it is refused
// where nobody is named.
func (d *testServer) mustOpen(what, token string, scope event.TokenScopes, who string) {
	d.t.Helper()
	ctx := d.show(token, scope)
	header := &ctx.Response.Header
	if who == "" {
		if ctx.Response.StatusCode() != 401 || !bytes.Contains(ctx.Response.Body(), []byte(`"error":"unauthorized"`)) ||
			string(header.Peek("WWW-Authenticate")) != wantOther {
			d.t.Errorf("%s: %d %s, %s", what, ctx.Response.StatusCode(), header.Peek("WWW-Authenticate"), ctx.Response.Body())
		}
		return
	}
	if got := string(header.Peek("Caller")); ctx.Response.StatusCode() != 204 || got != who || len(header.Peek("WWW-Authenticate")) > 0 {
		d.t.Errorf("%s: %d, caller %q, want %q: %s", what, ctx.Response.StatusCode(), got, who, ctx.Response.Body())
	}
}

func TestBearers(t *testing.T) {
	d := open(t)
	acme, blue := d.token("acme", acmeSecret, "ping"), d.token("blue/1", blueSecret, "")
	d.mustOpen("acme's", acme, event.ScopePing, "sup_acme")
	d.mustOpen("blue's", blue, event.ScopeWebhook, "buy_blue")
	for what, lines := range map[string][]string{
		"nothing": nil, "an empty line": {""}, "another scheme": {"Basic " + acme}, "no scheme": {acme}, "a scheme like it": {"BearerX " + acme},
	} {
		ctx := d.showAs(event.ScopePing, lines...)
		if got := string(ctx.Response.Header.Peek("WWW-Authenticate")); ctx.Response.StatusCode() != 401 || got != wantToken {
			t.Errorf("%s: %d %q", what, ctx.Response.StatusCode(), got)
		}
	}
	for what, lines := range map[string][]string{
		"a scheme alone": {"Bearer"}, "two of them": {"Bearer " + acme, "Bearer " + acme}, "two in one": {"Bearer " + acme + " " + acme},
		"in quotes": {`Bearer "` + acme + `"`}, "a parameter": {"Bearer token=" + acme}, "too long": {"Bearer " + strings.Repeat("x", 5000)},
	} {
		ctx := d.showAs(event.ScopePing, lines...)
		if got := string(ctx.Response.Header.Peek("WWW-Authenticate")); ctx.Response.StatusCode() != 401 || got != wantOther {
			t.Errorf("%s: %d %q", what, ctx.Response.StatusCode(), got)
		}
	}
	for what, line := range map[string]string{"another case": "bEARER " + acme, "more spaces": "Bearer   " + acme} {
		if ctx := d.showAs(event.ScopePing, line); ctx.Response.StatusCode() != 204 {
			t.Errorf("%s: %d", what, ctx.Response.StatusCode())
		}
	}
}

func TestScopesBind(t *testing.T) {
	d := open(t)
	names := map[string]event.TokenScopes{"ping": event.ScopePing, "post": event.ScopePost, "webhook": event.ScopeWebhook}
	for _, given := range []string{"ping", "post", "ping post"} {
		token := d.token("acme", acmeSecret, given)
		for name, scope := range names {
			ctx := d.show(token, scope)
			if strings.Contains(given, name) {
				d.mustOpen(given, token, scope, "sup_acme")
				continue
			}
			want := `Bearer realm="pingpost", error="insufficient_scope", scope="` + name + `"`
			if got := string(ctx.Response.Header.Peek("WWW-Authenticate")); ctx.Response.StatusCode() != 403 || got != want ||
				!bytes.Contains(ctx.Response.Body(), []byte(`"error":"insufficient_scope"`)) {
				t.Errorf("%q asked for %s: %d %q %s", given, name, ctx.Response.StatusCode(), got, ctx.Response.Body())
			}
		}
	}
}

// TestRotation: two secrets are good side by side. A third one replaces the secret that
// it names, whose tokens end with it.
func TestRotation(t *testing.T) {
	d := open(t)
	client := engine.Credential{Kind: event.CredentialOAuthClient, Owner: event.ObjectSupplier, ID: "sup_acme", Client: "acme", Scopes: event.ScopePing}
	first := d.token("acme", acmeSecret, "")
	d.add(client, "canary-second")
	second := d.token("acme", "canary-second", "")
	d.mustOpen("the first, beside the second", first, event.ScopePing, "sup_acme")
	d.mustOpen("the second", second, event.ScopePing, "sup_acme")
	d.token("acme", acmeSecret, "")

	client.Replaces = acmeSecret[:3]
	d.add(client, "canary-third")
	client.Replaces = ""
	third := d.token("acme", "canary-third", "")
	d.mustOpen("the first, of a secret that was replaced", first, event.ScopePing, "")
	d.mustOpen("the second", second, event.ScopePing, "sup_acme")
	d.mustOpen("the third", third, event.ScopePing, "sup_acme")

	other := client
	other.Client = "acme2"
	d.add(other, "canary-other")
	d.mustOpen("the second: another client pushes nothing out", second, event.ScopePing, "sup_acme")

	d.revoke("acme", "canary-second")
	d.mustOpen("the second, revoked", second, event.ScopePing, "")
	d.mustOpen("the third", third, event.ScopePing, "sup_acme")
	d.start()
	d.mustOpen("the first, after a restart", first, event.ScopePing, "")
	d.mustOpen("the second, after a restart", second, event.ScopePing, "")
	d.mustOpen("the third, after a restart", third, event.ScopePing, "sup_acme")
	d.revoke("acme", "canary-third")
	d.mustOpen("the third, revoked", third, event.ScopePing, "")
}

// TestScopesOfASecret: each secret has scopes of its own, and a token never has
// more than its secret.
func TestScopesOfASecret(t *testing.T) {
	d := open(t)
	wide := d.token("acme", acmeSecret, "ping post")
	d.add(engine.Credential{
		Kind: event.CredentialOAuthClient, Owner: event.ObjectSupplier, ID: "sup_acme", Client: "acme", Scopes: event.ScopePing,
	}, acmeSecret) // the same secret again, good for less
	d.mustOpen("for ping", wide, event.ScopePing, "sup_acme")
	if ctx := d.show(wide, event.ScopePost); ctx.Response.StatusCode() != 403 {
		t.Errorf("a token keeps what its secret has lost: %d", ctx.Response.StatusCode())
	}
}

// TestATokenStaysItsOwners: a client that goes over to another owner, secret and
// all, takes no token along.
func TestATokenStaysItsOwners(t *testing.T) {
	d := open(t)
	token := d.token("acme", acmeSecret, "ping")
	d.revoke("acme", acmeSecret)
	d.add(engine.Credential{Kind: event.CredentialOAuthClient, Owner: event.ObjectBuyer, ID: "buy_blue", Client: "acme", Scopes: event.ScopePing}, acmeSecret)
	d.mustOpen("the former owner's", token, event.ScopePing, "")
	d.mustOpen("the new owner's", d.token("acme", acmeSecret, "ping"), event.ScopePing, "buy_blue")
}

// TestForeignTokens: a token is worth nothing at another exchange, also where all
// else is the same there.
func TestForeignTokens(t *testing.T) {
	here, there := open(t), open(t, func(o *Options) { o.Tokens = token.New([32]byte{8}) })
	foreign := there.token("acme", acmeSecret, "")
	there.mustOpen("at home", foreign, event.ScopePing, "sup_acme")
	here.mustOpen("a foreign one", foreign, event.ScopePing, "")
	there.mustOpen("one of here", here.token("acme", acmeSecret, ""), event.ScopePing, "")
}

func TestTokensOfTheGoneOpenNothing(t *testing.T) {
	d := open(t)
	acme, blue := d.token("acme", acmeSecret, ""), d.token("blue/1", blueSecret, "")
	d.configure("sup_acme")
	d.mustOpen("a buyer's that is gone", blue, event.ScopeWebhook, "")
	d.mustOpen("acme's", acme, event.ScopePing, "sup_acme")
	d.configure("sup_acme", "buy_blue")
	d.mustOpen("a buyer's that is back", blue, event.ScopeWebhook, "buy_blue")
}

func TestStaticTokens(t *testing.T) {
	d := open(t, sandbox)
	d.add(engine.Credential{Kind: event.CredentialBearer, Owner: event.ObjectSupplier, ID: "sup_acme", Scopes: event.ScopePost}, sandboxKey)
	d.mustOpen("a static token", sandboxKey, event.ScopePost, "sup_acme")
	d.mustOpen("half of it", sandboxKey[:10], event.ScopePost, "")
	d.mustOpen("an access token", d.token("acme", acmeSecret, ""), event.ScopePing, "sup_acme")
	if ctx := d.show(sandboxKey, event.ScopePing); ctx.Response.StatusCode() != 403 {
		t.Errorf("without the scope: %d", ctx.Response.StatusCode())
	}
	for what, secret := range map[string]string{"a client's secret": acmeSecret, "a client's name": "acme", "nothing": ""} {
		d.mustOpen(what, secret, event.ScopePing, "")
	}
	d.start()
	d.mustOpen("a static token on a tenant that is no sandbox", sandboxKey, event.ScopePost, "")
	d.start(sandbox)
	d.mustOpen("a static token after a restart", sandboxKey, event.ScopePost, "sup_acme")
	c, _ := d.engine.State().CredentialByHash(d.opt.Tokens.HashBearer([]byte(sandboxKey)))
	must.Succeed(t, d.engine.AsOperator("").RevokeCredential(&c))
	d.mustOpen("a static token, revoked", sandboxKey, event.ScopePost, "")
}
