package admin

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/netip"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"pingpost/engine"
	"pingpost/engine/event"
	"pingpost/engine/market"
	"pingpost/engine/state"
	"pingpost/internal/must"
	"pingpost/keys/token"
	"pingpost/server/metrics"
	"pingpost/server/ratelimit"
	"pingpost/server/servertest"
)

// Seal and Unseal bind a value to its name, as the exchange's key does.
func (l *accountsFixture) Seal(name, value string) []byte { return []byte(name + "|" + value) }

func (l *accountsFixture) Unseal(name string, sealed []byte) (string, bool) {
	return strings.CutPrefix(string(sealed), name+"|")
}

// accountsFixture is an admin server over an engine, for tests that create accounts.
type accountsFixture struct {
	stubOperator
	t          *testing.T
	log        *servertest.MemoryLog
	admin      *Admin
	address    string
	clockAhead atomic.Int64 // added to the clocks of the sessions and of the exchange
}

// now is the clock of the sessions and codes.
func (l *accountsFixture) now() time.Time { return time.Now().Add(time.Duration(l.clockAhead.Load())) }

// Now is the exchange's clock.
func (l *accountsFixture) Now() int64 { return l.now().UnixNano() }

func openAccounts(t *testing.T, password string) *accountsFixture {
	t.Helper()
	return openAccountsWith(t, password, nil)
}

// openAccountsWith calls prepare before the server serves, unless it is nil.
func openAccountsWith(t *testing.T, password string, prepare func(*accountsFixture)) *accountsFixture {
	t.Helper()
	d := servertest.NewEngineFixture(t)
	l := &accountsFixture{stubOperator: stubOperator{engine: d.Engine, tokens: token.New([32]byte{7})}, t: t, log: d.Log}
	l.admin = New(l, metrics.NewMeter(func(what string, err error) { t.Errorf("%s: %v", what, err) }), password, slog.New(slog.DiscardHandler))
	l.admin.sessions.now = l.now
	if prepare != nil {
		prepare(l)
	}
	l.address = servertest.StartServer(t, l.admin.Serve, l.admin.Shutdown)
	return l
}

// adminAnswer is an HTTP answer of the admin API.
type adminAnswer struct {
	status int
	header http.Header
	body   string
}

func (r adminAnswer) has(status int, text string) bool {
	return r.status == status && strings.Contains(r.body, text)
}

// send sends one request over a new connection.
func (l *accountsFixture) send(line, headers, body string) (r adminAnswer) {
	l.t.Helper()
	k := servertest.Dial(l.t, l.address)
	r.status, r.header, r.body = k.Send(servertest.FormatRequest(line, headers, body))
	k.Close()
	return r
}

const (
	testPassword  = "correct horse battery"
	otherPassword = "quite another staple"
)

// createUser creates a user with the configured password as credential.
func (l *accountsFixture) createUser(name string, role market.OperatorRole) {
	l.t.Helper()
	if got := l.send("PUT /admin/v1/users/"+name, servertest.BasicAuth, fmt.Sprintf(`{"role":%q,"password":%q}`, role, testPassword)); got.status != 201 {
		l.t.Fatalf("%s: %+v", name, got)
	}
}

// sessionHeaders are the headers of a browser's session: for reading, and with the CSRF
// token for changes.
type sessionHeaders struct{ read, write string }

func (l *accountsFixture) logIn(name, password string) (r adminAnswer, p sessionHeaders) {
	l.t.Helper()
	given, _ := json.Marshal(map[string]string{"name": name, "password": password})
	r = l.send("POST /admin/v1/session", "", string(given))
	var body struct{ CSRF string }
	if r.status == 200 {
		must.Succeed(l.t, json.Unmarshal([]byte(r.body), &body))
	}
	value, _, _ := strings.Cut(r.header.Get("Set-Cookie"), ";")
	p.read = "Cookie: " + value + "\r\n"
	p.write = p.read + "X-CSRF-Token: " + body.CSRF + "\r\n"
	return r, p
}

func (l *accountsFixture) mustLogIn(name, password string) sessionHeaders {
	l.t.Helper()
	r, p := l.logIn(name, password)
	if r.status != 200 {
		l.t.Fatalf("%s cannot log in: %+v", name, r)
	}
	return p
}

// isAuthenticated reports whether the headers authenticate a caller.
func (l *accountsFixture) isAuthenticated(headers string) bool {
	l.t.Helper()
	return l.send("GET /admin/v1/session", headers, "").status == 200
}

