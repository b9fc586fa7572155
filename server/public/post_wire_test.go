package public

import (
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"pingpost/engine"
	"pingpost/engine/market"
	"pingpost/internal/must"
	"pingpost/server/httperror"
	"pingpost/server/servertest"
)

const aPerson = `{"lead_uuid":"u1","first_name":"Ann","last_name":"Lee","email":"ann@mail.test","phone":"4155550132"}`

// won pings and is the body of the post that takes the bid up.
func (h *house) won(token, auction string) string {
	h.t.Helper()
	a := h.ping(token, "ping-"+auction, with(aPing, "auction_id", `"`+auction+`"`))
	said := read[pinged](h.t, a, 200)
	if said.Bid == nil {
		h.t.Fatal(a.body)
	}
	return h.bidFor(auction, said.Bid.Token, h.log.Size())
}

// bidFor is a post's body, of a person of its own.
func (h *house) bidFor(auction, token string, person int) string {
	lead := with(aPerson, "phone", fmt.Sprintf(`"415555%04d"`, person), "email", fmt.Sprintf(`"ann%d@mail.test"`, person))
	return with(`{}`, "auction_id", `"`+auction+`"`, "bid_token", `"`+token+`"`, "lead", lead)
}

// sale is the answer to a post.
type sale struct {
	Auction string `json:"auction_id"`
	Theirs  string `json:"lead_id"`
	ID      string `json:"id"`
	Status  string `json:"status"`
	Buyer   string `json:"buyer_id"`
	Price   struct {
		Amount   json.Number `json:"amount"`
		Currency string      `json:"currency"`
	} `json:"price"`
}

func TestPost(t *testing.T) {
	h := holding(t)
	acme := h.token("acme", "")
	body := with(h.won(acme, "a1"), "lead.address.zip", `"94105"`, "lead.address.city", `"San Francisco"`, "lead.tcpa.consent_text", `"I agree"`, "lead.tcpa.phone", `"4155550999"`)
	first := h.post(acme, "k1", body)
	said := read[sale](t, first, 201)
	if said.Auction != "a1" || said.Theirs != "theirs" || !strings.HasPrefix(said.ID, "lead_") || said.Status != "ACCEPTED" || said.Buyer != "buy_blue" ||
		said.Price.Amount != "8" || said.Price.Currency != "USD" || first.header.Get("X-RateLimit-Limit") != "1000000" {
		t.Errorf("%s %v", first.body, first.header)
	}
	if len(h.buyers.posts) != 1 || !strings.Contains(h.buyers.posts[0], `"bid_token":"of-blue.example"`) || !strings.Contains(h.buyers.posts[0], `"address":{"city":"San Francisco","state":"CA","zip":"94105"}`) ||
		!strings.Contains(h.buyers.posts[0], `"tcpa":{"consent_text":"I agree"}`) || strings.Contains(h.buyers.posts[0], "5550999") {
		t.Errorf("posted %s", h.buyers.posts)
	}
	h.post(acme, "k1", body).isReplayOf(t, first)
	h.wait(time.Hour)
	acme = h.token("acme", "")
	h.post(acme, "k1", body).isReplayOf(t, first)
	h.post(acme, "k1", body+" ").mustFail(t, 422, "idempotency_key_reused")
	h.post(acme, "k2", body).mustFail(t, 409, "already_sold")
	if n := h.buyers.posted(); n != 1 {
		t.Errorf("%d posts", n)
	}
}

