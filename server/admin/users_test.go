package admin

import (
	"strings"
	"testing"

	"pingpost/engine/market"
	"pingpost/server/servertest"
)

// An API token of an admin creates no account, changes no role and sets no password. Sessions and
// passwords over HTTP Basic may.
func TestAPITokensSetNoUsers(t *testing.T) {
	l := openAccounts(t, servertest.Password)
	l.createUser("ann", market.RoleAdmin)
	l.createUser("bob", market.RoleViewer)
	session := l.mustLogIn("ann", testPassword)
	token := "Authorization: Bearer " + l.addToken(session) + "\r\n"
	requests := []struct {
		name, line, body string
		status           int // without an API token
	}{
		{"a new account", "PUT /admin/v1/users/eve", `{"role":"admin","password":"` + testPassword + `"}`, 201},
		{"another role", "PUT /admin/v1/users/bob", `{"role":"operator"}`, 200},
		{"another user's password", "PUT /admin/v1/users/bob/password", `{"new":"` + otherPassword + `"}`, 204},
		{"the own password", "PUT /admin/v1/users/ann/password", `{"old":"` + testPassword + `","new":"` + testPassword + `"}`, 204},
		{"an unreadable body", "PUT /admin/v1/users/eve", `{`, 400},
	}
	for _, r := range requests {
		if got := l.send(r.line, token, r.body); !got.has(403, "An API token cannot create accounts, change roles or set passwords") {
			t.Errorf("%s: %+v", r.name, got)
		}
	}
	if users := l.send("GET /admin/v1/users", token, ""); users.status != 200 || strings.Contains(users.body, "eve") || !strings.Contains(users.body, `"name":"bob","role":"viewer"`) {
		t.Errorf("users: %+v", users)
	}
	for _, credential := range []string{servertest.BasicAuth, basicAuth("ann", testPassword)} {
		for _, r := range requests[1:3] {
			if got := l.send(r.line, credential, r.body); got.status != r.status {
				t.Errorf("%s without a token: %+v", r.name, got)
			}
		}
	}
	for _, r := range requests {
		if got := l.send(r.line, session.write, r.body); got.status != r.status {
			t.Errorf("%s in a session: %+v", r.name, got)
		}
		if r.name == "the own password" {
			session = l.mustLogIn("ann", testPassword)
		}
	}
}
