package public

import (
	"encoding/base64"
	"encoding/json"
	"net/url"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/valyala/fasthttp"

	"pingpost/engine"
	"pingpost/engine/event"
	"pingpost/internal/must"
)

const (
	asForm = "application/x-www-form-urlencoded"
	asJSON = "application/json"
)

// basic is an Authorization header as RFC 6749 has it.
func basic(id, secret string) string {
	return "Basic " + base64.StdEncoding.EncodeToString([]byte(url.QueryEscape(id)+":"+url.QueryEscape(secret)))
}

// tokenAnswer is the answer of /oauth/token, also of an error.
type tokenAnswer struct {
	AccessToken string `json:"access_token"`
	TokenType   string `json:"token_type"`
	ExpiresIn   int    `json:"expires_in"`
	Scope       string `json:"scope"`
	Error       string `json:"error"`
	Description string `json:"error_description"`
	Message     string `json:"message"`
	RequestID   string `json:"request_id"`
}

func readAnswer(t testing.TB, ctx *fasthttp.RequestCtx) (a tokenAnswer) {
	t.Helper()
	if err := json.Unmarshal(ctx.Response.Body(), &a); err != nil {
		t.Fatalf("%v: %s", err, ctx.Response.Body())
	}
	if id := string(ctx.Response.Header.Peek("X-Request-Id")); !strings.HasPrefix(id, "req_") || a.Error != "" && a.RequestID != id {
		t.Errorf("X-Request-Id %q, request_id %q", id, a.RequestID)
	}
	if text := string(ctx.Response.Body()) + ctx.Response.Header.String(); strings.Contains(text, "canary") {
		t.Errorf("the answer carries a secret: %s", text)
	}
	return a
}

// token requests a token and fails the test without one.
func (d *testServer) token(id, secret, scope string) string {
	d.t.Helper()
	form := url.Values{"grant_type": {"client_credentials"}, "client_id": {id}, "client_secret": {secret}, "scope": {scope}}
	ctx := d.ask("POST", "/oauth/token", form.Encode(), "Content-Type", asForm)
	a := readAnswer(d.t, ctx)
	if ctx.Response.StatusCode() != 200 || a.AccessToken == "" {
		d.t.Fatalf("no token for %s: %s", id, ctx.Response.Body())
	}
	return a.AccessToken
}

func TestTokensAreGiven(t *testing.T) {
	d := open(t, func(o *Options) { o.TokenLifetime = 90 * time.Minute })
	acme := url.Values{"grant_type": {"client_credentials"}, "client_id": {"acme"}, "client_secret": {acmeSecret}}.Encode()
	for _, test := range []struct {
		what, body, scope string
		headers           []string
	}{
		{"JSON", `{"grant_type":"client_credentials","client_id":"acme","client_secret":"` + acmeSecret + `","scope":"ping"}`, "ping", []string{"Content-Type", asJSON}},
		{"JSON without a scope", `{"grant_type":"client_credentials","client_id":"acme","client_secret":"` + acmeSecret + `"}`, "ping post", []string{"Content-Type", asJSON + "; charset=utf-8"}},
		{"a form", acme + "&scope=post+ping", "ping post", []string{"Content-Type", asForm}},
		{"a form with a charset and an empty scope", acme + "&scope=", "ping post", []string{"Content-Type", "Application/X-WWW-form-urlencoded;charset=UTF-8"}},
		{"spaces around scopes, one of them twice", acme + "&scope=+post++post+", "post", []string{"Content-Type", asForm}},
		{"HTTP Basic", "grant_type=client_credentials", "ping post", []string{"Content-Type", asForm, "Authorization", basic("acme", acmeSecret)}},
		{"HTTP Basic, encoded, with JSON", `{"grant_type":"client_credentials","scope":"webhook"}`, "webhook", []string{"Content-Type", asJSON, "Authorization", basic("blue/1", blueSecret)}},
		{"HTTP Basic in another case, the client named again", "grant_type=client_credentials&client_id=acme&scope=post", "post", []string{"Content-Type", asForm, "Authorization", "b" + basic("acme", acmeSecret)[1:]}},
	} {
		ctx := d.ask("POST", "/oauth/token", test.body, test.headers...)
		a := readAnswer(t, ctx)
		if ctx.Response.StatusCode() != 200 || a.TokenType != "Bearer" || a.ExpiresIn != 5400 || a.Scope != test.scope || len(a.AccessToken) > 200 {
			t.Errorf("%s: %d %s", test.what, ctx.Response.StatusCode(), ctx.Response.Body())
		}
		if got := &ctx.Response.Header; string(got.Peek("Cache-Control")) != "no-store" || string(got.Peek("Pragma")) != "no-cache" {
			t.Errorf("%s: %s", test.what, got)
		}
	}
}

