package admin

import (
	"encoding/base64"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"pingpost/engine/market"
	"pingpost/internal/must"
	"pingpost/server/servertest"
)

func asUser(name, password string) string {
	return "Authorization: Basic " + base64.StdEncoding.EncodeToString([]byte(name+":"+password)) + "\r\n"
}

// countChecks counts the passwords that are checked by argon2id for HTTP Basic.
func (l *accountsFixture) countChecks() *atomic.Int64 {
	var n atomic.Int64
	check := l.admin.sessions.verified.check
	l.admin.sessions.verified.check = func(hash, password string) (bool, error) {
		n.Add(1)
		return check(hash, password)
	}
	return &n
}

// TestBasicAccounts: a user's name and password by HTTP Basic do as much as a session of
// that user, with and without admin.password.
func TestBasicAccounts(t *testing.T) {
	for _, password := range []string{servertest.Password, ""} {
		l := openAccounts(t, servertest.Password)
		l.hire("anna", market.RoleAdmin)
		l.hire("vera", market.RoleViewer)
		if password == "" {
			l.admin.locked = true
		}
		anna, vera := asUser("anna", longEnough), asUser("Vera", longEnough)
		for name, row := range map[string]struct {
			line, headers, body string
			status              int
			text                string
		}{
			"who":                   {"GET /admin/v1/session", vera, "", 200, `{"name":"vera","role":"viewer","by":"password","expires_at":null}`},
			"a viewer reads":        {"GET /admin/v1/hash", vera, "", 200, ""},
			"a viewer changes":      {"POST /admin/v1/buyers/buy_blue/pause", vera, "", 403, "forbidden"},
			"an admin reads users":  {"GET /admin/v1/users", anna, "", 200, `"vera"`},
			"from another origin":   {"POST /admin/v1/buyers/buy_blue/pause", anna + "Origin: https://evil.example\r\n", "", 403, "forbidden"},
			"a token of one's own":  {"POST /admin/v1/api-tokens", vera, `{"name":"cron"}`, 201, `"user":"vera"`},
			"another's password":    {"GET /admin/v1/hash", asUser("vera", another), "", 401, `"unauthorized"`},
			"nobody's name":         {"GET /admin/v1/hash", asUser("carl", longEnough), "", 401, `"unauthorized"`},
			"a long password":       {"GET /admin/v1/hash", asUser("vera", longEnough+strings.Repeat("x", 1024)), "", 401, `"unauthorized"`},
			"a name that is no one": {"GET /admin/v1/hash", asUser("\x00/", longEnough), "", 401, `"unauthorized"`},
		} {
			if got := l.ask(row.line, row.headers, row.body); !got.has(row.status, row.text) {
				t.Errorf("%s: %+v", name, got)
			}
		}
		if got := l.ask("POST /admin/v1/buyers/buy_blue/pause", anna, ""); got.status >= 300 {
			t.Errorf("an admin pauses a buyer: %+v", got)
		}
		if seen := l.ask("GET /admin/v1/users", anna, ""); strings.Contains(seen.body, `"last_seen":null`) {
			t.Errorf("not all were seen: %s", seen.body)
		}
	}
}

// TestBasicEndsWithItsUser: a password that was verified is good until its user changes,
// and for a limited time.
func TestBasicEndsWithItsUser(t *testing.T) {
	l := openAccounts(t, servertest.Password)
	l.hire("anna", market.RoleViewer)
	anna := asUser("anna", longEnough)
	role := func(want string) {
		t.Helper()
		if got := l.ask("GET /admin/v1/session", anna, ""); !got.has(200, `"role":"`+want+`"`) {
			t.Errorf("as %s: %+v", want, got)
		}
	}
	role("viewer")
	if got := l.ask("PUT /admin/v1/users/anna", servertest.BasicAuth, `{"role":"operator"}`); got.status != 200 {
		t.Fatalf("%+v", got)
	}
	role("operator")
	if got := l.ask("PUT /admin/v1/users/anna/password", servertest.BasicAuth, fmt.Sprintf(`{"new":%q}`, another)); got.status != 204 {
		t.Fatalf("%+v", got)
	}
	if l.good(anna) || !l.good(asUser("anna", another)) {
		t.Error("the old password is good, or the new one is not")
	}
	if got := l.ask("DELETE /admin/v1/users/anna", servertest.BasicAuth, ""); got.status != 204 {
		t.Fatalf("%+v", got)
	}
	if l.good(asUser("anna", another)) {
		t.Error("a user who was removed is let in")
	}
}

// TestBasicIsHashedOnce checks that argon2id runs once per user and period, also for
// concurrent requests, and that they do not count as failed logins.
func TestBasicIsHashedOnce(t *testing.T) {
	l := openAccounts(t, servertest.Password)
	l.hire("anna", market.RoleViewer)
	anna := asUser("anna", longEnough)
	computed := l.countChecks()
	var all sync.WaitGroup
	for range 40 {
		all.Go(func() {
			if !l.good(anna) {
				t.Error("not let in")
			}
		})
	}
	all.Wait()
	if n := computed.Load(); n != 1 {
		t.Errorf("computed %d times", n)
	}
	l.ahead.Store(int64(verifiedFor + time.Second))
	if !l.good(anna) || computed.Load() != 2 {
		t.Errorf("computed %d times after a while", computed.Load())
	}
}

// TestBasicGuesses checks that wrong passwords are limited like logins, and do not lock out
// a user with a verified password or admin.password. An unknown name gets the same answers.
func TestBasicGuesses(t *testing.T) {
	for _, name := range []string{"anna", "nobody"} {
		l := openAccounts(t, servertest.Password)
		l.hire("anna", market.RoleViewer)
		if !l.good(asUser("anna", longEnough)) {
			t.Fatal("not let in")
		}
		computed, limited := l.countChecks(), 0
		for i := range 30 {
			got := l.ask("GET /admin/v1/hash", asUser(name, fmt.Sprint("a wrong password ", i)), "")
			switch {
			case got.has(429, `"rate_limited"`) && got.header.Get("Retry-After") != "":
				limited++
			case !got.has(401, errWrongLogin.Message) || got.header.Get("WWW-Authenticate") == "":
				t.Errorf("%s: %+v", name, got)
			}
		}
		if n := int(computed.Load()); limited == 0 || n != 30-limited {
			t.Errorf("%s: %d of 30 limited, computed %d times", name, limited, n)
		}
		if !l.good(asUser("anna", longEnough)) || !l.good(servertest.BasicAuth) {
			t.Error("a right password is refused")
		}
	}
}

// TestBasicStillIn checks that a user with a password is checked again after the body has
// arrived.
func TestBasicStillIn(t *testing.T) {
	l := openAccounts(t, servertest.Password)
	l.hire("anna", market.RoleAdmin)
	k := servertest.Dial(t, l.address)
	status, _, body := k.Send("POST /admin/v1/buyers/buy_blue/pause HTTP/1.1\r\nHost: x\r\n" + asUser("anna", longEnough) + "Expect: 100-continue\r\nContent-Length: 2\r\n\r\n")
	if status != 100 {
		t.Fatalf("%d %s", status, body)
	}
	if got := l.ask("DELETE /admin/v1/users/anna", servertest.BasicAuth, ""); got.status != 204 {
		t.Fatalf("%+v", got)
	}
	must.Value(k.Write([]byte("{}")))(t)
	if status, _, body := k.ReadAnswer(); status != 401 {
		t.Errorf("%d %s", status, body)
	}
}
