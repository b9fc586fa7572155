package exchange

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
)

func TestPostByContract(t *testing.T) {
	blue, red := newTaker(t), newTaker(t)
	x := start(t, newPlace(t, delivered(blue, red)))
	a := x.sold(lead(1, "rooms", "3", "zip", `"94105"`, "city", `"San Francisco"`, "tcpa_consent", "true", "consent_text", `"I agree"`, "dropped", "1"))
	id := a.leadID()
	posts := blue.got()
	if len(posts) != 1 || len(red.got()) != 0 {
		t.Fatalf("%d posts to the first, %d to the second", len(posts), len(red.got()))
	}
	want := fmt.Sprintf(`{"auction_id":%q,"lead":{"lead_uuid":%q,"first_name":"Ann","last_name":%q,"email":"ann1@%s","phone":"+1%s0001",`+
		`"address":{"city":"San Francisco","state":"CA","zip":"94105"},"tcpa":{"consent_text":"I agree"},"tcpa_consent":true,"room_count":3}}`,
		id, id, lastName, mailHost, areaCode)
	got := posts[0]
	if got.body != want {
		t.Errorf("got  %s\nwant %s", got.body, want)
	}
	if got.path != "POST /v1/post" || got.header.Get("Content-Type") != typeIsOwn || got.header.Get("Authorization") != "Bearer "+bearer {
		t.Errorf("%s with %v", got.path, got.header)
	}
	if len(got.key) < 16 || len(got.key) > 255 || strings.Contains(got.key, id) || !requestID.MatchString(got.header.Get("X-Request-Id")) {
		t.Errorf("key %q, request %q", got.key, got.header.Get("X-Request-Id"))
	}
}

// TestLargestLead: a body of the largest limit there is fits into the log, as it
// came and as it is posted.
func TestLargestLead(t *testing.T) {
	blue := newTaker(t)
	text := strings.Replace(delivered(blue, newTaker(t)), "    method: waterfall", "    unknown: keep\n    method: waterfall", 1)
	x := start(t, newPlace(t, text+"limits: {body: 400KiB}\n"))
	var extra []string
	for i := range 98 {
		extra = append(extra, fmt.Sprint("x", i), `"`+strings.Repeat("v", 4000)+`"`)
	}
	body := lead(1, extra...)
	if len(body) < 380<<10 {
		t.Fatalf("%d bytes are no large lead", len(body))
	}
	x.sold(body)
	if posts := blue.got(); len(posts) != 1 || len(posts[0].body) < len(body)/2 {
		t.Errorf("%d posts", len(posts))
	}
}

// TestRefusedGoesOn: the next buyer gets the lead, under a key of its own, and
// the first one's cap and money are free again.
func TestRefusedGoesOn(t *testing.T) {
	no := says(422, `{"error":"post_rejected","message":"no","request_id":"r"}`)
	blue, red := newTaker(t, no, no, no, no, no), newTaker(t)
	x := start(t, newPlace(t, delivered(blue, red)))
	for i := range 5 { // more than the cap has room for
		x.sold(lead(i)).mustHave(t, 201, `"buyer_id":"buy_red"`, `"amount":4,`)
	}
	if posts := red.got(); len(posts) != 5 || posts[0].path != "POST /red/v1/post" || posts[0].header.Get("X-Red") != bearer ||
		posts[0].header.Get("Authorization") != "" || posts[0].key == blue.got()[0].key || posts[0].body != blue.got()[0].body {
		t.Errorf("%+v\nafter %+v", posts, blue.got())
	}
	x.sold(lead(6))
	if n := len(blue.got()); n != 6 {
		t.Errorf("the first was asked %d times", n)
	}
	x.wantFunds(`{"balance":995,"held":0}`)
	x.measures("pingpost_reservations 0")
}

func TestNobodyTakesIt(t *testing.T) {
	blue := newTaker(t, says(404, "no such page"))
	red := newTaker(t, says(200, `{"reject_reason":"dupe"}`))
	x := start(t, newPlace(t, delivered(blue, red)))
	a := x.ingest(lead(1), "Idempotency-Key", "k")
	a.mustHave(t, 201, `"status":"UNMATCHED"`, `"reason":"post_rejected"`)
	x = x.again()
	x.ingest(lead(1), "Idempotency-Key", "k").isReplayOf(t, a)
	if len(blue.got()) != 1 || len(red.got()) != 1 {
		t.Error("a replay was posted")
	}
}

