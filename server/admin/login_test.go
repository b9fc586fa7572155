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
	"pingpost/server/servertest"
)

// accountsFixture is an admin server over an engine, for tests that create accounts.
type accountsFixture struct {
	stubOperator
	t       *testing.T
	log     *servertest.MemoryLog
	admin   *Admin
	address string
	ahead   atomic.Int64 // that its clock is, for sessions
}

func openAccounts(t *testing.T, password string) *accountsFixture {
	t.Helper()
	d := servertest.OpenEngine(t)
	l := &accountsFixture{stubOperator: stubOperator{engine: d.Engine, tokens: token.New([32]byte{7})}, t: t, log: d.Log}
	l.admin = New(l, metrics.NewMeter(func(what string, err error) { t.Errorf("%s: %v", what, err) }), password, slog.New(slog.DiscardHandler))
	l.admin.sessions.now = func() time.Time { return time.Now().Add(time.Duration(l.ahead.Load())) }
	l.address = servertest.StartServer(t, l.admin.Serve, l.admin.Shutdown)
	return l
}

// answered is an answer.
type answered struct {
	status int
	header http.Header
	body   string
}

func (r answered) has(status int, text string) bool {
	return r.status == status && strings.Contains(r.body, text)
}

// ask sends one request over a new connection.
func (l *accountsFixture) ask(line, headers, body string) (r answered) {
	l.t.Helper()
	k := servertest.Dial(l.t, l.address)
	r.status, r.header, r.body = k.Send(servertest.FormatRequest(line, headers, body))
	k.Close()
	return r
}

const (
	longEnough = "correct horse battery"
	another    = "quite another staple"
)

// hire makes a user, by the configured password.
func (l *accountsFixture) hire(name string, role market.OperatorRole) {
	l.t.Helper()
	if got := l.ask("PUT /admin/v1/users/"+name, servertest.BasicAuth, fmt.Sprintf(`{"role":%q,"password":%q}`, role, longEnough)); got.status != 201 {
		l.t.Fatalf("%s: %+v", name, got)
	}
}

// pass holds the header lines of a browser's session.
type pass struct{ reads, writes string }

func (l *accountsFixture) logIn(name, password string) (r answered, p pass) {
	l.t.Helper()
	given, _ := json.Marshal(map[string]string{"name": name, "password": password})
	r = l.ask("POST /admin/v1/session", "", string(given))
	var body struct{ CSRF string }
	if r.status == 200 {
		must.Succeed(l.t, json.Unmarshal([]byte(r.body), &body))
	}
	value, _, _ := strings.Cut(r.header.Get("Set-Cookie"), ";")
	p.reads = "Cookie: " + value + "\r\n"
	p.writes = p.reads + "X-CSRF-Token: " + body.CSRF + "\r\n"
	return r, p
}

func (l *accountsFixture) in(name, password string) pass {
	l.t.Helper()
	r, p := l.logIn(name, password)
	if r.status != 200 {
		l.t.Fatalf("%s cannot log in: %+v", name, r)
	}
	return p
}

// good reports whether the headers authenticate a caller.
func (l *accountsFixture) good(headers string) bool {
	l.t.Helper()
	return l.ask("GET /admin/v1/session", headers, "").status == 200
}

// TestLogIn follows a session from login to logout.
func TestLogIn(t *testing.T) {
	l := openAccounts(t, servertest.Password)
	l.hire("bob@x.example", market.RoleOperator)
	r, bob := l.logIn("Bob@X.example", longEnough)
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
	if got := l.ask("GET /admin/v1/session", bob.reads, ""); !got.has(200, `"name":"bob@x.example","role":"operator","by":"session","csrf":"`) || !strings.Contains(got.body, `"expires_at":"2`) {
		t.Errorf("%+v", got)
	}
	if got := l.ask("GET /admin/v1/session", servertest.BasicAuth, ""); !got.has(200, `{"name":"op","role":"admin","by":"password","expires_at":null}`) {
		t.Errorf("%+v", got)
	}
	if got := l.ask("DELETE /admin/v1/session", bob.reads, ""); !got.has(403, "X-CSRF-Token") || !l.good(bob.reads) {
		t.Errorf("a forged end: %+v", got)
	}
	if got := l.ask("DELETE /admin/v1/session", bob.writes, ""); got.status != 204 || l.good(bob.reads) {
		t.Errorf("the end: %+v", got)
	}
	r, page := l.logIn("Someone", servertest.Password)
	if !r.has(200, `"name":"someone","role":"admin"`) || !l.good(page.reads) {
		t.Errorf("the configured password: %+v", r)
	}
	if got := l.ask("GET /admin/v1/users", page.reads, ""); !got.has(200, `{"users":[{"name":"bob@x.example","role":"operator","created_at":"2`) || strings.Contains(got.body, `"last_seen":null`) || strings.Contains(got.body, "argon") {
		t.Errorf("%+v", got)
	}
	if r, _ := l.logIn("bob@x.example", servertest.Password); r.status != 401 {
		t.Errorf("the configured password as a user's: %+v", r)
	}
}

