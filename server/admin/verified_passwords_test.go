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

func basicAuth(name, password string) string {
	return "Authorization: Basic " + base64.StdEncoding.EncodeToString([]byte(name+":"+password)) + "\r\n"
}

// countChecks counts the argon2id checks of passwords for HTTP Basic.
func (l *accountsFixture) countChecks() *atomic.Int64 {
	var n atomic.Int64
	check := l.admin.sessions.verified.check
	l.admin.sessions.verified.check = func(hash, password string) (bool, error) {
		n.Add(1)
		return check(hash, password)
	}
	return &n
}

// A user's name and password in HTTP Basic have the rights of that user, with and without
// admin.password.
func TestBasicAuthOfUsers(t *testing.T) {
	for _, password := range []string{servertest.Password, ""} {
		l := openAccounts(t, servertest.Password)
		l.createUser("anna", market.RoleAdmin)
		l.createUser("vera", market.RoleViewer)
		if password == "" {
			l.admin.locked = true
		}
		anna, vera := basicAuth("anna", testPassword), basicAuth("Vera", testPassword)
		for name, row := range map[string]struct {
			line, headers, body string
			status              int
			text                string
		}{
			"own session":          {"GET /admin/v1/session", vera, "", 200, `{"name":"vera","role":"viewer","by":"password","expires_at":null,"method":"password","second_factor":"off"}`},
			"a viewer reads":       {"GET /admin/v1/hash", vera, "", 200, ""},
			"a viewer changes":     {"POST /admin/v1/buyers/buy_blue/pause", vera, "", 403, "forbidden"},
			"an admin reads users": {"GET /admin/v1/users", anna, "", 200, `"vera"`},
			"from another origin":  {"POST /admin/v1/buyers/buy_blue/pause", anna + "Origin: https://evil.example\r\n", "", 403, "forbidden"},
			"an own token":         {"POST /admin/v1/api-tokens", vera, `{"name":"cron"}`, 201, `"user":"vera"`},
			"a wrong password":     {"GET /admin/v1/hash", basicAuth("vera", otherPassword), "", 401, `"unauthorized"`},
			"an unknown name":      {"GET /admin/v1/hash", basicAuth("carl", testPassword), "", 401, `"unauthorized"`},
			"a long password":      {"GET /admin/v1/hash", basicAuth("vera", testPassword+strings.Repeat("x", 1024)), "", 401, `"unauthorized"`},
			"an invalid name":      {"GET /admin/v1/hash", basicAuth("\x00/", testPassword), "", 401, `"unauthorized"`},
		} {
			if got := l.send(row.line, row.headers, row.body); !got.has(row.status, row.text) {
				t.Errorf("%s: %+v", name, got)
			}
		}
		if got := l.send("POST /admin/v1/buyers/buy_blue/pause", anna, ""); got.status >= 300 {
			t.Errorf("an admin pausing a buyer: got %+v", got)
		}
		if seen := l.send("GET /admin/v1/users", anna, ""); strings.Contains(seen.body, `"last_seen":null`) {
			t.Errorf("last_seen is missing: %s", seen.body)
		}
	}
}

// A verified password is valid until its user changes, and for a limited time.
func TestBasicAuthEndsWithUser(t *testing.T) {
	l := openAccounts(t, servertest.Password)
	l.createUser("anna", market.RoleViewer)
	anna := basicAuth("anna", testPassword)
	role := func(want string) {
		t.Helper()
		if got := l.send("GET /admin/v1/session", anna, ""); !got.has(200, `"role":"`+want+`"`) {
			t.Errorf("as %s: %+v", want, got)
		}
	}
	role("viewer")
	if got := l.send("PUT /admin/v1/users/anna", servertest.BasicAuth, `{"role":"operator"}`); got.status != 200 {
		t.Fatalf("%+v", got)
	}
	role("operator")
	if got := l.send("PUT /admin/v1/users/anna/password", servertest.BasicAuth, fmt.Sprintf(`{"new":%q}`, otherPassword)); got.status != 204 {
		t.Fatalf("%+v", got)
	}
	if l.isAuthenticated(anna) || !l.isAuthenticated(basicAuth("anna", otherPassword)) {
		t.Error("want the old password invalid and the new one valid")
	}
	if got := l.send("DELETE /admin/v1/users/anna", servertest.BasicAuth, ""); got.status != 204 {
		t.Fatalf("%+v", got)
	}
	if l.isAuthenticated(basicAuth("anna", otherPassword)) {
		t.Error("a removed user is authenticated")
	}
}

// argon2id runs once per user and period, also for concurrent requests, and the requests
// do not count as failed logins.
func TestBasicPasswordIsHashedOnce(t *testing.T) {
	l := openAccounts(t, servertest.Password)
	l.createUser("anna", market.RoleViewer)
	anna := basicAuth("anna", testPassword)
	computed := l.countChecks()
	var all sync.WaitGroup
	for range 40 {
		all.Go(func() {
			if !l.isAuthenticated(anna) {
				t.Error("not authenticated")
			}
		})
	}
	all.Wait()
	if n := computed.Load(); n != 1 {
		t.Errorf("argon2id ran %d times", n)
	}
	l.clockAhead.Store(int64(verifiedFor + time.Second))
	if !l.isAuthenticated(anna) || computed.Load() != 2 {
		t.Errorf("argon2id ran %d times after the period", computed.Load())
	}
}

// Wrong passwords are limited like logins. They lock out neither a user with a verified
// password nor admin.password. An unknown name gets the same answers.
func TestBasicPasswordFailureLimit(t *testing.T) {
	for _, name := range []string{"anna", "nobody"} {
		l := openAccounts(t, servertest.Password)
		l.createUser("anna", market.RoleViewer)
		if !l.isAuthenticated(basicAuth("anna", testPassword)) {
			t.Fatal("not authenticated")
		}
		computed, limited := l.countChecks(), 0
		for i := range 30 {
			got := l.send("GET /admin/v1/hash", basicAuth(name, fmt.Sprint("a wrong password ", i)), "")
			switch {
			case got.has(429, `"rate_limited"`) && got.header.Get("Retry-After") != "":
				limited++
			case !got.has(401, errWrongLogin.Message) || got.header.Get("WWW-Authenticate") == "":
				t.Errorf("%s: %+v", name, got)
			}
		}
		if n := int(computed.Load()); limited == 0 || n != 30-limited {
			t.Errorf("%s: %d of 30 limited, argon2id ran %d times", name, limited, n)
		}
		if !l.isAuthenticated(basicAuth("anna", testPassword)) || !l.isAuthenticated(servertest.BasicAuth) {
			t.Error("a valid password was rejected")
		}
	}
}

// A user with a password is checked again after the body has arrived.
func TestBasicUserIsCheckedAfterBody(t *testing.T) {
	l := openAccounts(t, servertest.Password)
	l.createUser("anna", market.RoleAdmin)
	k := servertest.Dial(t, l.address)
	status, _, body := k.Send("POST /admin/v1/buyers/buy_blue/pause HTTP/1.1\r\nHost: x\r\n" + basicAuth("anna", testPassword) + "Expect: 100-continue\r\nContent-Length: 2\r\n\r\n")
	if status != 100 {
		t.Fatalf("%d %s", status, body)
	}
	if got := l.send("DELETE /admin/v1/users/anna", servertest.BasicAuth, ""); got.status != 204 {
		t.Fatalf("%+v", got)
	}
	must.Value(k.Write([]byte("{}")))(t)
	if status, _, body := k.ReadAnswer(); status != 401 {
		t.Errorf("%d %s", status, body)
	}
}
