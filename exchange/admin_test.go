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

// guardedPaths require the password. The admin server's tests check every route.
var guardedPaths = []struct{ method, path string }{
	{"GET", "/admin/v1/hash"}, {"PUT", "/admin/v1/config"}, {"GET", "/debug/pprof/profile?seconds=1"}, {"GET", "/elsewhere"}, {"POST", "/metrics"},
}

func TestHealthAndMetricsNeedNoPassword(t *testing.T) {
	t.Parallel()
	x := start(t, newTestDir(t, baseConfig))
	x.mustSell(leadBody(1))
	for path, want := range map[string]string{
		"/healthz": "ok\n", "/readyz": "ready\n", "/metrics": `pingpost_leads_total{status="ACCEPTED",reason=""} 1`,
	} {
		a := request(t, "GET", "http://"+x.AdminAddress()+path, "")
		if a.status != 200 || !strings.Contains(a.body, want) {
			t.Errorf("%s: got %d %s", path, a.status, a.body)
		}
	}
}

// TestAdminRequiresPassword: requests without the password get a 401, and all requests if none is
// configured.
func TestAdminRequiresPassword(t *testing.T) {
	t.Parallel()
	basic := func(text string) string { return "Basic " + base64.StdEncoding.EncodeToString([]byte(text)) }
	x := start(t, newTestDir(t, baseConfig))
	bare := start(t, newTestDir(t, strings.Replace(baseConfig, `, password: "${PASSWORD}"`, "", 1)))
	for _, row := range []struct {
		name, header string
		x            *testExchange
		guess        bool // a wrong password: the rate limit allows only a few
	}{
		{"no password", "", x, false},
		{"wrong password", basic("operator:wrong"), x, true},
		{"empty password", basic("operator:"), x, true},
		{"user without password", basic(adminPassword), x, false},
		{"password in another case", basic("operator:" + strings.ToUpper(adminPassword)), x, true},
		{"part of the password", basic("operator:" + adminPassword[:10]), x, true},
		{"as bearer token", "Bearer " + adminPassword, x, false},
		{"not base64", "Basic operator:" + adminPassword, x, false},
		{"API key", basic("operator:" + acmeKey), x, true},
		{"no password, none configured", "", bare, false},
		{"empty password, none configured", basic("operator:"), bare, false},
		{"a password, none configured", basic("operator:" + adminPassword), bare, false},
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
		if a := request(t, "GET", "http://"+x.AdminAddress()+"/admin/v1/hash", "", "Authorization", basic(user+":"+adminPassword)); a.status != 200 {
			t.Errorf("user %q: %d", user, a.status)
		}
	}
	x.adminRequest("GET", "/debug/pprof/", "").mustHave(t, 200, "goroutine")
	x.adminRequest("GET", "/admin/v1/none", "").mustFail(t, 404, "not_found")
	a := x.adminRequest("DELETE", "/admin/v1/hash", "")
	a.mustFail(t, 405, "method_not_allowed")
	if !strings.Contains(a.header.Get("Allow"), "GET") {
		t.Errorf("Allow %q", a.header.Get("Allow"))
	}
}

// TestAdminRejectsMalformedRequests: requests that the HTTP library rejects also get JSON errors.
func TestAdminRejectsMalformedRequests(t *testing.T) {
	t.Parallel()
	x := start(t, newTestDir(t, baseConfig))
	for name, row := range map[string]struct {
		text   string
		status int
		code   string
	}{
		"no HTTP":        {"HELO\r\n\r\n", 400, "malformed_request"},
		"a large header": {"GET /healthz HTTP/1.1\r\nHost: x\r\nX: " + strings.Repeat("a", 1<<20) + "\r\n\r\n", 431, "header_too_large"},
		"a large body":   {"PUT /admin/v1/config HTTP/1.1\r\nHost: x\r\nContent-Length: 99999999\r\n\r\n" + strings.Repeat("a", 8<<10), 401, "unauthorized"},
	} {
		t.Run(name, func(t *testing.T) {
			w := dial(t, x.AdminAddress())
			go w.send(row.text)
			w.readAnswer("GET").mustFail(t, row.status, row.code)
			w.mustBeClosed()
		})
	}
}