// TestLogInRefused checks that all wrong logins get the same answer.
func TestLogInRefused(t *testing.T) {
	l := openAccounts(t, servertest.Password)
	l.hire("bob", market.RoleViewer)
	var bodies []string
	for _, row := range [][2]string{
		{"bob", "wrong"}, {"none", "wrong"}, {"none", longEnough}, {"", ""}, {"b\x00b", "wrong"}, {strings.Repeat("x", 500), "wrong"}, {"bob", strings.Repeat("x", 2000)}, {"../bob", longEnough},
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
			t.Errorf("%s and %s", body, bodies[0])
		}
	}
	for body, want := range map[string]int{"": 400, "[]": 400, "null": 400, `{"name":1}`: 422, `{"name":"bob"}`: 401, strings.Repeat("x", 9<<10): 413} {
		if r := l.ask("POST /admin/v1/session", "", body); r.status != want {
			t.Errorf("%.20q: %d, want %d", body, r.status, want)
		}
	}
	if r := l.ask("POST /admin/v1/session", "", `{"name":"bob","password":"`+strings.Repeat("x", 1<<20)+`"}`); r.status != 413 {
		t.Errorf("a password of 1 MiB: %+v", r)
	}
	for _, header := range []string{"Origin: http://evil.example\r\n", "Sec-Fetch-Site: cross-site\r\n"} {
		if r := l.ask("POST /admin/v1/session", header, `{"name":"bob","password":"`+longEnough+`"}`); r.status != 403 || r.header.Get("Set-Cookie") != "" {
			t.Errorf("%s: %+v", header, r)
		}
	}
	locked := openAccounts(t, "")
	if r, _ := locked.logIn("none", ""); r.status != 401 {
		t.Errorf("no password where none is configured: %+v", r)
	}
}

// TestSessionsEnd checks that idleness, age, removal of the user, a new password and a new
// role end the user's sessions, and no others.
func TestSessionsEnd(t *testing.T) {
	l := openAccounts(t, servertest.Password)
	hour := int64(time.Hour)
	for what, row := range map[string]struct {
		end  func(bob, carl pass)
		carl bool
	}{
		"another password": {func(bob, _ pass) {
			if r := l.ask("PUT /admin/v1/users/bob/password", bob.writes, `{"old":"`+longEnough+`","new":"`+another+`"}`); r.status != 204 {
				t.Errorf("%+v", r)
			}
		}, true},
		"another password by an admin": {func(_, carl pass) {
			if r := l.ask("PUT /admin/v1/users/bob/password", carl.writes, `{"new":"`+another+`"}`); r.status != 204 {
				t.Errorf("%+v", r)
			}
		}, true},
		"another role": {func(_, carl pass) {
			if r := l.ask("PUT /admin/v1/users/bob", carl.writes, `{"role":"viewer"}`); r.status != 200 {
				t.Errorf("%+v", r)
			}
		}, true},
		"the log itself": {func(pass, pass) {
			if err := l.engine.AsOperator("").RemoveUser("bob", false); err != nil {
				t.Error(err)
			}
		}, true},
		"another role, by the log itself": {func(pass, pass) {
			if _, err := l.engine.AsOperator("").CreateOrChangeUser(engine.User{Name: "bob", Role: market.RoleAdmin}, false); err != nil {
				t.Error(err)
			}
		}, true},
		"removed and made again": {func(_, carl pass) {
			if r := l.ask("DELETE /admin/v1/users/bob", carl.writes, ""); r.status != 204 {
				t.Errorf("%+v", r)
			}
			l.hire("bob", market.RoleOperator)
		}, true},
		"idle": {func(_, carl pass) {
			l.ahead.Add(7 * hour)
			l.good(carl.reads)
			l.ahead.Add(5 * hour)
		}, true},
		"old": {func(bob, _ pass) {
			for range 15 {
				l.good(bob.reads)
				l.ahead.Add(11*hour + hour/5)
			}
			l.good(bob.reads)
		}, false},
	} {
		l.hire("bob", market.RoleOperator)
		l.hire("carl", market.RoleAdmin)
		bob, carl := l.in("bob", longEnough), l.in("carl", longEnough)
		if !l.good(bob.reads) || !l.good(carl.reads) {
			t.Fatalf("%s: they are not in", what)
		}
		row.end(bob, carl)
		if l.good(bob.reads) {
			t.Errorf("%s: the session is good still", what)
		}
		if l.good(carl.reads) != row.carl {
			t.Errorf("%s: another's session: good %v", what, !row.carl)
		}
		for _, name := range []string{"bob", "carl"} {
			_ = l.engine.AsOperator("").RemoveUser(name, false)
		}
	}
}

