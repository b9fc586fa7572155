package main

import (
	"encoding/json"
	"net/http"
	"net/url"
	"path/filepath"
	"strings"
	"testing"

	"pingpost/internal/must"
	"pingpost/loadtest/refreceiver"
)

// Two tenants with the same names in both, and secrets of their own.
const (
	tenantInEarnest = `tenant: production
data_dir: data
listen: 127.0.0.1:0
admin: {listen: 127.0.0.1:0, password: "${ADMIN_PASSWORD}"}
` + tenantsOwn
	tenantForTrying = `tenant: sandbox
sandbox: true
data_dir: data
listen: 127.0.0.1:0
admin: {listen: 127.0.0.1:0, password: sandbox-password-of-a-canary}
` + tenantsOwn
	tenantsOwn = `trusted_networks: [127.0.0.0/8]
suppliers:
  - id: sup
    api_key: KEY-of-a-canary
    ingest_rate: 1000000
    ping_rate: 1000000
    webhook: {url: "http://RECEIVER/hooks", secret: whsec_SIGNING}
    oauth_clients: [{client_id: sup, client_secret: SECRET-of-a-canary, scopes: [ping, post]}] # tokens
buyers: [{id: buy}]
campaigns:
  - id: cmp
    method: waterfall
    duplicates: {window: 0s}
    fields: [{name: homeowner, type: boolean}]
    buyers: [{buyer: buy, price: 12.05}]
`
	staticToken = "static-token-of-a-canary"
)

// tenant is one of the two as its supplier sees it.
type tenant struct {
	t                *testing.T
	public, admin    string
	data             string
	key, oauth, pass string // the supplier's, and the operator's
	receiver         *refreceiver.Receiver
}

func newReceiver(t *testing.T, secret string) *refreceiver.Receiver {
	t.Helper()
	r := must.Value(refreceiver.New(refreceiver.Options{Secret: secret}))(t)
	served := make(chan error, 1)
	go func() { served <- r.Serve(t.Context()) }()
	t.Cleanup(func() { must.Succeed(t, <-served) })
	return r
}

// heard waits until the tenant's receiver has webhooks of as many leads, and checks that the
// tenant's own lead is among them, and the other tenant's is not.
func (x *tenant) heard(leads int, own, others string) {
	x.t.Helper()
	waitFor(x.t, func() bool { return len(x.receiver.Events()) >= leads })
	seen := map[string]bool{}
	for _, e := range x.receiver.Events() {
		seen[e.Lead] = true
	}
	if s := x.receiver.Stats(); len(seen) != leads || !seen[own] || seen[others] || s.BadSignatures != 0 {
		x.t.Errorf("heard of %d leads, want %d; of its own: %v, of the other's: %v, %+v", len(seen), leads, seen[own], seen[others], s)
	}
}

// call sends a request, again while the rate limit's bucket is empty.
func (x *tenant) call(method, address, body string, headers ...string) (status int, text string) {
	x.t.Helper()
	if strings.HasPrefix(address, x.admin) {
		headers = append(headers, "Authorization", basic("operator", x.pass))
	}
	waitFor(x.t, func() bool {
		status, text = request(x.t, method, address, body, headers...)
		return status != http.StatusTooManyRequests
	})
	return status, text
}

// token is one for the supplier's client, if its secret is good here.
func (x *tenant) token(secret string) (token string, status int) {
	x.t.Helper()
	form := url.Values{"grant_type": {"client_credentials"}, "client_id": {"sup"}, "client_secret": {secret}}
	status, text := x.call("POST", x.public+"/oauth/token", form.Encode(), "Content-Type", "application/x-www-form-urlencoded")
	var said struct {
		Token string `json:"access_token"`
	}
	_ = json.Unmarshal([]byte(text), &said)
	return said.Token, status
}

// bothTenants serves the two in one process.
func bothTenants(t *testing.T) (s *service, earnest, sand *tenant) {
	t.Helper()
	const ourSigning, theirSigning = "canaryproductioncanaryproduction", "canarysandboxcanarysandboxcanary"
	ours, others := newReceiver(t, "whsec_"+ourSigning), newReceiver(t, "whsec_"+theirSigning)
	mine := strings.NewReplacer("KEY", "production-key", "SECRET", "production-secret", "RECEIVER", ours.Addr().String(), "SIGNING", ourSigning)
	theirs := strings.NewReplacer(
		"KEY", "sandbox-key", "SECRET", "sandbox-secret", "RECEIVER", others.Addr().String(), "SIGNING", theirSigning,
		"# tokens", "\n    bearer_tokens: [{token: "+staticToken+", scopes: [ping, post]}]",
	)
	a, b := configuration(t, mine.Replace(tenantInEarnest)), configuration(t, theirs.Replace(tenantForTrying))
	s = serve(t, "-c", a, "-c", b)
	earnest = &tenant{t: t, data: filepath.Join(filepath.Dir(a), "data"), key: "production-key-of-a-canary", oauth: "production-secret-of-a-canary", pass: adminPassword, receiver: ours}
	sand = &tenant{t: t, data: filepath.Join(filepath.Dir(b), "data"), key: "sandbox-key-of-a-canary", oauth: "sandbox-secret-of-a-canary", pass: "sandbox-password-of-a-canary", receiver: others}
	earnest.public, earnest.admin = s.addresses("production")
	sand.public, sand.admin = s.addresses("sandbox")
	return s, earnest, sand
}