// The test follows a session from login to logout.
func TestSessionFromLoginToLogout(t *testing.T) {
	l := openAccounts(t, servertest.Password)
	l.createUser("bob@x.example", market.RoleOperator)
	r, bob := l.logIn("Bob@X.example", testPassword)
	if !r.has(200, `{"name":"bob@x.example","role":"operator","csrf":"`) && !r.has(200, `{"name":"bob@x.example","role":"operator","by":"session","csrf":"`) {
		t.Errorf("%+v", r)
	}
	cookie := strings.ToLower(r.header.Get("Set-Cookie"))
	for _, want := range []string{"__host-pingpost=", "; path=/", "; httponly", "; secure", "; samesite=strict", "; max-age=604800"} {
		if !strings.Contains(cookie, want) {
			t.Errorf("the cookie %q lacks %s", cookie, want)
		}
	}
	if strings.Contains(cookie, "domain") || r.header.Get("Cache-Control") != "no-store" {
		t.Errorf("%v", r.header)
	}
	if got := l.send("GET /admin/v1/session", bob.read, ""); !got.has(200, `"name":"bob@x.example","role":"operator","by":"session","csrf":"`) || !strings.Contains(got.body, `"expires_at":"2`) {
		t.Errorf("%+v", got)
	}
	if got := l.send("GET /admin/v1/session", servertest.BasicAuth, ""); !got.has(200, `{"name":"op","role":"admin","by":"password","expires_at":null,"method":"shared_password","second_factor":null}`) {
		t.Errorf("%+v", got)
	}
	if got := l.send("DELETE /admin/v1/session", bob.read, ""); !got.has(403, "X-CSRF-Token") || !l.isAuthenticated(bob.read) {
		t.Errorf("logout without CSRF token: got %+v, want 403", got)
	}
	if got := l.send("DELETE /admin/v1/session", bob.write, ""); got.status != 204 || l.isAuthenticated(bob.read) {
		t.Errorf("logout: got %+v, want 204 and no session", got)
	}
	r, page := l.logIn("Someone", servertest.Password)
	if !r.has(200, `"name":"someone","role":"admin"`) || !l.isAuthenticated(page.read) {
		t.Errorf("login with the configured password: got %+v", r)
	}
	if got := l.send("GET /admin/v1/users", page.read, ""); !got.has(200, `{"users":[{"name":"bob@x.example","role":"operator","created_at":"2`) || strings.Contains(got.body, `"last_seen":null`) || strings.Contains(got.body, "argon") {
		t.Errorf("%+v", got)
	}
	if r, _ := l.logIn("bob@x.example", servertest.Password); r.status != 401 {
		t.Errorf("the configured password for a user: got %+v, want 401", r)
	}
}

// All wrong logins get the same answer.
func TestWrongLoginsGetEqualAnswers(t *testing.T) {
	l := openAccounts(t, servertest.Password)
	l.createUser("bob", market.RoleViewer)
	var bodies []string
	for _, row := range [][2]string{
		{"bob", "wrong"}, {"none", "wrong"}, {"none", testPassword}, {"", ""}, {"b\x00b", "wrong"}, {strings.Repeat("x", 500), "wrong"}, {"bob", strings.Repeat("x", 2000)}, {"../bob", testPassword},
	} {
		r, _ := l.logIn(row[0], row[1])
		if r.status != 401 || r.header.Get("Set-Cookie") != "" {
			t.Errorf("%.10q: %+v", row, r)
		}
		body, _, _ := strings.Cut(r.body, "request_id")
		bodies = append(bodies, body)
	}
	for _, body := range bodies {
		if body != bodies[0] {
			t.Errorf("wrong logins get different answers: %s and %s", body, bodies[0])
		}
	}
	for body, want := range map[string]int{"": 400, "[]": 400, "null": 400, `{"name":1}`: 422, `{"name":"bob"}`: 401, strings.Repeat("x", 9<<10): 413} {
		if r := l.send("POST /admin/v1/session", "", body); r.status != want {
			t.Errorf("%.20q: %d, want %d", body, r.status, want)
		}
	}
	if r := l.send("POST /admin/v1/session", "", `{"name":"bob","password":"`+strings.Repeat("x", 1<<20)+`"}`); r.status != 413 {
		t.Errorf("password of 1 MiB: got %+v, want 413", r)
	}
	for _, header := range []string{"Origin: http://evil.example\r\n", "Sec-Fetch-Site: cross-site\r\n"} {
		if r := l.send("POST /admin/v1/session", header, `{"name":"bob","password":"`+testPassword+`"}`); r.status != 403 || r.header.Get("Set-Cookie") != "" {
			t.Errorf("%s: %+v", header, r)
		}
	}
	locked := openAccounts(t, "")
	if r, _ := locked.logIn("none", ""); r.status != 401 {
		t.Errorf("empty password without a configured one: got %+v, want 401", r)
	}
}

