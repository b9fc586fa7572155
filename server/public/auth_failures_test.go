package public

import (
	"bytes"
	"fmt"
	"log/slog"
	"net/netip"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/valyala/fasthttp"

	"pingpost/engine"
	"pingpost/engine/event"
	"pingpost/server/httperror"
	"pingpost/server/servertest"
)

// wrongCredential is a request with a wrong credential.
type wrongCredential struct {
	name         string
	method, path string
	headers      []string
	body         string
}

var wrongCredentials = []wrongCredential{
	{"an API key", "POST", "/api/v1/ingest", []string{"x-api-key", "wrong"}, "{}"},
	{"an API key that is too long", "POST", "/api/v1/ingest", []string{"x-api-key", strings.Repeat("k", 600)}, "{}"},
	{"an API key of a lookup", "GET", "/api/v1/leads/lead_x", []string{"x-api-key", "wrong"}, ""},
	{"an API key of a ping", "POST", "/api/v1/ping", []string{"x-api-key", "wrong"}, "{}"},
	{"a token", "POST", "/v1/ping", []string{"Authorization", "Bearer wrong"}, "{}"},
	{"a token of a post", "POST", "/v1/post", []string{"Authorization", "Bearer wrong"}, "{}"},
	{"a token of a lookup", "GET", "/v1/leads/lead_x", []string{"Authorization", "Bearer wrong"}, ""},
	{"a token of a report", "POST", "/v1/leads/lead_x/status", []string{"Authorization", "Bearer wrong"}, "{}"},
	{"a token of a batch", "POST", "/v1/leads/status", []string{"Authorization", "Bearer wrong"}, "{}"},
	{"a client's secret", "POST", "/oauth/token", []string{"Content-Type", httperror.TypeJSON}, `{"grant_type":"client_credentials","client_id":"acme","client_secret":"wrong"}`},
	{"a client's secret in a form", "POST", "/oauth/token", []string{"Content-Type", typeForm}, "grant_type=client_credentials&client_id=acme&client_secret=wrong"},
	{"an unknown client", "POST", "/oauth/token", []string{"Authorization", basicAuth("nobody", acmeSecret), "Content-Type", typeForm}, "grant_type=client_credentials"},
	{"a client's secret, very long", "POST", "/oauth/token", []string{"Authorization", basicAuth("acme", strings.Repeat("s", 5000)), "Content-Type", typeForm}, "grant_type=client_credentials"},
}

// All kinds of wrong credentials share the bucket of an address. Above the limit the
// answer is 429. A valid credential is never limited. The metric counts the wrong ones.
func TestWrongCredentialsAreLimited(t *testing.T) {
	for _, g := range wrongCredentials {
		t.Run(g.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				d := newTestServer(t, func(o *Options) { o.AuthFailures = 5 })
				sendValid := func() {
					t.Helper()
					if a := d.send("POST", "/oauth/token", "grant_type=client_credentials", "Authorization", basicAuth("acme", acmeSecret), "Content-Type", typeForm); a.Response.StatusCode() != 200 {
						t.Errorf("valid credential: got %d %s, want 200", a.Response.StatusCode(), a.Response.Body())
					}
				}
				for i := range 5 {
					a := d.send(g.method, g.path, g.body, g.headers...)
					if status := a.Response.StatusCode(); status != 401 {
						t.Errorf("wrong credential %d: got %d %s, want 401", i+1, status, a.Response.Body())
					}
					sendValid()
				}
				for range 3 {
					wantRateLimited(t, d.send(g.method, g.path, g.body, g.headers...), 5)
					sendValid()
				}
				wantRateLimited(t, d.send("POST", "/api/v1/ingest", "{}", "x-api-key", "another"), 5)
				time.Sleep(200 * time.Millisecond)
				if a := d.send(g.method, g.path, g.body, g.headers...); a.Response.StatusCode() != 401 {
					t.Errorf("after the wait: got %d, want 401", a.Response.StatusCode())
				}
				servertest.RequireMetrics(t, d.opt.Meter, "pingpost_wrong_credentials_total 10")
			})
		})
	}
}

