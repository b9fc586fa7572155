package public

import (
	"encoding/base64"
	"encoding/json"
	"net/url"
	"regexp"
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
	contentTypeForm = "application/x-www-form-urlencoded"
	contentTypeJSON = "application/json"
)

// basicAuth returns the Authorization header of a client by RFC 6749.
func basicAuth(id, secret string) string {
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

func decodeTokenAnswer(t testing.TB, ctx *fasthttp.RequestCtx) (a tokenAnswer) {
	t.Helper()
	if err := json.Unmarshal(ctx.Response.Body(), &a); err != nil {
		t.Fatalf("%v: %s", err, ctx.Response.Body())
	}
	if id := string(ctx.Response.Header.Peek("X-Request-Id")); !strings.HasPrefix(id, "req_") || a.Error != "" && a.RequestID != id {
		t.Errorf("X-Request-Id %q, request_id %q", id, a.RequestID)
	}
	if text := string(ctx.Response.Body()) + ctx.Response.Header.String(); strings.Contains(text, "canary") {
		t.Errorf("the answer contains a secret: %s", text)
	}
	return a
}

// requestToken requests a token and fails the test without one.
func (d *testServer) requestToken(id, secret, scope string) string {
	d.t.Helper()
	form := url.Values{"grant_type": {"client_credentials"}, "client_id": {id}, "client_secret": {secret}, "scope": {scope}}
	ctx := d.send("POST", "/oauth/token", form.Encode(), "Content-Type", contentTypeForm)
	a := decodeTokenAnswer(d.t, ctx)
	if ctx.Response.StatusCode() != 200 || a.AccessToken == "" {
		d.t.Fatalf("no token for %s: %s", id, ctx.Response.Body())
	}
	return a.AccessToken
}

func TestTokenRequestSucceeds(t *testing.T) {
	d := newTestServer(t, func(o *Options) { o.TokenLifetime = 90 * time.Minute })
	acme := url.Values{"grant_type": {"client_credentials"}, "client_id": {"acme"}, "client_secret": {acmeSecret}}.Encode()
	for _, test := range []struct {
		name, body, scope string
		headers           []string
	}{
		{"JSON", `{"grant_type":"client_credentials","client_id":"acme","client_secret":"` + acmeSecret + `","scope":"ping"}`, "ping", []string{"Content-Type", contentTypeJSON}},
		{"JSON without a scope", `{"grant_type":"client_credentials","client_id":"acme","client_secret":"` + acmeSecret + `"}`, "ping post", []string{"Content-Type", contentTypeJSON + "; charset=utf-8"}},
		{"a form", acme + "&scope=post+ping", "ping post", []string{"Content-Type", contentTypeForm}},
		{"a form with a charset and an empty scope", acme + "&scope=", "ping post", []string{"Content-Type", "Application/X-WWW-form-urlencoded;charset=UTF-8"}},
		{"spaces around scopes, one of them duplicate", acme + "&scope=+post++post+", "post", []string{"Content-Type", contentTypeForm}},
		{"HTTP Basic", "grant_type=client_credentials", "ping post", []string{"Content-Type", contentTypeForm, "Authorization", basicAuth("acme", acmeSecret)}},
		{"HTTP Basic, encoded, with JSON", `{"grant_type":"client_credentials","scope":"webhook"}`, "webhook", []string{"Content-Type", contentTypeJSON, "Authorization", basicAuth("blue/1", blueSecret)}},
		{"HTTP Basic in another case, the client id also in the form", "grant_type=client_credentials&client_id=acme&scope=post", "post", []string{"Content-Type", contentTypeForm, "Authorization", "b" + basicAuth("acme", acmeSecret)[1:]}},
	} {
		ctx := d.send("POST", "/oauth/token", test.body, test.headers...)
		a := decodeTokenAnswer(t, ctx)
		if ctx.Response.StatusCode() != 200 || a.TokenType != "Bearer" || a.ExpiresIn != 5400 || a.Scope != test.scope || len(a.AccessToken) > 200 {
			t.Errorf("%s: %d %s", test.name, ctx.Response.StatusCode(), ctx.Response.Body())
		}
		if got := &ctx.Response.Header; string(got.Peek("Cache-Control")) != "no-store" || string(got.Peek("Pragma")) != "no-cache" {
			t.Errorf("%s: %s", test.name, got)
		}
	}
}

func TestTokenRequestErrors(t *testing.T) {
	d := newTestServer(t)
	const client = "client_id=acme&client_secret=" + acmeSecret
	const grant = "grant_type=client_credentials"
	own := basicAuth("acme", acmeSecret)
	tests := []struct {
		name, method, body, contentType, authorization string
		status                                         int
		code                                           string
	}{
		{"another method", "GET", "", "", "", 405, "method_not_allowed"},
		{"no content type", "POST", grant + "&" + client, "", "", 415, "unsupported_media_type"},
		{"another content type", "POST", grant + "&" + client, "text/plain", "", 415, "unsupported_media_type"},
		{"a file upload", "POST", grant + "&" + client, "multipart/form-data; boundary=x", "", 415, "unsupported_media_type"},
		{"another content type, valid credential", "POST", grant, "text/plain", own, 415, "unsupported_media_type"},
		{"another content type, wrong credential", "POST", grant, "text/plain", basicAuth("acme", "x"), 401, "invalid_client"},
		{"too large", "POST", grant + "&" + client + "&x=" + strings.Repeat("x", 64<<10), contentTypeForm, "", 413, "payload_too_large"},
		{"too large, wrong credential", "POST", strings.Repeat("x", 65<<10), contentTypeForm, basicAuth("acme", "x"), 401, "invalid_client"},
		{"no form", "POST", "%", contentTypeForm, "", 400, "invalid_request"},
		{"no JSON", "POST", "{", contentTypeJSON, "", 400, "invalid_request"},
		{"no JSON, wrong credential", "POST", "{", contentTypeJSON, basicAuth("acme", "x"), 401, "invalid_client"},
		{"a duplicate parameter", "POST", grant + "&" + grant + "&" + client, contentTypeForm, "", 400, "invalid_request"},
		{"no credential", "POST", grant, contentTypeForm, "", 401, "invalid_client"},
		{"an id alone", "POST", grant + "&client_id=acme", contentTypeForm, "", 401, "invalid_client"},
		{"a secret alone", "POST", grant + "&client_secret=" + acmeSecret, contentTypeForm, "", 401, "invalid_client"},
		{"a wrong secret", "POST", grant + "&" + client + "x", contentTypeForm, "", 401, "invalid_client"},
		{"another client's secret", "POST", grant + "&client_id=blue/1&client_secret=" + acmeSecret, contentTypeForm, "", 401, "invalid_client"},
		{"an unknown client", "POST", grant + "&client_id=none&client_secret=" + acmeSecret, contentTypeForm, "", 401, "invalid_client"},
		{"an id in another case", "POST", grant + "&client_id=ACME&client_secret=" + acmeSecret, contentTypeForm, "", 401, "invalid_client"},
		{"wrong credential, no grant", "POST", "client_id=none&client_secret=x", contentTypeForm, "", 401, "invalid_client"},
		{"a bearer token beside the credential", "POST", grant + "&" + client, contentTypeForm, "Bearer x", 400, "invalid_request"},
		{"only a bearer token", "POST", grant, contentTypeForm, "Bearer x", 401, "invalid_client"},
		{"an invalid Basic header", "POST", grant, contentTypeForm, "Basic x", 401, "invalid_client"},
		{"Basic and form", "POST", grant + "&" + client, contentTypeForm, own, 400, "invalid_request"},
		{"Basic and JSON", "POST", `{"grant_type":"client_credentials","client_id":"acme","client_secret":"` + acmeSecret + `"}`, contentTypeJSON, own, 400, "invalid_request"},
		{"Basic and form, both wrong", "POST", grant + "&client_id=a&client_secret=b", contentTypeForm, basicAuth("a", "b"), 400, "invalid_request"},
		{"two clients", "POST", grant + "&client_id=blue", contentTypeForm, own, 400, "invalid_request"},
		{"no grant", "POST", client, contentTypeForm, "", 400, "invalid_request"},
		{"another grant", "POST", "grant_type=password&username=a&password=b&" + client, contentTypeForm, "", 400, "unsupported_grant_type"},
		{"a grant in another case", "POST", "grant_type=Client_Credentials&" + client, contentTypeForm, "", 400, "unsupported_grant_type"},
		{"a scope that the client lacks", "POST", grant + "&scope=ping+webhook&" + client, contentTypeForm, "", 400, "invalid_scope"},
		{"an unknown scope", "POST", grant + "&scope=admin&" + client, contentTypeForm, "", 400, "invalid_scope"},
		{"scopes with a comma", "POST", grant + "&scope=ping,post&" + client, contentTypeForm, "", 400, "invalid_scope"},
		{"scopes with a tab", "POST", grant + "&scope=ping%09post&" + client, contentTypeForm, "", 400, "invalid_scope"},
	}
	for _, test := range tests {
		var headers []string
		if test.contentType != "" {
			headers = append(headers, "Content-Type", test.contentType)
		}
		if test.authorization != "" {
			headers = append(headers, "Authorization", test.authorization)
		}
		ctx := d.send(test.method, "/oauth/token", test.body, headers...)
		a := decodeTokenAnswer(t, ctx)
		if ctx.Response.StatusCode() != test.status || a.Error != test.code || a.Message == "" || a.AccessToken != "" {
			t.Errorf("%s: %d %s, want %d %s", test.name, ctx.Response.StatusCode(), ctx.Response.Body(), test.status, test.code)
		}
		isOAuthError := strings.HasPrefix(test.code, "invalid_") || test.code == "unsupported_grant_type"
		if isOAuthError != (a.Description == a.Message) || !isOAuthError && a.Description != "" || strings.ContainsAny(a.Description, `"\`) {
			t.Errorf("%s: error_description %q, message %q", test.name, a.Description, a.Message)
		}
		challenge := string(ctx.Response.Header.Peek("WWW-Authenticate"))
		if (test.status == 401) != (challenge == `Basic realm="pingpost"`) {
			t.Errorf("%s: WWW-Authenticate %q", test.name, challenge)
		}
		if allow := string(ctx.Response.Header.Peek("Allow")); (test.status == 405) != (allow == "POST") {
			t.Errorf("%s: Allow %q", test.name, allow)
		}
		if kept := string(ctx.Response.Header.Peek("Cache-Control")); test.status != 405 && kept != "no-store" {
			t.Errorf("%s: Cache-Control %q", test.name, kept)
		}
	}
	if ctx := d.send("POST", "/oauth/token", grant+"&"+client, "Content-Type", contentTypeForm, "Content-Encoding", "gzip"); ctx.Response.StatusCode() != 415 {
		t.Errorf("compressed body: got %d, want 415", ctx.Response.StatusCode())
	}
	if ctx := d.send("POST", "/oauth/token?"+grant+"&"+client, grant, "Content-Type", contentTypeForm); ctx.Response.StatusCode() != 401 {
		t.Errorf("client in the query: got %d, want 401", ctx.Response.StatusCode())
	}
}

var dateHeader = regexp.MustCompile("Date: [^\r\n]*\r\n")

// Without a client's secret, a request does not reveal whether the client exists.
func TestUnknownClientsGetEqualErrors(t *testing.T) {
	d := newTestServer(t)
	answers := map[string]bool{}
	for _, id := range []string{"acme", "blue/1", "none", strings.Repeat("x", 10_000), "acme\x00"} {
		ctx := d.send("POST", "/oauth/token", "grant_type=client_credentials", "Content-Type", contentTypeForm, "Authorization", basicAuth(id, "guess"))
		a := decodeTokenAnswer(t, ctx)
		head := dateHeader.ReplaceAllString(ctx.Response.Header.String(), "") // answers may be of two seconds
		answers[strings.ReplaceAll(string(ctx.Response.Body())+head, a.RequestID, "")] = true
	}
	if len(answers) != 1 {
		t.Errorf("%d different answers: %v", len(answers), answers)
	}
}

// A client gets no token while its owner is not in the configuration.
func TestRemovedOwnerGetsNoToken(t *testing.T) {
	d := newTestServer(t)
	login := []string{"Content-Type", contentTypeForm, "Authorization", basicAuth("acme", acmeSecret)}
	d.configure("buy_blue")
	if ctx := d.send("POST", "/oauth/token", "grant_type=client_credentials", login...); ctx.Response.StatusCode() != 401 {
		t.Errorf("removed supplier: got %s, want 401", ctx.Response.Body())
	}
	d.requestToken("blue/1", blueSecret, "")
	d.configure("sup_acme", "buy_blue")
	d.requestToken("acme", acmeSecret, "")
}

// An API key or a static token is not a client secret.
func TestOtherCredentialKindsGetNoToken(t *testing.T) {
	d := newTestServer(t, sandbox)
	d.addCredential(engine.Credential{Kind: event.CredentialBearer, Owner: event.ObjectSupplier, ID: "sup_acme", Scopes: event.ScopePing}, sandboxKey)
	hash := d.opt.Tokens.HashClientCredentials([]byte("acme"), []byte(sandboxKey))
	for _, c := range []engine.Credential{
		{Kind: event.CredentialAPIKey, Hash: hash, Client: "acme"},
		{Kind: event.CredentialBearer, Hash: hash, Client: "acme"},
		{Kind: event.CredentialOAuthClient, Hash: hash, Client: "acme2"},
	} {
		c.Owner, c.ID, c.Scopes = event.ObjectSupplier, "sup_acme", event.ScopePing
		must.Succeed(t, d.engine.Load().AsOperator("").AddCredential(&c))
		ctx := d.send("POST", "/oauth/token", "grant_type=client_credentials", "Content-Type", contentTypeForm, "Authorization", basicAuth("acme", sandboxKey))
		if a := decodeTokenAnswer(t, ctx); a.Error != "invalid_client" {
			t.Errorf("%s of %q, with the hash of acme's secret: %s", c.Kind, c.Client, ctx.Response.Body())
		}
	}
	for _, id := range []string{"", "acme", "sup_acme", sandboxKey} {
		ctx := d.send("POST", "/oauth/token", "grant_type=client_credentials", "Content-Type", contentTypeForm, "Authorization", basicAuth(id, sandboxKey))
		if a := decodeTokenAnswer(t, ctx); a.Error != "invalid_client" {
			t.Errorf("client id %q: %s", id, ctx.Response.Body())
		}
	}
}

// A token is valid for exactly its lifetime.
func TestTokenLifetime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newTestServer(t)
		first := d.requestToken("acme", acmeSecret, "")
		isValid := func(token string) bool {
			ctx := d.authenticate(token, event.ScopePing)
			return ctx.Response.StatusCode() == 204
		}
		time.Sleep(40 * time.Minute)
		second := d.requestToken("acme", acmeSecret, "")
		time.Sleep(20*time.Minute - time.Nanosecond)
		if !isValid(first) || !isValid(second) {
			t.Error("a token ended before its time")
		}
		time.Sleep(time.Nanosecond)
		if isValid(first) || !isValid(second) {
			t.Error("after an hour: want the first token expired and the second valid")
		}
		time.Sleep(40 * time.Minute)
		if isValid(second) {
			t.Error("the second token is valid after its hour")
		}
	})
}