// Idleness, age, removal of the user, a new password and a new role end the user's
// sessions, and no others.
func TestEventsThatEndSessions(t *testing.T) {
	l := openAccounts(t, servertest.Password)
	hour := int64(time.Hour)
	for name, row := range map[string]struct {
		end       func(bob, carl sessionHeaders)
		keepsCarl bool
	}{
		"new password": {func(bob, _ sessionHeaders) {
			if r := l.send("PUT /admin/v1/users/bob/password", bob.write, `{"old":"`+testPassword+`","new":"`+otherPassword+`"}`); r.status != 204 {
				t.Errorf("%+v", r)
			}
		}, true},
		"new password by an admin": {func(_, carl sessionHeaders) {
			if r := l.send("PUT /admin/v1/users/bob/password", carl.write, `{"new":"`+otherPassword+`"}`); r.status != 204 {
				t.Errorf("%+v", r)
			}
		}, true},
		"new role": {func(_, carl sessionHeaders) {
			if r := l.send("PUT /admin/v1/users/bob", carl.write, `{"role":"viewer"}`); r.status != 200 {
				t.Errorf("%+v", r)
			}
		}, true},
		"removed by the engine": {func(sessionHeaders, sessionHeaders) {
			if err := l.engine.AsOperator("").RemoveUser("bob", false); err != nil {
				t.Error(err)
			}
		}, true},
		"new role by the engine": {func(sessionHeaders, sessionHeaders) {
			if _, err := l.engine.AsOperator("").CreateOrChangeUser(engine.NewOrChangedUser{Name: "bob", Role: market.RoleAdmin}, false); err != nil {
				t.Error(err)
			}
		}, true},
		"removed and created again": {func(_, carl sessionHeaders) {
			if r := l.send("DELETE /admin/v1/users/bob", carl.write, ""); r.status != 204 {
				t.Errorf("%+v", r)
			}
			l.createUser("bob", market.RoleOperator)
		}, true},
		"idle": {func(_, carl sessionHeaders) {
			l.clockAhead.Add(7 * hour)
			l.isAuthenticated(carl.read)
			l.clockAhead.Add(5 * hour)
		}, true},
		"old": {func(bob, _ sessionHeaders) {
			for range 15 {
				l.isAuthenticated(bob.read)
				l.clockAhead.Add(11*hour + hour/5)
			}
			l.isAuthenticated(bob.read)
		}, false},
	} {
		l.createUser("bob", market.RoleOperator)
		l.createUser("carl", market.RoleAdmin)
		bob, carl := l.mustLogIn("bob", testPassword), l.mustLogIn("carl", testPassword)
		if !l.isAuthenticated(bob.read) || !l.isAuthenticated(carl.read) {
			t.Fatalf("%s: the users have no sessions", name)
		}
		row.end(bob, carl)
		if l.isAuthenticated(bob.read) {
			t.Errorf("%s: the session is still valid", name)
		}
		if l.isAuthenticated(carl.read) != row.keepsCarl {
			t.Errorf("%s: the session of another user is valid: %v", name, !row.keepsCarl)
		}
		for _, name := range []string{"bob", "carl"} {
			_ = l.engine.AsOperator("").RemoveUser(name, false)
		}
	}
}

// A request has no effect if its session, token or user ends before the body arrives.
func TestBodyAfterEndOfCredentialHasNoEffect(t *testing.T) {
	l := openAccounts(t, servertest.Password)
	l.createUser("bob", market.RoleAdmin)
	bob := l.mustLogIn("bob", testPassword)
	var token struct{ Token string }
	must.Succeed(t, json.Unmarshal([]byte(l.send("POST /admin/v1/api-tokens", bob.write, `{"name":"sheet"}`).body), &token))
	hash, before := l.tokens.HashOperatorAPIToken([]byte(token.Token)), time.Now().UnixNano()
	var conns []*servertest.RawClientConn
	for _, row := range []struct {
		line, headers string
		accepted      func() bool // the head was authenticated
	}{
		{"POST /admin/v1/api-tokens", bob.write, func() bool { return l.admin.sessions.userLastSeenSinceStart("bob") > before }},
		{"PUT /admin/v1/users/eve", "Authorization: Bearer " + token.Token + "\r\n", func() bool { return l.admin.sessions.tokenLastUsedSinceStart(hash) != 0 }},
	} {
		k := servertest.Dial(t, l.address)
		body := `{"name":"late"` + strings.Repeat(" ", 20<<10) + "}" // the HTTP library reads a short body on its own
		text := strings.TrimSuffix(servertest.FormatRequest(row.line, row.headers, body), "}")
		must.Value(io.WriteString(k, text))(t)
		k.Unchecked.WriteString(text)
		servertest.WaitUntil(t, row.line+" is authenticated", row.accepted)
		conns = append(conns, k)
	}
	if r := l.send("PUT /admin/v1/users/bob/password", servertest.BasicAuth, `{"new":"`+otherPassword+`"}`); r.status != 204 {
		t.Fatalf("%+v", r)
	}
	for i, k := range conns {
		if status, _, answer := k.Send("}"); status != 401 || !strings.Contains(answer, "unauthorized") {
			t.Errorf("request %d: got %d %s, want 401", i, status, answer)
		}
	}
	if all := l.engine.State().APITokensWithExpired(""); len(all) != 0 {
		t.Errorf("%d tokens are valid, want 0", len(all))
	}
}

