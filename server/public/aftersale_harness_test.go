package public

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"pingpost/server/httperror"
	"pingpost/server/servertest"
)

// afterSaleConfig is an exchange for tests of the time after the sale. Buyer blue gets the
// leads of cmp_auto and may return them for two reasons. Red gets those of cmp_hand, and
// the operator decides its returns. Gold bids in cmp_ping.
const afterSaleConfig = `suppliers:
  - id: sup_acme
    api_key: canary-key-of-acme
    ingest_rate: 1000000
    ping_rate: 1000000
    oauth_clients: [{client_id: acme, client_secret: canary-secret-of-acme, scopes: [ping, post]}]
  - id: sup_other
    api_key: canary-key-of-other
    oauth_clients: [{client_id: other, client_secret: canary-secret-of-other, scopes: [ping, post]}]
buyers:
  - id: buy_blue
    oauth_clients:
      - {client_id: blue, client_secret: canary-secret-of-blue, scopes: [webhook]}
      - {client_id: mute, client_secret: canary-secret-of-mute, scopes: [ping]}
  - id: buy_red
    oauth_clients: [{client_id: red, client_secret: canary-secret-of-red, scopes: [webhook]}]
  - {id: buy_gold, endpoint: https://blue.example, ping_rate: 1000000, oauth_clients: [{client_id: gold, client_secret: canary-secret-of-gold, scopes: [webhook]}]}
campaigns:
  - id: cmp_auto
    method: waterfall
    payout: {share: 0.8}
    duplicates: {window: 0}
    returns: {reasons: [wrong number, duplicate], cap_back: true}
    caps: [{per: total, count: 5000}]
    buyers: [{buyer: buy_blue, price: 12.5}]
  - id: cmp_hand
    method: waterfall
    duplicates: {window: 0}
    returns: {approval: manual}
    buyers: [{buyer: buy_red, price: 4}]
  - id: cmp_ping
    vertical: auto
    method: ping_post
    payout: {share: 0.8}
    buyers: [{buyer: buy_gold}]
`

// afterSaleExchange is a testExchange of afterSaleConfig with an access token for each
// client.
type afterSaleExchange struct {
	*testExchange
	tokens map[string]string
}

// newAfterSaleExchange starts an exchange of afterSaleConfig on the events of the log,
// with full rate buckets.
func newAfterSaleExchange(t *testing.T, log *servertest.MemoryLog) *afterSaleExchange {
	t.Helper()
	m := &afterSaleExchange{testExchange: newTestExchange(t, afterSaleConfig, log), tokens: map[string]string{}}
	m.advance(2 * time.Second)
	for _, client := range []string{"acme", "other", "blue", "mute", "red", "gold"} {
		m.tokens[client] = m.requestToken(client, "")
	}
	return m
}

// send sends a request as a client ("": no credential; "key of …": a supplier's API key),
// with further headers in pairs.
func (m *afterSaleExchange) send(client, method, path, body string, lines ...string) *apiAnswer {
	m.t.Helper()
	var head []string
	if method != http.MethodGet {
		head = []string{"Content-Type", contentTypeJSON}
	}
	if supplier, ok := strings.CutPrefix(client, "key of "); ok {
		head = append(head, "X-Api-Key", "canary-key-of-"+supplier)
	} else if client != "" {
		head = append(head, "Authorization", "Bearer "+cmp.Or(m.tokens[client], client))
	}
	return m.request(method, m.address+path, body, append(head, lines...)...)
}

// report reports a status of one lead under an idempotency key.
func (m *afterSaleExchange) report(client, lead, key, body string) *apiAnswer {
	m.t.Helper()
	return m.send(client, http.MethodPost, "/v1/leads/"+lead+"/status", body, "Idempotency-Key", key)
}

// reportBatch reports statuses of many leads in one request.
func (m *afterSaleExchange) reportBatch(client, key, body string) *apiAnswer {
	m.t.Helper()
	return m.send(client, http.MethodPost, "/v1/leads/status", body, "Idempotency-Key", key)
}

// ingestLead ingests a lead of acme in a campaign and returns the id of the sold lead.
func (m *afterSaleExchange) sellLead(campaign string) (lead string) {
	m.t.Helper()
	n := m.log.EntryCount()
	body := fmt.Sprintf(`{"flo_campaign_id":%q,"flo_supplier_id":"sup_acme","first_name":"Ann","last_name":"Lee","phone":"415555%04d","email":"ann%d@mail.test","state":"CA"}`, campaign, n%10000, n)
	a := m.send("key of acme", http.MethodPost, "/api/v1/ingest", body)
	var got struct {
		Data struct{ ID, Status string }
	}
	if err := json.Unmarshal([]byte(a.body), &got); err != nil || got.Data.Status != "ACCEPTED" {
		m.t.Fatalf("%d %s", a.status, a.body)
	}
	return got.Data.ID
}

// wantBody checks that the answer is a 200 with this body.
func (a *apiAnswer) wantBody(t *testing.T, want string) {
	t.Helper()
	if a.status != 200 || a.body != want || a.header.Get("Content-Type") != "application/json" || a.header.Get(httperror.HeaderRequestID) == "" {
		t.Errorf("%d %s %v\nwant %s", a.status, a.body, a.header, want)
	}
}
