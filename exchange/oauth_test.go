package exchange

import (
	"encoding/json"
	"net/url"
	"strings"
	"testing"

	"pingpost/engine/event"
	"pingpost/internal/must"
)

// What clients of these tests show; the second one's name and secret have all
// that a form, a header and JSON must encode.
const (
	acmeSecret = "canary-of-a-client/1"
	blueID     = "blue/x+y%"
	blueSecret = `canary+100%&more="x"\y`
	asForm     = "application/x-www-form-urlencoded"
)

// traded is an exchange with an OAuth client of a supplier and one of a buyer.
const traded = head + `token_lifetime: 30m
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

// grant asks for a token, by a form.
func (r *running) grant(id, secret, scope string) *answer {
	r.t.Helper()
	form := url.Values{"grant_type": {"client_credentials"}, "client_id": {id}, "client_secret": {secret}, "scope": {scope}}
	return request(r.t, "POST", "http://"+r.PublicAddress()+"/oauth/token", form.Encode(), "Content-Type", asForm)
}

// token gets one that must be given.
func (r *running) token(id, secret string) string {
	r.t.Helper()
	a := r.grant(id, secret, "")
	if a.status != 200 {
		r.t.Fatalf("no token for %s: %d %s", id, a.status, a.body)
	}
	return decode[struct {
		Token string `json:"access_token"`
	}](r.t, a).Token
}

// knows tells whether a client's secret is good.
func (r *running) knows(id, secret string) bool {
	r.t.Helper()
	a := r.grant(id, secret, "")
	if a.status != 200 {
		a.mustRefuse(r.t, 401, "invalid_client")
	}
	return a.status == 200
}

// mustRefuse sees that an answer is an error as OAuth's clients read it.
func (a *answer) mustRefuse(t testing.TB, status int, code string) {
	t.Helper()
	f := decode[struct {
		fault
		Description string `json:"error_description"`
	}](t, a)
	if a.status != status || f.Error != code || f.Message == "" || f.Description != f.Message || f.RequestID != a.id() || !requestID.MatchString(a.id()) {
		t.Errorf("got %d %s, want %d %s", a.status, a.body, status, code)
	}
	if got := a.header.Get("WWW-Authenticate"); (status == 401) != (got == `Basic realm="pingpost"`) {
		t.Errorf("status %d with WWW-Authenticate %q", status, got)
	}
	if a.header.Get("Cache-Control") != "no-store" || a.header.Get("Content-Type") != typeIsOwn {
		t.Errorf("%v", a.header)
	}
}

// good tells whether a token is: it is one of this exchange's, and the secret
// that it was given for is live.
func (r *running) good(token string) bool {
	r.t.Helper()
	claims, ok := r.tokens.VerifyToken([]byte(token), r.clock.Now())
	if !ok {
		return false
	}
	c, live := r.state.CredentialByHash(claims.Secret)
	return live && c.Kind == event.CredentialOAuthClient && c.Owner == claims.Owner && c.Ref == claims.Ref
}

// TestTokensSurvive: a token is good after a restart, a crash, and a snapshot
// with a crash, without an entry of the log.
func TestTokensSurvive(t *testing.T) {
	x := start(t, newPlace(t, traded))
	token := x.token("acme", acmeSecret)
	before, _, err := x.StateHash()
	must.Succeed(t, err)
	x.token("acme", acmeSecret)
	if after, _, _ := x.StateHash(); after != before {
		t.Errorf("a token took %d entries of the log", after-before)
	}
	x.good(token)
	if crashed := start(t, x.copy(t)); !crashed.good(token) || !crashed.knows("acme", acmeSecret) {
		t.Error("it is not good after a crash")
	}
	x.snapshot()
	if crashed := start(t, x.copy(t)); !crashed.good(token) {
		t.Error("it is not good after a snapshot and a crash")
	}
	x = x.again().again()
	if !x.good(token) || !x.knows("acme", acmeSecret) || !x.knows(blueID, blueSecret) {
		t.Error("it is not good after two restarts")
	}
}

// TestReloadKeepsTokens: no reload ends a token, and the lifetime in the file
// waits for a restart.
func TestReloadKeepsTokens(t *testing.T) {
	x := start(t, newPlace(t, traded))
	token := x.token("acme", acmeSecret)
	x.reloadWith(strings.Replace(traded, "30m", "2h", 1))
	lifetime := func() int {
		return decode[struct {
			ExpiresIn int `json:"expires_in"`
		}](t, x.grant("acme", acmeSecret, "")).ExpiresIn
	}
	if !x.good(token) || lifetime() != 1800 {
		t.Errorf("after a reload good: %v, lifetime %d", x.good(token), lifetime())
	}
	x = x.again()
	if !x.good(token) || lifetime() != 7200 {
		t.Errorf("after a restart good: %v, lifetime %d", x.good(token), lifetime())
	}
}

// TestNoClientSecretAnywhere: not in a file, a metric, the configuration as it is
// given out, or the log as it is shown to a person. Lines of the program's own
// log are looked at when all tests are done.
func TestNoClientSecretAnywhere(t *testing.T) {
	x := start(t, newPlace(t, "sandbox: true\n"+strings.Replace(traded, "    ingest_rate", "    bearer_tokens: [{token: canary-static-token}]\n    ingest_rate", 1)))
	made := decode[struct {
		Secret string `json:"client_secret"`
	}](t, x.must(201, "POST", "/admin/v1/suppliers/sup_acme/clients/acme/secrets", "")).Secret
	static := decode[struct{ Token string }](t, x.must(201, "POST", "/admin/v1/buyers/buy_blue/tokens", "")).Token
	token := x.token("acme", made)
	x.grant("acme", "canary-guess", "").mustRefuse(t, 401, "invalid_client")
	secrets := []string{made, static, token, "canary"}
	look := func(where, text string) {
		for _, secret := range secrets {
			if strings.Contains(text, secret) {
				t.Errorf("%s holds %q", where, secret)
			}
		}
	}
	look("the metrics page", request(t, "GET", "http://"+x.AdminAddress()+"/metrics", "").body)
	look("the configuration", string(x.Configuration()))
	x.stop()
	hasNone(t, x.data(), secrets...)
	for _, line := range described(t, x.data()) {
		look("the log as it is shown", line)
		if !json.Valid([]byte(line)) {
			t.Errorf("a line that is no JSON: %s", line)
		}
	}
	secrets = secrets[:3]
	look("the program's log", spoken.String())
}