// An event stream ends with the session of its caller.
func TestLiveStreamEndsWithSession(t *testing.T) {
	l := openAccounts(t, servertest.Password)
	l.admin.live = newLiveOverviewFeed(func() []byte { return numberedEvent(1) })
	l.admin.live.every = time.Millisecond
	l.createUser("bob", market.RoleViewer)
	bob := l.mustLogIn("bob", testPassword)
	k := servertest.Dial(t, l.address)
	must.Value(io.WriteString(k, servertest.FormatRequest("GET /admin/v1/live", bob.read, "")))(t)
	response, err := http.ReadResponse(k.Answer, nil)
	if err != nil || response.StatusCode != http.StatusOK {
		t.Fatal(response, err)
	}
	defer response.Body.Close()
	if _, err := io.CopyN(io.Discard, response.Body, 1000); err != nil {
		t.Errorf("before the logout: %v", err)
	}
	l.send("DELETE /admin/v1/session", bob.write, "")
	if _, err := io.Copy(io.Discard, response.Body); err != nil {
		t.Errorf("after the logout: got %v, want the end of the stream", err)
	}
}

// Invalid cookies are rejected, but neither close the connection nor count as wrong
// credentials.
func TestInvalidCookiesAreRejected(t *testing.T) {
	l := openAccounts(t, servertest.Password)
	l.createUser("bob", market.RoleOperator)
	bob := l.mustLogIn("bob", testPassword)
	value := strings.TrimSuffix(strings.TrimPrefix(bob.read, "Cookie: __Host-pingpost="), "\r\n")
	if len(value) != randomTokenLength {
		t.Fatalf("unexpected session cookie %q", value)
	}
	k := servertest.Dial(t, l.address)
	for _, bad := range []string{"", "x", value[1:], value[:42], value + "A", strings.Repeat("A", randomTokenLength), strings.Repeat("x", 3000), "\"" + value + "\"x", strings.ToLower(value) + ""} {
		status, header, body := k.Send(servertest.FormatRequest("GET /admin/v1/session", "Cookie: __Host-pingpost="+bad+"\r\nX-Requested-With: dashboard\r\n", ""))
		if status != 401 || header.Get("WWW-Authenticate") != "" {
			t.Errorf("%.50q: %d %s", bad, status, body)
		}
	}
	if status, header, _ := k.Send(servertest.FormatRequest("GET /admin/v1/session", "", "")); status != 401 || header.Get("WWW-Authenticate") == "" {
		t.Errorf("without a credential: got %d %v, want 401 with a challenge", status, header)
	}
	if got := l.send("GET /admin/v1/session", "Cookie: a=b; __Host-pingpost="+value+"; c=d\r\n", ""); got.status != 200 {
		t.Errorf("with other cookies: got %+v, want 200", got)
	}
	if got := l.send("GET /admin/v1/session", "Cookie: __Host-pingpost=stale\r\n"+servertest.BasicAuth, ""); !got.has(200, `"by":"password"`) {
		t.Errorf("invalid cookie and valid password: got %+v", got)
	}
	if got := l.send("GET /admin/v1/session", "Cookie: __Host-pingpost="+strings.Repeat("x", 20<<10)+"\r\n", ""); got.status != 431 && got.status != 400 {
		t.Errorf("cookie of 20 KiB: got %+v, want 431 or 400", got)
	}
	servertest.RequireMetrics(t, l.admin.meter, "pingpost_wrong_credentials_total 0")
}

