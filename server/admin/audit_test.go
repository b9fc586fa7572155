package admin

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/fasthttp/router"
	"github.com/valyala/fasthttp"

	"pingpost/engine/event"
	"pingpost/engine/market"
	"pingpost/internal/must"
	"pingpost/server/servertest"
)

// The audit log records each operation that changes something, except a sign-in, which has its own
// record.
func TestAuditRecordsEachChangingRoute(t *testing.T) {
	a := newAdmin(t, stubOperator{})
	routes := router.New()
	a.recorded = map[string]bool{}
	a.addAuthenticatedRoutes(routes)
	changing := 0
	for method, paths := range routes.List() {
		for _, path := range paths {
			if method == fasthttp.MethodGet {
				continue
			}
			changing++
			if !a.recorded[method+" "+path] {
				t.Errorf("the audit log does not record %s %s: register the route with recordAction", method, path)
			}
		}
	}
	if changing < 40 {
		t.Errorf("%d changing routes, want at least 40", changing)
	}
}

// actionRecords returns the records of the audit log, from entry `from` on.
func (l *accountsFixture) actionRecords(from int) (records []event.OperatorActionRecorded) {
	l.t.Helper()
	for i := from; i < l.log.EntryCount(); i++ {
		if record, ok := must.Value(new(event.Decoder).Decode(l.log.EntryAtIndex(i)))(l.t).(*event.OperatorActionRecorded); ok {
			records = append(records, *record)
		}
	}
	return records
}

func (l *accountsFixture) isBluePaused() bool {
	s := l.engine.State()
	paused, _ := s.PauseStatus(event.ObjectBuyer, s.RefOf(event.ObjectBuyer, "buy_blue"))
	return paused
}

// The record of an operator is durable before the change. A log that fails at any point never has a
// change without the operator's address and credential.
func TestNoChangeWithoutItsRecord(t *testing.T) {
	for name, row := range map[string]struct {
		accepted        func(n int, isRecord bool) bool // n: of the entries after the request
		status, records int
		paused          bool
	}{
		"no entry":                     {func(int, bool) bool { return false }, 503, 0, false},
		"no record":                    {func(_ int, isRecord bool) bool { return !isRecord }, 503, 0, false},
		"the record without the pause": {func(n int, _ bool) bool { return n < 1 }, 503, 1, false},
		"the pause without an outcome": {func(n int, _ bool) bool { return n < 2 }, 204, 1, true},
		"all entries":                  {func(int, bool) bool { return true }, 204, 2, true},
	} {
		t.Run(name, func(t *testing.T) {
			l := openAccounts(t, servertest.Password)
			first := l.log.EntryCount()
			l.log.Refuse(func(index int, data []byte) error {
				_, isRecord := must.Value(new(event.Decoder).Decode(data))(t).(*event.OperatorActionRecorded)
				if row.accepted(index-first, isRecord) {
					return nil
				}
				return errors.New("the disk is full")
			})
			if got := l.send("POST /admin/v1/buyers/buy_blue/pause", asOperator, ""); got.status != row.status {
				t.Errorf("got %+v, want %d", got, row.status)
			}
			records := l.actionRecords(first)
			if len(records) != row.records || l.isBluePaused() != row.paused {
				t.Fatalf("%d records, paused: %t, want %d and %t", len(records), l.isBluePaused(), row.records, row.paused)
			}
			if len(records) > 0 {
				if r := records[0]; r.Phase != event.ActionBegun || r.By != "operator" || r.Credential != event.BySharedPassword || r.Address != "127.0.0.1" ||
					r.Operation != "POST /admin/v1/buyers/{id}/pause" || r.TargetKind != "buyer" || r.Target != "buy_blue" {
					t.Errorf("the first record is %s", event.DescribeAsJSON(&r))
				}
			}
			if len(records) > 1 {
				if r := records[1]; r.Phase != event.ActionEnded || r.Action != records[0].Action || r.Status != 204 {
					t.Errorf("the second record is %s", event.DescribeAsJSON(&r))
				}
			}
		})
	}
}

