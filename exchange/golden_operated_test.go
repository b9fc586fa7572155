package exchange

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/pquerna/otp/totp"

	"pingpost/internal/must"
)

// operatorRecord is the operators' data of a golden exchange. kept.json next to the data has it.
type operatorRecord struct {
	ValidTokens   []string          `json:"Good"`
	InvalidTokens []string          `json:"Bad"`
	Passwords     map[string]string // by user
	RemovedUsers  map[string]string `json:"Gone"` // passwords by user
	Description   []string          `json:"Tells"`
	Factors       map[string]string // TOTP secrets by user
}

// describeOperators lists users, tokens, entries, lists and pauses. Times are from the log. It
// omits values from the file, because a later program may read more settings.
func (r *testExchange) describeOperators() (lines []string) {
	r.t.Helper()
	for _, u := range decode[struct {
		Users []struct {
			Name, Role string
			Created    string `json:"created_at"`
		}
	}](r.t, r.mustAdmin(200, "GET", "/admin/v1/users", "")).Users {
		lines = append(lines, fmt.Sprintf("user %+v", u))
	}
	for _, token := range decode[struct {
		Tokens []struct {
			ID, Hint, Name, User, Role string
			Created                    string  `json:"created_at"`
			Expires                    *string `json:"expires_at"`
		}
	}](r.t, r.mustAdmin(200, "GET", "/admin/v1/api-tokens", "")).Tokens {
		lines = append(lines, fmt.Sprintf("token %s %s %s %s %s %s, has an end: %t", token.ID, token.Hint, token.Name, token.User, token.Role, token.Created, token.Expires != nil))
	}
	for _, i := range decode[struct {
		Invitations []struct {
			ID, Role, By string
			Name         *string
			Closed       *string `json:"closed_at"`
		}
	}](r.t, r.mustAdmin(200, "GET", "/admin/v1/invitations", "")).Invitations {
		lines = append(lines, fmt.Sprintf("invitation %s %s by %s, with a name: %t, ended: %t", i.ID, i.Role, i.By, i.Name != nil, i.Closed != nil))
	}
	for _, kind := range []string{"suppliers", "buyers", "campaigns", "suppression_lists"} {
		for _, i := range decode[struct{ Items []configEntry }](r.t, r.mustAdmin(200, "GET", configURL+kind, "")).Items {
			lines = append(lines, fmt.Sprintf("%s %s of the %s, paused: %t", kind, i.ID, i.Owner, i.Paused != nil && *i.Paused))
		}
	}
	for _, l := range decode[struct {
		Lists []struct {
			ID, Source, Owner string
			Entries           int
			Loaded            string `json:"loaded_at"`
		}
	}](r.t, r.mustAdmin(200, "GET", "/admin/v1/suppression", "")).Lists {
		lines = append(lines, fmt.Sprintf("list %+v", l))
	}
	for _, saved := range decode[struct {
		Reports []struct {
			ID, Name string
			Schedule map[string]any
			Query    map[string]any
			Changed  string `json:"changed_at"`
			Mail     struct {
				LastError *string `json:"last_error"`
			}
		} `json:"saved_reports"`
	}](r.t, r.mustAdmin(200, "GET", savedReports, "")).Reports {
		lines = append(lines, fmt.Sprintf("saved report %s %q %v %v %s, failed: %t", saved.ID, saved.Name, saved.Query, saved.Schedule, saved.Changed, saved.Mail.LastError != nil))
	}
	past := r.history("?limit=500")
	past.Entries = slices.DeleteFunc(past.Entries, func(e historyEntry) bool { return e.By == "" })
	for _, e := range past.Entries {
		lines = append(lines, fmt.Sprintf("version %d of %s by %q, lost: %t", e.Version, e.From, e.By, e.Lost))
	}
	return append(lines, past.changeLines()...)
}

// signIn signs in with a password.
func (r *testExchange) signIn(name, password string) *answer {
	r.t.Helper()
	body := must.Value(json.Marshal(map[string]string{"name": name, "password": password}))(r.t)
	return request(r.t, "POST", "http://"+r.AdminAddress()+"/admin/v1/session", string(body))
}

// createAPIToken creates an API token for the user of a session.
func (r *testExchange) createAPIToken(session *answer, body string) (token, id string) {
	r.t.Helper()
	cookie, _, _ := strings.Cut(session.header.Get("Set-Cookie"), ";")
	csrf := decode[struct{ CSRF string }](r.t, session).CSRF
	a := request(r.t, "POST", "http://"+r.AdminAddress()+"/admin/v1/api-tokens", body, "Cookie", cookie, "X-Csrf-Token", csrf)
	created := decode[struct{ Token, ID string }](r.t, a)
	if a.status != 201 || created.Token == "" {
		r.t.Fatalf("got no API token: %d %s", a.status, a.body)
	}
	return created.Token, created.ID
}

