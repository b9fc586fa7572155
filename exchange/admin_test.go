package exchange

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"pingpost/internal/must"
	"pingpost/server/admin"
)

// guardedPaths ask for the password. The admin server's tests ask at every route.
var guardedPaths = []struct{ method, path string }{
	{"GET", "/admin/v1/hash"}, {"PUT", "/admin/v1/config"}, {"GET", "/debug/pprof/profile?seconds=1"}, {"GET", "/elsewhere"}, {"POST", "/metrics"},
}

func TestOpenPaths(t *testing.T) {
	x := start(t, newPlace(t, recorded))
	x.sold(lead(1))
	for path, want := range map[string]string{
		"/healthz": "ok\n", "/readyz": "ready\n", "/metrics": `pingpost_leads_total{status="ACCEPTED",reason=""} 1`,
	} {
		a := request(t, "GET", "http://"+x.AdminAddress()+path, "")
		if a.status != 200 || !strings.Contains(a.body, want) {
			t.Errorf("%s: %d %s", path, a.status, a.body)
		}
	}
}

// TestPassword: whoever has no password, or the wrong one, gets nowhere, and
// nobody does where none is configured.
func TestPassword(t *testing.T) {
	basic := func(text string) string { return "Basic " + base64.StdEncoding.EncodeToString([]byte(text)) }
	x := start(t, newPlace(t, recorded))
	bare := start(t, newPlace(t, strings.Replace(recorded, `, password: "${PASSWORD}"`, "", 1)))
	for _, row := range []struct {
		name, header string
		x            *running
		guess        bool // which is slowed after a few
	}{
		{"none", "", x, false},
		{"a wrong one", basic("operator:wrong"), x, true},
		{"an empty one", basic("operator:"), x, true},
		{"a user alone", basic(password), x, false},
		{"one of another case", basic("operator:" + strings.ToUpper(password)), x, true},
		{"half of it", basic("operator:" + password[:10]), x, true},
		{"as a bearer", "Bearer " + password, x, false},
		{"not in base 64", "Basic operator:" + password, x, false},
		{"an API key", basic("operator:" + acmeKey), x, true},
		{"none where there is none", "", bare, false},
		{"an empty one where there is none", basic("operator:"), bare, false},
		{"any where there is none", basic("operator:" + password), bare, false},
	} {
		t.Run(row.name, func(t *testing.T) {
			paths := guardedPaths
			if row.guess {
				paths = paths[:2]
			}
			for _, guarded := range paths {
				a := request(t, guarded.method, "http://"+row.x.AdminAddress()+guarded.path, "", "Authorization", row.header)
				a.mustFail(t, 401, "unauthorized")
				if challenge := a.header.Get("WWW-Authenticate"); !strings.HasPrefix(challenge, "Basic ") {
					t.Errorf("%s %s: WWW-Authenticate %q", guarded.method, guarded.path, challenge)
				}
			}
		})
	}
	for _, user := range []string{"operator", "", "anyone"} {
		if a := request(t, "GET", "http://"+x.AdminAddress()+"/admin/v1/hash", "", "Authorization", basic(user+":"+password)); a.status != 200 {
			t.Errorf("user %q: %d", user, a.status)
		}
	}
	x.operate("GET", "/debug/pprof/", "").mustHave(t, 200, "goroutine")
	x.operate("GET", "/admin/v1/none", "").mustFail(t, 404, "not_found")
	a := x.operate("DELETE", "/admin/v1/hash", "")
	a.mustFail(t, 405, "method_not_allowed")
	if !strings.Contains(a.header.Get("Allow"), "GET") {
		t.Errorf("Allow %q", a.header.Get("Allow"))
	}
}

