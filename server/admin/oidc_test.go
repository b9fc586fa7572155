package admin

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/oauth2-proxy/mockoidc"

	"pingpost/engine/event"
	"pingpost/engine/market"
	"pingpost/internal/must"
	"pingpost/outbound/dial"
	"pingpost/server/admin/oidc"
	"pingpost/server/clientaddr"
	"pingpost/server/servertest"
)

// openWithProvider opens an admin server whose operators sign in at a provider on this machine.
// logger is nil to discard all lines.
func openWithProvider(t *testing.T, logger *slog.Logger) (*accountsFixture, *mockoidc.MockOIDC) {
	t.Helper()
	return openWithProviderAt(t, "", logger)
}

// openWithProviderAt configures the address of the console too, unless it is empty.
func openWithProviderAt(t *testing.T, publicURL string, logger *slog.Logger) (*accountsFixture, *mockoidc.MockOIDC) {
	t.Helper()
	idp := must.Value(mockoidc.Run())(t)
	t.Cleanup(func() { _ = idp.Shutdown() })
	return openAccountsWith(t, servertest.Password, func(l *accountsFixture) {
		if logger != nil {
			l.admin.logger = logger
		}
		l.admin.SetPublicURL(publicURL)
		l.admin.SetSignIn(true, oidc.NewProvider(oidc.Options{
			Issuer: idp.Issuer(), ClientID: idp.ClientID, ClientSecret: idp.ClientSecret, Label: "Example", Scopes: []string{"openid", "email", "groups"},
			RolesClaim: "groups", Roles: map[string]market.OperatorRole{"ops": market.RoleOperator, "admins": market.RoleAdmin}, Now: time.Now, Logger: slog.New(slog.DiscardHandler),
			Client: dial.NewStandardClient(dial.StandardClientOptions{TrustedNetworks: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}, Timeout: 5 * time.Second, MaxResponse: 1 << 20}),
		}))
	}), idp
}

// beginOIDC starts a sign-in and returns the cookie, and the path with the query to which the provider
// sends the browser.
func (l *accountsFixture) beginOIDC(headers string) (cookie, back string) {
	l.t.Helper()
	got := l.send("GET "+oidc.PathStart, headers, "")
	set := got.header.Get("Set-Cookie")
	for _, part := range []string{"__Host-pingpost-oidc=", "; HttpOnly", "; secure", "; SameSite=Lax", "max-age=600", "path=/"} {
		if !strings.Contains(set, part) {
			l.t.Errorf("the cookie %q lacks %q", set, part)
		}
	}
	cookie, _, _ = strings.Cut(set, ";")
	browser := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	response := must.Value(browser.Get(got.header.Get("Location")))(l.t) //nolint:bodyclose // the linter does not see through must.Value
	_ = response.Body.Close()
	to := must.Value(url.Parse(response.Header.Get("Location")))(l.t)
	if got.status != 303 || to.Path != oidc.PathCallback {
		l.t.Fatalf("%+v; the provider leads to %s", got, to)
	}
	return "Cookie: " + cookie + "\r\n", to.RequestURI()
}

// sessionCookieOf returns the session's cookie of an answer, or "".
func sessionCookieOf(r adminAnswer) string {
	for _, set := range r.header.Values("Set-Cookie") {
		if cookie, _, _ := strings.Cut(set, ";"); strings.HasPrefix(cookie, cookieName+"=") {
			return "Cookie: " + cookie + "\r\n"
		}
	}
	return ""
}

func (l *accountsFixture) signInByOIDC(idp *mockoidc.MockOIDC, groups ...string) adminAnswer {
	l.t.Helper()
	idp.QueueUser(&mockoidc.MockUser{Subject: "1", Email: "anna@example.com", EmailVerified: true, Groups: groups})
	cookie, back := l.beginOIDC("")
	return l.send("GET "+back, cookie, "")
}

