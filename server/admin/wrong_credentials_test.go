package admin

import (
	"fmt"
	"testing"

	"pingpost/engine/market"
	"pingpost/server/servertest"
)

// The metric counts each wrong credential, also after the limit of failed logins. Then the answer
// is 429.
func TestWrongCredentialsAreCounted(t *testing.T) {
	for _, row := range []struct {
		name                string
		line, headers, body string
		status              int // of the last answer
	}{
		{"a login", "POST /admin/v1/session", "", `{"name":"anna","password":"wrong"}`, 401},
		{"a login over the limit", "POST /admin/v1/session", "", `{"name":"anna","password":"wrong"}`, 429},
		{"a user's password", "GET /admin/v1/hash", basicAuth("anna", "wrong"), "", 401},
		{"a user's password over the limit", "GET /admin/v1/hash", basicAuth("anna", "wrong"), "", 429},
		{"an old password over the limit", "PUT /admin/v1/users/anna/password", basicAuth("anna", testPassword), `{"old":"wrong","new":"new-password-of-anna"}`, 429},
		{"an API token", "GET /admin/v1/hash", "Authorization: Bearer ppa_wrong\r\n", "", 401},
	} {
		t.Run(row.name, func(t *testing.T) {
			l := openAccounts(t, servertest.Password)
			l.createUser("anna", market.RoleViewer)
			sent := 0
			servertest.WaitUntil(t, fmt.Sprint("the answer is ", row.status), func() bool {
				sent++
				return l.send(row.line, row.headers, row.body).status == row.status
			})
			servertest.RequireMetrics(t, l.admin.meter, fmt.Sprint("pingpost_wrong_credentials_total ", sent))
		})
	}
}

// Without user accounts, only the configured password is right.
func TestWrongConfiguredPasswordIsCounted(t *testing.T) {
	l := openAccounts(t, servertest.Password)
	if got := l.send("GET /admin/v1/hash", basicAuth("anna", "wrong"), ""); got.status != 401 {
		t.Errorf("got %+v, want 401", got)
	}
	servertest.RequireMetrics(t, l.admin.meter, "pingpost_wrong_credentials_total 1")
}
