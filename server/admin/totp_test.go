package admin

import (
	"encoding/json"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/pquerna/otp/totp"

	"pingpost/engine/market"
	"pingpost/internal/must"
	"pingpost/server/servertest"
)

// authenticator is a user's authenticator app.
type authenticator struct {
	l        *accountsFixture
	user     string
	secret   string
	recovery []string
}

// code returns the code of the present time step, or one shifted by a number of steps.
func (a *authenticator) code(steps int) string {
	return must.Value(totp.GenerateCode(a.secret, a.l.now().Add(time.Duration(steps)*30*time.Second)))(a.l.t)
}

// nextStep moves the clock, because a code works once.
func (l *accountsFixture) nextStep() { l.clockAhead.Add(int64(30 * time.Second)) }

func (l *accountsFixture) enroll(user string, session sessionHeaders) *authenticator {
	l.t.Helper()
	got := l.send("POST /admin/v1/users/"+user+"/totp", session.write, "")
	var made struct {
		Secret string
		URL    string `json:"otpauth_url"`
	}
	must.Succeed(l.t, json.Unmarshal([]byte(got.body), &made))
	if got.status != 201 || !strings.HasPrefix(made.URL, "otpauth://totp/") || !strings.Contains(made.URL, made.Secret) {
		l.t.Fatalf("enroll: %+v", got)
	}
	return &authenticator{l: l, user: user, secret: made.Secret}
}

func (a *authenticator) confirm(session sessionHeaders, code string) adminAnswer {
	a.l.t.Helper()
	got := a.l.send("POST /admin/v1/users/"+a.user+"/totp/confirm", session.write, `{"code":"`+code+`"}`)
	var answer struct {
		Codes []string `json:"recovery_codes"`
	}
	if got.status == 200 {
		must.Succeed(a.l.t, json.Unmarshal([]byte(got.body), &answer))
		a.recovery = answer.Codes
	}
	return got
}

// turnOn gives a user a confirmed second factor.
func (l *accountsFixture) turnOn(user string, session sessionHeaders) *authenticator {
	l.t.Helper()
	a := l.enroll(user, session)
	if got := a.confirm(session, a.code(0)); got.status != 200 || len(a.recovery) != 10 {
		l.t.Fatalf("confirm: %+v", got)
	}
	l.nextStep()
	return a
}

func (l *accountsFixture) logInWithCode(user, password, code string) adminAnswer {
	l.t.Helper()
	return l.send("POST /admin/v1/session", "", fmt.Sprintf(`{"name":%q,"password":%q,"code":%q}`, user, password, code))
}

func TestSignInNeedsCode(t *testing.T) {
	l := openAccounts(t, servertest.Password)
	l.createUser("bob", market.RoleOperator)
	session, other := l.mustLogIn("bob", testPassword), l.mustLogIn("bob", testPassword)
	a := l.enroll("bob", session)
	if got := a.confirm(session, "000000"); !got.has(403, "The code is wrong") {
		t.Errorf("confirm with a wrong code: %+v", got)
	}
	l.mustLogIn("bob", testPassword) // an unconfirmed factor has no effect
	if got := a.confirm(session, a.code(0)); got.status != 200 {
		t.Fatalf("confirm: %+v", got)
	}
	if !l.isAuthenticated(session.read) || l.isAuthenticated(other.read) {
		t.Error("the confirming session must go on, and the others must end")
	}
	if got := l.send("GET /admin/v1/session", session.read, ""); !got.has(200, `"second_factor":"on"`) {
		t.Errorf("session: %+v", got)
	}
	l.nextStep()
	for name, row := range map[string]struct {
		password, code string
		status         int
		text           string
	}{
		"no code":              {testPassword, "", 401, `"error":"second_factor_required"`},
		"a wrong code":         {testPassword, "000000", 401, "is wrong or was used"},
		"two steps early":      {testPassword, a.code(3), 401, "is wrong or was used"},
		"a wrong password":     {otherPassword, a.code(0), 401, `"error":"unauthorized"`},
		"a wrong recovery":     {testPassword, "aaaa-bbbb-cccc", 401, "is wrong or was used"},
		"the enrollment's own": {testPassword, a.code(-1), 401, "is wrong or was used"},
	} {
		if got := l.logInWithCode("bob", row.password, row.code); !got.has(row.status, row.text) {
			t.Errorf("%s: %+v", name, got)
		}
	}
	for range 12 { // the page sends the password, and then asks for the code: no failed login
		if got := l.logInWithCode("bob", testPassword, ""); !got.has(401, `"error":"second_factor_required"`) {
			t.Errorf("no code: %+v", got)
		}
	}
	if got := l.logInWithCode("bob", testPassword, a.code(0)); got.status != 200 {
		t.Errorf("the right code: %+v", got)
	}
	if got := l.send("GET /admin/v1/users", servertest.BasicAuth, ""); !got.has(200, `"totp":true`) {
		t.Errorf("users: %+v", got)
	}
}