func TestOIDCSignInStartsSession(t *testing.T) {
	l, idp := openWithProvider(t, nil)
	first := l.log.EntryCount()
	if got := l.send("GET /admin/v1/session/methods", "", ""); !got.has(200, `"oidc":{"label":"Example","start":"/admin/v1/session/oidc","available":true}`) {
		t.Errorf("methods: %+v", got)
	}
	got := l.signInByOIDC(idp, "ops")
	cookie := sessionCookieOf(got)
	if got.status != 303 || got.header.Get("Location") != "/" || cookie == "" {
		t.Fatalf("callback: %+v", got)
	}
	session := l.send("GET /admin/v1/session", cookie, "")
	if !session.has(200, `{"name":"oidc:anna@example.com","role":"operator","by":"session","csrf":"`) {
		t.Errorf("session: %+v", session)
	}
	if !strings.HasSuffix(session.body, `"method":"oidc","second_factor":null}`+"\n") {
		t.Errorf("session: %s", session.body)
	}
	_, after, _ := strings.Cut(session.body, `"csrf":"`)
	csrf, _, _ := strings.Cut(after, `"`)
	write := cookie + "X-CSRF-Token: " + csrf + "\r\n"
	for name, row := range map[string]struct {
		line, headers string
		status        int
	}{
		"an operator's action":   {"POST /admin/v1/buyers/buy_blue/pause", write, 204},
		"without the CSRF token": {"POST /admin/v1/buyers/buy_blue/pause", cookie, 403},
		"an admin's action":      {"GET /admin/v1/users", cookie, 403},
		"an own API token":       {"POST /admin/v1/api-tokens", write, 409},
		"a second factor":        {"POST /admin/v1/users/oidc:anna@example.com/totp", write, 403},
	} {
		if got := l.send(row.line, row.headers, `{"name":"t"}`); got.status != row.status {
			t.Errorf("%s: %+v", name, got)
		}
	}
	if len(l.engine.State().OperatorUsers()) != 0 {
		t.Error("the sign-in created an account")
	}
	var recorded []string
	for _, r := range l.actionRecords(first) {
		if r.Phase != event.ActionEnded && r.By != "" {
			recorded = append(recorded, strings.Join([]string{r.By, r.Credential.String(), r.Operation, r.Role.String(), fmt.Sprint(r.Status)}, " | "))
		}
	}
	for _, want := range []string{
		"oidc:anna@example.com | oidc | GET /admin/v1/session/oidc/callback | operator | 303",
		"oidc:anna@example.com | oidc | POST /admin/v1/buyers/{id}/pause | operator | 0",
	} {
		if !slices.Contains(recorded, want) {
			t.Errorf("the audit log lacks %q: %q", want, recorded)
		}
	}
	l.clockAhead.Store(int64(sessionIdle))
	if l.isAuthenticated(cookie) {
		t.Error("the session goes on after 12 idle hours")
	}
}

// A refused sign-in leads to the sign-in page with a fixed word, and starts no session.
func TestRefusedOIDCSignIns(t *testing.T) {
	l, idp := openWithProvider(t, nil)
	begin := func() (cookie, back string) {
		idp.QueueUser(&mockoidc.MockUser{Subject: "1", Email: "anna@example.com", EmailVerified: true, Groups: []string{"admins"}})
		return l.beginOIDC("")
	}
	for name, row := range map[string]struct {
		answer func() adminAnswer
		want   string
	}{
		"no role at the provider": {func() adminAnswer { return l.signInByOIDC(idp) }, "/#/sign-in?oidc=no_role"},
		"another browser": {func() adminAnswer {
			_, back := begin()
			return l.send("GET "+back, "", "")
		}, "/#/sign-in?oidc=invalid"},
		"another state": {func() adminAnswer {
			cookie, back := begin()
			return l.send("GET "+strings.Replace(back, "state=", "state=x", 1), cookie, "")
		}, "/#/sign-in?oidc=invalid"},
		"an error with a page's text": {func() adminAnswer {
			cookie, back := begin()
			return l.send("GET "+back+"&error=access_denied&error_description=%3Cscript%3E", cookie, "")
		}, "/#/sign-in?oidc=denied"},
		"a redirect of an attacker": {func() adminAnswer {
			cookie, back := begin()
			return l.send("GET "+back+"&redirect_uri=https://evil.example&next=//evil.example&return_to=https://evil.example", cookie, "")
		}, "/"},
		"the same callback twice": {func() adminAnswer {
			cookie, back := begin()
			l.send("GET "+back, cookie, "")
			return l.send("GET "+back, cookie, "")
		}, "/#/sign-in?oidc=invalid"},
	} {
		got := row.answer()
		if got.status != 303 || got.header.Get("Location") != row.want || (sessionCookieOf(got) != "") != (row.want == "/") {
			t.Errorf("%s: %+v", name, got)
		}
	}
	for _, query := range []string{"?redirect=https://evil.example", "?next=/x"} {
		if got := l.send("GET "+oidc.PathStart+query, "", ""); got.status != 422 {
			t.Errorf("%s: %+v", query, got)
		}
	}
	limited := 0
	for range 3 * maxGuesses {
		if got := l.send("GET "+oidc.PathCallback+"?state=x&code=y", "", ""); got.status == 429 {
			limited++
		}
	}
	if limited == 0 {
		t.Error("invalid callbacks are not limited")
	}
}

// lineCounter counts log lines of the level warning or above.
type lineCounter struct{ lines atomic.Int64 }

func (c *lineCounter) Enabled(_ context.Context, level slog.Level) bool {
	return level >= slog.LevelWarn
}

func (c *lineCounter) Handle(context.Context, slog.Record) error {
	c.lines.Add(1)
	return nil
}

func (c *lineCounter) WithAttrs([]slog.Attr) slog.Handler { return c }
func (c *lineCounter) WithGroup(string) slog.Handler      { return c }