// TestServeASandboxBesideProduction: in one process, with the same names, neither
// tenant's credentials open anything of the other, and what happens in one is in
// its own log alone.
func TestServeASandboxBesideProduction(t *testing.T) {
	s, earnest, sand := bothTenants(t)
	for _, pair := range [][2]*tenant{{earnest, sand}, {sand, earnest}} {
		home, away := pair[0], pair[1]
		access, status := home.token(home.oauth)
		if status != 200 {
			t.Fatalf("no token at home: %d", status)
		}
		if _, status := away.token(home.oauth); status != 401 {
			t.Errorf("a token for the other's client: %d", status)
		}
		bearers := []string{access}
		if home == sand {
			bearers = append(bearers, staticToken)
		}
		for _, bearer := range bearers {
			for _, path := range []string{"/v1/ping", "/v1/post"} {
				if status, text := home.call("POST", home.public+path, "{}", "Authorization", "Bearer "+bearer); status != 422 {
					t.Errorf("%s at home: %d %s", path, status, text)
				}
				if status, text := away.call("POST", away.public+path, "{}", "Authorization", "Bearer "+bearer); status != 401 {
					t.Errorf("%s away: %d %s", path, status, text)
				}
			}
		}
		for _, path := range []string{"/api/v1/ingest", "/api/v1/ping"} {
			if status, text := home.call("POST", home.public+path, "{}", "X-Api-Key", home.key); status != 422 {
				t.Errorf("%s at home: %d %s", path, status, text)
			}
			if status, text := away.call("POST", away.public+path, "{}", "X-Api-Key", home.key); status != 401 {
				t.Errorf("%s away: %d %s", path, status, text)
			}
		}
		stranger := *away
		stranger.pass = home.pass
		if status, text := stranger.call("GET", away.admin+"/admin/v1/hash", ""); status != 401 {
			t.Errorf("one operator's password at the other: %d %s", status, text)
		}
		for _, bearer := range bearers {
			if status, text := earnest.call("POST", earnest.public+"/v1/dev/seed", `{"count":100,"vertical":"auto_insurance","state":"CA"}`, "Authorization", "Bearer "+bearer); status != 404 {
				t.Errorf("seeds in earnest: %d %s", status, text)
			}
		}
	}
	soldAt := func(x *tenant) string {
		t.Helper()
		status, text := x.call("POST", x.public+"/api/v1/ingest", soldLead, "X-Api-Key", x.key)
		var said struct{ Data struct{ ID string } }
		if err := json.Unmarshal([]byte(text), &said); err != nil || status != 201 {
			t.Fatalf("%d %s", status, text)
		}
		return said.Data.ID
	}
	mine, theirs := soldAt(earnest), soldAt(sand)
	seeded := sand.seeded(t)
	if seeded[0] != seeded[1] {
		t.Error("the same request for leads was answered in two ways")
	}
	earnest.heard(1, mine, theirs)
	sand.heard(101, theirs, mine)
	s.stops()
	ours, others := mustRun(t, "log", "dump", earnest.data), mustRun(t, "log", "dump", sand.data)
	if !strings.Contains(ours, mine) || strings.Contains(ours, theirs) || strings.Count(ours, `"kind":"lead_decided"`) != 1 {
		t.Errorf("the log in earnest:\n%s", ours)
	}
	if strings.Contains(others, mine) || !strings.Contains(others, theirs) || strings.Count(others, `"kind":"lead_decided"`) != 101 {
		t.Errorf("the sandbox's log has %d leads", strings.Count(others, `"kind":"lead_decided"`))
	}
}

// seeded asks twice for the same leads through the campaign.
func (x *tenant) seeded(t *testing.T) (answers [2]string) {
	t.Helper()
	for i := range answers {
		status, text := x.call("POST", x.public+"/v1/dev/seed", `{"count":100,"vertical":"auto_insurance","state":"OH","seed":3,"campaign_id":"cmp"}`, "Authorization", "Bearer "+staticToken)
		if status != 201 || strings.Count(text, `"status":"ACCEPTED"`) != 100 {
			t.Fatalf("%d %.300s", status, text)
		}
		answers[i] = text
	}
	return answers
}