// TestBodiesAreOfWhoIsStillIn checks that a request has no effect if its session, token or
// user ends before the body arrives.
func TestBodiesAreOfWhoIsStillIn(t *testing.T) {
	l := openAccounts(t, servertest.Password)
	l.hire("bob", market.RoleAdmin)
	bob := l.in("bob", longEnough)
	var token struct{ Token string }
	must.Succeed(t, json.Unmarshal([]byte(l.ask("POST /admin/v1/api-tokens", bob.writes, `{"name":"sheet"}`).body), &token))
	hash, before := l.tokens.HashPersonal([]byte(token.Token)), time.Now().UnixNano()
	var late []*servertest.Conn
	for _, row := range []struct {
		line, headers string
		in            func() bool // its head has let it in
	}{
		{"POST /admin/v1/api-tokens", bob.writes, func() bool { return l.admin.sessions.userLastSeen("bob") > before }},
		{"PUT /admin/v1/users/eve", "Authorization: Bearer " + token.Token + "\r\n", func() bool { return l.admin.sessions.tokenLastUsed(hash) != 0 }},
	} {
		k := servertest.Dial(t, l.address)
		body := `{"name":"late"` + strings.Repeat(" ", 20<<10) + "}" // the library reads a short one by itself
		text := strings.TrimSuffix(servertest.FormatRequest(row.line, row.headers, body), "}")
		must.Value(io.WriteString(k, text))(t)
		k.Unchecked.WriteString(text)
		servertest.WaitUntil(t, row.line+" is let in", row.in)
		late = append(late, k)
	}
	if r := l.ask("PUT /admin/v1/users/bob/password", servertest.BasicAuth, `{"new":"`+another+`"}`); r.status != 204 {
		t.Fatalf("%+v", r)
	}
	for i, k := range late {
		if status, _, said := k.Send("}"); status != 401 || !strings.Contains(said, "unauthorized") {
			t.Errorf("%d: %d %s", i, status, said)
		}
	}
	if all := l.engine.State().APITokens(""); len(all) != 0 {
		t.Errorf("%d tokens are good", len(all))
	}
}

// TestLiveEndsWithItsSession checks that an event stream ends with the session of its
// caller.
func TestLiveEndsWithItsSession(t *testing.T) {
	l := openAccounts(t, servertest.Password)
	l.admin.live = newLiveEventFeed(func() []byte { return numbered(1) })
	l.admin.live.every = time.Millisecond
	l.hire("bob", market.RoleViewer)
	bob := l.in("bob", longEnough)
	k := servertest.Dial(t, l.address)
	must.Value(io.WriteString(k, servertest.FormatRequest("GET /admin/v1/live", bob.reads, "")))(t)
	response, err := http.ReadResponse(k.Answer, nil)
	if err != nil || response.StatusCode != http.StatusOK {
		t.Fatal(response, err)
	}
	defer response.Body.Close()
	if _, err := io.CopyN(io.Discard, response.Body, 1000); err != nil {
		t.Errorf("while the session goes on: %v", err)
	}
	l.ask("DELETE /admin/v1/session", bob.writes, "")
	if _, err := io.Copy(io.Discard, response.Body); err != nil {
		t.Errorf("after it: %v", err)
	}
}

