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

// auctions is an exchange that holds them: acme and slow sell, blue and red bid.
// Slow may do one thing of each kind a second, and hold one auction at a time.
const auctions = `suppliers:
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

// house is an exchange that holds auctions, behind a real socket.
type house struct {
	*Server
	t       *testing.T
	address string
	buyers  *bidders
	log     *servertest.MemoryLog
	client  *http.Client
}

// holding starts a house. Blue bids ten, red nine.
func holding(t *testing.T, tune ...func(*engine.Options)) *house {
	t.Helper()
	return keeping(t, auctions, new(servertest.MemoryLog), tune...)
}

// keeping starts a house by a document, on what the log has.
func keeping(t *testing.T, document string, log *servertest.MemoryLog, tune ...func(*engine.Options)) *house {
	t.Helper()
	h := &house{
		t: t, log: log, client: &http.Client{Transport: servertest.ContractTransport(t)},
		buyers: &bidders{bids: map[string]market.Money{"blue.example": 10_000_000, "red.example": 9_000_000, "test.blue.example": 7_000_000}},
	}
	ports := engine.Options{State: log.Replay(t), Log: log, History: log, Buyers: h.buyers}
	for _, change := range tune {
		change(&ports)
	}
	h.Server = serverOf(t, document, ports)
	h.address = "http://" + servertest.StartServer(t, h.Serve, h.Shutdown)
	t.Cleanup(func() {
		h.client.CloseIdleConnections()
		h.engine.Close()
	})
	return h
}

func credentialOf(mint *token.Issuer, first *config.InitialCredential) engine.Credential {
	value := []byte(first.Value.Reveal())
	c := engine.Credential{
		Owner: first.Owner, ID: first.OwnerID, Client: first.ClientID, Kind: first.Kind, Scopes: first.Scopes, Hash: sha256.Sum256(value),
	}
	if first.Kind == event.CredentialOAuthClient {
		c.Hash = mint.HashClient([]byte(first.ClientID), value)
	}
	return c
}

// heard is an answer.
type heard struct {
	status int
	header http.Header
	body   string
}

// wait lets time pass on the exchange's clock, and on no other.
func (h *house) wait(d time.Duration) { h.clock.AdvanceTo(h.clock.Now() + int64(d)) }

// ping pings as a seller; further header lines come in pairs.
func (h *house) ping(token, key, body string, lines ...string) *heard {
	h.t.Helper()
	return h.call("/v1/ping", body, append([]string{"Authorization", "Bearer " + token, "Idempotency-Key", key}, lines...)...)
}

// post posts as one.
func (h *house) post(token, key, body string) *heard {
	h.t.Helper()
	return h.call("/v1/post", body, "Authorization", "Bearer "+token, "Idempotency-Key", key)
}

// ask sends an availability ping.
func (h *house) ask(supplier, body string, lines ...string) *heard {
	h.t.Helper()
	return h.call("/api/v1/ping", body, append([]string{"X-Api-Key", "canary-key-of-" + supplier}, lines...)...)
}

// with is a JSON object with changes: a member's path and its JSON in turn; an
// empty one takes the member out.
func with(body string, changes ...string) string {
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
	aPing     = `{"auction_id":"a1","vertical":"auto","state":"CA","tcpa_consent":true}`
	aQuestion = `{"flo_campaign_id":"cmp_auto","flo_supplier_id":"sup_acme","state":"CA"}`
)

// call posts JSON; header lines come in pairs.
func (h *house) call(path, body string, lines ...string) *heard {
	h.t.Helper()
	return h.request(http.MethodPost, h.address+path, body, append([]string{"Content-Type", asJSON}, lines...)...)
}

// request makes a request; header lines come in pairs. No answer has a secret or a buyer's address.
func (h *house) request(method, url, body string, lines ...string) *heard {
	h.t.Helper()
	req := must.Value(http.NewRequest(method, url, strings.NewReader(body)))(h.t)
	for i := 0; i+1 < len(lines); i += 2 {
		req.Header.Set(lines[i], lines[i+1])
	}
	response, err := h.client.Do(req)
	if err != nil {
		h.t.Error(err)
		return new(heard)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		h.t.Error(err)
	}
	if strings.Contains(string(text), "canary") || strings.Contains(string(text), "blue.example") || strings.Contains(string(text), "red.example") {
		h.t.Errorf("%s carries a secret or a buyer's address: %s", url, text)
	}
	return &heard{response.StatusCode, response.Header, string(text)}
}

// token is one of a client, with some of its scopes or all.
func (h *house) token(client, scope string) string {
	h.t.Helper()
	form := url.Values{"grant_type": {"client_credentials"}, "client_id": {client}, "client_secret": {"canary-secret-of-" + client}, "scope": {scope}}
	response, err := h.client.PostForm(h.address+"/oauth/token", form)
	if err != nil {
		h.t.Fatal(err)
	}
	defer response.Body.Close()
	var said tokenAnswer
	if err := json.NewDecoder(response.Body).Decode(&said); err != nil || said.AccessToken == "" {
		h.t.Fatalf("no token for %s: %+v, %v", client, said, err)
	}
	return said.AccessToken
}

// pinged is the answer to a seller's ping.
type pinged struct {
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

// read decodes an answer of a status.
func read[T any](t *testing.T, a *heard, status int) (said T) {
	t.Helper()
	decoder := json.NewDecoder(strings.NewReader(a.body))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&said); err != nil || a.status != status {
		t.Fatalf("%d %s, %v, want %d", a.status, a.body, err, status)
	}
	return said
}

// failed is an error's body.
type failed struct {
	Error, Message, Reason string
	RequestID              string                                   `json:"request_id"`
	Fields                 []struct{ Field, Code, Expected string } `json:"field_errors"`
}

// mustFail sees that an answer is an error in the interface's form, and tells
// its fields with their codes.
func (a *heard) mustFail(t *testing.T, status int, code string) string {
	t.Helper()
	f := read[failed](t, a, status)
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

// isReplayOf sees that an answer is another one, to the byte.
func (a *heard) isReplayOf(t *testing.T, first *heard) {
	t.Helper()
	if a.status != first.status || a.body != first.body || a.header.Get(httperror.HeaderRequestID) != first.header.Get(httperror.HeaderRequestID) || a.header.Get(httperror.HeaderReplayed) != "true" {
		t.Errorf("%d %s %v\nis no replay of %d %s", a.status, a.body, a.header, first.status, first.body)
	}
	if first.header.Get(httperror.HeaderReplayed) != "" {
		t.Error("the first answer is called a replay")
	}
}