// TestCredentialIsReplaced: a new secret counts from the next post on.
func TestCredentialIsReplaced(t *testing.T) {
	blue, red := newTaker(t), newTaker(t)
	x := start(t, newPlace(t, delivered(blue, red)))
	x.sold(lead(1))
	x.must(204, "PUT", "/admin/v1/secrets/buyer/buy_blue/bearer", `{"value":"another-canary"}`)
	x.sold(lead(2))
	x = x.again()
	x.sold(lead(3))
	for i, want := range []string{bearer, "another-canary", "another-canary"} {
		if got := blue.got()[i].header.Get("Authorization"); got != "Bearer "+want {
			t.Errorf("post %d: %q, want %q", i, got, want)
		}
	}
	x.operate("PUT", "/admin/v1/secrets/buyer/nobody/bearer", `{"value":"x"}`).mustFail(t, 404, "not_found")
	x.operate("PUT", "/admin/v1/secrets/buyer/buy_blue/bearer", `{"value":""}`).mustFail(t, 422, "invalid_payload")
	x.operate("PUT", "/admin/v1/secrets/buyer/buy_blue/bearer", `{"value":7}`).mustFail(t, 422, "invalid_payload")
	x.operate("PUT", "/admin/v1/secrets/buyer/buy_blue/bearer", `{`).mustFail(t, 400, "malformed_json")
}

// TestRetryAfterAChange: a configuration that comes between two tries changes nothing
// of what is sent, nor where; and a refusal of the second says nothing of the lead,
// which may be there by the first try: the tries go on.
func TestRetryAfterAChange(t *testing.T) {
	for name, second := range map[string]func(http.ResponseWriter, *http.Request){
		"a conflict":   says(409, `{"error":"already_sold"}`),
		"a reused key": says(422, `{"error":"idempotency_key_reused"}`),
		"a refusal":    says(422, `{"error":"post_rejected"}`),
	} {
		t.Run(name, func(t *testing.T) {
			changed := make(chan struct{})
			blue, red, moved := newTaker(t, func(w http.ResponseWriter, _ *http.Request) {
				<-changed
				w.WriteHeader(http.StatusInternalServerError)
			}, second), newTaker(t), newTaker(t)
			p := newPlace(t, delivered(blue, red))
			x := start(t, p)
			first := make(chan *answer)
			go func() { first <- x.ingest(lead(1, "rooms", "3")) }()
			eventually(t, "the first try is under way", func() bool { return len(blue.got()) == 1 })
			p.write(t, strings.NewReplacer("price: 5", "price: 7", "room_count", "rooms_now", `"${BLUE_TOKEN}"}, funds`, `"${BLUE_TOKEN}"}, post_timeout: 3s, funds`).Replace(delivered(moved, red)))
			if err := x.ReloadConfiguration(); err != nil {
				t.Error(err)
			}
			close(changed)
			if a := <-first; !strings.Contains(a.body, `"status":"ACCEPTED"`) || !strings.Contains(a.body, `"amount":5,`) {
				t.Errorf("%d %s", a.status, a.body)
			}
			x.settles()
			posts := blue.got()
			if len(posts) != 3 || !strings.Contains(posts[0].body, `"room_count":3`) {
				t.Errorf("%+v", posts)
			}
			for _, p := range posts {
				if p.key != posts[0].key || p.body != posts[0].body || p.path != posts[0].path {
					t.Errorf("%+v, after %+v", p, posts[0])
				}
			}
			if len(moved.got())+len(red.got()) != 0 || x.must(200, "GET", "/admin/v1/buyers/buy_blue/funds", "").body != `{"balance":995,"held":0}`+"\n" {
				t.Errorf("%d posts went elsewhere, or the hold was given up", len(moved.got())+len(red.got()))
			}
		})
	}
}