// factorPassword is the password of each user with a second factor.
const factorPassword = "a canary beside a code"

// signInWithCode signs in with a password and the code of the present time step, shifted by a number of
// steps.
func (r *testExchange) signInWithCode(name, secret string, steps int) *answer {
	r.t.Helper()
	code := must.Value(totp.GenerateCode(secret, time.Now().Add(time.Duration(steps)*30*time.Second)))(r.t)
	body := must.Value(json.Marshal(map[string]string{"name": name, "password": factorPassword, "code": code}))(r.t)
	return request(r.t, "POST", "http://"+r.AdminAddress()+"/admin/v1/session", string(body))
}

// acceptInvitation invites a person and accepts the invitation. It returns the session.
func (r *testExchange) acceptInvitation(name string) *answer {
	r.t.Helper()
	made := decode[struct{ Token string }](r.t, r.mustAdmin(201, "POST", "/admin/v1/invitations", fmt.Sprintf(`{"role":"operator","name":%q,"expires_in":"30d"}`, name)))
	a := request(r.t, "POST", "http://"+r.AdminAddress()+"/admin/v1/invitations/"+made.Token+"/accept", fmt.Sprintf(`{"password":%q}`, factorPassword))
	if a.status != 201 {
		r.t.Fatalf("invitation of %s: %d %s", name, a.status, a.body)
	}
	return a
}

// turnOnFactor gives the user of a session a second factor, and returns its secret.
func (r *testExchange) turnOnFactor(name string, session *answer) (secret string) {
	r.t.Helper()
	cookie, _, _ := strings.Cut(session.header.Get("Set-Cookie"), ";")
	headers := []string{"Cookie", cookie, "X-Csrf-Token", decode[struct{ CSRF string }](r.t, session).CSRF}
	at := "http://" + r.AdminAddress() + "/admin/v1/users/" + name + "/totp"
	secret = decode[struct{ Secret string }](r.t, request(r.t, "POST", at, "", headers...)).Secret
	code := must.Value(totp.GenerateCode(secret, time.Now()))(r.t)
	if a := request(r.t, "POST", at+"/confirm", `{"code":"`+code+`"}`, headers...); a.status != 200 {
		r.t.Fatalf("second factor of %s: %d %s", name, a.status, a.body)
	}
	return secret
}

// addGoldenTeam adds the events of invitations and second factors, before and after a snapshot.
func (r *testExchange) addGoldenTeam(record *operatorRecord, beforeSnapshot bool) {
	r.t.Helper()
	with, without := "gina", "hugo"
	if beforeSnapshot {
		with, without = "erin", "fred"
	}
	record.Factors[with] = r.turnOnFactor(with, r.acceptInvitation(with))
	if a := r.signInWithCode(with, record.Factors[with], 1); a.status != 200 {
		r.t.Fatalf("%s signs in with a code: %d %s", with, a.status, a.body)
	}
	r.turnOnFactor(without, r.acceptInvitation(without))
	r.mustAdmin(204, "DELETE", "/admin/v1/users/"+without+"/totp", "")
	record.Passwords[without] = factorPassword
	r.mustAdmin(201, "POST", "/admin/v1/invitations", `{"role":"viewer"}`)
	id := decode[struct{ ID string }](r.t, r.mustAdmin(201, "POST", "/admin/v1/invitations", `{"role":"admin"}`)).ID
	r.mustAdmin(204, "DELETE", "/admin/v1/invitations/"+id, "")
}

// addGoldenAlerts adds a rule that fires at once, and a silence of it.
func (r *testExchange) addGoldenAlerts(rule string) {
	r.t.Helper()
	r.mustAdmin(201, "PUT", "/admin/v1/alerts/rules/"+rule, `{"kind":"disk_free","threshold":1000000,"for_s":0,"channels":["ops"]}`, "If-None-Match", "*")
	r.evaluateAlerts()
	until := time.Unix(0, r.clock.Now()).Add(300 * 24 * time.Hour).UTC().Format(time.RFC3339)
	r.mustAdmin(201, "POST", "/admin/v1/alerts/silences", `{"rule":"`+rule+`","until":"`+until+`","note":"golden"}`)
}