// Browsers send a cookie to all ports of a host, so the cookie's name has the port. The cookie of
// another port is no credential.
func TestSessionCookieHasPort(t *testing.T) {
	l := openAccounts(t, servertest.Password)
	l.createUser("bob", market.RoleOperator)
	send := func(target, host, headers, body string) (int, http.Header) {
		k := servertest.Dial(t, l.address)
		status, header, _ := k.Send(strings.Replace(servertest.FormatRequest(target, headers+"X-Requested-With: dashboard\r\n", body), "Host: x\r\n", "Host: "+host+"\r\n", 1))
		return status, header
	}
	_, header := send("POST /admin/v1/session", "localhost:9091", "", `{"name":"bob","password":"`+testPassword+`"}`)
	cookie, _, _ := strings.Cut(header.Get("Set-Cookie"), ";")
	if !strings.HasPrefix(cookie, "__Host-pingpost-9091=") {
		t.Fatalf("the cookie is %q, want one with the port", cookie)
	}
	for host, want := range map[string]int{"localhost:9091": 200, "localhost:9092": 401, "localhost": 401} {
		if status, _ := send("GET /admin/v1/session", host, "Cookie: "+cookie+"\r\n", ""); status != want {
			t.Errorf("at %s: got %d, want %d", host, status, want)
		}
	}
}

// A changing request with the cookie but without the CSRF token has no effect.
func TestRequestWithoutCSRFTokenHasNoEffect(t *testing.T) {
	l := openAccounts(t, servertest.Password)
	l.createUser("bob", market.RoleAdmin)
	bob, other := l.mustLogIn("bob", testPassword), l.mustLogIn("bob", testPassword)
	put := func(headers string) adminAnswer {
		return l.send("PUT /admin/v1/users/eve", headers, `{"role":"admin","password":"`+testPassword+`"}`)
	}
	for name, headers := range map[string]string{
		"no token":                   bob.read,
		"an empty token":             bob.read + "X-CSRF-Token: \r\n",
		"token of another session":   bob.read + strings.TrimPrefix(other.write, other.read),
		"a truncated token":          strings.TrimSuffix(bob.write, "\r\n")[:len(bob.write)-3] + "\r\n",
		"from another site":          bob.write + "Sec-Fetch-Site: cross-site\r\n",
		"from another origin":        bob.write + "Origin: https://evil.example\r\n",
		"no token, but the password": bob.read + servertest.BasicAuth,
	} {
		if got := put(headers); got.status != 403 {
			t.Errorf("%s: got %+v", name, got)
		}
	}
	if got := put(bob.write + "Sec-Fetch-Site: same-origin\r\nOrigin: https://x\r\n"); got.status != 201 {
		t.Errorf("from the dashboard: got %+v, want 201", got)
	}
}

// The twenty-first session of a user ends the one that was idle longest.
func TestSessionLimitEndsLongestIdle(t *testing.T) {
	l := openAccounts(t, servertest.Password)
	l.createUser("bob", market.RoleViewer)
	l.createUser("carl", market.RoleViewer)
	carl := l.mustLogIn("carl", testPassword)
	var all []sessionHeaders
	for range maxSessionsOf {
		l.clockAhead.Add(int64(time.Second))
		all = append(all, l.mustLogIn("bob", testPassword))
	}
	l.clockAhead.Add(int64(time.Second))
	l.isAuthenticated(all[0].read) // now the second one is idle longest
	l.mustLogIn("bob", testPassword)
	for i, p := range all {
		if got := l.isAuthenticated(p.read); got != (i != 1) {
			t.Errorf("session %d is valid: %v", i, got)
		}
	}
	if !l.isAuthenticated(carl.read) {
		t.Error("the session of another user ended")
	}
}

