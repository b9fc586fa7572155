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

	"pingpost/internal/must"
)

// kept is what operators have made, as a golden exchange tells it, and with what they
// come in. It lies beside the golden data, in kept.json.
type kept struct {
	Good, Bad []string // tokens
	Passwords map[string]string
	Gone      map[string]string // passwords that let nobody in
	Tells     []string
}

// operatorsOf is what an exchange tells of users, tokens, entries, lists and pauses. What
// has times in it has those of the log; what the file brings in at a start is left out,
// since a later program may read more settings out of it.
func (r *running) operatorsOf() (tells []string) {
	r.t.Helper()
	for _, u := range decode[struct {
		Users []struct {
			Name, Role string
			Created    string `json:"created_at"`
		}
	}](r.t, r.must(200, "GET", "/admin/v1/users", "")).Users {
		tells = append(tells, fmt.Sprintf("user %+v", u))
	}
	for _, one := range decode[struct {
		Tokens []struct {
			ID, Hint, Name, User, Role string
			Created                    string  `json:"created_at"`
			Expires                    *string `json:"expires_at"`
		}
	}](r.t, r.must(200, "GET", "/admin/v1/api-tokens", "")).Tokens {
		tells = append(tells, fmt.Sprintf("token %s %s %s %s %s %s, has an end: %t", one.ID, one.Hint, one.Name, one.User, one.Role, one.Created, one.Expires != nil))
	}
	for _, kind := range []string{"suppliers", "buyers", "campaigns", "suppression_lists"} {
		for _, i := range decode[struct{ Items []item }](r.t, r.must(200, "GET", configAt+kind, "")).Items {
			tells = append(tells, fmt.Sprintf("%s %s of the %s, paused: %t", kind, i.ID, i.Owner, i.Paused != nil && *i.Paused))
		}
	}
	for _, l := range decode[struct {
		Lists []struct {
			ID, Source, Owner string
			Entries           int
			Loaded            string `json:"loaded_at"`
		}
	}](r.t, r.must(200, "GET", "/admin/v1/suppression", "")).Lists {
		tells = append(tells, fmt.Sprintf("list %+v", l))
	}
	past := r.history("?limit=500")
	past.Entries = slices.DeleteFunc(past.Entries, func(e pastVersion) bool { return e.By == "" })
	for _, e := range past.Entries {
		tells = append(tells, fmt.Sprintf("version %d of %s by %q, lost: %t", e.Version, e.From, e.By, e.Lost))
	}
	return append(tells, past.lines()...)
}

// logsIn tells the status of a login.
func (r *running) logsIn(name, word string) *answer {
	r.t.Helper()
	given := must.Value(json.Marshal(map[string]string{"name": name, "password": word}))(r.t)
	return request(r.t, "POST", "http://"+r.AdminAddress()+"/admin/v1/session", string(given))
}

// givenToken makes one for who is in by a session.
func (r *running) givenToken(in *answer, body string) (token, id string) {
	r.t.Helper()
	cookie, _, _ := strings.Cut(in.header.Get("Set-Cookie"), ";")
	csrf := decode[struct{ CSRF string }](r.t, in).CSRF
	a := request(r.t, "POST", "http://"+r.AdminAddress()+"/admin/v1/api-tokens", body, "Cookie", cookie, "X-Csrf-Token", csrf)
	made := decode[struct{ Token, ID string }](r.t, a)
	if a.status != 201 || made.Token == "" {
		r.t.Fatalf("no token: %d %s", a.status, a.body)
	}
	return made.Token, made.ID
}

