package main

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"pingpost/internal/must"
)

// secretConfig has every kind of secret that a configuration can have.
const secretConfig = `data_dir: data
listen: 127.0.0.1:0
tls: {cert: cert.pem, key: key.pem}
admin: {listen: 127.0.0.1:0, password: "${ADMIN_PASSWORD}", tls: {cert: cert.pem, key: key.pem}}
trusted_networks: [127.0.0.0/8]
trusted_proxies: [127.0.0.0/8]
limits: {auth_failures: 5}
sandbox: true
suppliers:
  - id: sup
    api_key: "${SUP_API_KEY}"
    ingest_rate: 1000000
    ping_rate: 1000000
    oauth_clients: [{client_id: sup, client_secret: "${S_CLIENT}", scopes: [ping, post]}]
    bearer_tokens: [{token: "${S_TOKEN}"}]
    webhook: {url: "%[1]s/hooks?token=${S_HOOK_URL}", secret: "${S_HOOK}"}
buyers:
  - {id: buy_oauth, ping_rate: 1000000, endpoint: "%[1]s/oauth", auth: {oauth: {token_url: "%[1]s/token", client_id: x, client_secret: "${S_OAUTH}"}}, oauth_clients: [{client_id: buy, client_secret: "${S_BUYER}"}]}
  - {id: buy_bearer, ping_rate: 1000000, endpoint: "%[1]s/bearer", auth: {bearer: "${S_BEARER}"}}
  - {id: buy_key, ping_rate: 1000000, endpoint: "%[1]s/key", auth: {api_key: "${S_KEY}", header: X-Key}}
  - id: buy_old
    ping_rate: 1000000
    ping_url: '%[1]s/old/{{secret "key"}}/ping?Key=${S_URL}'
    post_url: '%[1]s/old/post?Key=${S_URL}&more={{secret "key"}}'
    secrets: [{name: key, value: "${S_OLD}"}]
    adapter:
      ping: {method: GET, format: form, body: 'key={{secret "key"}}&state={{.state}}', answer: {format: json, accepted: ok, yes: [yes], price: price, reason: why}}
      post: {format: json, headers: [{name: X-Old, value: 'key={{secret "key"}}'}], body: '{"key": {{secret "key"}}, "name": {{.first_name}}}', answer: {accepted: ok, yes: [yes], id: id, reason: why}}
campaigns:
  - {id: cmp_auto, method: ping_post, vertical: auto, duplicates: {window: 0s}, buyers: [{buyer: buy_oauth}, {buyer: buy_bearer}, {buyer: buy_key}, {buyer: buy_old}]}
`

// secrets are values that must not appear in any output, answer or file. The API shows the
// beginning of a secret as its hint, so the canary follows later in the value.
var secrets = map[string]string{
	"S_CLIENT": "0a1b2c3d4e-canary-of-the-sellers-client", "S_TOKEN": "0a1b2c3d4e-canary-of-the-static-token",
	"S_HOOK":  "whsec_" + base64.StdEncoding.EncodeToString([]byte("0a1b2c3d4e-canary-of-the-webhooks-secret-xx")),
	"S_OAUTH": "0a1b2c3d4e-canary-of-the-grant", "S_BUYER": "0a1b2c3d4e-canary-of-the-buyers-client",
	"S_BEARER": "0a1b2c3d4e-canary-of-the-bearer", "S_KEY": "0a1b2c3d4e-canary-of-the-legacy-key",
	"ADMIN_PASSWORD": adminPassword, "SUP_API_KEY": apiKey,
	"S_URL": "0a1b2c3d4e-canary-of-the-buyers-address", "S_HOOK_URL": "0a1b2c3d4e-canary-of-the-webhooks-address",
	"S_OLD":   "code-canary-of-the-old-buyer-0a1b2c3d4e", // in the form of an error code, which is logged
	"granted": "0a1b2c3d4e-canary-that-a-buyer-granted",
}