// Failed logins are limited per address and per name. Over the limit no password is
// hashed. Successful logins do not count.
func TestFailedLoginLimits(t *testing.T) {
	l := openAccounts(t, servertest.Password)
	// The same limits, refilled so slowly that it does not matter how long the hashing takes.
	l.admin.sessions.byNetwork = ratelimit.NewTokenBuckets[netip.Prefix](time.Hour, l.admin.sessions.byNetwork.Burst())
	l.admin.sessions.byName = ratelimit.NewTokenBuckets[string](time.Hour, l.admin.sessions.byName.Burst())
	l.createUser("bob", market.RoleViewer)
	for range 15 {
		l.mustLogIn("bob", testPassword)
	}
	flood := func(name func(i int) string, headers func(i int) string) (answers []adminAnswer) {
		for i := range 30 {
			body, _ := json.Marshal(map[string]string{"name": name(i), "password": "wrong"})
			answers = append(answers, l.send("POST /admin/v1/session", headers(i), string(body)))
		}
		return answers
	}
	count := func(answers []adminAnswer) (limited int) {
		for _, r := range answers {
			switch {
			case r.status == 429 && r.header.Get("Retry-After") != "" && r.header.Get("Retry-After") != "0":
				limited++
			case r.status != 401:
				t.Errorf("%+v", r)
			}
		}
		return limited
	}
	one := flood(func(i int) string { return fmt.Sprint("u", i) }, func(int) string { return "" })
	if n := count(one); n < 15 || one[9].status != 401 {
		t.Errorf("%d of 30 logins from one address were limited", n)
	}
	if r, _ := l.logIn("bob", testPassword); r.status != 429 {
		t.Errorf("valid login over the limit: got %+v, want 429", r)
	}
	l.admin.SetTrustedProxies([]netip.Prefix{servertest.ParseNetwork("127.0.0.1/32")})
	many := flood(func(int) string { return "bob" }, func(i int) string { return fmt.Sprintf("X-Forwarded-For: 192.0.2.%d\r\n", i) })
	if n := count(many); n < 5 || many[19].status != 401 {
		t.Errorf("%d of 30 logins for one name were limited", n)
	}
	if r := l.send("POST /admin/v1/session", "X-Forwarded-For: 192.0.2.200\r\n", `{"name":"carl","password":"wrong"}`); r.status != 401 {
		t.Errorf("another name from another address: got %+v, want 401", r)
	}
}

// User names and passwords must follow these rules.
func TestUserNameAndPasswordRules(t *testing.T) {
	l := openAccounts(t, "")
	if err := func() error {
		hash, err := l.admin.sessions.keeper.HashPassword(testPassword)
		if err == nil {
			_, err = l.engine.AsOperator("").CreateOrChangeUser(engine.NewOrChangedUser{Name: "root", Role: market.RoleAdmin, Password: hash}, true)
		}
		return err
	}(); err != nil {
		t.Fatal(err)
	}
	root := l.mustLogIn("root", testPassword)
	for path, want := range map[string]string{
		"anna": `"name":"anna"`, "Carl": `"name":"carl"`, "d.e-f_g%2Bh@x.example": `"name":"d.e-f_g+h@x.example"`, strings.Repeat("x", 64): `"created_at"`,
		strings.Repeat("x", 65): "", "%00": "", "a%20b": "", "a%2Fb": "", "a:b": "", "%C3%A4": "", "a%0d%0ab": "", ".a": "", "a-": "", "%3Cscript%3E": "", "%E2%84%AA": "",
	} {
		got := l.send("PUT /admin/v1/users/"+path, root.write, `{"role":"viewer","password":"`+testPassword+`"}`)
		if want != "" && !got.has(201, want) || want == "" && !got.has(422, `"field":"name"`) {
			t.Errorf("%s: %+v", path, got)
		}
	}
	for body, want := range map[string]string{
		`{"role":"viewer"}`:                                                `"field":"password"`,
		`{"role":"viewer","password":"elevenchars"}`:                       `"field":"password","code":"out_of_range"`,
		`{"role":"viewer","password":"ääääääääää1"}`:                       `"field":"password","code":"out_of_range"`,
		`{"role":"root","password":"twelve chars"}`:                        `"field":"role"`,
		`{"role":"viewer","password":"` + strings.Repeat("x", 1025) + `"}`: `"field":"password","code":"too_long"`,
	} {
		if got := l.send("PUT /admin/v1/users/new", root.write, body); !got.has(422, want) {
			t.Errorf("%.60s: %+v", body, got)
		}
	}
	for line, row := range map[string]struct {
		body string
		want int
	}{
		"PUT /admin/v1/users/root":           {`{"role":"viewer"}`, 409},
		"DELETE /admin/v1/users/root":        {"", 409},
		"DELETE /admin/v1/users/none":        {"", 404},
		"DELETE /admin/v1/users/%00":         {"", 404},
		"PUT /admin/v1/users/none/password":  {`{"new":"` + otherPassword + `"}`, 404},
		"PUT /admin/v1/users/anna/password":  {`{"new":"short"}`, 422},
		"PUT /admin/v1/users/root/password":  {`{"new":"` + otherPassword + `"}`, 422},
		"PUT /admin/v1/users/root/password ": {`{"old":"wrong","new":"` + otherPassword + `"}`, 403},
	} {
		if got := l.send(strings.TrimSpace(line), root.write, row.body); got.status != row.want {
			t.Errorf("%s: %+v, want %d", line, got, row.want)
		}
	}
	if got := l.send("PUT /admin/v1/users/anna", root.write, `{"role":"viewer"}`); got.status != 200 {
		t.Errorf("%+v", got)
	}
}

