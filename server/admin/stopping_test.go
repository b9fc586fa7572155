package admin

import (
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync/atomic"
	"testing"

	"pingpost/engine"
	"pingpost/engine/event"
	"pingpost/engine/market"
	"pingpost/internal/must"
	"pingpost/server/servertest"
)

// stoppingOperator is a process that begins to stop after a number of calls of Engine.
type stoppingOperator struct {
	*accountsFixture
	stops     atomic.Bool
	callsLeft atomic.Int64 // before it stops
}

func (o *stoppingOperator) EngineWhileReady() *engine.Engine {
	if o.stops.Load() && o.callsLeft.Add(-1) < 0 {
		return nil
	}
	return o.accountsFixture.EngineWhileReady()
}

// The exchange may begin to stop at any point of a request. The request then gets its normal answer or
// a 503. A valid session or token gets no 401.
func TestRequestsWhileExchangeStops(t *testing.T) {
	var process *stoppingOperator
	l := openAccountsWith(t, servertest.Password, func(l *accountsFixture) {
		process = &stoppingOperator{accountsFixture: l}
		l.admin.exchange = process
	})
	l.createUser("ann", market.RoleAdmin)
	l.createUser("bob", market.RoleViewer)
	session := l.mustLogIn("ann", testPassword)
	var made struct{ Token string }
	must.Succeed(t, json.Unmarshal([]byte(l.send("POST /admin/v1/api-tokens", session.write, `{"name":"script"}`).body), &made))
	token := "Authorization: Bearer " + made.Token + "\r\n"
	for name, row := range map[string]struct {
		line, header, body string
		status             int // while the exchange serves; 0: any below 500
	}{
		"who am I, in a session":       {"GET /admin/v1/session", session.read, "", 200},
		"who am I, with a token":       {"GET /admin/v1/session", token, "", 200},
		"who am I, with the password":  {"GET /admin/v1/session", servertest.BasicAuth, "", 200},
		"log in":                       {"POST /admin/v1/session", "", `{"name":"ann","password":"` + testPassword + `"}`, 200},
		"log in with another password": {"POST /admin/v1/session", "", `{"name":"none","password":"wrong"}`, 401},
		"ways to sign in":              {"GET /admin/v1/session/methods", "", "", 200},
		"list users":                   {"GET /admin/v1/users", session.read, "", 200},
		"change a user":                {"PUT /admin/v1/users/bob", session.write, `{"role":"viewer"}`, 200},
		"remove a user":                {"DELETE /admin/v1/users/none", session.write, "", 404},
		"set a password":               {"PUT /admin/v1/users/bob/password", session.write, `{"new":"` + testPassword + `"}`, 204},
		"list tokens":                  {"GET /admin/v1/api-tokens", token, "", 200},
		"add a token":                  {"POST /admin/v1/api-tokens", session.write, `{"name":"second"}`, 201},
		"revoke no token":              {"DELETE /admin/v1/api-tokens/none", session.write, "", 404},
		"list invitations":             {"GET /admin/v1/invitations", session.read, "", 200},
		"invite":                       {"POST /admin/v1/invitations", session.write, `{"role":"viewer"}`, 201},
		"revoke no invitation":         {"DELETE /admin/v1/invitations/none", session.write, "", 404},
		"accept no invitation":         {"POST /admin/v1/invitations/none/accept", "", `{"name":"eve","password":"` + testPassword + `"}`, 404},
		"enroll a second factor":       {"POST /admin/v1/users/ann/totp", session.write, "", 201},
		"confirm with a wrong code":    {"POST /admin/v1/users/bob/totp/confirm", session.write, `{"code":"000000"}`, 0},
		"remove no second factor":      {"DELETE /admin/v1/users/bob/totp", session.write, "", 0},
		"refused for the role":         {"GET /admin/v1/nothing", session.read, "", 404},
		"top up funds":                 {"POST /admin/v1/buyers/buy_blue/funds", session.write, `{"amount":1,"note":"n"}`, 0},
		"list pending returns":         {"GET /admin/v1/returns", token, "", 200},
	} {
		t.Run(name, func(t *testing.T) {
			for calls := range 6 {
				process.callsLeft.Store(int64(calls))
				process.stops.Store(true)
				got := l.send(row.line, row.header, row.body)
				process.stops.Store(false)
				isNormal := got.status == row.status || row.status == 0 && got.status < 500 || row.header == "" && got.status == 429
				if !isNormal && got.status != 503 {
					t.Errorf("stopped after %d calls of Engine: got %+v, want %d or 503", calls, got, row.status)
				}
				if calls == 0 && strings.HasPrefix(row.line, "PUT") && got.status != 503 {
					t.Errorf("stopped before the request: got %+v, want 503", got)
				}
			}
		})
	}
}