// TestBadCookies checks that invalid cookies are rejected, but neither close the connection
// nor count as wrong credentials.
func TestBadCookies(t *testing.T) {
	l := openAccounts(t, servertest.Password)
	l.hire("bob", market.RoleOperator)
	bob := l.in("bob", longEnough)
	value := strings.TrimSuffix(strings.TrimPrefix(bob.reads, "Cookie: __Host-pingpost="), "\r\n")
	if len(value) != randomTokenLength {
		t.Fatalf("%q", value)
	}
	k := servertest.Dial(t, l.address)
	for _, bad := range []string{"", "x", value[1:], value[:42], value + "A", strings.Repeat("A", randomTokenLength), strings.Repeat("x", 3000), "\"" + value + "\"x", strings.ToLower(value) + ""} {
		status, header, body := k.Send(servertest.FormatRequest("GET /admin/v1/session", "Cookie: __Host-pingpost="+bad+"\r\nX-Requested-With: dashboard\r\n", ""))
		if status != 401 || header.Get("WWW-Authenticate") != "" {
			t.Errorf("%.50q: %d %s", bad, status, body)
		}
	}
	if status, header, _ := k.Send(servertest.FormatRequest("GET /admin/v1/session", "", "")); status != 401 || header.Get("WWW-Authenticate") == "" {
		t.Errorf("without anything: %d %v", status, header)
	}
	if got := l.ask("GET /admin/v1/session", "Cookie: a=b; __Host-pingpost="+value+"; c=d\r\n", ""); got.status != 200 {
		t.Errorf("among others: %+v", got)
	}
	if got := l.ask("GET /admin/v1/session", "Cookie: __Host-pingpost=stale\r\n"+servertest.BasicAuth, ""); !got.has(200, `"by":"password"`) {
		t.Errorf("a stale cookie beside the password: %+v", got)
	}
	if got := l.ask("GET /admin/v1/session", "Cookie: __Host-pingpost="+strings.Repeat("x", 20<<10)+"\r\n", ""); got.status != 431 && got.status != 400 {
		t.Errorf("20 KiB of it: %+v", got)
	}
}

// TestForgery checks that a changing request with the cookie but without the CSRF token has
// no effect.
func TestForgery(t *testing.T) {
	l := openAccounts(t, servertest.Password)
	l.hire("bob", market.RoleAdmin)
	bob, other := l.in("bob", longEnough), l.in("bob", longEnough)
	put := func(headers string) answered {
		return l.ask("PUT /admin/v1/users/eve", headers, `{"role":"admin","password":"`+longEnough+`"}`)
	}
	for what, headers := range map[string]string{
		"no token":             bob.reads,
		"an empty token":       bob.reads + "X-CSRF-Token: \r\n",
		"another's token":      bob.reads + strings.TrimPrefix(other.writes, other.reads),
		"a token cut short":    strings.TrimSuffix(bob.writes, "\r\n")[:len(bob.writes)-3] + "\r\n",
		"of another site":      bob.writes + "Sec-Fetch-Site: cross-site\r\n",
		"of another origin":    bob.writes + "Origin: https://evil.example\r\n",
		"the password as well": bob.reads + servertest.BasicAuth,
	} {
		if got := put(headers); got.status != 403 {
			t.Errorf("%s: %+v", what, got)
		}
	}
	if got := put(bob.writes + "Sec-Fetch-Site: same-origin\r\nOrigin: https://x\r\n"); got.status != 201 {
		t.Errorf("by its own page: %+v", got)
	}
}

// TestSessionsAreFew: the twenty-first of a user ends the one that was idle for longest.
func TestSessionsAreFew(t *testing.T) {
	l := openAccounts(t, servertest.Password)
	l.hire("bob", market.RoleViewer)
	l.hire("carl", market.RoleViewer)
	carl := l.in("carl", longEnough)
	var all []pass
	for range maxSessionsOf {
		l.ahead.Add(int64(time.Second))
		all = append(all, l.in("bob", longEnough))
	}
	l.ahead.Add(int64(time.Second))
	l.good(all[0].reads) // the second one is the idlest by that
	l.in("bob", longEnough)
	for i, p := range all {
		if got := l.good(p.reads); got != (i != 1) {
			t.Errorf("session %d: good %v", i, got)
		}
	}
	if !l.good(carl.reads) {
		t.Error("another user's session is gone")
	}
}