// TestPostIsChecked checks that each error of a post names its member, and that the post
// uses up neither key nor bid.
func TestPostIsChecked(t *testing.T) {
	h := holding(t)
	acme := h.token("acme", "")
	body := h.won(acme, "a1")
	for _, row := range []struct{ changes, want string }{
		{"auction_id|", "auction_id missing_required"},
		{"auction_id|7", "auction_id wrong_type"},
		{"bid_token|", "bid_token missing_required"},
		{"bid_token|{}", "bid_token wrong_type"},
		{"lead.lead_uuid|", "lead.lead_uuid missing_required"},
		{"lead.lead_uuid|5", "lead.lead_uuid wrong_type"},
		{"lead.first_name|", "lead.first_name missing_required"},
		{`lead.last_name|" "`, "lead.last_name missing_required"},
		{`lead.email|"ann"`, "lead.email invalid_format"},
		{`lead.phone|"call me"`, "lead.phone invalid_format"},
		{`lead.phone||lead.tcpa.phone|"4155550132"`, "lead.phone missing_required"},
		{`lead.address|"1 Main St"`, "lead.address wrong_type"},
		{"lead.tcpa|[1]", "lead.tcpa wrong_type"},
		{`lead.address.zip|"9410"`, "lead.address.zip invalid_format"},
		{`lead.tcpa.consent_timestamp|"noon"`, "lead.tcpa.consent_timestamp invalid_format"},
		{`lead.tcpa.consent_cert_url|"http://cert.test/1"`, "lead.tcpa.consent_cert_url invalid_format"},
		{`lead.source|"Facebook"`, "lead.tcpa.consent_cert_url missing_required"},
		{`lead.rooms|"two"`, "lead.rooms wrong_type"},
		{`lead.address.state|"NV"`, "lead.address.state ping_mismatch"},
		{`lead|"x"`, "lead wrong_type, lead.lead_uuid missing_required, lead.first_name missing_required, lead.last_name missing_required, lead.phone missing_required, lead.email missing_required"},
	} {
		t.Run(row.changes, func(t *testing.T) {
			if got := h.post(acme, "k1", with(body, strings.Split(row.changes, "|")...)).mustFail(t, 422, "invalid_payload"); got != row.want {
				t.Errorf("%s, want %s", got, row.want)
			}
		})
	}
	for key, want := range map[string]string{"": "Idempotency-Key missing_required", "a b": "Idempotency-Key invalid_format"} {
		if got := h.post(acme, key, body).mustFail(t, 422, "invalid_payload"); got != want {
			t.Errorf("key %q: %s", key, got)
		}
	}
	near := h.bidFor("a3", read[pinged](t, h.ping(acme, "k3", with(aPing, "auction_id", `"a3"`, "zip3", `"941"`)), 200).Bid.Token, 1)
	if got := h.post(acme, "k1", with(near, "lead.address.zip", `"90001"`)).mustFail(t, 422, "invalid_payload"); got != "lead.address.zip ping_mismatch" {
		t.Errorf("another ZIP than the ping's: %s", got)
	}
	// Members at fault are told before the token, and that before the window.
	if got := h.post(acme, "k1", with(body, "bid_token", `"x"`, "lead.email", "")).mustFail(t, 422, "invalid_payload"); got != "lead.email missing_required" {
		t.Error(got)
	}
	other := h.token("other", "")
	for what, call := range map[string]func() *heard{
		"a token that is none":      func() *heard { return h.post(acme, "k1", with(body, "bid_token", `"x"`)) },
		"of another auction":        func() *heard { return h.post(acme, "k1", with(h.won(acme, "a2"), "auction_id", `"a1"`)) },
		"of no auction":             func() *heard { return h.post(acme, "k1", with(body, "auction_id", `"a9"`)) },
		"of another seller":         func() *heard { return h.post(other, "k1", body) },
		"of another's of that name": func() *heard { h.won(other, "a1"); return h.post(other, "k1", body) },
		"in capital letters":        func() *heard { return h.post(acme, "k1", strings.Replace(body, `:"bid_`, `:"BID_`, 1)) },
		"in our name for the auction": func() *heard {
			return h.post(acme, "k1", with(body, "auction_id", `"auc_`+strings.Repeat("0", 26)+`"`))
		},
	} {
		if got := call().mustFail(t, 422, "invalid_bid_token"); got != "" {
			t.Errorf("%s: %s", what, got)
		}
	}
	if n := h.buyers.posted(); n > 0 {
		t.Errorf("%d posts", n)
	}
	if a := h.post(acme, "k1", body); a.status != 201 || a.header.Get(httperror.HeaderReplayed) != "" {
		t.Errorf("%d %s", a.status, a.body)
	}
}

func TestBidExpires(t *testing.T) {
	h := holding(t)
	acme := h.token("acme", "")
	body := h.won(acme, "a1")
	h.wait(5 * time.Second)
	h.post(acme, "k1", with(body, "lead.phone", "")).mustFail(t, 422, "invalid_payload")
	h.post(acme, "k1", with(body, "bid_token", `"x"`)).mustFail(t, 422, "invalid_bid_token")
	h.post(acme, "k1", body).mustFail(t, 410, "bid_expired")
	h.ping(acme, "k2", with(aPing, "auction_id", `"a1"`)).mustFail(t, 409, "auction_exists")
	// The buyer's own end comes first.
	h.buyers.set(func() { h.buyers.until = h.clock.Now() + int64(time.Second) })
	body = h.won(acme, "a2")
	h.wait(time.Second)
	h.post(acme, "k1", body).mustFail(t, 410, "bid_expired")
	// The key was not used up by any of it.
	h.buyers.set(func() { h.buyers.until = 0 })
	if a := h.post(acme, "k1", h.won(acme, "a3")); a.status != 201 {
		t.Errorf("%d %s", a.status, a.body)
	}
}

