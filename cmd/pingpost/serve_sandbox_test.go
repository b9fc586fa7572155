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

// The configurations of two tenants with the same names and different secrets.
const (
	productionConfig = `tenant: production
data_dir: data
listen: 127.0.0.1:0
admin: {listen: 127.0.0.1:0, password: "${ADMIN_PASSWORD}"}
` + commonConfig
	sandboxConfig = `tenant: sandbox
sandbox: true
data_dir: data
listen: 127.0.0.1:0
admin: {listen: 127.0.0.1:0, password: sandbox-password-of-a-canary}
` + commonConfig
	commonConfig = `trusted_networks: [127.0.0.0/8]
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

// tenant is one of the two tenants, for requests of its supplier and its operator.
type tenant struct {
	t                              *testing.T
	public, admin                  string
	data                           string
	apiKey, clientSecret, password string // two of the supplier, one of the operator
	receiver                       *refreceiver.Receiver
}

func newReceiver(t *testing.T, secret string) *refreceiver.Receiver {
	t.Helper()
	r := must.Value(refreceiver.New(refreceiver.Options{Secret: secret}))(t)
	served := make(chan error, 1)
	go func() { served <- r.Serve(t.Context()) }()
	t.Cleanup(func() { must.Succeed(t, <-served) })
	return r
}

// mustReceiveWebhooks waits for the webhooks of that many leads. The tenant's own lead must
// be among them, and the other tenant's must not.
func (x *tenant) mustReceiveWebhooks(leads int, ownLead, otherLead string) {
	x.t.Helper()
	waitFor(x.t, func() bool { return len(x.receiver.Events()) >= leads })
	seen := map[string]bool{}
	for _, e := range x.receiver.Events() {
		seen[e.Lead] = true
	}
	if s := x.receiver.Stats(); len(seen) != leads || !seen[ownLead] || seen[otherLead] || s.BadSignatures != 0 {
		x.t.Errorf("webhooks of %d leads, want %d; own lead: %v, other lead: %v, %+v", len(seen), leads, seen[ownLead], seen[otherLead], s)
	}
}

// call sends a request, and repeats it while the rate limit's bucket is empty.
func (x *tenant) call(method, address, body string, headers ...string) (status int, text string) {
	x.t.Helper()
	if strings.HasPrefix(address, x.admin) {
		headers = append(headers, "Authorization", basic("operator", x.password))
	}
	waitFor(x.t, func() bool {
		status, text = request(x.t, method, address, body, headers...)
		return status != http.StatusTooManyRequests
	})
	return status, text
}

// token requests an access token for the supplier's client.
func (x *tenant) token(secret string) (token string, status int) {
	x.t.Helper()
	form := url.Values{"grant_type": {"client_credentials"}, "client_id": {"sup"}, "client_secret": {secret}}
	status, text := x.call("POST", x.public+"/oauth/token", form.Encode(), "Content-Type", "application/x-www-form-urlencoded")
	var answer struct {
		Token string `json:"access_token"`
	}
	_ = json.Unmarshal([]byte(text), &answer)
	return answer.Token, status
}

// startTwoTenants serves both tenants in one process.
func startTwoTenants(t *testing.T) (s *testProcess, production, sandbox *tenant) {
	t.Helper()
	const ourSigning, theirSigning = "canaryproductioncanaryproduction", "canarysandboxcanarysandboxcanary"
	productionReceiver, sandboxReceiver := newReceiver(t, "whsec_"+ourSigning), newReceiver(t, "whsec_"+theirSigning)
	fillProduction := strings.NewReplacer("KEY", "production-key", "SECRET", "production-secret", "RECEIVER", productionReceiver.Addr().String(), "SIGNING", ourSigning)
	fillSandbox := strings.NewReplacer(
		"KEY", "sandbox-key", "SECRET", "sandbox-secret", "RECEIVER", sandboxReceiver.Addr().String(), "SIGNING", theirSigning,
		"# tokens", "\n    bearer_tokens: [{token: "+staticToken+", scopes: [ping, post]}]",
	)
	a, b := writeConfig(t, fillProduction.Replace(productionConfig)), writeConfig(t, fillSandbox.Replace(sandboxConfig))
	s = startServe(t, "-c", a, "-c", b)
	production = &tenant{t: t, data: filepath.Join(filepath.Dir(a), "data"), apiKey: "production-key-of-a-canary", clientSecret: "production-secret-of-a-canary", password: adminPassword, receiver: productionReceiver}
	sandbox = &tenant{t: t, data: filepath.Join(filepath.Dir(b), "data"), apiKey: "sandbox-key-of-a-canary", clientSecret: "sandbox-secret-of-a-canary", password: "sandbox-password-of-a-canary", receiver: sandboxReceiver}
	production.public, production.admin = s.addresses("production")
	sandbox.public, sandbox.admin = s.addresses("sandbox")
	return s, production, sandbox
}

// TestSandboxAndProductionAreSeparate: in one process and with the same names, each tenant
// rejects the other's credentials, and each log has only its own leads.
func TestSandboxAndProductionAreSeparate(t *testing.T) {
	t.Parallel()
	s, production, sandbox := startTwoTenants(t)
	for _, pair := range [][2]*tenant{{production, sandbox}, {sandbox, production}} {
		own, other := pair[0], pair[1]
		access, status := own.token(own.clientSecret)
		if status != 200 {
			t.Fatalf("no token from the own tenant: %d", status)
		}
		if _, status := other.token(own.clientSecret); status != 401 {
			t.Errorf("a token from the other tenant: %d", status)
		}
		bearers := []string{access}
		if own == sandbox {
			bearers = append(bearers, staticToken)
		}
		for _, bearer := range bearers {
			for _, path := range []string{"/v1/ping", "/v1/post"} {
				if status, text := own.call("POST", own.public+path, "{}", "Authorization", "Bearer "+bearer); status != 422 {
					t.Errorf("%s at the own tenant: %d %s", path, status, text)
				}
				if status, text := other.call("POST", other.public+path, "{}", "Authorization", "Bearer "+bearer); status != 401 {
					t.Errorf("%s at the other tenant: %d %s", path, status, text)
				}
			}
		}
		for _, path := range []string{"/api/v1/ingest", "/api/v1/ping"} {
			if status, text := own.call("POST", own.public+path, "{}", "X-Api-Key", own.apiKey); status != 422 {
				t.Errorf("%s at the own tenant: %d %s", path, status, text)
			}
			if status, text := other.call("POST", other.public+path, "{}", "X-Api-Key", own.apiKey); status != 401 {
				t.Errorf("%s at the other tenant: %d %s", path, status, text)
			}
		}
		impostor := *other
		impostor.password = own.password
		if status, text := impostor.call("GET", other.admin+"/admin/v1/hash", ""); status != 401 {
			t.Errorf("admin API with the other tenant's password: %d %s", status, text)
		}
		for _, bearer := range bearers {
			if status, text := production.call("POST", production.public+"/v1/dev/seed", `{"count":100,"vertical":"auto_insurance","state":"CA"}`, "Authorization", "Bearer "+bearer); status != 404 {
				t.Errorf("seed request to production: %d %s", status, text)
			}
		}
	}
	ingest := func(x *tenant) string {
		t.Helper()
		status, text := x.call("POST", x.public+"/api/v1/ingest", testLead, "X-Api-Key", x.apiKey)
		var answer struct{ Data struct{ ID string } }
		if err := json.Unmarshal([]byte(text), &answer); err != nil || status != 201 {
			t.Fatalf("%d %s", status, text)
		}
		return answer.Data.ID
	}
	productionLead, sandboxLead := ingest(production), ingest(sandbox)
	seeded := sandbox.seedTwice(t)
	if seeded[0] != seeded[1] {
		t.Error("two equal seed requests got different answers")
	}
	production.mustReceiveWebhooks(1, productionLead, sandboxLead)
	sandbox.mustReceiveWebhooks(101, sandboxLead, productionLead)
	s.stop()
	productionLog, sandboxLog := mustRun(t, "log", "dump", production.data), mustRun(t, "log", "dump", sandbox.data)
	if !strings.Contains(productionLog, productionLead) || strings.Contains(productionLog, sandboxLead) || strings.Count(productionLog, `"kind":"lead_decided"`) != 1 {
		t.Errorf("production log:\n%s", productionLog)
	}
	if strings.Contains(sandboxLog, productionLead) || !strings.Contains(sandboxLog, sandboxLead) || strings.Count(sandboxLog, `"kind":"lead_decided"`) != 101 {
		t.Errorf("the sandbox's log has %d leads", strings.Count(sandboxLog, `"kind":"lead_decided"`))
	}
}

// seedTwice requests the same seeded leads of the campaign twice.
func (x *tenant) seedTwice(t *testing.T) (answers [2]string) {
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