func TestReadyzFollowsStartAndStop(t *testing.T) {
	t.Parallel()
	p := newTestDir(t, baseConfig)
	built := must.Value(loadConfiguration(p.configPath(), env))(t)
	x := newExchange(p.configPath(), Options{Env: env, Logger: p.logger()}, built)
	must.Succeed(t, x.openListenersAndServeAdmin())
	r := &testExchange{Exchange: x, testDir: p, t: t}
	mustNotBeReady := func(reason string) {
		t.Helper()
		if a := r.adminRequest("GET", "/readyz", ""); a.status != 503 || !strings.Contains(a.body, reason) {
			t.Errorf("readyz: got %d %q, want 503 %q", a.status, a.body, reason)
		}
		for _, path := range []string{"/admin/v1/hash", "/admin/v1/deliveries", "/admin/v1/explain/lead_01jd0000000000000000000000", "/admin/v1/suppliers/sup_acme/keys"} {
			r.adminRequest("GET", path, "").mustFail(t, 503, "unavailable")
		}
		r.adminRequest("GET", "/healthz", "").mustHave(t, 200)
	}
	mustNotBeReady("starting")
	must.Succeed(t, x.prepareToServePublic(built))
	mustNotBeReady("starting")
	x.markReadyAndServePublic()
	r.adminRequest("GET", "/readyz", "").mustHave(t, 200)
	x.draining.Store(true)
	mustNotBeReady("stopping")
	r.ingest(leadBody(1)).mustFail(t, 503, "unavailable")
	r.stop()
}

func TestPauseAndResume(t *testing.T) {
	t.Parallel()
	x := start(t, newTestDir(t, baseConfig))
	x.mustSell(leadBody(1))
	x.mustAdmin(204, "POST", "/admin/v1/campaigns/cmp/pause", "")
	f := x.ingest(leadBody(2)).mustFail(t, 422, "invalid_payload")
	if len(f.Fields) != 1 || f.Fields[0].Field != "flo_campaign_id" || f.Fields[0].Code != "inactive" {
		t.Errorf("unexpected field errors of a paused campaign: %+v", f.Fields)
	}
	x = x.restart()
	x.ingest(leadBody(2)).mustFail(t, 422, "invalid_payload")
	x.mustAdmin(204, "POST", "/admin/v1/campaigns/cmp/pause", "") // a repeat has no effect
	x.mustAdmin(204, "POST", "/admin/v1/campaigns/cmp/resume", "")
	x.mustSell(leadBody(2))
	x.mustAdmin(204, "POST", "/admin/v1/buyers/buy_blue/pause", "")
	if a := x.ingest(leadBody(3)); !strings.Contains(a.body, `"reason":"no_bid"`) {
		t.Errorf("lead for a paused buyer: got %d %s", a.status, a.body)
	}
	x.mustAdmin(204, "POST", "/admin/v1/buyers/buy_blue/resume", "")
	x.mustSell(leadBody(3))
	// The file sets only the first value: a resumed campaign stays active.
	x.mustAdmin(204, "POST", "/admin/v1/campaigns/cmp_shut/resume", "")
	x = x.restart()
	x.mustSell(leadBody(4, "flo_campaign_id", `"cmp_shut"`))
	x.adminRequest("POST", "/admin/v1/campaigns/none/pause", "").mustFail(t, 404, "not_found")
	x.adminRequest("POST", "/admin/v1/suppliers/sup_acme/pause", "").mustFail(t, 404, "not_found")
}

