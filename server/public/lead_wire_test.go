package public

import (
	"encoding/json"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"pingpost/engine/market"
	"pingpost/internal/must"
	"pingpost/server/httperror"
	"pingpost/server/servertest"
)

var createdAt = regexp.MustCompile(`"created_at":"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z)"`)

// lookUpLead returns the lead's JSON as the client gets it, without the id and the time of
// creation, which it checks.
func (m *afterSaleExchange) lookUpLead(client, lead string) string {
	m.t.Helper()
	path := "/v1/leads/" + lead
	if strings.HasPrefix(client, "key of ") {
		path = "/api/v1/leads/" + lead
	}
	a := m.send(client, http.MethodGet, path, "")
	if a.status != 200 {
		m.t.Errorf("%s: %d %s", client, a.status, a.body)
	}
	for _, contact := range []string{"Ann", "Lee", "4155", "mail.test", "reason 1"} {
		if strings.Contains(a.body, contact) {
			m.t.Errorf("%s got contact data: %s", client, a.body)
		}
	}
	if a.header.Get("X-RateLimit-Limit") != "100" || a.header.Get(httperror.HeaderRequestID) == "" || a.header.Get("Content-Type") != "application/json" {
		m.t.Errorf("%v", a.header)
	}
	match := createdAt.FindStringSubmatch(a.body)
	if match == nil {
		m.t.Fatalf("%s", a.body)
	}
	if at, err := time.Parse(time.RFC3339, match[1]); err != nil || at.UnixNano() > m.clock.Now() || at.UnixNano() < m.clock.Now()-int64(time.Minute) {
		m.t.Errorf("invalid created_at %s: %v", at, err)
	}
	if !strings.Contains(a.body, `"id":"`+lead+`"`) {
		m.t.Errorf("%s", a.body)
	}
	return strings.Replace(strings.Replace(a.body, `"id":"`+lead+`",`, "", 1), ","+match[0], "", 1)
}

// The seller gets its payout, the buyer its price.
func TestLeadLookupShowsOwnPrice(t *testing.T) {
	m := newAfterSaleExchange(t, new(servertest.MemoryLog))
	lead := m.sellLead("cmp_auto")
	const suffix = `"reason":null,"delivery":"none"`
	const sellerView = `"campaign_id":"cmp_auto","lead_uuid":null,"auction_id":null,"buyer_id":"buy_blue","price":{"amount":10,"currency":"USD"},` + suffix
	const buyerView = `"campaign_id":"cmp_auto","auction_id":null,"buyer_id":"buy_blue","price":{"amount":12.5,"currency":"USD"},` + suffix
	wantLead := func(m *afterSaleExchange, lead, status, back string) {
		t.Helper()
		for client, want := range map[string]string{
			"acme":        `{"status":"` + status + `",` + sellerView + back + `}`,
			"key of acme": `{"data":{"status":"` + status + `",` + sellerView + back + `}}`,
			"blue":        `{"status":"` + status + `",` + buyerView + back + `}`,
			"mute":        `{"status":"` + status + `",` + buyerView + back + `}`,
		} {
			if got := m.lookUpLead(client, lead); got != want {
				t.Errorf("%s: %s\nwant %s", client, got, want)
			}
		}
	}
	wantLead(m, lead, "ACCEPTED", "")
	m.report("blue", lead, "k1", `{"status":"qualified","reason":"reason 1"}`)
	wantLead(m, lead, "qualified", "")
	m.report("blue", lead, "k2", `{"status":"returned","reason":"duplicate"}`)
	wantLead(m, lead, "returned", `,"return":"approved"`)
	wantLead(newAfterSaleExchange(t, m.log), lead, "returned", `,"return":"approved"`)
}

func TestLeadLookupShowsReturn(t *testing.T) {
	m := newAfterSaleExchange(t, new(servertest.MemoryLog))
	lead := m.sellLead("cmp_hand")
	m.report("red", lead, "k", `{"status":"returned","reason":"reason 1"}`)
	want := `{"status":"ACCEPTED","campaign_id":"cmp_hand","auction_id":null,"buyer_id":"buy_red","price":{"amount":4,"currency":"USD"},"reason":null,"delivery":"none","return":`
	if got := m.lookUpLead("red", lead); got != want+`"waiting"}` {
		t.Error(got)
	}
	id, _ := market.ParseLeadID(lead)
	must.Succeed(t, m.engine.Load().AsOperator("").DecideReturn(id, false, ""))
	if got := m.lookUpLead("red", lead); got != want+`"refused"}` {
		t.Error(got)
	}
}