// startPartners starts buyers and a webhook receiver. Some of them reject the credential
// and repeat it in their answer.
func startPartners(t *testing.T) *httptest.Server {
	t.Helper()
	bid := func(w http.ResponseWriter, r *http.Request, amount string) {
		var ping struct {
			Auction string `json:"auction_id"`
		}
		if json.NewDecoder(r.Body).Decode(&ping) != nil {
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		fmt.Fprintf(w, `{"auction_id":%q,"bid":{"amount":%s,"currency":"USD","bid_token":"t-%s"}}`, ping.Auction, amount, amount)
	}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /token", func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprintf(w, `{"access_token":%q,"token_type":"Bearer","expires_in":3600}`, secrets["granted"])
	})
	mux.HandleFunc("POST /oauth/v1/ping", func(w http.ResponseWriter, r *http.Request) { bid(w, r, "10") })
	mux.HandleFunc("POST /bearer/v1/ping", func(w http.ResponseWriter, r *http.Request) { bid(w, r, "9") })
	mux.HandleFunc("POST /key/v1/ping", func(w http.ResponseWriter, r *http.Request) {
		http.Error(w, "not with "+r.Header.Get("X-Key"), http.StatusInternalServerError)
	})
	mux.HandleFunc("GET /old/"+secrets["S_OLD"]+"/ping", func(w http.ResponseWriter, r *http.Request) {
		if q := r.URL.Query(); q.Get("Key") != secrets["S_URL"] || q.Get("key") != secrets["S_OLD"] {
			http.Error(w, "wrong key", http.StatusForbidden)
			return
		}
		_, _ = io.WriteString(w, `{"ok":"yes","price":"11"}`)
	})
	mux.HandleFunc("POST /old/post", func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		if !strings.Contains(string(body), `"key": "`+secrets["S_OLD"]+`"`) || r.Header.Get("X-Old") != "key="+secrets["S_OLD"] || r.URL.Query().Get("more") != secrets["S_OLD"] {
			t.Errorf("the old buyer got %s %s %s", r.URL, r.Header, body)
		}
		fmt.Fprintf(w, `{"ok":"no","why":%q,"id":%q}`, secrets["S_OLD"], secrets["S_OLD"])
	})
	mux.HandleFunc("POST /oauth/v1/post", func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(http.StatusUnauthorized)
		fmt.Fprintf(w, `{"error":"unauthorized","message":%q}`, r.Header.Get("Authorization"))
	})
	mux.HandleFunc("POST /bearer/v1/post", func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusCreated)
		_, _ = io.WriteString(w, `{"lead_id":"theirs"}`)
	})
	mux.HandleFunc("POST /hooks", func(w http.ResponseWriter, r *http.Request) {
		if token := r.URL.Query().Get("token"); token != secrets["S_HOOK_URL"] {
			t.Errorf("a webhook was sent with the token %q", token)
		}
		http.Error(w, "no "+r.Header.Get("webhook-signature"), http.StatusTeapot)
	})
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	return server
}

// recordingClient calls the exchange under test and records all answers.
type recordingClient struct {
	t             *testing.T
	client        *http.Client
	public, admin string
	answers       bytes.Buffer
}

// call sends a request; headers come in pairs. With shownOnce it does not record the answer,
// which contains a new secret.
func (c *recordingClient) call(method, address string, shownOnce bool, body string, headers ...string) (status int, text string) {
	c.t.Helper()
	req := must.Value(http.NewRequest(method, address, strings.NewReader(body)))(c.t)
	for i := 0; i+1 < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	if strings.HasPrefix(address, c.admin) && req.Header.Get("Authorization") == "" {
		req.SetBasicAuth("op", adminPassword)
	}
	res, err := c.client.Do(req)
	must.Succeed(c.t, err)
	defer res.Body.Close()
	answer := must.Value(io.ReadAll(res.Body))(c.t)
	if !shownOnce {
		fmt.Fprintln(&c.answers, method, res.Status, res.Header, string(answer))
	}
	return res.StatusCode, string(answer)
}

// createSecret lets the exchange create a secret and returns it.
func (c *recordingClient) createSecret(path, member string) string {
	c.t.Helper()
	status, text := c.call("POST", c.admin+path, true, "")
	var answer map[string]any
	if err := json.Unmarshal([]byte(text), &answer); err != nil || status >= 300 {
		c.t.Fatalf("%s: %d %s", path, status, text)
	}
	secret, _ := answer[member].(string)
	if secret == "" {
		c.t.Fatalf("%s: no %s in %s", path, member, text)
	}
	return secret
}