func TestFundsAndTopUps(t *testing.T) {
	t.Parallel()
	config := strings.Replace(baseConfig, "states: [CA, NV]", "funds: {balance: 20}", 1)
	x := start(t, newTestDir(t, config))
	x.checkBlueFunds(`{"balance":20,"held":0,"currency":"USD"}`)
	x.mustSell(leadBody(1))
	if a := x.ingest(leadBody(2)); !strings.Contains(a.body, "insufficient_funds") {
		t.Errorf("lead without funds: got %d %s", a.status, a.body)
	}
	if a := x.mustAdmin(200, "POST", "/admin/v1/buyers/buy_blue/funds", `{"amount":4.100001,"note":"wire 17"}`); a.body != `{"balance":12.050001,"held":0,"currency":"USD"}`+"\n" {
		t.Errorf("unexpected answer to a top-up: %v", a.body)
	}
	x.mustSell(leadBody(2))
	x = x.restart()
	x.checkBlueFunds(`{"balance":0.000001,"held":0,"currency":"USD"}`) // a restart must not repeat the opening balance
	for body, want := range map[string]int{
		`{"amount":0}`: 422, `{}`: 422, `{"amount":"5"}`: 422, `{"amount":-0}`: 422, `{"amount":null}`: 422, `{"amount":1000001}`: 422, `{"amount":-1000001}`: 422, `{"amount":0.0000001}`: 422,
		`{"amount":1,"note":"` + strings.Repeat("n", 257) + `"}`: 422, `{"amount":1,"note":5}`: 422,
		`{"amount":1,"amount":2}`: 400, `{"amount":`: 400, ``: 400, `[]`: 400,
	} {
		code := map[int]string{422: "invalid_payload", 400: "malformed_json"}[want]
		x.adminRequest("POST", "/admin/v1/buyers/buy_blue/funds", body).mustFail(t, want, code)
	}
	x.adminRequest("GET", "/admin/v1/buyers/none/funds", "").mustFail(t, 404, "not_found")
	x.adminRequest("POST", "/admin/v1/buyers/none/funds", `{"amount":1}`).mustFail(t, 404, "not_found")
	x.checkBlueFunds(`{"balance":0.000001,"held":0,"currency":"USD"}`) // a rejected top-up changes no balance
	if a := x.mustAdmin(200, "POST", "/admin/v1/buyers/buy_blue/funds", `{"amount":-4.1,"note":"wire 17 was another buyer's"}`); a.body != `{"balance":-4.099999,"held":0,"currency":"USD"}`+"\n" {
		t.Error("negative top-up: " + a.body)
	}
}

func TestKeyHintLength(t *testing.T) {
	t.Parallel()
	for key, want := range map[string]string{"": "", "abc": "", "abcdefgh": "ab", strings.Repeat("k", 100): "kkkkkkkk"} {
		if got := admin.SecretPrefixHint(key); got != want {
			t.Errorf("%q: %q, want %q", key, got, want)
		}
	}
}

func TestUnknownCallersAddNoMetricLabels(t *testing.T) {
	t.Parallel()
	x := start(t, newTestDir(t, baseConfig))
	count := func() int {
		return strings.Count(request(t, "GET", "http://"+x.AdminAddress()+"/metrics", "").body, "\n")
	}
	before := count()
	for i := range 50 {
		request(t, "GET", fmt.Sprintf("http://%s/stranger/%d", x.PublicAddress(), i), "", "X-Api-Key", fmt.Sprint("stranger", i))
		request(t, "GET", fmt.Sprintf("http://%s/stranger/%d", x.AdminAddress(), i), "")
	}
	x.mustSell(leadBody(1))
	a := request(t, "GET", "http://"+x.AdminAddress()+"/metrics", "")
	if after := strings.Count(a.body, "\n"); after > before+60 || strings.Contains(a.body, "stranger") {
		t.Errorf("metrics page has %d lines, before it had %d", after, before)
	}
	x.checkMetrics(`pingpost_requests_total{path="other",status="404"} 50`, `pingpost_requests_total{path="/api/v1/ingest",status="201"} 1`, `pingpost_reservations 0`)
	if want := `pingpost_requests_total{path="admin",status="401"} 50`; !strings.Contains(a.body, want+"\n") {
		t.Errorf("metrics page lacks the line %s", want)
	}
}

// decode decodes a JSON answer.
func decode[T any](t testing.TB, a *answer) (v T) {
	t.Helper()
	if err := json.Unmarshal([]byte(a.body), &v); err != nil {
		t.Fatalf("cannot decode the answer: %v: %s", err, a.body)
	}
	return v
}