// TestPostIsRefused checks posts that the buyer or a list rejects. The rejection is logged
// and replayed with the first request id.
func TestPostIsRefused(t *testing.T) {
	h := holding(t)
	acme := h.token("acme", "")
	h.buyers.set(func() {
		h.buyers.sells = []market.PostResult{{Verdict: market.VerdictRefused, Status: 422, Code: "no_thanks", Final: true}}
	})
	sold := h.won(acme, "a2")
	var lead struct{ Lead json.RawMessage }
	must.Succeed(t, json.Unmarshal([]byte(sold), &lead))
	refused := h.won(acme, "a1")
	for _, row := range []struct{ key, body, reason string }{
		{"k1", refused, "post_rejected"},
		{"k3", with(h.won(acme, "a3"), "lead", string(lead.Lead)), "duplicate"},
	} {
		first := h.post(acme, row.key, row.body)
		first.mustFail(t, 422, "post_rejected")
		if said := read[failed](t, first, 422); said.Reason != row.reason {
			t.Errorf("%s: %s", row.reason, first.body)
		}
		h.post(acme, row.key, row.body).isReplayOf(t, first)
		h.post(acme, row.key, row.body+" ").mustFail(t, 422, "idempotency_key_reused")
		if a := h.post(acme, "k2", sold); a.status != 201 {
			t.Errorf("%d %s", a.status, a.body)
		}
	}
	// A bid that its buyer did not sell at is good for another try, under another
	// key, while it is open.
	if a := h.post(acme, "k4", refused); a.status != 201 {
		t.Errorf("%d %s", a.status, a.body)
	}
}

// TestUnansweredPost checks that 502 and 504 are not final: the delivery continues, and the
// same key returns its result.
func TestUnansweredPost(t *testing.T) {
	for _, row := range []struct {
		name   string
		first  market.PostResult
		hangs  bool
		status int
		code   string
	}{
		{"nobody there", market.PostResult{Verdict: market.VerdictNotSent, Fault: market.FaultConnect}, false, 502, "buyer_unavailable"},
		{"broken", market.PostResult{Verdict: market.VerdictUnknown, Status: 500}, false, 502, "buyer_unavailable"},
		{"timed out", market.PostResult{Verdict: market.VerdictUnknown, Fault: market.FaultTimeout}, false, 504, "buyer_timeout"},
		{"silent", market.PostResult{Verdict: market.VerdictAccepted, Status: 201, BuyerLeadID: "theirs"}, true, 504, "buyer_timeout"},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			h := holding(t, func(o *engine.Options) { o.Ceiling = 500 * time.Millisecond })
			acme, gate := h.token("acme", ""), make(chan struct{})
			h.buyers.set(func() {
				h.buyers.sells = []market.PostResult{row.first}
				if row.hangs {
					h.buyers.gate = gate
				}
			})
			body := h.won(acme, "a1")
			a := h.post(acme, "k1", body)
			a.mustFail(t, row.status, row.code)
			if a.header.Get("Retry-After") == "" || a.header.Get(httperror.HeaderReplayed) != "" {
				t.Errorf("%v", a.header)
			}
			h.post(acme, "k2", body).mustFail(t, 409, "already_sold")
			close(gate)
			servertest.WaitUntil(t, "it is delivered, and the same key hears so", func() bool { a = h.post(acme, "k1", body); return a.status < 500 })
			if said := read[sale](t, a, 201); said.Theirs != "theirs" || a.header.Get(httperror.HeaderReplayed) != "true" {
				t.Errorf("%s %v", a.body, a.header)
			}
			h.post(acme, "k1", body).isReplayOf(t, &heard{a.status, map[string][]string{httperror.HeaderRequestID: a.header.Values(httperror.HeaderRequestID)}, a.body})
		})
	}
}

// TestTwoPostsAtOnce checks that a concurrent post under the same key waits for the first
// one's answer. Under another key it receives already_sold.
func TestTwoPostsAtOnce(t *testing.T) {
	h := holding(t)
	acme, gate := h.token("acme", ""), make(chan struct{})
	h.buyers.set(func() { h.buyers.gate = gate })
	body := h.won(acme, "a1")
	answers := make([]*heard, 4)
	var posts sync.WaitGroup
	for i, key := range []string{"k1", "k1", "k1", "k2"} {
		posts.Go(func() {
			if key == "k2" {
				servertest.WaitUntil(t, "the first one is under way", func() bool { return h.buyers.posted() == 1 })
			}
			answers[i] = h.post(acme, key, body)
		})
	}
	servertest.WaitUntil(t, "one is under way", func() bool { return h.buyers.posted() == 1 })
	time.Sleep(20 * time.Millisecond) // for the others to come in; that they have is not needed
	close(gate)
	posts.Wait()
	first := 0
	for i := range 3 {
		if answers[i].status == 201 && answers[i].header.Get(httperror.HeaderReplayed) == "" {
			first = i
		}
	}
	for i := range 3 {
		if i != first {
			answers[i].isReplayOf(t, answers[first])
		}
	}
	answers[3].mustFail(t, 409, "already_sold")
	if n := h.buyers.posted(); n != 1 || answers[first].status != 201 {
		t.Errorf("%d posts, %d %s", n, answers[first].status, answers[first].body)
	}
}