// TestAdminFraming: what the HTTP library cannot read is answered in the
// interface's form here too.
func TestAdminFraming(t *testing.T) {
	x := start(t, newPlace(t, recorded))
	for name, row := range map[string]struct {
		say    string
		status int
		code   string
	}{
		"no HTTP":        {"HELO\r\n\r\n", 400, "malformed_request"},
		"a large header": {"GET /healthz HTTP/1.1\r\nHost: x\r\nX: " + strings.Repeat("a", 1<<20) + "\r\n\r\n", 431, "header_too_large"},
		"a large body":   {"PUT /admin/v1/config HTTP/1.1\r\nHost: x\r\nContent-Length: 99999999\r\n\r\n" + strings.Repeat("a", 8<<10), 401, "unauthorized"},
	} {
		t.Run(name, func(t *testing.T) {
			w := dial(t, x.AdminAddress())
			go w.say(row.say)
			w.next("GET").mustFail(t, row.status, row.code)
			w.ends()
		})
	}
}

// TestReadiness: from the moment the address answers until it no longer does,
// it says how far the exchange is.
func TestReadiness(t *testing.T) {
	p := newPlace(t, recorded)
	built := must.Value(loadConfiguration(p.config(), env))(t)
	x := newExchange(p.config(), Options{Env: env, Logger: logger}, built)
	must.Succeed(t, x.listenAndServeAdmin())
	r := &running{Exchange: x, place: p, t: t}
	isNot := func(why string) {
		t.Helper()
		if a := r.operate("GET", "/readyz", ""); a.status != 503 || !strings.Contains(a.body, why) {
			t.Errorf("%d %q, want %q", a.status, a.body, why)
		}
		for _, path := range []string{"/admin/v1/hash", "/admin/v1/deliveries", "/admin/v1/explain/lead_01jd0000000000000000000000", "/admin/v1/suppliers/sup_acme/keys"} {
			r.operate("GET", path, "").mustFail(t, 503, "unavailable")
		}
		r.operate("GET", "/healthz", "").mustHave(t, 200)
	}
	isNot("starting")
	must.Succeed(t, x.prepareToServe(built))
	isNot("starting")
	x.markReadyAndServePublic()
	r.operate("GET", "/readyz", "").mustHave(t, 200)
	x.draining.Store(true)
	isNot("stopping")
	r.ingest(lead(1)).mustFail(t, 503, "unavailable")
	r.stop()
}

func TestPauseAndResume(t *testing.T) {
	x := start(t, newPlace(t, recorded))
	x.sold(lead(1))
	x.must(204, "POST", "/admin/v1/campaigns/cmp/pause", "")
	f := x.ingest(lead(2)).mustFail(t, 422, "invalid_payload")
	if len(f.Fields) != 1 || f.Fields[0].Field != "flo_campaign_id" || f.Fields[0].Code != "inactive" {
		t.Errorf("%+v", f.Fields)
	}
	x = x.again()
	x.ingest(lead(2)).mustFail(t, 422, "invalid_payload")
	x.must(204, "POST", "/admin/v1/campaigns/cmp/pause", "") // again: no harm
	x.must(204, "POST", "/admin/v1/campaigns/cmp/resume", "")
	x.sold(lead(2))
	x.must(204, "POST", "/admin/v1/buyers/buy_blue/pause", "")
	if a := x.ingest(lead(3)); !strings.Contains(a.body, `"reason":"no_bid"`) {
		t.Errorf("%d %s", a.status, a.body)
	}
	x.must(204, "POST", "/admin/v1/buyers/buy_blue/resume", "")
	x.sold(lead(3))
	// The file's word counts once: a resumed campaign stays so.
	x.must(204, "POST", "/admin/v1/campaigns/cmp_shut/resume", "")
	x = x.again()
	x.sold(lead(4, "flo_campaign_id", `"cmp_shut"`))
	x.operate("POST", "/admin/v1/campaigns/none/pause", "").mustFail(t, 404, "not_found")
	x.operate("POST", "/admin/v1/suppliers/sup_acme/pause", "").mustFail(t, 404, "not_found")
}