// addGoldenReports adds a saved report whose e-mail fails, because there is no e-mail channel, and
// another one that is removed.
func (r *testExchange) addGoldenReports(name string) {
	r.t.Helper()
	document := `{"name":%q,"query":{"by":["buyer"],"filters":{"state":"CA"},"period":"last_month","totals":true},
		"schedule":{"frequency":"monthly","day":31,"time":"02:30","recipients":["ops@example.com"]}}`
	kept := decode[struct{ ID string }](r.t, r.mustAdmin(201, "POST", savedReports, fmt.Sprintf(document, name)))
	r.mustAdmin(200, "POST", savedReports+"/"+kept.ID+"/send", "").mustHave(r.t, 200, `"sent":false`)
	removed := decode[struct{ ID, ETag string }](r.t, r.mustAdmin(201, "POST", savedReports, fmt.Sprintf(document, name+" removed")))
	r.mustAdmin(204, "DELETE", savedReports+"/"+removed.ID, "", "If-Match", removed.ETag)
}

// startGoldenOperations starts an exchange with an event of each operator action, before and after
// a snapshot.
func startGoldenOperations(t *testing.T) *testExchange {
	t.Helper()
	refBuyer, unavailable := startReferenceBuyer(t, "12"), newFakeBuyer(t, reply(503, ""))
	config := strings.NewReplacer(
		"ping_rate: 1000000\n    oauth", "ping_rate: 1000000\n    webhook: {url: \"http://127.0.0.1:9/hooks\", secret: \"whsec_Y2FuYXJ5LXNlY3JldC1vZi1hY21l\"}\n    oauth",
		"campaigns:\n", `  - {id: buy_blue, funds: {balance: 1000}, oauth_clients: [{client_id: blue, client_secret: "`+acmeSecret+`"}]}
  - {id: buy_again, endpoint: "`+unavailable.URL+`"}
campaigns:
  - {id: cmp_again, method: waterfall, duplicates: {window: 0s}, buyers: [{buyer: buy_again, price: 2}]}
  - {id: cmp_recorded, method: waterfall, suppression: [dnc], duplicates: {window: 0s}, buyers: [{buyer: buy_blue, price: 3}]}
`).Replace(referenceConfig("ping_post", refBuyer)) + "suppression_lists: [{id: dnc, field: phone}]\n"
	x := start(t, newTestDir(t, config))
	record := operatorRecord{Passwords: map[string]string{}, RemovedUsers: map[string]string{}, Factors: map[string]string{}}
	user := func(status int, name, role, password string) {
		t.Helper()
		body := fmt.Sprintf(`{"role":%q,"password":%q}`, role, password)
		if password == "" {
			body = fmt.Sprintf(`{"role":%q}`, role)
		}
		x.mustAdmin(status, "PUT", "/admin/v1/users/"+name, body)
	}
	const first, second = "a canary of a password", "another canary of a password"
	user(201, "ann", "viewer", first)
	user(200, "ann", "operator", "")
	user(201, "bob", "admin", first)
	x.mustAdmin(204, "PUT", "/admin/v1/users/bob/password", `{"new":"`+second+`"}`)
	user(201, "carl", "viewer", first)
	ended, _ := x.createAPIToken(x.signIn("carl", first), `{"name":"with its user"}`)
	x.mustAdmin(204, "DELETE", "/admin/v1/users/carl", "")
	session := x.signIn("bob", second)
	valid, _ := x.createAPIToken(session, `{"name":"sheet","role":"viewer","expires_in":"3650d"}`)
	revoked, id := x.createAPIToken(session, `{"name":"lost"}`)
	x.mustAdmin(204, "DELETE", "/admin/v1/api-tokens/"+id, "")
	record.ValidTokens, record.InvalidTokens = []string{valid}, []string{ended, revoked}
	record.Passwords["ann"], record.Passwords["bob"] = first, second
	record.RemovedUsers["carl"], record.RemovedUsers["dora"] = first, first

	for _, path := range []string{"suppliers/sup_red", "buyers/buy_red", "buyers/buy_gone", "suppression_lists/ours", "campaigns/cmp_red"} {
		x.putEntry(path, map[string]string{
			"suppliers/sup_red": `{"api_key":"a-canary-key-of-supplier-red"}`, "buyers/buy_red": redBuyer, "buyers/buy_gone": `{}`,
			"suppression_lists/ours": `{"field":"phone"}`, "campaigns/cmp_red": redCampaign,
		}[path])
	}
	x.putEntry("campaigns/cmp_red", strings.Replace(redCampaign, `"price":3`, `"price":4.5,"caps":[{"per":"day","count":7}]`, 1))
	x.putEntry("buyers/buy_red", `{"states":["CA","NV"],"caps":[{"per":"total","count":100}]}`)
	x.removeEntry("buyers/buy_gone")
	x.upload("", phoneLines(70, 71, 72))
	x.adminRequest("PUT", "/admin/v1/suppression/ours", phoneLines(80))
	x.mustAdmin(204, "POST", "/admin/v1/buyers/buy_red/pause", "")
	x.mustAdmin(204, "POST", "/admin/v1/campaigns/cmp_red/pause", "")
	x.addGoldenTeam(&record, true)
	x.addChannel("ops", `{"kind":"webhook","url":"`+unavailable.URL+`"}`)
	x.addGoldenAlerts("disk")
	x.addGoldenReports("before")
	x.mustSnapshot()
	x.addGoldenReports("after")
	x.addGoldenAlerts("disk_again")
	x.addGoldenTeam(&record, false)
	another, id := x.createAPIToken(session, `{"name":"lost, too"}`)
	x.mustAdmin(204, "DELETE", "/admin/v1/api-tokens/"+id, "")
	record.InvalidTokens = append(record.InvalidTokens, another)
	user(201, "dora", "viewer", second)
	x.mustAdmin(204, "DELETE", "/admin/v1/users/dora", "")
	x.putEntry("buyers/buy_late", `{}`)
	x.putEntry("suppliers/sup_late", `{}`)
	x.removeEntry("suppliers/sup_late")
	x.upload("?mode=add", phoneLines(73))
	x.mustAdmin(204, "POST", "/admin/v1/campaigns/cmp_red/resume", "")
	x.mustAdmin(200, "PUT", "/admin/v1/config", config+"  # sent\n")
	x.addGoldenLeads()
	record.Description = x.describeOperators()
	text := must.Value(json.MarshalIndent(record, "", " "))(t)
	x.writeFile(t, "kept.json", string(text)+"\n")
	return x
}

