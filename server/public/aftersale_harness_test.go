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

// afterSale is an exchange whose leads are recorded for their buyers: those of
// cmp_auto for blue, who may give them back for two reasons, those of cmp_hand for
// red, whose returns the operator decides. Of cmp_ping blue is asked and posted to.
const afterSale = `suppliers:
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

// aftermarket is a house after the sale, with a token of each caller.
type aftermarket struct {
	*house
	tokens map[string]string
}

// trading starts one on what the log has. Its buckets are full.
func trading(t *testing.T, log *servertest.MemoryLog) *aftermarket {
	t.Helper()
	m := &aftermarket{house: keeping(t, afterSale, log), tokens: map[string]string{}}
	m.wait(2 * time.Second)
	for _, client := range []string{"acme", "other", "blue", "mute", "red", "gold"} {
		m.tokens[client] = m.token(client, "")
	}
	return m
}

// send sends a request as a client ("": no credential; "key of …": a supplier's API key),
// with further headers in pairs.
func (m *aftermarket) send(client, method, path, body string, lines ...string) *heard {
	m.t.Helper()
	var head []string
	if method != http.MethodGet {
		head = []string{"Content-Type", asJSON}
	}
	if supplier, ok := strings.CutPrefix(client, "key of "); ok {
		head = append(head, "X-Api-Key", "canary-key-of-"+supplier)
	} else if client != "" {
		head = append(head, "Authorization", "Bearer "+cmp.Or(m.tokens[client], client))
	}
	return m.request(method, m.address+path, body, append(head, lines...)...)
}

// report reports as a client on one lead, under a key.
func (m *aftermarket) report(client, lead, key, body string) *heard {
	m.t.Helper()
	return m.send(client, http.MethodPost, "/v1/leads/"+lead+"/status", body, "Idempotency-Key", key)
}

// reportMany reports on many.
func (m *aftermarket) reportMany(client, key, body string) *heard {
	m.t.Helper()
	return m.send(client, http.MethodPost, "/v1/leads/status", body, "Idempotency-Key", key)
}

// sold is a new lead of acme's in a campaign.
func (m *aftermarket) sold(campaign string) (lead string) {
	m.t.Helper()
	n := m.log.Size()
	body := fmt.Sprintf(`{"flo_campaign_id":%q,"flo_supplier_id":"sup_acme","first_name":"Ann","last_name":"Lee","phone":"415555%04d","email":"ann%d@mail.test","state":"CA"}`, campaign, n%10000, n)
	a := m.send("key of acme", http.MethodPost, "/api/v1/ingest", body)
	var said struct {
		Data struct{ ID, Status string }
	}
	if err := json.Unmarshal([]byte(a.body), &said); err != nil || said.Data.Status != "ACCEPTED" {
		m.t.Fatalf("%d %s", a.status, a.body)
	}
	return said.Data.ID
}

// mustBe sees that an answer is 200 with this body.
func (a *heard) mustBe(t *testing.T, want string) {
	t.Helper()
	if a.status != 200 || a.body != want || a.header.Get("Content-Type") != "application/json" || a.header.Get(httperror.HeaderRequestID) == "" {
		t.Errorf("%d %s %v\nwant %s", a.status, a.body, a.header, want)
	}
}
