package exchange

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"pingpost/internal/must"
)

func TestPostMatchesContract(t *testing.T) {
	t.Parallel()
	blue, red := newFakeBuyer(t), newFakeBuyer(t)
	x := start(t, newTestDir(t, deliveryConfig(blue, red)))
	a := x.mustSell(leadBody(1, "rooms", "3", "zip", `"94105"`, "city", `"San Francisco"`, "tcpa_consent", "true", "consent_text", `"I agree"`, "dropped", "1"))
	id := a.leadID()
	posts := blue.received()
	if len(posts) != 1 || len(red.received()) != 0 {
		t.Fatalf("%d posts to the first buyer and %d to the second, want 1 and 0", len(posts), len(red.received()))
	}
	want := fmt.Sprintf(`{"auction_id":%q,"lead":{"lead_uuid":%q,"first_name":"Ann","last_name":%q,"email":"ann1@%s","phone":"+1%s0001",`+
		`"address":{"city":"San Francisco","state":"CA","zip":"94105"},"tcpa":{"consent_text":"I agree"},"tcpa_consent":true,"room_count":3}}`,
		id, id, lastName, mailHost, areaCode)
	got := posts[0]
	if got.body != want {
		t.Errorf("got  %s\nwant %s", got.body, want)
	}
	if got.path != "POST /v1/post" || got.header.Get("Content-Type") != jsonType || got.header.Get("Authorization") != "Bearer "+blueToken {
		t.Errorf("post to %s with the headers %v", got.path, got.header)
	}
	if len(got.key) < 16 || len(got.key) > 255 || strings.Contains(got.key, id) || !requestIDPattern.MatchString(got.header.Get("X-Request-Id")) {
		t.Errorf("invalid idempotency key %q or request id %q", got.key, got.header.Get("X-Request-Id"))
	}
}

// TestLargestLead: a body of the largest configurable size fits into the log, as received and as
// posted.
func TestLargestLead(t *testing.T) {
	t.Parallel()
	blue := newFakeBuyer(t)
	text := strings.Replace(deliveryConfig(blue, newFakeBuyer(t)), "    method: waterfall", "    unknown: keep\n    method: waterfall", 1)
	x := start(t, newTestDir(t, text+"limits: {body: 400KiB}\n"))
	var extra []string
	for i := range 98 {
		extra = append(extra, fmt.Sprint("x", i), `"`+strings.Repeat("v", 4000)+`"`)
	}
	body := leadBody(1, extra...)
	if len(body) < 380<<10 {
		t.Fatalf("lead has only %d bytes", len(body))
	}
	x.mustSell(body)
	if posts := blue.received(); len(posts) != 1 || len(posts[0].body) < len(body)/2 {
		t.Errorf("got %d posts, or a short body", len(posts))
	}
}

// TestRefusedLeadGoesToNextBuyer: with its own key. The first buyer's cap and funds are released.
func TestRefusedLeadGoesToNextBuyer(t *testing.T) {
	t.Parallel()
	refusal := reply(422, `{"error":"post_rejected","message":"no","request_id":"r"}`)
	blue, red := newFakeBuyer(t, refusal, refusal, refusal, refusal, refusal), newFakeBuyer(t)
	x := start(t, newTestDir(t, deliveryConfig(blue, red)))
	for i := range 5 { // more than the cap allows
		x.mustSell(leadBody(i)).mustHave(t, 201, `"buyer_id":"buy_red"`, `"amount":4,`)
	}
	if posts := red.received(); len(posts) != 5 || posts[0].path != "POST /red/v1/post" || posts[0].header.Get("X-Red") != blueToken ||
		posts[0].header.Get("Authorization") != "" || posts[0].key == blue.received()[0].key || posts[0].body != blue.received()[0].body {
		t.Errorf("%+v\nafter %+v", posts, blue.received())
	}
	x.mustSell(leadBody(6))
	if n := len(blue.received()); n != 6 {
		t.Errorf("the first buyer got %d posts, want 6", n)
	}
	x.checkBlueFunds(`{"balance":995,"held":0,"currency":"USD"}`)
	x.checkMetrics("pingpost_reservations 0")
}

func TestLeadRefusedByAllBuyers(t *testing.T) {
	t.Parallel()
	blue := newFakeBuyer(t, reply(404, "no such page"))
	red := newFakeBuyer(t, reply(200, `{"reject_reason":"dupe"}`))
	x := start(t, newTestDir(t, deliveryConfig(blue, red)))
	a := x.ingest(leadBody(1), "Idempotency-Key", "k")
	a.mustHave(t, 201, `"status":"UNMATCHED"`, `"reason":"post_rejected"`)
	x = x.restart()
	x.ingest(leadBody(1), "Idempotency-Key", "k").mustBeReplayOf(t, a)
	if len(blue.received()) != 1 || len(red.received()) != 1 {
		t.Error("a replay was posted")
	}
}