// TestCrashWhilePosting: what a crash leaves open is finished by the next
// start, with the same key and bytes, and the supplier's retry hears of it. The first call got
// no answer, and the explanation says so.
func TestCrashWhilePosting(t *testing.T) {
	blue, red := newTaker(t, hangs), newTaker(t)
	x := start(t, newPlace(t, delivered(blue, red)))
	gone := make(chan struct{})
	go func() {
		defer close(gone)
		x.ingest(lead(1), "Idempotency-Key", "k")
	}()
	eventually(t, "the first post is under way", func() bool { return len(blue.got()) == 1 })
	crashed := x.copy(t)
	y := start(t, crashed)
	eventually(t, "the post is tried again", func() bool { return len(blue.got()) == 2 })
	y.settles()
	posts := blue.got()
	if posts[0].key != posts[1].key || posts[0].body != posts[1].body || posts[1].header.Get("Authorization") != "Bearer "+bearer {
		t.Errorf("%+v\n%+v", posts[0], posts[1])
	}
	a := y.ingest(lead(1), "Idempotency-Key", "k")
	if a.status != 201 || !strings.Contains(a.body, `"buyer_id":"buy_blue"`) || a.header.Get("Idempotent-Replayed") != "true" {
		t.Errorf("%d %s", a.status, a.body)
	}
	if doc := y.explain(a.leadID()); doc.Answer != nil || doc.Status != "ACCEPTED" || len(doc.Notes) != 1 || !strings.Contains(doc.Notes[0], "The exchange stopped before") {
		t.Errorf("%+v", doc)
	}
	y.wantFunds(`{"balance":995,"held":0}`)
	if len(red.got()) != 0 {
		t.Error("the lead went to another buyer")
	}
	blue.CloseClientConnections() // the first exchange's post may end
	<-gone
}

type listing struct {
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

// settles waits until no delivery is open or unknown.
func (r *running) settles() {
	r.t.Helper()
	eventually(r.t, "no delivery is open", func() bool {
		return decode[listing](r.t, r.must(200, "GET", "/admin/v1/deliveries", "")).Total == 0
	})
}

// TestDeliveries: where nobody can know whether a buyer has a lead, the
// operator sees it, and says.
func TestDeliveries(t *testing.T) {
	for word, row := range map[string]struct {
		funds string
		posts int
	}{
		"confirm": {`{"balance":995,"held":0}`, 1},
		"release": {`{"balance":1000,"held":0}`, 1},
		"resend":  {`{"balance":995,"held":0}`, 2},
	} {
		t.Run(word, func(t *testing.T) {
			blue, red := newTaker(t, says(500, ""), says(200, `{"ok":"yes"}`)), newTaker(t)
			x := start(t, newPlace(t, strings.Replace(delivered(blue, red), `endpoint: "`+blue.URL+`"`, `post_url: "`+blue.URL+`/leads", `+
				`adapter: {post: {format: json, body: '{"id": {{lead_id}}}', answer: {accepted: ok, yes: [yes]}}}`, 1)))
			a := x.sold(lead(1), "Idempotency-Key", "k")
			x = x.again()
			open := decode[listing](t, x.must(200, "GET", "/admin/v1/deliveries?state=unknown", ""))
			if open.Total != 1 || len(open.Deliveries) != 1 {
				t.Fatalf("%+v", open)
			}
			d := open.Deliveries[0]
			if d.LeadID != a.leadID() || d.State != "unknown" || d.BuyerID != "buy_blue" || d.Attempts != 1 || d.Price.Amount != 5 || d.Price.Currency != "USD" || d.Decided == "" {
				t.Errorf("%+v", d)
			}
			if pending := decode[listing](t, x.must(200, "GET", "/admin/v1/deliveries?state=pending", "")); pending.Total != 0 {
				t.Errorf("%+v", pending)
			}
			if funds := x.must(200, "GET", "/admin/v1/buyers/buy_blue/funds", "").body; !strings.Contains(funds, `"held":5`) {
				t.Errorf("not held: %s", funds)
			}
			x.must(204, "POST", "/admin/v1/deliveries/"+d.LeadID+"/"+word, "")
			x.settles()
			x.wantFunds(row.funds)
			if n := len(blue.got()); n != row.posts {
				t.Errorf("%d posts, want %d", n, row.posts)
			}
			x.operate("POST", "/admin/v1/deliveries/"+d.LeadID+"/"+word, "").mustFail(t, 404, "not_found")
			x.ingest(lead(1), "Idempotency-Key", "k").isReplayOf(t, a)
		})
	}
	x := start(t, newPlace(t, recorded))
	x.operate("GET", "/admin/v1/deliveries?state=lost", "").mustFail(t, 422, "invalid_payload")
	x.operate("POST", "/admin/v1/deliveries/nobody/confirm", "").mustFail(t, 404, "not_found")
	x.operate("POST", "/admin/v1/deliveries/lead_00000000000000000000000000/sell", "").mustFail(t, 404, "not_found")
}
