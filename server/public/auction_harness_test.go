package public

import (
	"crypto/sha256"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"pingpost/config"
	"pingpost/engine"
	"pingpost/engine/event"
	"pingpost/engine/market"
	"pingpost/internal/must"
	"pingpost/keys/token"
	"pingpost/server/httperror"
	"pingpost/server/servertest"
)

// auctionConfig is an exchange with auctions: acme, slow and other sell, blue and red bid.
// Slow may send one request of each kind per second and hold one auction at a time.
const auctionConfig = `suppliers:
  - id: sup_acme
    api_key: canary-key-of-acme
    ingest_rate: 1000000
    ping_rate: 1000000
    oauth_clients: [{client_id: acme, client_secret: canary-secret-of-acme, scopes: [ping, post]}]
  - id: sup_slow
    api_key: canary-key-of-slow
    ingest_rate: 1
    ping_rate: 1
    concurrent_auctions: 1
    oauth_clients: [{client_id: slow, client_secret: canary-secret-of-slow, scopes: [ping, post]}]
  - id: sup_other
    api_key: canary-key-of-other
    ingest_rate: 1000000
    ping_rate: 1000000
    concurrent_auctions: 1
    oauth_clients: [{client_id: other, client_secret: canary-secret-of-other, scopes: [ping, post]}]
buyers:
  - id: buy_blue
    endpoint: https://blue.example
    test_endpoint: https://test.blue.example
    ping_rate: 1000000
    oauth_clients: [{client_id: blue, client_secret: canary-secret-of-blue, scopes: [webhook, ping, post]}]
  - {id: buy_red, endpoint: https://red.example, ping_rate: 1000000, states: [CA, NV]}
suppression_lists: []
campaigns:
  - id: cmp_auto
    vertical: auto
    method: ping_post
    suppliers: [sup_acme, sup_slow, sup_other]
    floor: 5
    payout: {share: 0.8}
    consent_required_sources: [facebook]
    fields: [{name: rooms, type: integer, ping: true}]
    buyers: [{buyer: buy_blue}, {buyer: buy_red}]
  - id: cmp_acme
    vertical: home
    method: ping_post
    suppliers: [sup_acme]
    buyers: [{buyer: buy_blue}]
`

// testExchange is an exchange behind a real socket, with fake buyers and a log in memory.
type testExchange struct {
	*Server
	t       *testing.T
	address string
	buyers  *fakeBuyers
	log     *servertest.MemoryLog
	client  *http.Client
}

// newAuctionExchange starts an exchange of auctionConfig. Blue bids ten, red nine.
func newAuctionExchange(t *testing.T, tune ...func(*engine.Options)) *testExchange {
	t.Helper()
	return newTestExchange(t, auctionConfig, new(servertest.MemoryLog), tune...)
}

// newTestExchange starts an exchange of a configuration document on the events of the log.
func newTestExchange(t *testing.T, document string, log *servertest.MemoryLog, tune ...func(*engine.Options)) *testExchange {
	t.Helper()
	h := &testExchange{
		t: t, log: log, client: &http.Client{Transport: servertest.NewOpenAPICheckingTransport(t)},
		buyers: &fakeBuyers{bids: map[string]market.Money{"blue.example": 10_000_000, "red.example": 9_000_000, "test.blue.example": 7_000_000}},
	}
	ports := engine.Options{State: log.Replay(t), Log: log, History: log, Buyers: h.buyers}
	for _, change := range tune {
		change(&ports)
	}
	h.Server = newServerWith(t, document, ports)
	h.address = "http://" + servertest.StartServer(t, h.Serve, h.Shutdown)
	t.Cleanup(func() {
		h.client.CloseIdleConnections()
		h.engine.Load().Close()
	})
	return h
}

func newCredential(mint *token.Issuer, first *config.InitialCredential) engine.Credential {
	value := []byte(first.Value.Reveal())
	c := engine.Credential{
		Owner: first.Owner, ID: first.OwnerID, Client: first.ClientID, Kind: first.Kind, Scopes: first.Scopes, Hash: sha256.Sum256(value),
	}
	if first.Kind == event.CredentialOAuthClient {
		c.Hash = mint.HashClientCredentials([]byte(first.ClientID), value)
	}
	return c
}

// apiAnswer is an HTTP answer of the exchange.
type apiAnswer struct {
	status int
	header http.Header
	body   string
}

// advance moves the exchange's clock, which nothing else moves.
func (h *testExchange) advance(d time.Duration) { h.clock.AdvanceTo(h.clock.Now() + int64(d)) }

// ping sends a ping of a seller; further headers come in pairs.
func (h *testExchange) ping(token, key, body string, lines ...string) *apiAnswer {
	h.t.Helper()
	return h.postJSON("/v1/ping", body, append([]string{"Authorization", "Bearer " + token, "Idempotency-Key", key}, lines...)...)
}

// post sends a post of a seller.
func (h *testExchange) post(token, key, body string) *apiAnswer {
	h.t.Helper()
	return h.postJSON("/v1/post", body, "Authorization", "Bearer "+token, "Idempotency-Key", key)
}

// checkAvailability sends an availability request of a supplier.
func (h *testExchange) checkAvailability(supplier, body string, lines ...string) *apiAnswer {
	h.t.Helper()
	return h.postJSON("/api/v1/ping", body, append([]string{"X-Api-Key", "canary-key-of-" + supplier}, lines...)...)
}