// TestReplacedBuyerCredentialIsSent: from the next post on.
func TestReplacedBuyerCredentialIsSent(t *testing.T) {
	t.Parallel()
	blue, red := newFakeBuyer(t), newFakeBuyer(t)
	x := start(t, newTestDir(t, deliveryConfig(blue, red)))
	x.mustSell(leadBody(1))
	x.mustAdmin(204, "PUT", "/admin/v1/secrets/buyer/buy_blue/bearer", `{"value":"another-canary"}`)
	x.mustSell(leadBody(2))
	x = x.restart()
	x.mustSell(leadBody(3))
	for i, want := range []string{blueToken, "another-canary", "another-canary"} {
		if got := blue.received()[i].header.Get("Authorization"); got != "Bearer "+want {
			t.Errorf("post %d: %q, want %q", i, got, want)
		}
	}
	x.adminRequest("PUT", "/admin/v1/secrets/buyer/nobody/bearer", `{"value":"x"}`).mustFail(t, 404, "not_found")
	x.adminRequest("PUT", "/admin/v1/secrets/buyer/buy_blue/bearer", `{"value":""}`).mustFail(t, 422, "invalid_payload")
	x.adminRequest("PUT", "/admin/v1/secrets/buyer/buy_blue/bearer", `{"value":7}`).mustFail(t, 422, "invalid_payload")
	x.adminRequest("PUT", "/admin/v1/secrets/buyer/buy_blue/bearer", `{`).mustFail(t, 400, "malformed_json")
}

// TestRetryIgnoresConfigurationChange: a retry has the same bytes, key and URL after a reload. A
// refusal of the retry does not end the delivery, because the first attempt may have succeeded.
func TestRetryIgnoresConfigurationChange(t *testing.T) {
	t.Parallel()
	for name, second := range map[string]func(http.ResponseWriter, *http.Request){
		"a conflict":   reply(409, `{"error":"already_sold"}`),
		"a reused key": reply(422, `{"error":"idempotency_key_reused"}`),
		"a refusal":    reply(422, `{"error":"post_rejected"}`),
	} {
		t.Run(name, func(t *testing.T) {
			changed := make(chan struct{})
			blue, red, newURL := newFakeBuyer(t, func(w http.ResponseWriter, _ *http.Request) {
				<-changed
				w.WriteHeader(http.StatusInternalServerError)
			}, second), newFakeBuyer(t), newFakeBuyer(t)
			p := newTestDir(t, deliveryConfig(blue, red))
			x := start(t, p)
			first := make(chan *answer)
			go func() { first <- x.ingest(leadBody(1, "rooms", "3")) }()
			eventually(t, "the first attempt is in progress", func() bool { return len(blue.received()) == 1 })
			p.writeConfig(t, strings.NewReplacer("price: 5", "price: 7", "room_count", "rooms_now", `"${BLUE_TOKEN}"}, funds`, `"${BLUE_TOKEN}"}, post_timeout: 3s, funds`).Replace(deliveryConfig(newURL, red)))
			if err := x.ReloadConfiguration(); err != nil {
				t.Error(err)
			}
			close(changed)
			if a := <-first; !strings.Contains(a.body, `"status":"ACCEPTED"`) || !strings.Contains(a.body, `"amount":5,`) {
				t.Errorf("got %d %s", a.status, a.body)
			}
			x.waitForDeliveries()
			posts := blue.received()
			if len(posts) != 3 || !strings.Contains(posts[0].body, `"room_count":3`) {
				t.Errorf("unexpected posts: %+v", posts)
			}
			for _, p := range posts {
				if p.key != posts[0].key || p.body != posts[0].body || p.path != posts[0].path {
					t.Errorf("%+v, after %+v", p, posts[0])
				}
			}
			if len(newURL.received())+len(red.received()) != 0 || x.mustAdmin(200, "GET", "/admin/v1/buyers/buy_blue/funds", "").body != `{"balance":995,"held":0,"currency":"USD"}`+"\n" {
				t.Errorf("%d posts to other buyers, or the reservation ended", len(newURL.received())+len(red.received()))
			}
		})
	}
}

// TestStartFinishesOpenPostAfterCrash: with the same key and bytes. The supplier's retry gets the
// result, and the explanation says that the first request got no answer.
func TestStartFinishesOpenPostAfterCrash(t *testing.T) {
	t.Parallel()
	blue, red := newFakeBuyer(t, hang), newFakeBuyer(t)
	x := start(t, newTestDir(t, deliveryConfig(blue, red)))
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		x.ingest(leadBody(1), "Idempotency-Key", "k")
	}()
	eventually(t, "the first post is in progress", func() bool { return len(blue.received()) == 1 })
	crashed := x.copyFiles(t)
	y := start(t, crashed)
	eventually(t, "the post is repeated", func() bool { return len(blue.received()) == 2 })
	y.waitForDeliveries()
	posts := blue.received()
	if posts[0].key != posts[1].key || posts[0].body != posts[1].body || posts[1].header.Get("Authorization") != "Bearer "+blueToken {
		t.Errorf("%+v\n%+v", posts[0], posts[1])
	}
	a := y.ingest(leadBody(1), "Idempotency-Key", "k")
	if a.status != 201 || !strings.Contains(a.body, `"buyer_id":"buy_blue"`) || a.header.Get("Idempotent-Replayed") != "true" {
		t.Errorf("supplier's retry: got %d %s", a.status, a.body)
	}
	if doc := y.explain(a.leadID()); doc.Answer != nil || doc.Status != "ACCEPTED" || len(doc.Notes) != 1 || !strings.Contains(doc.Notes[0], "The exchange stopped before") {
		t.Errorf("unexpected explanation: %+v", doc)
	}
	y.checkBlueFunds(`{"balance":995,"held":0,"currency":"USD"}`)
	if len(red.received()) != 0 {
		t.Error("the lead went to another buyer")
	}
	blue.CloseClientConnections() // ends the first exchange's post
	<-ended
}