// A login that has found no second factor starts no session if one is confirmed before the session is
// added. Its own login with a code works.
func TestLoginDuringConfirmationStartsNoSession(t *testing.T) {
	var duringLogin atomic.Pointer[func()] // runs once, between the login's checks and its session
	l := openAccountsWith(t, servertest.Password, func(l *accountsFixture) {
		l.admin.sessions.now = func() time.Time {
			if run := duringLogin.Swap(nil); run != nil {
				(*run)()
			}
			return l.now()
		}
	})
	l.createUser("bob", market.RoleOperator)
	session := l.mustLogIn("bob", testPassword)
	a := l.enroll("bob", session)
	confirm := func() {
		if got := a.confirm(session, a.code(0)); got.status != 200 {
			t.Errorf("confirm: %+v", got)
		}
	}
	duringLogin.Store(&confirm)
	if got, late := l.logIn("bob", testPassword); !got.has(401, `"error":"second_factor_required"`) || l.isAuthenticated(late.read) {
		t.Errorf("the login during the confirmation: %+v", got)
	}
	if a.recovery == nil {
		t.Fatal("the confirmation did not run during the login")
	}
	l.nextStep()
	if got := l.logInWithCode("bob", testPassword, a.code(0)); got.status != 200 {
		t.Errorf("a login with a code: %+v", got)
	}
}

// A code works once, and so does each recovery code. A code of an earlier step does not work after a
// later one.
func TestCodesWorkOnce(t *testing.T) {
	l := openAccounts(t, servertest.Password)
	l.createUser("bob", market.RoleOperator)
	a := l.turnOn("bob", l.mustLogIn("bob", testPassword))
	late := a.code(0)
	l.nextStep()
	next := a.code(1)
	if got := l.logInWithCode("bob", testPassword, next); got.status != 200 {
		t.Errorf("the next step's code: %+v", got)
	}
	for name, code := range map[string]string{"again": next, "an earlier one": late} {
		if got := l.logInWithCode("bob", testPassword, code); !got.has(401, "was used already") {
			t.Errorf("%s: %+v", name, got)
		}
	}
	for i := range 2 {
		got := l.logInWithCode("bob", testPassword, strings.ToUpper(strings.ReplaceAll(a.recovery[3], "-", " ")))
		if want := []int{200, 401}[i]; got.status != want {
			t.Errorf("a recovery code, attempt %d: %+v", i, got)
		}
	}
	if factor, _ := l.engine.State().SecondFactorEvenIfUnconfirmed("bob"); len(factor.Recovery) != 9 {
		t.Errorf("%d recovery codes are left, want 9", len(factor.Recovery))
	}
	if l.logContains(a.recovery[0]) || l.logContains(strings.ReplaceAll(a.recovery[0], "-", "")) {
		t.Error("the log contains a recovery code")
	}
}

// Wrong codes with the right password are limited, also below the limit of failed logins.
func TestGuessedCodesAreLimited(t *testing.T) {
	l := openAccounts(t, servertest.Password)
	l.createUser("bob", market.RoleOperator)
	a := l.turnOn("bob", l.mustLogIn("bob", testPassword))
	limited := 0
	for i := range 15 {
		l.admin.sessions.byNetwork = newSessionStore(nil).byNetwork // as from another network each time
		if got := l.logInWithCode("bob", testPassword, fmt.Sprintf("%06d", i)); got.status == 429 {
			limited++
		}
	}
	if limited < 4 {
		t.Errorf("%d of 15 guesses were limited, want at least 4", limited)
	}
	l.admin.sessions.byNetwork = newSessionStore(nil).byNetwork
	if got := l.logInWithCode("bob", testPassword, a.code(0)); got.status != 429 {
		t.Errorf("the right code over the limit: %+v", got)
	}
}