func TestFunds(t *testing.T) {
	config := strings.Replace(recorded, "states: [CA, NV]", "funds: {balance: 20}", 1)
	x := start(t, newPlace(t, config))
	x.wantFunds(`{"balance":20,"held":0}`)
	x.sold(lead(1))
	if a := x.ingest(lead(2)); !strings.Contains(a.body, "insufficient_funds") {
		t.Errorf("%d %s", a.status, a.body)
	}
	if a := x.must(200, "POST", "/admin/v1/buyers/buy_blue/funds", `{"amount":4.100001,"note":"wire 17"}`); a.body != `{"balance":12.050001,"held":0}`+"\n" {
		t.Error(a.body)
	}
	x.sold(lead(2))
	x = x.again()
	x.wantFunds(`{"balance":0.000001,"held":0}`) // after a restart, which must not write the opening balance again
	for body, want := range map[string]int{
		`{"amount":0}`: 422, `{}`: 422, `{"amount":"5"}`: 422, `{"amount":-0}`: 422, `{"amount":null}`: 422, `{"amount":1000001}`: 422, `{"amount":-1000001}`: 422, `{"amount":0.0000001}`: 422,
		`{"amount":1,"note":"` + strings.Repeat("n", 257) + `"}`: 422, `{"amount":1,"note":5}`: 422,
		`{"amount":1,"amount":2}`: 400, `{"amount":`: 400, ``: 400, `[]`: 400,
	} {
		code := map[int]string{422: "invalid_payload", 400: "malformed_json"}[want]
		x.operate("POST", "/admin/v1/buyers/buy_blue/funds", body).mustFail(t, want, code)
	}
	x.operate("GET", "/admin/v1/buyers/none/funds", "").mustFail(t, 404, "not_found")
	x.operate("POST", "/admin/v1/buyers/none/funds", `{"amount":1}`).mustFail(t, 404, "not_found")
	x.wantFunds(`{"balance":0.000001,"held":0}`) // a refusal moves no money
	if a := x.must(200, "POST", "/admin/v1/buyers/buy_blue/funds", `{"amount":-4.1,"note":"wire 17 was another buyer's"}`); a.body != `{"balance":-4.099999,"held":0}`+"\n" {
		t.Error("what was paid in by mistake is not taken back: " + a.body)
	}
}

func TestHintsShowLittle(t *testing.T) {
	for key, want := range map[string]string{"": "", "abc": "", "abcdefgh": "ab", strings.Repeat("k", 100): "kkkkkkkk"} {
		if got := admin.KeyHint(key); got != want {
			t.Errorf("%q: %q, want %q", key, got, want)
		}
	}
}

// TestMetricsAreBounded: nothing that a stranger sends becomes a label.
func TestMetricsAreBounded(t *testing.T) {
	x := start(t, newPlace(t, recorded))
	count := func() int {
		return strings.Count(request(t, "GET", "http://"+x.AdminAddress()+"/metrics", "").body, "\n")
	}
	before := count()
	for i := range 50 {
		request(t, "GET", fmt.Sprintf("http://%s/stranger/%d", x.PublicAddress(), i), "", "X-Api-Key", fmt.Sprint("stranger", i))
		request(t, "GET", fmt.Sprintf("http://%s/stranger/%d", x.AdminAddress(), i), "")
	}
	x.sold(lead(1))
	a := request(t, "GET", "http://"+x.AdminAddress()+"/metrics", "")
	if after := strings.Count(a.body, "\n"); after > before+60 || strings.Contains(a.body, "stranger") {
		t.Errorf("%d lines, before it were %d", after, before)
	}
	x.measures(`pingpost_requests_total{path="other",status="404"} 50`, `pingpost_requests_total{path="/api/v1/ingest",status="201"} 1`, `pingpost_reservations 0`)
	if want := `pingpost_requests_total{path="admin",status="401"} 50`; !strings.Contains(a.body, want+"\n") {
		t.Errorf("no line %s", want)
	}
}

// decode reads a JSON answer.
func decode[T any](t testing.TB, a *answer) (v T) {
	t.Helper()
	if err := json.Unmarshal([]byte(a.body), &v); err != nil {
		t.Fatalf("%v: %s", err, a.body)
	}
	return v
}