func wantRateLimited(t *testing.T, a *fasthttp.RequestCtx, rate int) {
	t.Helper()
	h := &a.Response.Header
	if a.Response.StatusCode() != 429 || httperror.ErrorCodeInBody(a.Response.Body()) != "rate_limited" || len(h.Peek(httperror.HeaderChallenge)) > 0 {
		t.Errorf("over the limit: got %d %s, challenge %q; want 429 rate_limited", a.Response.StatusCode(), a.Response.Body(), h.Peek(httperror.HeaderChallenge))
	}
	if after, err := strconv.Atoi(string(h.Peek("Retry-After"))); err != nil || after != 1 {
		t.Errorf("Retry-After %q", h.Peek("Retry-After"))
	}
	if string(h.Peek("X-RateLimit-Limit")) != strconv.Itoa(rate) || string(h.Peek("X-RateLimit-Remaining")) != "0" {
		t.Errorf("limit %q, remaining %q", h.Peek("X-RateLimit-Limit"), h.Peek("X-RateLimit-Remaining"))
	}
	if reset, err := strconv.ParseInt(string(h.Peek("X-RateLimit-Reset")), 10, 64); err != nil || reset < time.Now().Unix() || reset > time.Now().Unix()+2 {
		t.Errorf("reset %q", h.Peek("X-RateLimit-Reset"))
	}
}

// Requests without a credential, or with a valid but insufficient one, do not count.
func TestMissingCredentialIsNotCounted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newTestServer(t, sandbox, func(o *Options) { o.AuthFailures = 1 })
		d.addCredential(engine.Credential{Kind: event.CredentialBearer, Owner: event.ObjectBuyer, ID: "buy_blue", Scopes: event.ScopeWebhook}, sandboxKey)
		for range 20 {
			for _, g := range []wrongCredential{
				{"no key", "POST", "/api/v1/ingest", nil, "{}"},
				{"no token", "POST", "/v1/ping", nil, "{}"},
				{"no client", "POST", "/oauth/token", []string{"Content-Type", typeForm}, "grant_type=client_credentials"},
				{"a token without the scope", "POST", "/v1/ping", []string{"Authorization", "Bearer " + sandboxKey}, "{}"},
				{"another path", "POST", "/none", []string{"x-api-key", "wrong"}, "{}"},
			} {
				if a := d.send(g.method, g.path, g.body, g.headers...); a.Response.StatusCode() == 429 {
					t.Errorf("%s: %s", g.name, a.Response.Body())
				}
			}
		}
		if a := d.send("POST", "/api/v1/ingest", "{}", "x-api-key", "wrong"); a.Response.StatusCode() != 401 {
			t.Errorf("first wrong credential: got %d, want 401", a.Response.StatusCode())
		}
		servertest.RequireMetrics(t, d.opt.Meter, "pingpost_wrong_credentials_total 1")
	})
}

// Clients behind a trusted proxy have separate buckets. The log line contains no text of
// the client.
func TestWrongCredentialsAreCountedPerAddress(t *testing.T) {
	var log bytes.Buffer
	d := newTestServer(t, func(o *Options) {
		o.AuthFailures, o.Logger = 1, slog.New(slog.NewTextHandler(&log, nil))
	})
	d.SetTrustedProxies([]netip.Prefix{servertest.ParseNetwork("0.0.0.0/32")}) // the address of requests without a connection
	for i := range 5 {
		from := fmt.Sprintf("canary\r\nx: y, 198.51.100.%d", i)
		first := d.send("POST", "/api/v1/ingest", "{}", "x-api-key", "canary", "X-Forwarded-For", from)
		second := d.send("POST", "/api/v1/ingest", "{}", "x-api-key", "canary", "X-Forwarded-For", from)
		if first.Response.StatusCode() != 401 || second.Response.StatusCode() != 429 {
			t.Errorf("got %d, then %d; want 401, then 429", first.Response.StatusCode(), second.Response.StatusCode())
		}
	}
	if text := log.String(); strings.Count(text, "\n") != 1 || !strings.Contains(text, "from=198.51.100.0/32") || strings.Contains(text, "canary") {
		t.Errorf("want one log line with the network and without the client's text, got: %s", text)
	}
}
