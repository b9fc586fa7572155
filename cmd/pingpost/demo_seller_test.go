package main

import (
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"pingpost/loadtest/leads"
)

// TestTwoSteps: what says who the person is stands in the post alone.
func TestTwoSteps(t *testing.T) {
	set := newDemoSet(300, 1)
	if len(set.offers) != 30 {
		t.Fatalf("%d offers", len(set.offers))
	}
	phones := map[string]bool{}
	for i := range set.leads {
		phones[set.leads[i].Phone] = true
	}
	for i := range set.offers {
		offer := &set.offers[i]
		if offer.Mistake != leads.None || offer.Campaign != demoAuctions || phones[offer.Phone] {
			t.Errorf("offer %d is no good one: %+v", i, offer)
		}
		ping, post, err := twoSteps("a-1", offer.Body)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range slices.Concat(personMembers, []string{"line1", "city", "zip", "ip_address"}) {
			if _, there := ping[name]; there {
				t.Errorf("a ping with %s: %v", name, ping)
			}
		}
		for _, name := range []string{"auction_id", "vertical", "state", "tcpa_consent"} {
			if _, there := ping[name]; !there {
				t.Errorf("a ping without %s: %v", name, ping)
			}
		}
		lead, _ := post["lead"].(map[string]any)
		if names := slices.Sorted(maps.Keys(lead)); strings.Join(names, " ") != "address email first_name last_name lead_uuid phone tcpa" {
			t.Errorf("the post's lead has %v", names)
		}
	}
	if _, _, err := twoSteps("a-1", []byte("{")); err == nil {
		t.Error("half a lead was taken")
	}
}

// clerk is an exchange that buys every second offer, and passes every fifth.
func clerk(t *testing.T, tokens *atomic.Int64) *httptest.Server {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/oauth/token" {
			tokens.Add(1)
			w.Header().Set("Content-Type", "application/json")
			_, _ = io.WriteString(w, `{"access_token":"t","token_type":"Bearer","expires_in":3600}`)
			return
		}
		var said struct {
			Auction string `json:"auction_id"`
			Token   string `json:"bid_token"`
		}
		if err := json.NewDecoder(r.Body).Decode(&said); err != nil || r.Header.Get("Authorization") != "Bearer t" {
			t.Errorf("%v, %v", err, r.Header)
		}
		key := strings.TrimPrefix(r.URL.Path, "/v1/") + "-" + said.Auction
		switch last := said.Auction[len(said.Auction)-1]; {
		case r.Header.Get("Idempotency-Key") != key:
			t.Errorf("the key of %s is %s", key, r.Header.Get("Idempotency-Key"))
		case r.URL.Path == "/v1/ping" && last%5 == 0:
			_, _ = io.WriteString(w, `{"bid":null,"reject_reason":"caps_full"}`)
		case r.URL.Path == "/v1/ping":
			_, _ = io.WriteString(w, `{"bid":{"amount":8,"currency":"USD","bid_token":"for `+said.Auction+`"}}`)
		case said.Token != "for "+said.Auction:
			t.Errorf("%s was posted with %q", said.Auction, said.Token)
		case last%2 == 0:
			w.WriteHeader(http.StatusCreated)
			_, _ = io.WriteString(w, `{"id":"lead of `+said.Auction+`","status":"ACCEPTED","buyer_id":"bid_fixed","price":{"amount":8}}`)
		default:
			w.WriteHeader(http.StatusUnprocessableEntity)
			_, _ = io.WriteString(w, `{"error":"post_rejected","reason":"suppressed"}`)
		}
	}))
	t.Cleanup(server.Close)
	return server
}

func TestSellerSellsInTwoSteps(t *testing.T) {
	var tokens atomic.Int64
	server, set := clerk(t, &tokens), newDemoSet(100, 1)
	seller := newDemoSeller(&demoExchange{public: server.URL, set: set})
	a := newAccount(set)
	for _, d := range seller.sell(t.Context(), set.offers, 10*time.Millisecond) {
		a.deal(d)
	}
	for _, d := range seller.sell(t.Context(), set.offers, 0) {
		a.dealAgain(d)
	}
	s := a.deals
	if s.offered != 10 || s.noBid != 2 || s.sold != 4 || s.refused != 4 || s.lost != 0 || s.again != 10 || s.payout != 32_000_000 {
		t.Errorf("%+v", s)
	}
	if a.sold["bid_fixed"] != 4 || len(a.posted) != 4 || len(a.wrong) != 0 || tokens.Load() > 10 {
		t.Errorf("%v, %v, %v, %d tokens", a.sold, a.posted, a.wrong, tokens.Load())
	}
	if text := squeeze(s.byOffer()); !strings.Contains(text, "post: post_rejected suppressed 4") || !strings.Contains(text, "no bid: caps_full 2") {
		t.Error(s.byOffer())
	}
}

func TestSellerWithoutAnExchange(t *testing.T) {
	set := newDemoSet(10, 1)
	a := newAccount(set)
	for _, d := range newDemoSeller(&demoExchange{public: "http://127.0.0.1:1", set: set}).sell(t.Context(), set.offers, 0) {
		a.deal(d)
	}
	if a.deals.lost != 1 || len(a.wrong) != 1 || a.good() {
		t.Errorf("%+v, %v", a.deals, a.wrong)
	}
}

// TestDealsThatDoNotFit: a sale for other than was bid, one without a status, and
// an id that came before.
func TestDealsThatDoNotFit(t *testing.T) {
	good := func() *deal {
		d := &deal{ping: heardBack{status: 200}, post: heardBack{status: 201}}
		d.err = json.Unmarshal([]byte(`{"bid":{"amount":8}}`), &d.bid)
		d.sale.ID, d.sale.Status, d.sale.Buyer, d.sale.Price.Amount = "a", statusAccepted, "bid_fixed", 8_000_000
		return d
	}
	rows := map[string]func(*account, *deal){
		"another price":     func(_ *account, d *deal) { d.sale.Price.Amount++ },
		"not accepted":      func(_ *account, d *deal) { d.sale.Status = "" },
		"an id of before":   func(a *account, _ *deal) { a.leadIDs["a"] = true },
		"a ping with a 500": func(_ *account, d *deal) { d.ping.status = 500 },
	}
	for name, change := range rows {
		a, d := newAccount(&demoSet{}), good()
		change(a, d)
		if a.deal(d); len(a.wrong) != 1 {
			t.Errorf("%s: %q", name, a.wrong)
		}
	}
	a := newAccount(&demoSet{})
	if a.deal(good()); len(a.wrong) != 0 {
		t.Errorf("%q", a.wrong)
	}
	other := good()
	other.ping.body = []byte("another")
	if a.dealAgain(other); a.deals.again != 0 {
		t.Error("another answer was taken for the same")
	}
}