// Each kind of credential has its name in the record. A sign-in is a record, also a failed one, and so
// is an operation that the role does not allow.
func TestRecordsNameCredentials(t *testing.T) {
	l := openAccounts(t, servertest.Password)
	l.createUser("bob", market.RoleOperator)
	first := l.log.EntryCount()
	bob := l.mustLogIn("bob", testPassword)
	shared := l.mustLogIn("Änne", servertest.Password)
	for _, headers := range []string{bob.write, shared.write, basicAuth("bob", testPassword), basicAuth("x", servertest.Password)} {
		if got := l.send("POST /admin/v1/buyers/buy_blue/pause", headers, ""); got.status != 204 {
			t.Errorf("got %+v", got)
		}
	}
	l.send("PUT /admin/v1/users/eve", bob.write, `{"role":"admin","password":"`+testPassword+`"}`)
	l.send("POST /admin/v1/session", "", `{"name":"bob","password":"canary"}`)
	l.send("POST /admin/v1/session", "", `{"name":"canary","password":"canary"}`)
	l.send("GET /admin/v1/hash", basicAuth("BOB", "canary"), "")
	l.send("GET /admin/v1/hash", "Authorization: Bearer ppa_canary\r\n", "")
	var got []string
	for _, r := range l.actionRecords(first) {
		if r.Phase != event.ActionEnded {
			got = append(got, strings.Join([]string{r.By, r.Credential.String(), r.Operation}, " | "))
		}
		if text := event.DescribeAsJSON(&r); strings.Contains(text, "canary") || strings.Contains(text, testPassword) || r.Address == "" && r.Phase != event.ActionEnded {
			t.Errorf("record %s", text)
		}
	}
	pause := " | POST /admin/v1/buyers/{id}/pause"
	want := []string{
		"bob | account_password | POST /admin/v1/session", "Änne | shared_password | POST /admin/v1/session",
		"bob | session" + pause, "Änne | shared_password_session" + pause, "bob | account_password" + pause, "x | shared_password" + pause,
		"bob | session | PUT /admin/v1/users/{name}",
		"bob | none | sign_in", " | none | sign_in", "bob | none | sign_in", " | none | sign_in",
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// A flood of wrong credentials fills the log with ten records, and the next record has the number of the
// others.
func TestRecordsOfFailuresAreLimited(t *testing.T) {
	l := openAccounts(t, servertest.Password)
	first := l.log.EntryCount()
	for range 40 {
		l.send("GET /admin/v1/hash", "Authorization: Bearer ppa_x\r\n", "")
	}
	if n := len(l.actionRecords(first)); n < 10 || n > 12 {
		t.Errorf("%d records of failures, want about 10", n)
	}
}

// A viewer in a loop cannot fill the log: own changes, sign-ins and refused operations count together.
// The limit is the viewer's own. Operators have none, and reads are not limited.
func TestRecordsOfViewersAreLimited(t *testing.T) {
	l := openAccounts(t, servertest.Password)
	l.createUser("vic", market.RoleViewer)
	l.createUser("val", market.RoleViewer)
	l.createUser("olga", market.RoleOperator)
	vic, val, olga := l.mustLogIn("vic", testPassword), l.mustLogIn("val", testPassword), l.mustLogIn("olga", testPassword)
	first := l.log.EntryCount()
	requests := []string{"POST /admin/v1/api-tokens", "POST /admin/v1/users/vic/totp/confirm", "POST /admin/v1/buyers/buy_blue/pause"}
	var limitedOf [3]int // by request
	for i := range 150 {
		got := l.send(requests[i%len(requests)], vic.write, `{}`)
		if got.status == 429 {
			limitedOf[i%len(requests)]++
		}
		if got.status == 429 && (i < 99 || got.header.Get("Retry-After") == "" || !strings.Contains(got.body, `"rate_limited"`)) {
			t.Fatalf("request %d: %+v", i, got)
		}
	}
	// Of 99 requests, two thirds are actions with two records each. Refusals also have the limit of the
	// network.
	if n := len(l.actionRecords(first)); slices.Min(limitedOf[:]) < 8 || n < 2*66+10 || n > 2*(66+25)+10 {
		t.Errorf("%d records of 150 requests, %d of which are limited", n, limitedOf)
	}
	for what, send := range map[string]func() adminAnswer{
		"sign-ins": func() adminAnswer { got, _ := l.logIn("vic", testPassword); return got },
		"sign-outs without a session": func() adminAnswer {
			return l.send("DELETE /admin/v1/session", basicAuth("vic", testPassword), "")
		},
	} {
		limited := 0
		for range 10 {
			if send().status == 429 {
				limited++
			}
		}
		if limited == 0 {
			t.Errorf("%s of the viewer are not limited", what)
		}
	}
	for what, row := range map[string]struct {
		line, headers string
		status        int
	}{
		"the viewer's read":         {"GET /admin/v1/hash", vic.read, 200},
		"another viewer's change":   {"POST /admin/v1/api-tokens", val.write, 422},
		"an operator's own refusal": {"PUT /admin/v1/users/eve", olga.write, 403},
	} {
		if got := l.send(row.line, row.headers, `{}`); got.status != row.status {
			t.Errorf("%s: %+v, want %d", what, got, row.status)
		}
	}
	if got := l.send("DELETE /admin/v1/session", vic.write, ""); got.status != 204 || l.isAuthenticated(vic.read) {
		t.Errorf("the viewer cannot sign out: %+v", got)
	}
	for i := range 120 {
		if got := l.send("POST /admin/v1/buyers/buy_blue/pause", olga.write, ""); got.status != 204 {
			t.Fatalf("an operator's action %d: %+v", i, got)
		}
	}
}