// The seller gets the auction id of its ping, the buyer the exchange's id. An unsold lead
// has no price.
func TestLeadLookupAuctionIDs(t *testing.T) {
	m := newAfterSaleExchange(t, new(servertest.MemoryLog))
	posted := decodeAnswer[postAnswer](t, m.post(m.tokens["acme"], "k", m.postBodyForNewBid(m.tokens["acme"], "theirs-1")), 201)
	delivered := `"delivery":"delivered"}`
	if got := m.lookUpLead("acme", posted.ID); !strings.HasPrefix(got, `{"status":"ACCEPTED","campaign_id":"cmp_ping","lead_uuid":"u1","auction_id":"`) || !strings.HasSuffix(got, `"buyer_id":"buy_gold","price":{"amount":8,"currency":"USD"},"reason":null,`+delivered) {
		t.Error(got)
	}
	var sent struct {
		Auction string `json:"auction_id"`
	}
	must.Succeed(t, json.Unmarshal([]byte(m.buyers.posts[0]), &sent))
	if got, want := m.lookUpLead("gold", posted.ID), `{"status":"ACCEPTED","campaign_id":"cmp_ping","auction_id":"`+sent.Auction+`","buyer_id":"buy_gold","price":{"amount":10,"currency":"USD"},"reason":null,`+delivered; got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
	m.buyers.update(func() { m.buyers.bids = nil })
	body := `{"flo_campaign_id":"cmp_ping","flo_supplier_id":"sup_acme","first_name":"Ann","last_name":"Lee","phone":"4155550198","email":"ann@mail.test","state":"CA"}`
	a := m.send("key of acme", http.MethodPost, "/api/v1/ingest", body)
	var unsold struct{ Data struct{ ID, Status string } }
	if err := json.Unmarshal([]byte(a.body), &unsold); err != nil || unsold.Data.Status != "UNMATCHED" {
		t.Fatal(a.body)
	}
	got := regexp.MustCompile(`"auc_[0-9a-z]{26}"`).ReplaceAllString(m.lookUpLead("acme", unsold.Data.ID), "ours")
	if want := `{"status":"UNMATCHED","campaign_id":"cmp_ping","lead_uuid":null,"auction_id":ours,"buyer_id":null,"price":null,"reason":"no_bid","delivery":"none"}`; got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
}

// Leads of other clients get the same answer as unknown leads.
func TestLeadLookupHidesForeignLeads(t *testing.T) {
	m := newAfterSaleExchange(t, new(servertest.MemoryLog))
	lead := m.sellLead("cmp_auto")
	bodies := map[string]bool{}
	for _, row := range []struct{ client, path string }{
		{"other", "/v1/leads/" + lead},
		{"red", "/v1/leads/" + lead},
		{"key of other", "/api/v1/leads/" + lead},
		{"acme", "/v1/leads/" + unusedLeadID},
		{"blue", "/v1/leads/" + unusedLeadID},
		{"key of acme", "/api/v1/leads/" + unusedLeadID},
		{"acme", "/v1/leads/17"},
		{"blue", "/v1/leads/LEAD" + lead[4:]},
		{"key of acme", "/api/v1/leads/" + lead + "x"},
	} {
		a := m.send(row.client, http.MethodGet, row.path, "")
		a.wantError(t, 404, "not_found")
		bodies[strings.Replace(a.body, a.header.Get(httperror.HeaderRequestID), "", 1)] = true
	}
	if len(bodies) != 1 {
		t.Errorf("foreign and unknown leads get different answers: %v", bodies)
	}
	for _, row := range []struct {
		client, method, path string
		status               int
		code                 string
	}{
		{"", "GET", "/v1/leads/" + lead, 401, "unauthorized"},
		{"", "GET", "/api/v1/leads/" + lead, 401, "unauthorized"},
		{"key of acme", "GET", "/v1/leads/" + lead, 401, "unauthorized"},
		{"acme", "GET", "/api/v1/leads/" + lead, 401, "unauthorized"},
		{"", "POST", "/v1/leads/" + lead, 405, "method_not_allowed"},
		{"", "DELETE", "/api/v1/leads/" + lead, 405, "method_not_allowed"},
		{"", "GET", "/v1/leads/" + lead + "/status", 405, "method_not_allowed"},
		{"", "GET", "/v1/leads/", 404, "not_found"},
		{"", "GET", "/v1/leads", 404, "not_found"},
		{"", "GET", "/api/v1/leads/", 404, "not_found"},
		{"", "GET", "/v1/leads/" + lead + "/", 404, "not_found"},
		{"", "GET", "/v1/leads/" + lead + "/posts", 404, "not_found"},
		{"", "GET", "/api/v1/leads/" + lead + "/status", 404, "not_found"},
	} {
		a := m.send(row.client, row.method, row.path, "")
		a.wantError(t, row.status, row.code)
		if allow := a.header.Get("Allow"); (row.status == 405) != (allow != "") {
			t.Errorf("%s %s: Allow %q", row.method, row.path, allow)
		}
	}
}