// The test follows API tokens from creation to their end.
func TestAPITokenLifecycle(t *testing.T) {
	l := openAccounts(t, servertest.Password)
	l.createUser("bob", market.RoleOperator)
	l.createUser("carl", market.RoleViewer)
	bob, carl := l.mustLogIn("bob", testPassword), l.mustLogIn("carl", testPassword)
	createToken := func(p sessionHeaders, body string) (bearer, id string) {
		t.Helper()
		r := l.send("POST /admin/v1/api-tokens", p.write, body)
		var token struct{ Token, ID string }
		if err := json.Unmarshal([]byte(r.body), &token); err != nil || r.status != 201 || !strings.HasPrefix(token.Token, "ppa_") {
			t.Fatalf("%s: %+v", body, r)
		}
		return "Authorization: Bearer " + token.Token + "\r\n", token.ID
	}
	operatorToken, id := createToken(bob, `{"name":"sheet"}`)
	viewerToken, _ := createToken(bob, `{"name":"less","role":"viewer","expires_in":"30d"}`)
	carlsToken, carlsID := createToken(carl, `{"name":"carl's"}`)
	if got := l.send("GET /admin/v1/session", operatorToken, ""); !got.has(200, `{"name":"bob","role":"operator","by":"token","expires_at":null,"method":"api_token","second_factor":"off"}`) {
		t.Errorf("%+v", got)
	}
	if got := l.send("GET /admin/v1/session", viewerToken, ""); !got.has(200, `{"name":"bob","role":"viewer","by":"token","expires_at":"2`) {
		t.Errorf("%+v", got)
	}
	if got := l.send("GET /admin/v1/api-tokens", bob.read, ""); strings.Count(got.body, `"id"`) != 2 || strings.Contains(got.body, `"last_used":null`) || strings.Contains(got.body, "carl") || strings.Contains(got.body, operatorToken[22:40]) {
		t.Errorf("bob's tokens: got %+v, want 2", got)
	}
	if got := l.send("GET /admin/v1/api-tokens", servertest.BasicAuth, ""); strings.Count(got.body, `"id"`) != 3 {
		t.Errorf("all tokens: got %+v, want 3", got)
	}
	for name, row := range map[string]struct {
		headers, body string
		want          int
	}{
		"a role above the user's":      {carl.write, `{"name":"x","role":"operator"}`, 403},
		"with the configured password": {servertest.BasicAuth, `{"name":"x"}`, 409},
		"with a token":                 {operatorToken, `{"name":"x"}`, 403},
		"no name":                      {bob.write, `{}`, 422},
		"an invalid name":              {bob.write, `{"name":"a\nb"}`, 422},
		"an unknown role":              {bob.write, `{"name":"x","role":"root"}`, 422},
		"a lifetime in hours":          {bob.write, `{"name":"x","expires_in":"1h"}`, 422},
		"a lifetime of 0 days":         {bob.write, `{"name":"x","expires_in":"0d"}`, 422},
		"a lifetime too long":          {bob.write, `{"name":"x","expires_in":"99999d"}`, 422},
		"a lifetime over 64 bits":      {bob.write, `{"name":"x","expires_in":"99999999999999999999d"}`, 422},
	} {
		if got := l.send("POST /admin/v1/api-tokens", row.headers, row.body); got.status != row.want {
			t.Errorf("%s: got %+v, want %d", name, got, row.want)
		}
	}
	if got := l.send("DELETE /admin/v1/api-tokens/"+carlsID, bob.write, ""); got.status != 404 || !l.isAuthenticated(carlsToken) {
		t.Errorf("revoking another user's token: got %+v, want 404", got)
	}
	if got := l.send("DELETE /admin/v1/api-tokens/"+id, viewerToken, ""); got.status != 403 || !l.isAuthenticated(operatorToken) {
		t.Errorf("revoking a token of a higher role: got %+v, want 403", got)
	}
	if got := l.send("DELETE /admin/v1/api-tokens/"+id, operatorToken, ""); got.status != 204 || l.isAuthenticated(operatorToken) || !l.isAuthenticated(viewerToken) {
		t.Errorf("a token revoking itself: got %+v, want 204", got)
	}
	expired := "ppa_expired"
	user, _ := l.engine.State().OperatorUser("bob")
	must.Succeed(t, l.engine.AsOperator("").AddAPIToken(user, &state.APIToken{User: user.Name, Role: market.RoleViewer, Hash: l.tokens.HashOperatorAPIToken([]byte(expired)), Expires: 1}))
	for name, value := range map[string]string{
		"expired": expired, "revoked": strings.TrimSpace(operatorToken[22:]), "cut": strings.TrimSpace(viewerToken[22:])[:20], "made up": "ppa_" + strings.Repeat("0", 48),
		"none": "", "a supplier's kind": "ppt_x", "long": "ppa_" + strings.Repeat("x", 3000), "not one": "\x7f",
	} {
		k := servertest.Dial(t, l.address)
		if status, _, body := k.Send(servertest.FormatRequest("GET /admin/v1/session", "Authorization: Bearer "+value+"\r\n", "")); status != 401 && status != 429 && status != 400 {
			t.Errorf("%s: got %d %s", name, status, body)
		}
		k.Close()
	}
	if got := l.send("PUT /admin/v1/users/bob/password", servertest.BasicAuth, `{"new":"`+otherPassword+`"}`); got.status != 204 || l.isAuthenticated(viewerToken) || !l.isAuthenticated(carlsToken) {
		t.Errorf("new password of bob: got %+v, want no token of bob left", got)
	}
	if got := l.send("DELETE /admin/v1/users/carl", servertest.BasicAuth, ""); got.status != 204 || l.isAuthenticated(carlsToken) {
		t.Errorf("removal of carl: got %+v, want no token of carl left", got)
	}
}