// goldenOperations is an exchange that operators have worked on, by every verb that
// leaves something in the log, before a snapshot and after it.
func goldenOperations(t *testing.T) *running {
	t.Helper()
	b, again := reference(t, "12"), newTaker(t, says(503, ""))
	config := strings.NewReplacer(
		"ping_rate: 1000000\n    oauth", "ping_rate: 1000000\n    webhook: {url: \"http://127.0.0.1:9/hooks\", secret: \"whsec_Y2FuYXJ5LXNlY3JldC1vZi1hY21l\"}\n    oauth",
		"campaigns:\n", `  - {id: buy_blue, funds: {balance: 1000}, oauth_clients: [{client_id: blue, client_secret: "`+acmeSecret+`"}]}
  - {id: buy_again, endpoint: "`+again.URL+`"}
campaigns:
  - {id: cmp_again, method: waterfall, duplicates: {window: 0s}, buyers: [{buyer: buy_again, price: 2}]}
  - {id: cmp_recorded, method: waterfall, suppression: [dnc], duplicates: {window: 0s}, buyers: [{buyer: buy_blue, price: 3}]}
`).Replace(trading("ping_post", b)) + "suppression_lists: [{id: dnc, field: phone}]\n"
	x := start(t, newPlace(t, config))
	w := kept{Passwords: map[string]string{}, Gone: map[string]string{}}
	user := func(status int, name, role, word string) {
		t.Helper()
		body := fmt.Sprintf(`{"role":%q,"password":%q}`, role, word)
		if word == "" {
			body = fmt.Sprintf(`{"role":%q}`, role)
		}
		x.must(status, "PUT", "/admin/v1/users/"+name, body)
	}
	const first, second = "a canary of a password", "another canary of a password"
	user(201, "ann", "viewer", first)
	user(200, "ann", "operator", "")
	user(201, "bob", "admin", first)
	x.must(204, "PUT", "/admin/v1/users/bob/password", `{"new":"`+second+`"}`)
	user(201, "carl", "viewer", first)
	ended, _ := x.givenToken(x.logsIn("carl", first), `{"name":"with its user"}`)
	x.must(204, "DELETE", "/admin/v1/users/carl", "")
	in := x.logsIn("bob", second)
	good, _ := x.givenToken(in, `{"name":"sheet","role":"viewer","expires_in":"3650d"}`)
	revoked, id := x.givenToken(in, `{"name":"lost"}`)
	x.must(204, "DELETE", "/admin/v1/api-tokens/"+id, "")
	w.Good, w.Bad = []string{good}, []string{ended, revoked}
	w.Passwords["ann"], w.Passwords["bob"] = first, second
	w.Gone["carl"], w.Gone["dora"] = first, first

	for _, made := range []string{"suppliers/sup_red", "buyers/buy_red", "buyers/buy_gone", "suppression_lists/ours", "campaigns/cmp_red"} {
		x.put(made, map[string]string{
			"suppliers/sup_red": `{"api_key":"a-canary-key-of-supplier-red"}`, "buyers/buy_red": redBuyer, "buyers/buy_gone": `{}`,
			"suppression_lists/ours": `{"field":"phone"}`, "campaigns/cmp_red": redCampaign,
		}[made])
	}
	x.put("campaigns/cmp_red", strings.Replace(redCampaign, `"price":3`, `"price":4.5,"caps":[{"per":"day","count":7}]`, 1))
	x.put("buyers/buy_red", `{"states":["CA","NV"],"caps":[{"per":"total","count":100}]}`)
	x.remove("buyers/buy_gone")
	x.upload("", phones(70, 71, 72))
	x.operate("PUT", "/admin/v1/suppression/ours", phones(80))
	x.must(204, "POST", "/admin/v1/buyers/buy_red/pause", "")
	x.must(204, "POST", "/admin/v1/campaigns/cmp_red/pause", "")
	x.snapshot()
	another, id := x.givenToken(in, `{"name":"lost, too"}`)
	x.must(204, "DELETE", "/admin/v1/api-tokens/"+id, "")
	w.Bad = append(w.Bad, another)
	user(201, "dora", "viewer", second)
	x.must(204, "DELETE", "/admin/v1/users/dora", "")
	x.put("buyers/buy_late", `{}`)
	x.put("suppliers/sup_late", `{}`)
	x.remove("suppliers/sup_late")
	x.upload("?mode=add", phones(73))
	x.must(204, "POST", "/admin/v1/campaigns/cmp_red/resume", "")
	x.must(200, "PUT", "/admin/v1/config", config+"  # sent\n")
	x.goldenLeads()
	w.Tells = x.operatorsOf()
	text := must.Value(json.MarshalIndent(w, "", " "))(t)
	x.beside(t, "kept.json", string(text)+"\n")
	return x
}

// goldenLeads leave the facts that leads do: an auction, a sale, a report, an erasure, a
// webhook that is tried and switched off.
func (r *running) goldenLeads() {
	r.t.Helper()
	r.postAt("one", r.bidFor("auto", "one"), 1)
	r.sold(lead(3, "flo_campaign_id", `"cmp_again"`))
	sold := r.sold(lead(2, "flo_campaign_id", `"cmp_recorded"`)).leadID()
	r.reportStatus(sold, "returned")
	r.must(200, "POST", "/admin/v1/buyers/buy_blue/funds", `{"amount":5,"note":"golden"}`)
	r.erase(`{"lead":"` + sold + `"}`)
	eventually(r.t, "a webhook was tried", func() bool {
		return slices.ContainsFunc(described(r.t, r.data()), func(line string) bool { return strings.Contains(line, `"outcome":"failed"`) })
	})
	r.must(204, "POST", "/admin/v1/webhooks/sup_acme/off", "")
}

// opensOperations: who was let in is, who was not is not, and the exchange tells of what
// operators made what it told then.
func opensOperations(t *testing.T, p place) {
	t.Helper()
	text := must.Value(os.ReadFile(filepath.Join(p.dir, "kept.json")))(t)
	var w kept
	must.Succeed(t, json.Unmarshal(text, &w))
	r := accepting(t, p)
	if got := r.operatorsOf(); !slices.Equal(got, w.Tells) {
		t.Errorf("it tells\n%s\nand told\n%s", strings.Join(got, "\n"), strings.Join(w.Tells, "\n"))
	}
	lets := func(token string) int {
		return request(t, "GET", "http://"+r.AdminAddress()+"/admin/v1/session", "", "Authorization", "Bearer "+token).status
	}
	for _, token := range w.Good {
		if got := lets(token); got != http.StatusOK {
			t.Errorf("a good token: %d", got)
		}
	}
	for _, token := range w.Bad {
		if got := lets(token); got != http.StatusUnauthorized {
			t.Errorf("a token that ended: %d", got)
		}
	}
	for name, word := range w.Passwords {
		if got := r.logsIn(name, word).status; got != http.StatusOK {
			t.Errorf("%s logs in: %d", name, got)
		}
	}
	for name, word := range w.Gone {
		if got := r.logsIn(name, word).status; got != http.StatusUnauthorized {
			t.Errorf("%s, who is gone, logs in: %d", name, got)
		}
	}
	if len(w.Good) == 0 || len(w.Bad) < 2 || len(w.Passwords) < 2 || len(w.Gone) < 2 || len(w.Tells) < 30 {
		t.Errorf("little is kept: %+v", w)
	}
}