// Refusals of the provider, which anyone can cause, are limited like wrong passwords. Above the limit
// the exchange sends the provider no request, so the code of a valid callback stays unused.
func TestRefusalsOfProviderAreLimited(t *testing.T) {
	counter := new(lineCounter)
	l, idp := openWithProvider(t, slog.New(counter))
	first := l.log.EntryCount()
	idp.QueueUser(&mockoidc.MockUser{Subject: "1", Email: "anna@example.com", EmailVerified: true, Groups: []string{"ops"}})
	validCookie, valid := l.beginOIDC("")
	limited := 0
	for range 30 {
		cookie, back := l.beginOIDC("")
		switch got := l.send("GET "+back+"&error=access_denied", cookie, ""); {
		case got.status == 429 && got.header.Get("Retry-After") != "" && strings.Contains(got.body, `"rate_limited"`):
			limited++
		case got.status != 303 || got.header.Get("Location") != "/#/sign-in?oidc=denied":
			t.Fatalf("a refusal: %+v", got)
		}
	}
	if limited < 15 {
		t.Errorf("%d of 30 refusals are limited, want about 20", limited)
	}
	if n := len(l.actionRecords(first)); n > 12 {
		t.Errorf("%d records of 30 refusals, want at most 12", n)
	}
	if n := counter.lines.Load(); n > 3 {
		t.Errorf("%d log lines of 30 refusals, want at most 3", n)
	}
	if got := l.send("GET "+valid, validCookie, ""); got.status != 429 {
		t.Errorf("a valid callback above the limit: %+v", got)
	}
	l.admin.sessions.byNetwork.Refund(clientaddr.NetworkForLimits(netip.MustParseAddr("127.0.0.1")))
	if got := l.send("GET "+valid, validCookie, ""); got.header.Get("Location") != "/" {
		t.Errorf("the valid callback later: %+v", got)
	}
}

// A successful sign-in does not count as a failed one.
func TestOIDCSignInsAreNotLimited(t *testing.T) {
	l, idp := openWithProvider(t, nil)
	for i := range 15 {
		if got := l.signInByOIDC(idp, "ops"); got.header.Get("Location") != "/" {
			t.Fatalf("sign-in %d: %+v", i, got)
		}
	}
}

// A provider that is down stops neither the server nor the passwords.
func TestPasswordSignInWhileProviderIsDown(t *testing.T) {
	l, idp := openWithProvider(t, nil)
	must.Succeed(t, idp.Shutdown())
	l.createUser("bob", market.RoleOperator)
	if got := l.send("GET "+oidc.PathStart, "", ""); got.status != 303 || got.header.Get("Location") != "/#/sign-in?oidc=unreachable" {
		t.Errorf("start: %+v", got)
	}
	if got := l.send("GET /admin/v1/session/methods", "", ""); !got.has(200, `"available":false`) {
		t.Errorf("methods: %+v", got)
	}
	l.mustLogIn("bob", testPassword)
}

// People with the configured password choose their name, but not one of the provider's people.
func TestNamesOfProviderCannotBeClaimed(t *testing.T) {
	l := openAccounts(t, servertest.Password)
	for _, name := range []string{"oidc:anna@example.com", "OIDC:anna@example.com", " oidc:anna@example.com"} {
		if got, _ := l.logIn(name, servertest.Password); !got.has(200, `"name":"operator"`) {
			t.Errorf("session of %q: %+v", name, got)
		}
	}
	if got := l.send("GET "+oidc.PathStart, "", ""); got.status != 404 {
		t.Errorf("without a provider: %+v", got)
	}
}

func TestMethodsAreNamed(t *testing.T) {
	l := openAccounts(t, servertest.Password)
	l.createUser("bob", market.RoleViewer)
	session := l.mustLogIn("bob", testPassword)
	made := l.send("POST /admin/v1/api-tokens", session.write, `{"name":"t"}`)
	_, after, _ := strings.Cut(made.body, `"token":"`)
	token, _, _ := strings.Cut(after, `"`)
	for method, headers := range map[string]string{
		"session": session.read, "api_token": "Authorization: Bearer " + token + "\r\n", "password": basicAuth("bob", testPassword), "shared_password": servertest.BasicAuth,
	} {
		if got := l.send("GET /admin/v1/session", headers, ""); !got.has(200, `"method":"`+method+`"`) {
			t.Errorf("%s: %+v", method, got)
		}
	}
}

// TestOIDCRedirectsToPublicURL: the provider leads the browser to the configured address, whatever the
// Host header is.
func TestOIDCRedirectsToPublicURL(t *testing.T) {
	for address, want := range map[string]string{"https://console.example.com": "https://console.example.com", "": "https://x"} {
		l, idp := openWithProviderAt(t, address, nil)
		got := l.send("GET "+oidc.PathStart, "", "")
		to := must.Value(url.Parse(got.header.Get("Location")))(t)
		if !strings.HasPrefix(to.String(), idp.AuthorizationEndpoint()) || to.Query().Get("redirect_uri") != want+oidc.PathCallback {
			t.Errorf("configured %q: %+v", address, got)
		}
	}
}