// TestLoginFlood checks the limits of failed logins per address and per name. Over the
// limit no password is hashed. Successful logins do not count.
func TestLoginFlood(t *testing.T) {
	l := openAccounts(t, servertest.Password)
	l.hire("bob", market.RoleViewer)
	for range 15 {
		l.in("bob", longEnough)
	}
	flood := func(name func(i int) string, headers func(i int) string) (answers []answered) {
		for i := range 30 {
			body, _ := json.Marshal(map[string]string{"name": name(i), "password": "wrong"})
			answers = append(answers, l.ask("POST /admin/v1/session", headers(i), string(body)))
		}
		return answers
	}
	count := func(answers []answered) (refused int) {
		for _, r := range answers {
			switch {
			case r.status == 429 && r.header.Get("Retry-After") != "" && r.header.Get("Retry-After") != "0":
				refused++
			case r.status != 401:
				t.Errorf("%+v", r)
			}
		}
		return refused
	}
	one := flood(func(i int) string { return fmt.Sprint("u", i) }, func(int) string { return "" })
	if n := count(one); n < 15 || one[9].status != 401 {
		t.Errorf("of one address %d were refused", n)
	}
	if r, _ := l.logIn("bob", longEnough); r.status != 429 {
		t.Errorf("a right one among them: %+v", r)
	}
	l.admin.SetTrustedProxies([]netip.Prefix{servertest.ParseNetwork("127.0.0.1/32")})
	many := flood(func(int) string { return "bob" }, func(i int) string { return fmt.Sprintf("X-Forwarded-For: 192.0.2.%d\r\n", i) })
	if n := count(many); n < 5 || many[19].status != 401 {
		t.Errorf("for one name %d were refused", n)
	}
	if r := l.ask("POST /admin/v1/session", "X-Forwarded-For: 192.0.2.200\r\n", `{"name":"carl","password":"wrong"}`); r.status != 401 {
		t.Errorf("for another name from elsewhere: %+v", r)
	}
}

