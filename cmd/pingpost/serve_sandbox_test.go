package main

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"
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
	receiver         *receiver
}

// receiver is where one tenant's supplier hears of its leads.
type receiver struct {
	*httptest.Server
	verifier *standardwebhooks.Webhook

	mu     sync.Mutex
	leads  map[string]int
	forged int // what is not signed as agreed
}

func newReceiver(t *testing.T, secret string) *receiver {
	t.Helper()
	verifier, err := standardwebhooks.NewWebhook(secret)
	if err != nil {
		t.Fatal(err)
	}
	r := &receiver{verifier: verifier, leads: map[string]int{}}
	r.Server = httptest.NewServer(r)
	t.Cleanup(r.Close)
	return r
}

func (r *receiver) ServeHTTP(_ http.ResponseWriter, req *http.Request) {
	body, err := io.ReadAll(req.Body)
	if err != nil {
		return
	}
	var said struct {
		Data struct {
			Lead string `json:"lead_id"`
		}
	}
	_ = json.Unmarshal(body, &said)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.leads[said.Data.Lead]++
	if r.verifier.Verify(body, req.Header) != nil {
		r.forged++
	}
}

// heard waits until as many leads were told of, and sees that a lead is among them
// that is its own, and another one is not.
func (r *receiver) heard(t *testing.T, leads int, own, others string) {
	t.Helper()
	for deadline := time.Now().Add(20 * time.Second); ; time.Sleep(5 * time.Millisecond) {
		r.mu.Lock()
		n, mine, foreign, forged := len(r.leads), r.leads[own], r.leads[others], r.forged
		r.mu.Unlock()
		if n == leads || time.Now().After(deadline) {
			if n != leads || mine == 0 || foreign != 0 || forged != 0 {
				t.Errorf("heard of %d leads, want %d; of its own %d times, of the other's %d, %d forged", n, leads, mine, foreign, forged)
			}
			return
		}
	}
}

func (x *tenant) call(method, address, body string, headers ...string) (status int, text string) {
	x.t.Helper()
	for deadline := time.Now().Add(20 * time.Second); ; time.Sleep(5 * time.Millisecond) {
		req, err := http.NewRequest(method, address, strings.NewReader(body))
		if err != nil {
			x.t.Fatal(err)
		}
		req.Header.Set("Content-Type", "application/json")
		for i := 0; i < len(headers); i += 2 {
			req.Header.Set(headers[i], headers[i+1])
		}
		if strings.HasPrefix(address, x.admin) {
			req.SetBasicAuth("operator", x.pass)
		}
		answer, err := http.DefaultClient.Do(req)
		if err != nil {
			x.t.Fatal(err)
		}
		read, err := io.ReadAll(answer.Body)
		answer.Body.Close()
		if err != nil {
			x.t.Fatal(err)
		}
		if answer.StatusCode != http.StatusTooManyRequests || time.Now().After(deadline) {
			return answer.StatusCode, string(read)
		}
	}
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

const triedLead = `{"flo_campaign_id":"cmp","flo_supplier_id":"sup","first_name":"Ann","last_name":"` + person + `","phone":"2125550123","email":"ann@example.com"}`

// bothTenants serves the two in one process.
func bothTenants(t *testing.T) (s *service, earnest, sand *tenant) {
	t.Helper()
	const ourSigning, theirSigning = "canaryproductioncanaryproduction", "canarysandboxcanarysandboxcanary"
	ours, others := newReceiver(t, "whsec_"+ourSigning), newReceiver(t, "whsec_"+theirSigning)
	mine := strings.NewReplacer("KEY", "production-key", "SECRET", "production-secret", "RECEIVER", ours.Listener.Addr().String(), "SIGNING", ourSigning)
	theirs := strings.NewReplacer(
		"KEY", "sandbox-key", "SECRET", "sandbox-secret", "RECEIVER", others.Listener.Addr().String(), "SIGNING", theirSigning,
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
		status, text := x.call("POST", x.public+"/api/v1/ingest", triedLead, "X-Api-Key", x.key)
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
	earnest.receiver.heard(t, 1, mine, theirs)
	sand.receiver.heard(t, 101, theirs, mine)
	s.signal(syscall.SIGTERM)
	if code := s.ends(); code != 0 {
		t.Fatalf("exit %d:\n%s", code, s.said())
	}
	ours, others := must(t, "log", "dump", earnest.data), must(t, "log", "dump", sand.data)
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