type deliveryList struct {
	Total      int `json:"total"`
	Deliveries []struct {
		LeadID   string `json:"lead_id"`
		State    string `json:"state"`
		BuyerID  string `json:"buyer_id"`
		Attempts int    `json:"attempts"`
		Decided  string `json:"decided_at"`
		Price    struct {
			Amount   float64 `json:"amount"`
			Currency string  `json:"currency"`
		} `json:"price"`
	} `json:"deliveries"`
}

// waitForDeliveries waits until no delivery is open or unknown.
func (r *testExchange) waitForDeliveries() {
	r.t.Helper()
	eventually(r.t, "no delivery is open", func() bool {
		return decode[deliveryList](r.t, r.mustAdmin(200, "GET", "/admin/v1/deliveries", "")).Total == 0
	})
	// The delivery ends a moment before the event's other effects, such as those on funds, are visible.
	_, _, err := r.StateHash()
	must.Succeed(r.t, err)
}

// TestUnknownDeliveryDecisions: an operator confirms, releases or resends an unknown delivery.
func TestUnknownDeliveryDecisions(t *testing.T) {
	t.Parallel()
	for verb, row := range map[string]struct {
		funds string
		posts int
	}{
		"confirm": {`{"balance":995,"held":0,"currency":"USD"}`, 1},
		"release": {`{"balance":1000,"held":0,"currency":"USD"}`, 1},
		"resend":  {`{"balance":995,"held":0,"currency":"USD"}`, 2},
	} {
		t.Run(verb, func(t *testing.T) {
			blue, red := newFakeBuyer(t, reply(500, ""), reply(200, `{"ok":"yes"}`)), newFakeBuyer(t)
			x := start(t, newTestDir(t, strings.Replace(deliveryConfig(blue, red), `endpoint: "`+blue.URL+`"`, `post_url: "`+blue.URL+`/leads", `+
				`adapter: {post: {format: json, body: '{"id": {{lead_id}}}', answer: {accepted: ok, yes: [yes]}}}`, 1)))
			a := x.mustSell(leadBody(1), "Idempotency-Key", "k")
			x = x.restart()
			open := decode[deliveryList](t, x.mustAdmin(200, "GET", "/admin/v1/deliveries?state=unknown", ""))
			if open.Total != 1 || len(open.Deliveries) != 1 {
				t.Fatalf("want one unknown delivery, got %+v", open)
			}
			d := open.Deliveries[0]
			if d.LeadID != a.leadID() || d.State != "unknown" || d.BuyerID != "buy_blue" || d.Attempts != 1 || d.Price.Amount != 5 || d.Price.Currency != "USD" || d.Decided == "" {
				t.Errorf("unexpected delivery: %+v", d)
			}
			if pending := decode[deliveryList](t, x.mustAdmin(200, "GET", "/admin/v1/deliveries?state=pending", "")); pending.Total != 0 {
				t.Errorf("want no pending delivery, got %+v", pending)
			}
			if funds := x.mustAdmin(200, "GET", "/admin/v1/buyers/buy_blue/funds", "").body; !strings.Contains(funds, `"held":5`) {
				t.Errorf("funds are not reserved: %s", funds)
			}
			x.mustAdmin(204, "POST", "/admin/v1/deliveries/"+d.LeadID+"/"+verb, "")
			x.waitForDeliveries()
			x.checkBlueFunds(row.funds)
			if n := len(blue.received()); n != row.posts {
				t.Errorf("%d posts, want %d", n, row.posts)
			}
			x.adminRequest("POST", "/admin/v1/deliveries/"+d.LeadID+"/"+verb, "").mustFail(t, 404, "not_found")
			x.ingest(leadBody(1), "Idempotency-Key", "k").mustBeReplayOf(t, a)
		})
	}
	x := start(t, newTestDir(t, baseConfig))
	x.adminRequest("GET", "/admin/v1/deliveries?state=lost", "").mustFail(t, 422, "invalid_payload")
	x.adminRequest("POST", "/admin/v1/deliveries/nobody/confirm", "").mustFail(t, 404, "not_found")
	x.adminRequest("POST", "/admin/v1/deliveries/lead_00000000000000000000000000/sell", "").mustFail(t, 404, "not_found")
}
