package admin

import (
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"pingpost/engine/market"
	"pingpost/internal/must"
	"pingpost/server/servertest"
)

// invite creates an invitation with the configured password, and returns its token and id.
func (l *accountsFixture) invite(body string) (token, id string) {
	l.t.Helper()
	got := l.send("POST /admin/v1/invitations", servertest.BasicAuth, body)
	var made struct{ Token, Link, ID string }
	must.Succeed(l.t, json.Unmarshal([]byte(got.body), &made))
	if got.status != 201 || made.Link != "/#/invite/"+made.Token || got.header.Get("Cache-Control") != "no-store" {
		l.t.Fatalf("invitation %s: %+v", body, got)
	}
	return made.Token, made.ID
}

// logContains reports whether an entry of the log contains the text.
func (l *accountsFixture) logContains(text string) bool {
	for i := range l.log.EntryCount() {
		if strings.Contains(string(l.log.EntryAtIndex(i)), text) {
			return true
		}
	}
	return false
}

func (l *accountsFixture) accept(token, name string) adminAnswer {
	l.t.Helper()
	return l.send("POST /admin/v1/invitations/"+token+"/accept", "", fmt.Sprintf(`{"name":%q,"password":%q}`, name, testPassword))
}

func TestInvitedPersonOpensAccount(t *testing.T) {
	l := openAccounts(t, servertest.Password)
	first := l.log.EntryCount()
	token, id := l.invite(`{"role":"operator"}`)
	if got := l.send("GET /admin/v1/invitations/"+token, "", ""); !got.has(200, `"role":"operator","tenant":`) {
		t.Errorf("shown: %+v", got)
	}
	got := l.accept(token, "Anna")
	if !got.has(201, `"name":"anna","role":"operator"`) || !strings.HasPrefix(got.header.Get("Set-Cookie"), "__Host-pingpost=") {
		t.Errorf("accepted: %+v", got)
	}
	records := l.actionRecords(first)
	if r := records[len(records)-1]; r.Operation != "POST /admin/v1/invitations/{invitation}/accept" || r.Status != 201 || r.TargetKind != "session" {
		t.Errorf("recorded: %+v", r)
	}
	cookie, _, _ := strings.Cut(got.header.Get("Set-Cookie"), ";")
	if got := l.send("GET /admin/v1/session", "Cookie: "+cookie+"\r\n", ""); !got.has(200, `"name":"anna","role":"operator","by":"session","csrf":"`) {
		t.Errorf("session: %+v", got)
	}
	l.mustLogIn("anna", testPassword)
	if got := l.send("GET /admin/v1/invitations", servertest.BasicAuth, ""); !got.has(200, `"id":"`+id+`","role":"operator","name":null,"status":"used"`) {
		t.Errorf("list: %+v", got)
	}
	if l.logContains(token) {
		t.Error("the log contains the token")
	}
}

// Each ended invitation is refused with its reason, for looking and for accepting.
func TestEndedInvitationsAreRefused(t *testing.T) {
	l := openAccounts(t, servertest.Password)
	l.createUser("chief", market.RoleAdmin)
	used, _ := l.invite(`{"role":"viewer"}`)
	l.accept(used, "bob")
	revoked, id := l.invite(`{"role":"viewer"}`)
	if got := l.send("DELETE /admin/v1/invitations/"+id, servertest.BasicAuth, ""); got.status != 204 {
		t.Errorf("revoke: %+v", got)
	}
	made := l.send("POST /admin/v1/invitations", l.mustLogIn("chief", testPassword).write, `{"role":"admin"}`)
	_, after, _ := strings.Cut(made.body, `"token":"`)
	orphaned, _, _ := strings.Cut(after, `"`)
	l.send("DELETE /admin/v1/users/chief", servertest.BasicAuth, "")
	expired, _ := l.invite(`{"role":"viewer","expires_in":"2h"}`)
	l.clockAhead.Store(int64(2 * time.Hour))
	for name, row := range map[string]struct {
		token  string
		status int
		text   string
	}{
		"used":                    {used, 410, "was used already"},
		"revoked":                 {revoked, 410, "was revoked"},
		"of a removed admin":      {orphaned, 410, "was revoked"},
		"expired":                 {expired, 410, "has expired"},
		"shortened":               {used[:len(used)-1], 404, "no such invitation"},
		"guessed":                 {"ppi_" + strings.Repeat("A", 43), 404, "no such invitation"},
		"its id instead of token": {id, 404, "no such invitation"},
	} {
		shown, accepted := l.send("GET /admin/v1/invitations/"+row.token, "", ""), l.accept(row.token, "carl")
		if !shown.has(row.status, row.text) || !accepted.has(row.status, row.text) {
			t.Errorf("%s: %+v, %+v", name, shown, accepted)
		}
	}
	if _, exists := l.engine.State().OperatorUser("carl"); exists {
		t.Error("an ended invitation created an account")
	}
}