// Events name the operator, for each kind of credential.
func TestEventsNameOperator(t *testing.T) {
	l := openAccounts(t, servertest.Password)
	l.createUser("bob", market.RoleOperator)
	bob := l.mustLogIn("bob", testPassword)
	var token struct{ Token string }
	r := l.send("POST /admin/v1/api-tokens", bob.write, `{"name":"x"}`)
	must.Succeed(t, json.Unmarshal([]byte(r.body), &token))
	must.Value(l.engine.AsOperator("").CreateOrChangeUser(engine.NewOrChangedUser{Name: "x", Role: market.RoleViewer, Password: "x"}, false))(t)
	pause := "pause"
	for name, row := range map[string]struct{ headers, want string }{
		"a session": {bob.write, "bob"}, "an account's password": {basicAuth("Bob", testPassword), "bob"}, "a token": {"Authorization: Bearer " + token.Token + "\r\n", "bob"}, "the password with an account's name": {basicAuth("Bob", servertest.Password), "operator"}, "the password": {"Authorization: Basic " + base64.StdEncoding.EncodeToString([]byte("Änne  :"+servertest.Password)) + "\r\n", "Änne"},
	} {
		before, _ := l.engine.State().Position()
		if got := l.send("POST /admin/v1/buyers/buy_blue/"+pause, row.headers, ""); got.status >= 300 {
			t.Errorf("%s: got %+v", name, got)
		}
		for i := range 3 { // the record of the audit log before and after the change
			logged := must.Value(new(event.Decoder).Decode(l.log.EntryAtIndex(int(before) + i)))(t)
			if event.RequestingOperator(logged) != row.want {
				t.Errorf("%s: logged %s", name, event.DescribeAsJSON(logged))
			}
		}
		pause = map[string]string{"pause": "resume", "resume": "pause"}[pause]
	}
}

// Wrong passwords are limited, and the valid password still works.
func TestWrongPasswordLimit(t *testing.T) {
	address := serveAdmin(t, stubOperator{})
	wrong := "Authorization: Basic b3A6d3Jvbmc=\r\n"
	limited := 0
	for range 3 * maxGuesses {
		k := servertest.Dial(t, address)
		status, header, body := k.Send(servertest.FormatRequest("GET /admin/v1/hash", wrong, ""))
		switch {
		case status == 429 && strings.Contains(body, `"rate_limited"`) && header.Get("Retry-After") == "1" && header.Get("WWW-Authenticate") == "":
			limited++
		case status != 401 || header.Get("WWW-Authenticate") == "":
			t.Errorf("%d %v %s", status, header, body)
		}
		if !k.IsClosedOnNextRequest() {
			t.Error("the connection is open after a wrong password")
		}
		k.Close()
		k = servertest.Dial(t, address)
		if status, _, _ := k.Send(servertest.FormatRequest("GET /admin/v1/hash", servertest.BasicAuth, "")); status != 200 {
			t.Errorf("valid password: got %d, want 200", status)
		}
		if status, _, _ := k.Send(servertest.FormatRequest("GET /admin/v1/hash", "", "")); status != 401 {
			t.Errorf("no password: got %d, want 401", status)
		}
		k.Close()
	}
	if limited == 0 {
		t.Error("no wrong password was limited")
	}
}