// A log that refuses records is a fault while the exchange serves, and normal once it stops. An action
// or a sign-in without a record gets a 503 in both cases.
func TestUnrecordedActionIsLoggedWhileServing(t *testing.T) {
	for name, row := range map[string]struct {
		line, header, body string
	}{
		"an action": {"POST /admin/v1/invitations", servertest.BasicAuth, `{"role":"viewer"}`},
		"a sign-in": {"POST /admin/v1/session", "", `{"name":"op","password":"` + servertest.Password + `"}`},
	} {
		for _, isStopping := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, stopping %t", name, isStopping), func(t *testing.T) {
				var lines servertest.LogBuffer
				var process *stoppingOperator
				l := openAccountsWith(t, servertest.Password, func(l *accountsFixture) {
					process = &stoppingOperator{accountsFixture: l}
					l.admin.exchange, l.admin.logger = process, slog.New(slog.NewTextHandler(&lines, nil))
				})
				l.log.Refuse(func(int, []byte) error {
					process.stops.Store(isStopping)
					return errors.New("the log is closed")
				})
				if got := l.send(row.line, row.header, row.body); got.status != 503 {
					t.Errorf("got %+v, want 503", got)
				}
				if logged := strings.Contains(lines.String(), "level=ERROR"); logged == isStopping {
					t.Errorf("the log has %q, want an error line: %t", lines.String(), !isStopping)
				}
			})
		}
	}
}

// A token whose revocation has no record stays valid, and keeps its time of last use.
func TestUnrecordedRevocationKeepsLastUse(t *testing.T) {
	l := openAccounts(t, servertest.Password)
	l.createUser("bob", market.RoleOperator)
	bob := l.mustLogIn("bob", testPassword)
	var made struct{ Token, ID string }
	must.Succeed(t, json.Unmarshal([]byte(l.send("POST /admin/v1/api-tokens", bob.write, `{"name":"sheet"}`).body), &made))
	if !l.isAuthenticated("Authorization: Bearer " + made.Token + "\r\n") {
		t.Fatal("the token is not valid")
	}
	l.log.Refuse(func(_ int, data []byte) error {
		var decoder event.Decoder
		if _, isToken := must.Value(decoder.Decode(data))(t).(*event.APITokenAddedOrRevoked); isToken {
			return errors.New("the log is closed")
		}
		return nil
	})
	if got := l.send("DELETE /admin/v1/api-tokens/"+made.ID, bob.write, ""); got.status != 503 {
		t.Errorf("got %+v, want 503", got)
	}
	if got := l.send("GET /admin/v1/api-tokens", bob.read, ""); got.status != 200 || strings.Contains(got.body, `"last_used":null`) {
		t.Errorf("after a failed revocation: %+v", got)
	}
}

// A request that begins before the exchange has its engine must not run once it has one: the action
// would have no record.
func TestActionNeedsEngineForItsRecord(t *testing.T) {
	process := &startingOperator{stubOperator: stubOperator{engine: servertest.NewEngineFixture(t).Engine, apply: func([]byte, bool) ([]string, error) {
		t.Error("the configuration was applied")
		return nil, nil
	}}}
	k := servertest.Dial(t, serveAdmin(t, process))
	if status, _, body := k.Send(servertest.FormatRequest("PUT /admin/v1/config", servertest.BasicAuth, "{}")); status != 503 {
		t.Errorf("got %d %s, want 503", status, body)
	}
	if status, _, body := k.Send(servertest.FormatRequest("GET /admin/v1/hash", servertest.BasicAuth, "")); status != 200 {
		t.Errorf("a later request: got %d %s, want 200", status, body)
	}
}

// startingOperator is a process whose engine is missing at the first question.
type startingOperator struct {
	stubOperator
	asked atomic.Bool
}

func (o *startingOperator) EngineWhileReady() *engine.Engine {
	if !o.asked.Swap(true) {
		return nil
	}
	return o.engine
}

// A text in place of a lead's id may be contact data. The log must not have it.
func TestTextThatIsNoLeadIDIsNotRecorded(t *testing.T) {
	l := openAccounts(t, servertest.Password)
	before := l.log.EntryCount()
	if got := l.send("POST /admin/v1/leads/+16465550142/reveal", servertest.BasicAuth, `{"reason":"x"}`); got.status < 400 {
		t.Fatalf("%+v", got)
	}
	for i := before; i < l.log.EntryCount(); i++ {
		if strings.Contains(string(l.log.EntryAtIndex(i)), "6465550142") {
			t.Errorf("the record has the phone number: %q", l.log.EntryAtIndex(i))
		}
	}
	if l.log.EntryCount() == before {
		t.Error("the action has no record")
	}
}