// TestUsersAreMadeAsAsked checks the rules for user names and passwords.
func TestUsersAreMadeAsAsked(t *testing.T) {
	l := openAccounts(t, "")
	if err := func() error {
		hash, err := l.admin.sessions.keeper.HashPassword(longEnough)
		if err == nil {
			_, err = l.engine.AsOperator("").CreateOrChangeUser(engine.User{Name: "root", Role: market.RoleAdmin, Password: hash}, true)
		}
		return err
	}(); err != nil {
		t.Fatal(err)
	}
	root := l.in("root", longEnough)
	for path, want := range map[string]string{
		"anna": `"name":"anna"`, "Carl": `"name":"carl"`, "d.e-f_g%2Bh@x.example": `"name":"d.e-f_g+h@x.example"`, strings.Repeat("x", 64): `"created_at"`,
		strings.Repeat("x", 65): "", "%00": "", "a%20b": "", "a%2Fb": "", "a:b": "", "%C3%A4": "", "a%0d%0ab": "", ".a": "", "a-": "", "%3Cscript%3E": "", "%E2%84%AA": "",
	} {
		got := l.ask("PUT /admin/v1/users/"+path, root.writes, `{"role":"viewer","password":"`+longEnough+`"}`)
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
		if got := l.ask("PUT /admin/v1/users/new", root.writes, body); !got.has(422, want) {
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
		"PUT /admin/v1/users/none/password":  {`{"new":"` + another + `"}`, 404},
		"PUT /admin/v1/users/anna/password":  {`{"new":"short"}`, 422},
		"PUT /admin/v1/users/root/password":  {`{"new":"` + another + `"}`, 422},
		"PUT /admin/v1/users/root/password ": {`{"old":"wrong","new":"` + another + `"}`, 403},
	} {
		if got := l.ask(strings.TrimSpace(line), root.writes, row.body); got.status != row.want {
			t.Errorf("%s: %+v, want %d", line, got, row.want)
		}
	}
	if got := l.ask("PUT /admin/v1/users/anna", root.writes, `{"role":"viewer"}`); got.status != 200 {
		t.Errorf("%+v", got)
	}
}

// TestAPITokens follows an API token from creation to its end.
func TestAPITokens(t *testing.T) {
	l := openAccounts(t, servertest.Password)
	l.hire("bob", market.RoleOperator)
	l.hire("carl", market.RoleViewer)
	bob, carl := l.in("bob", longEnough), l.in("carl", longEnough)
	made := func(p pass, body string) (bearer, id string) {
		t.Helper()
		r := l.ask("POST /admin/v1/api-tokens", p.writes, body)
		var token struct{ Token, ID string }
		if err := json.Unmarshal([]byte(r.body), &token); err != nil || r.status != 201 || !strings.HasPrefix(token.Token, "ppa_") {
			t.Fatalf("%s: %+v", body, r)
		}
		return "Authorization: Bearer " + token.Token + "\r\n", token.ID
	}
	full, id := made(bob, `{"name":"sheet"}`)
	less, _ := made(bob, `{"name":"less","role":"viewer","expires_in":"30d"}`)
	carls, carlsID := made(carl, `{"name":"carl's"}`)
	if got := l.ask("GET /admin/v1/session", full, ""); !got.has(200, `{"name":"bob","role":"operator","by":"token","expires_at":null}`) {
		t.Errorf("%+v", got)
	}
	if got := l.ask("GET /admin/v1/session", less, ""); !got.has(200, `{"name":"bob","role":"viewer","by":"token","expires_at":"2`) {
		t.Errorf("%+v", got)
	}
	if got := l.ask("GET /admin/v1/api-tokens", bob.reads, ""); strings.Count(got.body, `"id"`) != 2 || strings.Contains(got.body, `"last_used":null`) || strings.Contains(got.body, "carl") || strings.Contains(got.body, full[22:40]) {
		t.Errorf("bob's: %+v", got)
	}
	if got := l.ask("GET /admin/v1/api-tokens", servertest.BasicAuth, ""); strings.Count(got.body, `"id"`) != 3 {
		t.Errorf("all: %+v", got)
	}
	for what, row := range map[string]struct {
		headers, body string
		want          int
	}{
		"above its user":           {carl.writes, `{"name":"x","role":"operator"}`, 403},
		"of nobody":                {servertest.BasicAuth, `{"name":"x"}`, 409},
		"by a token":               {full, `{"name":"x"}`, 403},
		"no name":                  {bob.writes, `{}`, 422},
		"a name that is not one":   {bob.writes, `{"name":"a\nb"}`, 422},
		"a role that is not one":   {bob.writes, `{"name":"x","role":"root"}`, 422},
		"no days":                  {bob.writes, `{"name":"x","expires_in":"1h"}`, 422},
		"no day":                   {bob.writes, `{"name":"x","expires_in":"0d"}`, 422},
		"too many days":            {bob.writes, `{"name":"x","expires_in":"99999d"}`, 422},
		"more days than there are": {bob.writes, `{"name":"x","expires_in":"99999999999999999999d"}`, 422},
	} {
		if got := l.ask("POST /admin/v1/api-tokens", row.headers, row.body); got.status != row.want {
			t.Errorf("%s: %+v, want %d", what, got, row.want)
		}
	}
	if got := l.ask("DELETE /admin/v1/api-tokens/"+carlsID, bob.writes, ""); got.status != 404 || !l.good(carls) {
		t.Errorf("another's: %+v", got)
	}
	if got := l.ask("DELETE /admin/v1/api-tokens/"+id, less, ""); got.status != 403 || !l.good(full) {
		t.Errorf("one that may do more, by one that may do less: %+v", got)
	}
	if got := l.ask("DELETE /admin/v1/api-tokens/"+id, full, ""); got.status != 204 || l.good(full) || !l.good(less) {
		t.Errorf("one's own: %+v", got)
	}
	expired := "ppa_expired"
	user, _ := l.engine.State().OperatorUser("bob")
	must.Succeed(t, l.engine.AsOperator("").AddAPIToken(user, &state.APIToken{User: user.Name, Role: market.RoleViewer, Hash: l.tokens.HashPersonal([]byte(expired)), Expires: 1}))
	for what, value := range map[string]string{
		"expired": expired, "revoked": strings.TrimSpace(full[22:]), "cut": strings.TrimSpace(less[22:])[:20], "made up": "ppa_" + strings.Repeat("0", 48),
		"none": "", "a supplier's kind": "ppt_x", "long": "ppa_" + strings.Repeat("x", 3000), "not one": "\x7f",
	} {
		k := servertest.Dial(t, l.address)
		if status, _, body := k.Send(servertest.FormatRequest("GET /admin/v1/session", "Authorization: Bearer "+value+"\r\n", "")); status != 401 && status != 429 && status != 400 {
			t.Errorf("%s: %d %s", what, status, body)
		}
		k.Close()
	}
	if got := l.ask("PUT /admin/v1/users/bob/password", servertest.BasicAuth, `{"new":"`+another+`"}`); got.status != 204 || l.good(less) || !l.good(carls) {
		t.Errorf("another password: %+v", got)
	}
	if got := l.ask("DELETE /admin/v1/users/carl", servertest.BasicAuth, ""); got.status != 204 || l.good(carls) {
		t.Errorf("the user's end: %+v", got)
	}
}

// TestActorsAreInFacts checks that events name the operator, whatever the credential.
func TestActorsAreInFacts(t *testing.T) {
	l := openAccounts(t, servertest.Password)
	l.hire("bob", market.RoleOperator)
	bob := l.in("bob", longEnough)
	var token struct{ Token string }
	r := l.ask("POST /admin/v1/api-tokens", bob.writes, `{"name":"x"}`)
	must.Succeed(t, json.Unmarshal([]byte(r.body), &token))
	must.Value(l.engine.AsOperator("").CreateOrChangeUser(engine.User{Name: "x", Role: market.RoleViewer, Password: "x"}, false))(t)
	pause := "pause"
	for what, row := range map[string]struct{ headers, want string }{
		"a session": {bob.writes, "bob"}, "an account's password": {asUser("Bob", longEnough), "bob"}, "a token": {"Authorization: Bearer " + token.Token + "\r\n", "bob"}, "the password with an account's name": {asUser("Bob", servertest.Password), "operator"}, "the password": {"Authorization: Basic " + base64.StdEncoding.EncodeToString([]byte("Änne  :"+servertest.Password)) + "\r\n", "Änne"},
	} {
		before, _ := l.engine.State().Position()
		if got := l.ask("POST /admin/v1/buyers/buy_blue/"+pause, row.headers, ""); got.status >= 300 {
			t.Errorf("%s: %+v", what, got)
		}
		fact := must.Value(new(event.Decoder).Decode(l.log.Entry(int(before))))(t)
		if event.RequestingOperator(fact) != row.want {
			t.Errorf("%s: %s", what, event.DescribeAsJSON(fact))
		}
		pause = map[string]string{"pause": "resume", "resume": "pause"}[pause]
	}
}

// TestGuessingThePassword checks the limit of wrong passwords, and that the valid password
// still works.
func TestGuessingThePassword(t *testing.T) {
	address := serveAdmin(t, stubOperator{})
	wrong := "Authorization: Basic b3A6d3Jvbmc=\r\n"
	slowed := 0
	for range 3 * maxGuesses {
		k := servertest.Dial(t, address)
		status, header, body := k.Send(servertest.FormatRequest("GET /admin/v1/hash", wrong, ""))
		switch {
		case status == 429 && strings.Contains(body, `"rate_limited"`) && header.Get("Retry-After") == "1" && header.Get("WWW-Authenticate") == "":
			slowed++
		case status != 401 || header.Get("WWW-Authenticate") == "":
			t.Errorf("%d %v %s", status, header, body)
		}
		if !k.IsClosed() {
			t.Error("a wrong password keeps its connection")
		}
		k.Close()
		k = servertest.Dial(t, address)
		if status, _, _ := k.Send(servertest.FormatRequest("GET /admin/v1/hash", servertest.BasicAuth, "")); status != 200 {
			t.Errorf("the right one: %d", status)
		}
		if status, _, _ := k.Send(servertest.FormatRequest("GET /admin/v1/hash", "", "")); status != 401 {
			t.Errorf("none: %d", status)
		}
		k.Close()
	}
	if slowed == 0 {
		t.Error("nobody was slowed")
	}
}