// TestSecretsStaySecret runs an exchange at log level debug with a canary for each secret,
// and sends each secret in all right and wrong places. No log line, metric, answer, profile,
// command output or file of data_dir may contain a canary.
func TestSecretsStaySecret(t *testing.T) {
	for name, value := range secrets {
		t.Setenv(name, value)
	}
	path := writeConfig(t, fmt.Sprintf(secretConfig, startPartners(t).URL))
	client, keyText := writeCertificate(t, filepath.Dir(path))
	ca := filepath.Join(filepath.Dir(path), "cert.pem")
	s := startServe(t, "-c", path, "--log-level", "debug")
	public, admin := s.addresses("sandbox")
	c := &recordingClient{t: t, client: client, public: "https://" + strings.TrimPrefix(public, "http://"), admin: "https://" + strings.TrimPrefix(admin, "http://")}
	all := map[string]string{"the certificate's key": keyText}
	for name, value := range secrets {
		all[name] = value
	}
	all["an access token"] = c.accessToken("sup", secrets["S_CLIENT"])
	all["a buyer's access token"] = c.accessToken("buy", secrets["S_BUYER"])
	all["a new API key"] = c.createSecret("/admin/v1/suppliers/sup/keys", "api_key")
	all["a new client secret"] = c.createSecret("/admin/v1/suppliers/sup/clients/sup/secrets", "client_secret")
	all["a new static token"] = c.createSecret("/admin/v1/suppliers/sup/tokens", "token")
	all["a new webhook secret"] = c.createSecret("/admin/v1/webhooks/sup/secret", "secret")
	lead := c.sellAndReport(all)
	c.sendMisplacedSecrets(all)
	c.readAdminPages(lead)
	for _, args := range [][]string{
		{"export", "--admin", c.admin, "--ca", ca},
		{"explain", "--admin", c.admin, "--ca", ca, lead},
		{"explain", "--json", "--admin", c.admin, "--ca", ca, lead},
		{"diff", "--admin", c.admin, "--ca", ca, path},
		{"apply", "--admin", c.admin, "--ca", ca, path},
		{"validate", path},
		{"statement", "--admin", c.admin, "--ca", ca, "--supplier", "sup"},
		{"log", "dump", filepath.Join(filepath.Dir(path), "data")},
	} {
		result := run(t, args...)
		if result.code != 0 {
			t.Errorf("%v: exit %d %s", args, result.code, result.err)
		}
		c.answers.WriteString(result.out + result.err)
	}
	s.stop()
	mustNotContainSecrets(t, "the recorded answers", c.answers.String(), all)
	mustNotContainSecrets(t, "the log", s.output(), all)
	eachFile(t, filepath.Join(filepath.Dir(path), "data"), func(file, text string) { mustNotContainSecrets(t, file, text, all) })
	if !strings.Contains(s.output(), "level=DEBUG") || !strings.Contains(s.output(), "wrong credentials from one network") || c.answers.Len() < 10_000 {
		t.Errorf("too few records: %d bytes of answers, and the log %s", c.answers.Len(), s.output())
	}
}

// mustNotContainSecrets searches the text for each secret, also in encoded forms.
func mustNotContainSecrets(t *testing.T, where, text string, all map[string]string) {
	t.Helper()
	for name, secret := range all {
		bare := strings.TrimPrefix(secret, "whsec_")
		for form, written := range map[string]string{
			"in plain text": bare, "in base64": base64.StdEncoding.EncodeToString([]byte(bare)),
			"in hex": hex.EncodeToString([]byte(bare)), "in a query": url.QueryEscape(bare),
		} {
			if strings.Contains(text, written) {
				t.Errorf("%s has %s %s", where, name, form)
			}
		}
	}
}

// accessToken requests an access token, which is a secret too.
func (c *recordingClient) accessToken(client, secret string) string {
	c.t.Helper()
	status, text := c.call("POST", c.public+"/oauth/token", true, "grant_type=client_credentials&client_id="+client+"&client_secret="+url.QueryEscape(secret),
		"Content-Type", "application/x-www-form-urlencoded")
	var answer struct {
		Token string `json:"access_token"`
	}
	if err := json.Unmarshal([]byte(text), &answer); err != nil || status != 200 {
		c.t.Fatalf("%d %s", status, text)
	}
	return answer.Token
}

// sellAndReport sells a lead by ingest, pings, reports a status, and returns the lead's id.
func (c *recordingClient) sellAndReport(all map[string]string) (lead string) {
	c.t.Helper()
	status, text := c.call("POST", c.public+"/api/v1/ingest", false,
		`{"flo_campaign_id":"cmp_auto","flo_supplier_id":"sup","first_name":"Ann","last_name":"Lee","phone":"4155550132","email":"a@b.example","state":"CA"}`,
		"x-api-key", apiKey, "Content-Type", "application/json")
	if status != 201 || !strings.Contains(text, `"ACCEPTED"`) {
		c.t.Fatalf("%d %s", status, text)
	}
	_, rest, _ := strings.Cut(text, `"id":"`)
	lead, _, _ = strings.Cut(rest, `"`)
	for i, token := range []string{all["an access token"], secrets["S_TOKEN"], all["a new static token"]} {
		status, text := c.call("POST", c.public+"/v1/ping", false, fmt.Sprintf(`{"auction_id":"a-%d","vertical":"auto","state":"CA","tcpa_consent":true}`, i),
			"Authorization", "Bearer "+token, "Content-Type", "application/json", "Idempotency-Key", fmt.Sprint("k", i))
		if status != 200 || !strings.Contains(text, `"bid_token"`) {
			c.t.Errorf("a ping: %d %s", status, text)
		}
	}
	c.call("POST", c.public+"/v1/leads/"+lead+"/status", false, `{"status":"contacted"}`,
		"Authorization", "Bearer "+all["a buyer's access token"], "Content-Type", "application/json", "Idempotency-Key", "r1")
	c.call("PUT", c.admin+"/admin/v1/secrets/buyer/buy_key/api_key", false, `{"value":"`+secrets["S_KEY"]+`"}`)
	return lead
}