func TestTokensAreRefused(t *testing.T) {
	d := open(t)
	const client = "client_id=acme&client_secret=" + acmeSecret
	const grant = "grant_type=client_credentials"
	own := basic("acme", acmeSecret)
	tests := []struct {
		what, method, body, kind, authorization string
		status                                  int
		code                                    string
	}{
		{"another method", "GET", "", "", "", 405, "method_not_allowed"},
		{"no content type", "POST", grant + "&" + client, "", "", 415, "unsupported_media_type"},
		{"another content type", "POST", grant + "&" + client, "text/plain", "", 415, "unsupported_media_type"},
		{"a file upload", "POST", grant + "&" + client, "multipart/form-data; boundary=x", "", 415, "unsupported_media_type"},
		{"another content type, but known", "POST", grant, "text/plain", own, 415, "unsupported_media_type"},
		{"another content type, and not known", "POST", grant, "text/plain", basic("acme", "x"), 401, "invalid_client"},
		{"too large", "POST", grant + "&" + client + "&x=" + strings.Repeat("x", 64<<10), asForm, "", 413, "payload_too_large"},
		{"too large, and not known", "POST", strings.Repeat("x", 65<<10), asForm, basic("acme", "x"), 401, "invalid_client"},
		{"no form", "POST", "%", asForm, "", 400, "invalid_request"},
		{"no JSON", "POST", "{", asJSON, "", 400, "invalid_request"},
		{"no JSON, and not known", "POST", "{", asJSON, basic("acme", "x"), 401, "invalid_client"},
		{"a parameter twice", "POST", grant + "&" + grant + "&" + client, asForm, "", 400, "invalid_request"},
		{"nobody", "POST", grant, asForm, "", 401, "invalid_client"},
		{"an id alone", "POST", grant + "&client_id=acme", asForm, "", 401, "invalid_client"},
		{"a secret alone", "POST", grant + "&client_secret=" + acmeSecret, asForm, "", 401, "invalid_client"},
		{"another secret", "POST", grant + "&" + client + "x", asForm, "", 401, "invalid_client"},
		{"another's secret", "POST", grant + "&client_id=blue/1&client_secret=" + acmeSecret, asForm, "", 401, "invalid_client"},
		{"an unknown client", "POST", grant + "&client_id=none&client_secret=" + acmeSecret, asForm, "", 401, "invalid_client"},
		{"an id in another case", "POST", grant + "&client_id=ACME&client_secret=" + acmeSecret, asForm, "", 401, "invalid_client"},
		{"not known, and no grant", "POST", "client_id=none&client_secret=x", asForm, "", 401, "invalid_client"},
		{"by a bearer", "POST", grant + "&" + client, asForm, "Bearer x", 400, "invalid_request"},
		{"by a bearer alone", "POST", grant, asForm, "Bearer x", 401, "invalid_client"},
		{"by a broken Basic", "POST", grant, asForm, "Basic x", 401, "invalid_client"},
		{"both at once", "POST", grant + "&" + client, asForm, own, 400, "invalid_request"},
		{"both at once, in JSON", "POST", `{"grant_type":"client_credentials","client_id":"acme","client_secret":"` + acmeSecret + `"}`, asJSON, own, 400, "invalid_request"},
		{"both at once, nobody's", "POST", grant + "&client_id=a&client_secret=b", asForm, basic("a", "b"), 400, "invalid_request"},
		{"two clients", "POST", grant + "&client_id=blue", asForm, own, 400, "invalid_request"},
		{"no grant", "POST", client, asForm, "", 400, "invalid_request"},
		{"another grant", "POST", "grant_type=password&username=a&password=b&" + client, asForm, "", 400, "unsupported_grant_type"},
		{"a grant in another case", "POST", "grant_type=Client_Credentials&" + client, asForm, "", 400, "unsupported_grant_type"},
		{"a scope that it lacks", "POST", grant + "&scope=ping+webhook&" + client, asForm, "", 400, "invalid_scope"},
		{"a scope that is none", "POST", grant + "&scope=admin&" + client, asForm, "", 400, "invalid_scope"},
		{"scopes with a comma", "POST", grant + "&scope=ping,post&" + client, asForm, "", 400, "invalid_scope"},
		{"scopes with a tab", "POST", grant + "&scope=ping%09post&" + client, asForm, "", 400, "invalid_scope"},
	}
	for _, test := range tests {
		var headers []string
		if test.kind != "" {
			headers = append(headers, "Content-Type", test.kind)
		}
		if test.authorization != "" {
			headers = append(headers, "Authorization", test.authorization)
		}
		ctx := d.ask(test.method, "/oauth/token", test.body, headers...)
		a := readAnswer(t, ctx)
		if ctx.Response.StatusCode() != test.status || a.Error != test.code || a.Message == "" || a.AccessToken != "" {
			t.Errorf("%s: %d %s, want %d %s", test.what, ctx.Response.StatusCode(), ctx.Response.Body(), test.status, test.code)
		}
		of := strings.HasPrefix(test.code, "invalid_") || test.code == "unsupported_grant_type"
		if of != (a.Description == a.Message) || !of && a.Description != "" || strings.ContainsAny(a.Description, `"\`) {
			t.Errorf("%s: error_description %q, message %q", test.what, a.Description, a.Message)
		}
		challenge := string(ctx.Response.Header.Peek("WWW-Authenticate"))
		if (test.status == 401) != (challenge == `Basic realm="pingpost"`) {
			t.Errorf("%s: WWW-Authenticate %q", test.what, challenge)
		}
		if allow := string(ctx.Response.Header.Peek("Allow")); (test.status == 405) != (allow == "POST") {
			t.Errorf("%s: Allow %q", test.what, allow)
		}
		if kept := string(ctx.Response.Header.Peek("Cache-Control")); test.status != 405 && kept != "no-store" {
			t.Errorf("%s: Cache-Control %q", test.what, kept)
		}
	}
	if ctx := d.ask("POST", "/oauth/token", grant+"&"+client, "Content-Type", asForm, "Content-Encoding", "gzip"); ctx.Response.StatusCode() != 415 {
		t.Errorf("a compressed body: %d", ctx.Response.StatusCode())
	}
	if ctx := d.ask("POST", "/oauth/token?"+grant+"&"+client, grant, "Content-Type", asForm); ctx.Response.StatusCode() != 401 {
		t.Errorf("a client in the query: %d", ctx.Response.StatusCode())
	}
}

// Without a client's secret, a request does not reveal whether the client exists.
func TestRefusalsOfAClientAreAlike(t *testing.T) {
	d := open(t)
	said := map[string]bool{}
	for _, id := range []string{"acme", "blue/1", "none", strings.Repeat("x", 10_000), "acme\x00"} {
		ctx := d.ask("POST", "/oauth/token", "grant_type=client_credentials", "Content-Type", asForm, "Authorization", basic(id, "guess"))
		a := readAnswer(t, ctx)
		text := strings.ReplaceAll(string(ctx.Response.Body())+ctx.Response.Header.String(), a.RequestID, "")
		said[text] = true
	}
	if len(said) != 1 {
		t.Errorf("%d different answers: %v", len(said), said)
	}
}

// TestTokensOfTheGone checks that a client gets no token while its owner is not in the
// configuration.
func TestTokensOfTheGone(t *testing.T) {
	d := open(t)
	login := []string{"Content-Type", asForm, "Authorization", basic("acme", acmeSecret)}
	d.configure("buy_blue")
	if ctx := d.ask("POST", "/oauth/token", "grant_type=client_credentials", login...); ctx.Response.StatusCode() != 401 {
		t.Errorf("a supplier that is gone: %s", ctx.Response.Body())
	}
	d.token("blue/1", blueSecret, "")
	d.configure("sup_acme", "buy_blue")
	d.token("acme", acmeSecret, "")
}

// TestOtherCredentialsAreNoClients checks that an API key or a static token is not a client
// secret.
func TestOtherCredentialsAreNoClients(t *testing.T) {
	d := open(t, sandbox)
	d.add(engine.Credential{Kind: event.CredentialBearer, Owner: event.ObjectSupplier, ID: "sup_acme", Scopes: event.ScopePing}, sandboxKey)
	hash := d.opt.Tokens.HashClient([]byte("acme"), []byte(sandboxKey))
	for _, c := range []engine.Credential{
		{Kind: event.CredentialAPIKey, Hash: hash, Client: "acme"},
		{Kind: event.CredentialBearer, Hash: hash, Client: "acme"},
		{Kind: event.CredentialOAuthClient, Hash: hash, Client: "acme2"},
	} {
		c.Owner, c.ID, c.Scopes = event.ObjectSupplier, "sup_acme", event.ScopePing
		must.Succeed(t, d.engine.AsOperator("").AddCredential(&c))
		ctx := d.ask("POST", "/oauth/token", "grant_type=client_credentials", "Content-Type", asForm, "Authorization", basic("acme", sandboxKey))
		if a := readAnswer(t, ctx); a.Error != "invalid_client" {
			t.Errorf("%s of %q, with the hash of acme's secret: %s", c.Kind, c.Client, ctx.Response.Body())
		}
	}
	for _, id := range []string{"", "acme", "sup_acme", sandboxKey} {
		ctx := d.ask("POST", "/oauth/token", "grant_type=client_credentials", "Content-Type", asForm, "Authorization", basic(id, sandboxKey))
		if a := readAnswer(t, ctx); a.Error != "invalid_client" {
			t.Errorf("as %q: %s", id, ctx.Response.Body())
		}
	}
}

// TestTokenLifetime: to the nanosecond, in virtual time.
func TestTokenLifetime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := open(t)
		first := d.token("acme", acmeSecret, "")
		good := func(token string) bool {
			ctx := d.show(token, event.ScopePing)
			return ctx.Response.StatusCode() == 204
		}
		time.Sleep(40 * time.Minute)
		second := d.token("acme", acmeSecret, "")
		time.Sleep(20*time.Minute - time.Nanosecond)
		if !good(first) || !good(second) {
			t.Error("a token ended before its time")
		}
		time.Sleep(time.Nanosecond)
		if good(first) || !good(second) {
			t.Error("after an hour the first is good, or the second is not")
		}
		time.Sleep(40 * time.Minute)
		if good(second) {
			t.Error("the second outlives its hour")
		}
	})
}
