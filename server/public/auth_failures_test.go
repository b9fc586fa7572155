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

// guess is a wrong credential of one kind.
type guess struct {
	what         string
	method, path string
	headers      []string
	body         string
}

var wrongCredentials = []guess{
	{"an API key", "POST", "/api/v1/ingest", []string{"x-api-key", "wrong"}, "{}"},
	{"an API key over the longest", "POST", "/api/v1/ingest", []string{"x-api-key", strings.Repeat("k", 600)}, "{}"},
	{"an API key of a look", "GET", "/api/v1/leads/lead_x", []string{"x-api-key", "wrong"}, ""},
	{"an API key of a ping", "POST", "/api/v1/ping", []string{"x-api-key", "wrong"}, "{}"},
	{"a token", "POST", "/v1/ping", []string{"Authorization", "Bearer wrong"}, "{}"},
	{"a token of a post", "POST", "/v1/post", []string{"Authorization", "Bearer wrong"}, "{}"},
	{"a token of a look", "GET", "/v1/leads/lead_x", []string{"Authorization", "Bearer wrong"}, ""},
	{"a token of a report", "POST", "/v1/leads/lead_x/status", []string{"Authorization", "Bearer wrong"}, "{}"},
	{"a token of a batch", "POST", "/v1/leads/status", []string{"Authorization", "Bearer wrong"}, "{}"},
	{"a client's secret", "POST", "/oauth/token", []string{"Content-Type", httperror.TypeJSON}, `{"grant_type":"client_credentials","client_id":"acme","client_secret":"wrong"}`},
	{"a client's secret in a form", "POST", "/oauth/token", []string{"Content-Type", typeForm}, "grant_type=client_credentials&client_id=acme&client_secret=wrong"},
	{"a client that nobody is", "POST", "/oauth/token", []string{"Authorization", basic("nobody", acmeSecret), "Content-Type", typeForm}, "grant_type=client_credentials"},
	{"a client's secret, very long", "POST", "/oauth/token", []string{"Authorization", basic("acme", strings.Repeat("s", 5000)), "Content-Type", typeForm}, "grant_type=client_credentials"},
}

// TestGuessesAreLimited checks that all kinds of wrong credentials share the bucket of an
// address, that the answer above the limit is 429, and that a valid credential is never
// limited.
func TestGuessesAreLimited(t *testing.T) {
	for _, g := range wrongCredentials {
		t.Run(g.what, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				d := open(t, func(o *Options) { o.AuthFailures = 5 })
				right := func() {
					t.Helper()
					if a := d.ask("POST", "/oauth/token", "grant_type=client_credentials", "Authorization", basic("acme", acmeSecret), "Content-Type", typeForm); a.Response.StatusCode() != 200 {
						t.Errorf("the right one: %d %s", a.Response.StatusCode(), a.Response.Body())
					}
				}
				for i := range 5 {
					a := d.ask(g.method, g.path, g.body, g.headers...)
					if status := a.Response.StatusCode(); status != 401 {
						t.Errorf("the %d. one: %d %s", i+1, status, a.Response.Body())
					}
					right()
				}
				for range 3 {
					mustBeSlowed(t, d.ask(g.method, g.path, g.body, g.headers...), 5)
					right()
				}
				mustBeSlowed(t, d.ask("POST", "/api/v1/ingest", "{}", "x-api-key", "another"), 5)
				time.Sleep(200 * time.Millisecond)
				if a := d.ask(g.method, g.path, g.body, g.headers...); a.Response.StatusCode() != 401 {
					t.Errorf("after the wait: %d", a.Response.StatusCode())
				}
			})
		})
	}
}

func mustBeSlowed(t *testing.T, a *fasthttp.RequestCtx, rate int) {
	t.Helper()
	h := &a.Response.Header
	if a.Response.StatusCode() != 429 || httperror.ErrorCodeInBody(a.Response.Body()) != "rate_limited" || len(h.Peek(httperror.HeaderChallenge)) > 0 {
		t.Errorf("too many: %d %s, challenge %q", a.Response.StatusCode(), a.Response.Body(), h.Peek(httperror.HeaderChallenge))
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

// TestWhatIsNoGuess checks that requests without a credential, or with a valid but
// insufficient one, do not count.
func TestWhatIsNoGuess(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := open(t, sandbox, func(o *Options) { o.AuthFailures = 1 })
		d.add(engine.Credential{Kind: event.CredentialBearer, Owner: event.ObjectBuyer, ID: "buy_blue", Scopes: event.ScopeWebhook}, sandboxKey)
		for range 20 {
			for _, g := range []guess{
				{"no key", "POST", "/api/v1/ingest", nil, "{}"},
				{"no token", "POST", "/v1/ping", nil, "{}"},
				{"no client", "POST", "/oauth/token", []string{"Content-Type", typeForm}, "grant_type=client_credentials"},
				{"a token without the scope", "POST", "/v1/ping", []string{"Authorization", "Bearer " + sandboxKey}, "{}"},
				{"another path", "POST", "/none", []string{"x-api-key", "wrong"}, "{}"},
			} {
				if a := d.ask(g.method, g.path, g.body, g.headers...); a.Response.StatusCode() == 429 {
					t.Errorf("%s: %s", g.what, a.Response.Body())
				}
			}
		}
		if a := d.ask("POST", "/api/v1/ingest", "{}", "x-api-key", "wrong"); a.Response.StatusCode() != 401 {
			t.Errorf("the first guess: %d", a.Response.StatusCode())
		}
	})
}

// TestGuessesByAddress checks that clients behind a trusted proxy have separate buckets,
// and that the log line contains no text of the client.
func TestGuessesByAddress(t *testing.T) {
	var log bytes.Buffer
	d := open(t, func(o *Options) {
		o.AuthFailures, o.Logger = 1, slog.New(slog.NewTextHandler(&log, nil))
	})
	d.SetTrustedProxies([]netip.Prefix{servertest.ParseNetwork("0.0.0.0/32")}) // the address of a request without a connection
	for i := range 5 {
		from := fmt.Sprintf("canary\r\nx: y, 198.51.100.%d", i)
		first := d.ask("POST", "/api/v1/ingest", "{}", "x-api-key", "canary", "X-Forwarded-For", from)
		second := d.ask("POST", "/api/v1/ingest", "{}", "x-api-key", "canary", "X-Forwarded-For", from)
		if first.Response.StatusCode() != 401 || second.Response.StatusCode() != 429 {
			t.Errorf("%d, then %d", first.Response.StatusCode(), second.Response.StatusCode())
		}
	}
	if text := log.String(); strings.Count(text, "\n") != 1 || !strings.Contains(text, "from=198.51.100.0/32") || strings.Contains(text, "canary") {
		t.Errorf("the log: %s", text)
	}
}