// Of two people who accept one invitation at the same time, one wins.
func TestRacedInvitationCreatesOneAccount(t *testing.T) {
	l := openAccounts(t, servertest.Password)
	for round := range 5 {
		token, _ := l.invite(`{"role":"admin"}`)
		var group sync.WaitGroup
		var answers [2]adminAnswer
		for i := range answers {
			group.Go(func() { answers[i] = l.accept(token, fmt.Sprintf("user-%d-%d", round, i)) })
		}
		group.Wait()
		statuses := answers[0].status + answers[1].status
		if statuses != 201+410 || len(l.engine.State().OperatorUsers()) != round+1 {
			t.Errorf("answers %+v; %d users", answers, len(l.engine.State().OperatorUsers()))
		}
	}
}

func TestInvitationRules(t *testing.T) {
	l := openAccounts(t, servertest.Password)
	l.createUser("olga", market.RoleOperator)
	l.createUser("ada", market.RoleAdmin)
	named, _ := l.invite(`{"role":"viewer","name":"Vera"}`)
	open, _ := l.invite(`{"role":"viewer"}`)
	operator := l.mustLogIn("olga", testPassword)
	made := l.send("POST /admin/v1/api-tokens", l.mustLogIn("ada", testPassword).write, `{"name":"t"}`)
	_, after, _ := strings.Cut(made.body, `"token":"`)
	secret, _, _ := strings.Cut(after, `"`)
	for name, row := range map[string]struct {
		line, headers, body string
		status              int
		text                string
	}{
		"an operator invites":    {"POST /admin/v1/invitations", operator.write, `{"role":"viewer"}`, 403, "needs the role admin"},
		"an operator lists":      {"GET /admin/v1/invitations", operator.read, "", 403, "needs the role admin"},
		"a token invites":        {"POST /admin/v1/invitations", "Authorization: Bearer " + secret + "\r\n", `{"role":"viewer"}`, 403, "cannot invite"},
		"an unknown role":        {"POST /admin/v1/invitations", servertest.BasicAuth, `{"role":"owner"}`, 422, `"role"`},
		"a life of a year":       {"POST /admin/v1/invitations", servertest.BasicAuth, `{"role":"viewer","expires_in":"365d"}`, 422, `"expires_in"`},
		"a name that exists":     {"POST /admin/v1/invitations", servertest.BasicAuth, `{"role":"viewer","name":"olga"}`, 409, "olga"},
		"another name":           {"POST /admin/v1/invitations/" + named + "/accept", "", `{"name":"eve","password":"` + testPassword + `"}`, 409, "vera"},
		"a taken name":           {"POST /admin/v1/invitations/" + open + "/accept", "", `{"name":"olga","password":"` + testPassword + `"}`, 422, `"name"`},
		"a short password":       {"POST /admin/v1/invitations/" + open + "/accept", "", `{"name":"eve","password":"short"}`, 422, `"password"`},
		"a page of another site": {"POST /admin/v1/invitations/" + open + "/accept", "Origin: https://evil.example\r\n", `{"name":"eve","password":"` + testPassword + `"}`, 403, "another origin"},
		"revoke an unknown one":  {"DELETE /admin/v1/invitations/00", servertest.BasicAuth, "", 404, "no invitation"},
		"accept without a name":  {"POST /admin/v1/invitations/" + open + "/accept", "", `{"password":"` + testPassword + `"}`, 422, `"name"`},
	} {
		if got := l.send(row.line, row.headers, row.body); !got.has(row.status, row.text) {
			t.Errorf("%s: %+v", name, got)
		}
	}
	if got := l.send("POST /admin/v1/invitations/"+open+"/accept", "", `{"name":"eve","role":"admin","password":"`+testPassword+`"}`); !got.has(201, `"role":"viewer"`) {
		t.Errorf("a role in the acceptance: %+v", got)
	}
	if got := l.send("POST /admin/v1/invitations/"+named+"/accept", "", `{"password":"`+testPassword+`"}`); !got.has(201, `"name":"vera"`) {
		t.Errorf("the named invitation: %+v", got)
	}
}

// Guessed tokens count as wrong credentials.
func TestGuessedInvitationsAreLimited(t *testing.T) {
	l := openAccounts(t, servertest.Password)
	limited := 0
	for range 4 * maxGuesses {
		if got := l.send("GET /admin/v1/invitations/ppi_"+strings.Repeat("A", 43), "", ""); got.status == 429 {
			limited++
		}
	}
	if limited == 0 {
		t.Error("no guess was limited")
	}
}

// TestInvitationHasCompleteLink: with the console's address, the answer has the whole link.
func TestInvitationHasCompleteLink(t *testing.T) {
	l := openAccountsWith(t, servertest.Password, func(l *accountsFixture) { l.admin.SetPublicURL("https://console.example.com") })
	got := l.send("POST /admin/v1/invitations", servertest.BasicAuth, `{"role":"viewer"}`)
	var made struct{ Token, Link, URL string }
	must.Succeed(t, json.Unmarshal([]byte(got.body), &made))
	if made.Token == "" || made.Link != "/#/invite/"+made.Token || made.URL != "https://console.example.com"+made.Link {
		t.Errorf("%+v", got)
	}
	if got := openAccounts(t, servertest.Password).send("POST /admin/v1/invitations", servertest.BasicAuth, `{"role":"viewer"}`); got.has(201, `"url"`) {
		t.Errorf("without the address: %+v", got)
	}
}