// addGoldenLeads adds the events of leads: an auction, a sale, a report, an erasure, a failed
// webhook.
func (r *testExchange) addGoldenLeads() {
	r.t.Helper()
	r.postToBid("one", r.pingForBid("auto", "one"), 1)
	r.mustSell(leadBody(3, "flo_campaign_id", `"cmp_again"`))
	sold := r.mustSell(leadBody(2, "flo_campaign_id", `"cmp_recorded"`)).leadID()
	r.reportStatus(sold, "returned")
	r.mustAdmin(200, "POST", "/admin/v1/buyers/buy_blue/funds", `{"amount":5,"note":"golden"}`)
	r.erase(`{"lead":"` + sold + `"}`)
	eventually(r.t, "a webhook was tried", func() bool {
		return slices.ContainsFunc(logAsJSON(r.t, r.dataDir()), func(line string) bool { return strings.Contains(line, `"outcome":"failed"`) })
	})
	r.mustAdmin(204, "POST", "/admin/v1/webhooks/sup_acme/off", "")
}

// checkGoldenOperations checks that credentials have the same validity and operators' data is
// unchanged.
func checkGoldenOperations(t *testing.T, p testDir) {
	t.Helper()
	text := must.Value(os.ReadFile(filepath.Join(p.dir, "kept.json")))(t)
	var record operatorRecord
	must.Succeed(t, json.Unmarshal(text, &record))
	config := string(must.Value(os.ReadFile(p.configPath()))(t))
	if !strings.Contains(config, "provisioning:") { // as releases without the key did
		config += "provisioning: enforce\n"
	}
	p.writeConfig(t, config)
	r := startAcceptingClock(t, p)
	if got := r.describeOperators(); !slices.Equal(got, record.Description) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(record.Description, "\n"))
	}
	sessionStatus := func(token string) int {
		return request(t, "GET", "http://"+r.AdminAddress()+"/admin/v1/session", "", "Authorization", "Bearer "+token).status
	}
	for _, token := range record.ValidTokens {
		if got := sessionStatus(token); got != http.StatusOK {
			t.Errorf("valid token: got %d, want 200", got)
		}
	}
	for _, token := range record.InvalidTokens {
		if got := sessionStatus(token); got != http.StatusUnauthorized {
			t.Errorf("revoked token: got %d, want 401", got)
		}
	}
	for name, password := range record.Passwords {
		if got := r.signIn(name, password).status; got != http.StatusOK {
			t.Errorf("user %s signs in: got %d, want 200", name, got)
		}
	}
	for name, password := range record.RemovedUsers {
		if got := r.signIn(name, password).status; got != http.StatusUnauthorized {
			t.Errorf("removed user %s signs in: got %d, want 401", name, got)
		}
	}
	for name, secret := range record.Factors {
		if got := r.signIn(name, factorPassword).status; got != http.StatusUnauthorized {
			t.Errorf("user %s signs in without a code: got %d, want 401", name, got)
		}
		if got := r.signInWithCode(name, secret, 0); got.status != http.StatusOK {
			t.Errorf("user %s signs in with a code: got %d %s, want 200", name, got.status, got.body)
		}
	}
	if len(record.ValidTokens) == 0 || len(record.InvalidTokens) < 2 || len(record.Passwords) < 2 || len(record.RemovedUsers) < 2 || len(record.Description) < 30 {
		t.Errorf("record is incomplete: %+v", record)
	}
}