// withMembers returns a JSON object with changes: the path of a member, then its new JSON,
// or "" to remove the member.
func withMembers(body string, changes ...string) string {
	var object map[string]any
	if err := json.Unmarshal([]byte(body), &object); err != nil {
		panic(err)
	}
	for i := 0; i+1 < len(changes); i += 2 {
		at, path := object, strings.Split(changes[i], ".")
		for _, name := range path[:len(path)-1] {
			inner, ok := at[name].(map[string]any)
			if !ok {
				inner = map[string]any{}
				at[name] = inner
			}
			at = inner
		}
		if last := path[len(path)-1]; changes[i+1] == "" {
			delete(at, last)
		} else {
			at[last] = json.RawMessage(changes[i+1])
		}
	}
	text, err := json.Marshal(object)
	if err != nil {
		panic(err)
	}
	return string(text)
}

const (
	pingBody         = `{"auction_id":"a1","vertical":"auto","state":"CA","tcpa_consent":true}`
	availabilityBody = `{"flo_campaign_id":"cmp_auto","flo_supplier_id":"sup_acme","state":"CA"}`
)

// postJSON sends a POST with JSON; headers come in pairs.
func (h *testExchange) postJSON(path, body string, lines ...string) *apiAnswer {
	h.t.Helper()
	return h.request(http.MethodPost, h.address+path, body, append([]string{"Content-Type", contentTypeJSON}, lines...)...)
}

// request sends a request; headers come in pairs. It fails the test if the answer contains
// a secret or a buyer's address.
func (h *testExchange) request(method, url, body string, lines ...string) *apiAnswer {
	h.t.Helper()
	req := must.Value(http.NewRequest(method, url, strings.NewReader(body)))(h.t)
	for i := 0; i+1 < len(lines); i += 2 {
		req.Header.Set(lines[i], lines[i+1])
	}
	response, err := h.client.Do(req)
	if err != nil {
		h.t.Error(err)
		return new(apiAnswer)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		h.t.Error(err)
	}
	if strings.Contains(string(text), "canary") || strings.Contains(string(text), "blue.example") || strings.Contains(string(text), "red.example") {
		h.t.Errorf("%s carries a secret or a buyer's address: %s", url, text)
	}
	return &apiAnswer{response.StatusCode, response.Header, string(text)}
}

// requestToken returns an access token of a client with these scopes, or with all for "".
func (h *testExchange) requestToken(client, scope string) string {
	h.t.Helper()
	form := url.Values{"grant_type": {"client_credentials"}, "client_id": {client}, "client_secret": {"canary-secret-of-" + client}, "scope": {scope}}
	response, err := h.client.PostForm(h.address+"/oauth/token", form)
	if err != nil {
		h.t.Fatal(err)
	}
	defer response.Body.Close()
	var got tokenAnswer
	if err := json.NewDecoder(response.Body).Decode(&got); err != nil || got.AccessToken == "" {
		h.t.Fatalf("no token for %s: %+v, %v", client, got, err)
	}
	return got.AccessToken
}

// pingAnswer is the answer to a ping of a seller.
type pingAnswer struct {
	Auction string `json:"auction_id"`
	Bid     *struct {
		Amount   json.Number `json:"amount"`
		Currency string      `json:"currency"`
		Token    string      `json:"bid_token"`
		Until    time.Time   `json:"valid_until"`
	} `json:"bid"`
	Passed []string `json:"buyer_filters_passed"`
	Reason string   `json:"reject_reason"`
	Detail string   `json:"reject_detail"`
}

// decodeAnswer checks the status of an answer and decodes its body.
func decodeAnswer[T any](t *testing.T, a *apiAnswer, status int) (got T) {
	t.Helper()
	decoder := json.NewDecoder(strings.NewReader(a.body))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&got); err != nil || a.status != status {
		t.Fatalf("%d %s, %v, want %d", a.status, a.body, err, status)
	}
	return got
}

// errorBody is the body of an error.
type errorBody struct {
	Error, Message, Reason string
	RequestID              string                                   `json:"request_id"`
	Fields                 []struct{ Field, Code, Expected string } `json:"field_errors"`
}

// wantError checks that the answer is this error, and returns the faulty members with
// their codes.
func (a *apiAnswer) wantError(t *testing.T, status int, code string) string {
	t.Helper()
	f := decodeAnswer[errorBody](t, a, status)
	if f.Error != code || f.Message == "" || f.RequestID == "" || f.RequestID != a.header.Get(httperror.HeaderRequestID) {
		t.Errorf("%d %s, X-Request-Id %s, want %s", a.status, a.body, a.header.Get(httperror.HeaderRequestID), code)
	}
	var fields []string
	for _, field := range f.Fields {
		if field.Expected == "" {
			t.Errorf("%s: %s says not what is expected", field.Field, field.Code)
		}
		fields = append(fields, field.Field+" "+field.Code)
	}
	return strings.Join(fields, ", ")
}

// wantReplayOf checks that the answer is a replay of the first one, with equal bytes.
func (a *apiAnswer) wantReplayOf(t *testing.T, first *apiAnswer) {
	t.Helper()
	if a.status != first.status || a.body != first.body || a.header.Get(httperror.HeaderRequestID) != first.header.Get(httperror.HeaderRequestID) || a.header.Get(httperror.HeaderReplayed) != "true" {
		t.Errorf("%d %s %v\nis no replay of %d %s", a.status, a.body, a.header, first.status, first.body)
	}
	if first.header.Get(httperror.HeaderReplayed) != "" {
		t.Error("the first answer is called a replay")
	}
}
