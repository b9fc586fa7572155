package exchange

import (
	"encoding/json"
	"net/url"
	"strings"
	"testing"

	"pingpost/engine/event"
	"pingpost/internal/must"
)

// Clients of these tests. blue's id and secret have all characters that a form, a header and JSON
// must encode.
const (
	acmeSecret = "canary-of-a-client/1"
	blueID     = "blue/x+y%"
	blueSecret = `canary+100%&more="x"\y`
	formType   = "application/x-www-form-urlencoded"
)

// oauthConfig has an OAuth client of a supplier and one of a buyer.
const oauthConfig = configHead + `token_lifetime: 30m
suppliers:
  - id: sup_acme
    api_key: "${ACME_KEY}"
    ingest_rate: 1000000
    oauth_clients: [{client_id: acme, client_secret: "` + acmeSecret + `"}]
  - {id: sup_other, api_key: "${OTHER_KEY}", ingest_rate: 1000000}
buyers:
  - id: buy_blue
    oauth_clients: [{client_id: "` + blueID + `", client_secret: '` + blueSecret + `', scopes: [webhook, post]}]
campaigns:
  - id: cmp
    method: waterfall
    duplicates: {window: 0s}
    buyers: [{buyer: buy_blue, price: 12.05}]
`

// requestToken requests an access token with a form.
func (r *testExchange) requestToken(id, secret, scope string) *answer {
	r.t.Helper()
	form := url.Values{"grant_type": {"client_credentials"}, "client_id": {id}, "client_secret": {secret}, "scope": {scope}}
	return request(r.t, "POST", "http://"+r.PublicAddress()+"/oauth/token", form.Encode(), "Content-Type", formType)
}

// mustToken returns an access token.
func (r *testExchange) mustToken(id, secret string) string {
	r.t.Helper()
	a := r.requestToken(id, secret, "")
	if a.status != 200 {
		r.t.Fatalf("client %s: got %d %s, want a token", id, a.status, a.body)
	}
	return decode[struct {
		Token string `json:"access_token"`
	}](r.t, a).Token
}

// acceptsSecret reports whether a client's secret is valid.
func (r *testExchange) acceptsSecret(id, secret string) bool {
	r.t.Helper()
	a := r.requestToken(id, secret, "")
	if a.status != 200 {
		a.mustFailOAuth(r.t, 401, "invalid_client")
	}
	return a.status == 200
}

// mustFailOAuth checks that an answer is an OAuth error.
func (a *answer) mustFailOAuth(t testing.TB, status int, code string) {
	t.Helper()
	f := decode[struct {
		errorBody
		Description string `json:"error_description"`
	}](t, a)
	if a.status != status || f.Error != code || f.Message == "" || f.Description != f.Message || f.RequestID != a.requestID() || !requestIDPattern.MatchString(a.requestID()) {
		t.Errorf("got %d %s, want %d %s", a.status, a.body, status, code)
	}
	if got := a.header.Get("WWW-Authenticate"); (status == 401) != (got == `Basic realm="pingpost"`) {
		t.Errorf("status %d with WWW-Authenticate %q", status, got)
	}
	if a.header.Get("Cache-Control") != "no-store" || a.header.Get("Content-Type") != jsonType {
		t.Errorf("unexpected headers: %v", a.header)
	}
}

// acceptsToken reports whether the exchange issued the token and its client secret is still valid.
func (r *testExchange) acceptsToken(token string) bool {
	r.t.Helper()
	claims, ok := r.tokens.OpenUnexpiredToken([]byte(token), r.clock.Now())
	if !ok {
		return false
	}
	c, live := r.state.CredentialByHash(claims.Secret)
	return live && c.Kind == event.CredentialOAuthClient && c.Owner == claims.Owner && c.Ref == claims.Ref
}

// TestTokensSurviveRestartAndCrash: with and without a snapshot, and without a log entry for the
// token.
func TestTokensSurviveRestartAndCrash(t *testing.T) {
	t.Parallel()
	x := start(t, newTestDir(t, oauthConfig))
	token := x.mustToken("acme", acmeSecret)
	before, _, err := x.StateHash()
	must.Succeed(t, err)
	x.mustToken("acme", acmeSecret)
	if after, _, _ := x.StateHash(); after != before {
		t.Errorf("a token added %d log entries", after-before)
	}
	x.acceptsToken(token)
	if crashed := start(t, x.copyFiles(t)); !crashed.acceptsToken(token) || !crashed.acceptsSecret("acme", acmeSecret) {
		t.Error("token or secret is invalid after a crash")
	}
	x.mustSnapshot()
	if crashed := start(t, x.copyFiles(t)); !crashed.acceptsToken(token) {
		t.Error("token is invalid after a snapshot and a crash")
	}
	x = x.restart().restart()
	if !x.acceptsToken(token) || !x.acceptsSecret("acme", acmeSecret) || !x.acceptsSecret(blueID, blueSecret) {
		t.Error("token or secret is invalid after two restarts")
	}
}

// TestReloadKeepsTokens: a changed lifetime takes effect at the next start.
func TestReloadKeepsTokens(t *testing.T) {
	t.Parallel()
	x := start(t, newTestDir(t, oauthConfig))
	token := x.mustToken("acme", acmeSecret)
	x.reloadWith(strings.Replace(oauthConfig, "30m", "2h", 1))
	lifetime := func() int {
		return decode[struct {
			ExpiresIn int `json:"expires_in"`
		}](t, x.requestToken("acme", acmeSecret, "")).ExpiresIn
	}
	if !x.acceptsToken(token) || lifetime() != 1800 {
		t.Errorf("after a reload: token valid %v, lifetime %d", x.acceptsToken(token), lifetime())
	}
	x = x.restart()
	if !x.acceptsToken(token) || lifetime() != 7200 {
		t.Errorf("after a restart: token valid %v, lifetime %d", x.acceptsToken(token), lifetime())
	}
}

// TestClientSecretsDoNotLeak: not into files, metrics, the exported configuration, log dump or log
// lines.
func TestClientSecretsDoNotLeak(t *testing.T) {
	t.Parallel()
	x := start(t, newTestDir(t, "sandbox: true\n"+strings.Replace(oauthConfig, "    ingest_rate", "    bearer_tokens: [{token: canary-static-token}]\n    ingest_rate", 1)))
	newSecret := decode[struct {
		Secret string `json:"client_secret"`
	}](t, x.mustAdmin(201, "POST", "/admin/v1/suppliers/sup_acme/clients/acme/secrets", "")).Secret
	static := decode[struct{ Token string }](t, x.mustAdmin(201, "POST", "/admin/v1/buyers/buy_blue/tokens", "")).Token
	token := x.mustToken("acme", newSecret)
	x.requestToken("acme", "canary-guess", "").mustFailOAuth(t, 401, "invalid_client")
	secrets := []string{newSecret, static, token, "canary"}
	checkText := func(where, text string) {
		for _, secret := range secrets {
			if strings.Contains(text, secret) {
				t.Errorf("%s contains %q", where, secret)
			}
		}
	}
	checkText("the metrics page", request(t, "GET", "http://"+x.AdminAddress()+"/metrics", "").body)
	checkText("the configuration", string(x.ActiveConfigurationJSON()))
	x.stop()
	checkNoFileContains(t, x.dataDir(), secrets...)
	for _, line := range logAsJSON(t, x.dataDir()) {
		checkText("log dump", line)
		if !json.Valid([]byte(line)) {
			t.Errorf("log dump has a line that is not JSON: %s", line)
		}
	}
	secrets = secrets[:3]
	checkText("the log lines", x.logged.String())
}