// sendMisplacedSecrets sends secrets in wrong places: as another's credential, in the query,
// the body, the path, and in headers that the log records.
func (c *recordingClient) sendMisplacedSecrets(all map[string]string) {
	c.t.Helper()
	for _, secret := range all {
		secret = strings.ReplaceAll(secret, "\n", "")
		wrongSecret := secret + "x"
		for _, path := range []string{"/api/v1/ingest", "/v1/ping", "/v1/post", "/oauth/token", "/v1/leads/lead_x/status", "/v1/dev/seed", "/none/" + url.PathEscape(secret)} {
			c.call("POST", c.public+path+"?key="+url.QueryEscape(secret), false, `{"client_id":"sup","client_secret":"`+wrongSecret+`","grant_type":"client_credentials","`+wrongSecret+`":1}`,
				"x-api-key", wrongSecret, "Authorization", "Bearer "+wrongSecret, "Content-Type", "application/json", "Idempotency-Key", "w",
				"X-Forwarded-For", secret+", 203.0.113.7", "X-Request-Id", secret, "Cookie", "session="+secret, "User-Agent", secret)
		}
		c.call("POST", c.public+"/oauth/token", false, "grant_type="+url.QueryEscape(secret)+"&scope="+url.QueryEscape(secret), "Content-Type", "application/x-www-form-urlencoded",
			"Authorization", "Basic "+base64.StdEncoding.EncodeToString([]byte("sup:"+wrongSecret)))
		c.call("POST", c.public+"/api/v1/ingest", false, `{"flo_campaign_id":"`+secret+`","flo_supplier_id":"sup","phone":"`+secret+`"}`, "x-api-key", apiKey, "Content-Type", "application/json")
		c.call("GET", c.admin+"/admin/v1/hash?password="+url.QueryEscape(secret), false, "", "Authorization", "Basic "+base64.StdEncoding.EncodeToString([]byte("op:"+wrongSecret)))
		c.call("PUT", c.admin+"/admin/v1/config", false, "data_dir: ["+secret+"]\nadmin: {password: ["+secret+"]}\n")
		c.call("PUT", c.admin+"/admin/v1/config", false, "suppliers: [{id: a, api_key: \""+secret+" \\u0001\", webhook: {url: \"https://u:p@x\", secret: \""+secret+"\"}}]")
	}
}

// readAdminPages reads all pages of the admin address.
func (c *recordingClient) readAdminPages(lead string) {
	c.t.Helper()
	for _, path := range []string{
		"/healthz", "/readyz", "/metrics", "/admin/v1/config", "/admin/v1/config/buyers", "/admin/v1/config/buyers/buy_old", "/admin/v1/config/suppliers", "/admin/v1/config/history",
		"/admin/v1/overview", "/admin/v1/hash", "/admin/v1/deliveries", "/admin/v1/explain/" + lead, "/admin/v1/explain/a-0",
		"/admin/v1/suppliers/sup/keys", "/admin/v1/suppliers/sup/clients", "/admin/v1/suppliers/sup/tokens", "/admin/v1/buyers/buy_oauth/clients",
		"/admin/v1/webhooks", "/admin/v1/webhooks/sup", "/admin/v1/webhooks/sup/dead", "/admin/v1/statement?supplier=sup", "/admin/v1/returns",
		"/admin/v1/secrets/buyer/buy_key/api_key", "/debug/pprof/", "/debug/pprof/cmdline", "/debug/pprof/heap?debug=1", "/debug/pprof/goroutine?debug=2",
		"/debug/pprof/heap", "/debug/pprof/allocs?debug=1", "/debug/pprof/symbol",
	} {
		c.call("GET", c.admin+path, false, "")
	}
	time.Sleep(10 * time.Millisecond)
}