// HTTP Basic has no place for a code, so an account's password does not work there, not even one that
// was verified before.
func TestBasicIsRefusedWithSecondFactor(t *testing.T) {
	l := openAccounts(t, servertest.Password)
	l.createUser("bob", market.RoleOperator)
	session := l.mustLogIn("bob", testPassword)
	made := l.send("POST /admin/v1/api-tokens", session.write, `{"name":"t"}`)
	basic := basicAuth("bob", testPassword)
	if !l.isAuthenticated(basic) {
		t.Fatal("HTTP Basic without a second factor is refused")
	}
	l.turnOn("bob", session)
	if got := l.send("GET /admin/v1/session", basic, ""); !got.has(401, "Use an API token") || !strings.Contains(got.body, "second_factor_required") {
		t.Errorf("HTTP Basic: %+v", got)
	}
	if got := l.send("GET /admin/v1/session", basicAuth("bob", otherPassword), ""); !got.has(401, `"unauthorized"`) {
		t.Errorf("HTTP Basic with a wrong password: %+v", got)
	}
	_, after, _ := strings.Cut(made.body, `"token":"`)
	token, _, _ := strings.Cut(after, `"`)
	if !l.isAuthenticated("Authorization: Bearer " + token + "\r\n") {
		t.Error("the API token is refused")
	}
	if got := l.send("DELETE /admin/v1/users/bob/totp", "Authorization: Bearer "+token+"\r\n", ""); !got.has(403, "API token") {
		t.Errorf("an API token removes the factor: %+v", got)
	}
}

func TestRemoveSecondFactor(t *testing.T) {
	l := openAccounts(t, servertest.Password)
	l.createUser("bob", market.RoleOperator)
	l.createUser("eve", market.RoleOperator)
	l.createUser("ada", market.RoleAdmin)
	bob, eve, ada := l.mustLogIn("bob", testPassword), l.mustLogIn("eve", testPassword), l.mustLogIn("ada", testPassword)
	a := l.turnOn("bob", bob)
	own := l.turnOn("ada", ada)
	for _, row := range []struct {
		name, user, headers, body string
		status                    int
	}{
		{"another operator", "bob", eve.write, `{"code":"` + a.code(0) + `"}`, 403},
		{"the user without a code", "bob", bob.write, "", 403},
		{"the user with a wrong code", "bob", bob.write, `{"code":"000000"}`, 403},
		{"an admin's own without a code", "ada", ada.write, "", 403},
		{"an unknown user", "carl", ada.write, "", 404},
		{"the user", "bob", bob.write, `{"code":"` + a.code(0) + `"}`, 204},
		{"again", "bob", bob.write, "", 204},
		{"an admin's own", "ada", ada.write, `{"code":"` + own.code(0) + `"}`, 204},
	} {
		if got := l.send("DELETE /admin/v1/users/"+row.user+"/totp", row.headers, row.body); got.status != row.status {
			t.Errorf("%s: %+v", row.name, got)
		}
	}
	l.turnOn("eve", eve)
	if got := l.send("DELETE /admin/v1/users/eve/totp", ada.write, ""); got.status != 204 {
		t.Errorf("an admin removes it: %+v", got)
	}
	l.mustLogIn("eve", testPassword)
	if got := l.send("POST /admin/v1/users/eve/totp", ada.write, ""); got.status != 403 {
		t.Errorf("an admin enrolls another user: %+v", got)
	}
}

// With require_totp, an account without a second factor can only turn one on.
func TestRequiredSecondFactor(t *testing.T) {
	l := openAccountsWith(t, servertest.Password, func(l *accountsFixture) { l.admin.SetSignIn(true, nil) })
	l.createUser("bob", market.RoleAdmin)
	session := l.mustLogIn("bob", testPassword)
	if got := l.send("GET /admin/v1/session/methods", "", ""); !got.has(200, `{"password":true,"require_totp":true,"oidc":null}`) {
		t.Errorf("methods: %+v", got)
	}
	if got := l.send("GET /admin/v1/session", session.read, ""); !got.has(200, `"second_factor":"required"`) {
		t.Errorf("session: %+v", got)
	}
	for _, line := range []string{"GET /admin/v1/users", "POST /admin/v1/api-tokens", "PUT /admin/v1/config", "PUT /admin/v1/users/eve", "GET /debug/pprof/heap"} {
		for _, headers := range []string{session.write, basicAuth("bob", testPassword)} {
			if got := l.send(line, headers, "{}"); !got.has(403, `"error":"enrollment_required"`) {
				t.Errorf("%s: %+v", line, got)
			}
		}
	}
	l.turnOn("bob", session)
	if got := l.send("GET /admin/v1/users", session.read, ""); got.status != 200 {
		t.Errorf("after the enrollment: %+v", got)
	}
	if got := l.send("GET /admin/v1/users", servertest.BasicAuth, ""); got.status != 200 {
		t.Errorf("the configured password: %+v", got)
	}
}
