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

const personBody = `{"lead_uuid":"u1","first_name":"Ann","last_name":"Lee","email":"ann@mail.test","phone":"4155550132"}`

// postBodyForNewBid sends a ping and returns the body of the post for its bid.
func (h *testExchange) postBodyForNewBid(token, auction string) string {
	h.t.Helper()
	a := h.ping(token, "ping-"+auction, withMembers(pingBody, "auction_id", `"`+auction+`"`))
	got := decodeAnswer[pingAnswer](h.t, a, 200)
	if got.Bid == nil {
		h.t.Fatal(a.body)
	}
	return h.postBody(auction, got.Bid.Token, h.log.EntryCount())
}

// postBody returns the body of a post with contact data of this person's number.
func (h *testExchange) postBody(auction, token string, person int) string {
	lead := withMembers(personBody, "phone", fmt.Sprintf(`"415555%04d"`, person), "email", fmt.Sprintf(`"ann%d@mail.test"`, person))
	return withMembers(`{}`, "auction_id", `"`+auction+`"`, "bid_token", `"`+token+`"`, "lead", lead)
}

// postAnswer is the answer to a post.
type postAnswer struct {
	Auction   string `json:"auction_id"`
	BuyerLead string `json:"lead_id"`
	ID        string `json:"id"`
	Status    string `json:"status"`
	Buyer     string `json:"buyer_id"`
	Price     struct {
		Amount   json.Number `json:"amount"`
		Currency string      `json:"currency"`
	} `json:"price"`
}

func TestPostSellsLeadOnce(t *testing.T) {
	h := newAuctionExchange(t)
	acme := h.requestToken("acme", "")
	body := withMembers(h.postBodyForNewBid(acme, "a1"), "lead.address.zip", `"94105"`, "lead.address.city", `"San Francisco"`, "lead.tcpa.consent_text", `"I agree"`, "lead.tcpa.phone", `"4155550999"`)
	first := h.post(acme, "k1", body)
	got := decodeAnswer[postAnswer](t, first, 201)
	if got.Auction != "a1" || got.BuyerLead != "theirs" || !strings.HasPrefix(got.ID, "lead_") || got.Status != "ACCEPTED" || got.Buyer != "buy_blue" ||
		got.Price.Amount != "8" || got.Price.Currency != "USD" || first.header.Get("X-RateLimit-Limit") != "1000000" {
		t.Errorf("%s %v", first.body, first.header)
	}
	if len(h.buyers.posts) != 1 || !strings.Contains(h.buyers.posts[0], `"bid_token":"of-blue.example"`) || !strings.Contains(h.buyers.posts[0], `"address":{"city":"San Francisco","state":"CA","zip":"94105"}`) ||
		!strings.Contains(h.buyers.posts[0], `"tcpa":{"consent_text":"I agree"}`) || strings.Contains(h.buyers.posts[0], "5550999") {
		t.Errorf("posted %s", h.buyers.posts)
	}
	h.post(acme, "k1", body).wantReplayOf(t, first)
	h.advance(time.Hour)
	acme = h.requestToken("acme", "")
	h.post(acme, "k1", body).wantReplayOf(t, first)
	h.post(acme, "k1", body+" ").wantError(t, 422, "idempotency_key_reused")
	h.post(acme, "k2", body).wantError(t, 409, "already_sold")
	if n := h.buyers.postCount(); n != 1 {
		t.Errorf("got %d posts", n)
	}
}

// TestPostErrorsNameMembers checks that each error of a post names its member, and that
// the post uses up neither key nor bid.
func TestPostErrorsNameMembers(t *testing.T) {
	h := newAuctionExchange(t)
	acme := h.requestToken("acme", "")
	body := h.postBodyForNewBid(acme, "a1")
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
			if got := h.post(acme, "k1", withMembers(body, strings.Split(row.changes, "|")...)).wantError(t, 422, "invalid_payload"); got != row.want {
				t.Errorf("%s, want %s", got, row.want)
			}
		})
	}
	for key, want := range map[string]string{"": "Idempotency-Key missing_required", "a b": "Idempotency-Key invalid_format"} {
		if got := h.post(acme, key, body).wantError(t, 422, "invalid_payload"); got != want {
			t.Errorf("key %q: %s", key, got)
		}
	}
	near := h.postBody("a3", decodeAnswer[pingAnswer](t, h.ping(acme, "k3", withMembers(pingBody, "auction_id", `"a3"`, "zip3", `"941"`)), 200).Bid.Token, 1)
	if got := h.post(acme, "k1", withMembers(near, "lead.address.zip", `"90001"`)).wantError(t, 422, "invalid_payload"); got != "lead.address.zip ping_mismatch" {
		t.Errorf("ZIP outside of the ping's zip3: got %s", got)
	}
	// Faulty members are reported before a wrong token, and that before an expired bid.
	if got := h.post(acme, "k1", withMembers(body, "bid_token", `"x"`, "lead.email", "")).wantError(t, 422, "invalid_payload"); got != "lead.email missing_required" {
		t.Error(got)
	}
	other := h.requestToken("other", "")
	for what, call := range map[string]func() *apiAnswer{
		"an invalid token": func() *apiAnswer { return h.post(acme, "k1", withMembers(body, "bid_token", `"x"`)) },
		"token of another auction": func() *apiAnswer {
			return h.post(acme, "k1", withMembers(h.postBodyForNewBid(acme, "a2"), "auction_id", `"a1"`))
		},
		"unknown auction":                         func() *apiAnswer { return h.post(acme, "k1", withMembers(body, "auction_id", `"a9"`)) },
		"token of another seller":                 func() *apiAnswer { return h.post(other, "k1", body) },
		"another seller with an equal auction id": func() *apiAnswer { h.postBodyForNewBid(other, "a1"); return h.post(other, "k1", body) },
		"token in capitals":                       func() *apiAnswer { return h.post(acme, "k1", strings.Replace(body, `:"bid_`, `:"BID_`, 1)) },
		"the exchange's auction id": func() *apiAnswer {
			return h.post(acme, "k1", withMembers(body, "auction_id", `"auc_`+strings.Repeat("0", 26)+`"`))
		},
	} {
		if got := call().wantError(t, 422, "invalid_bid_token"); got != "" {
			t.Errorf("%s: %s", what, got)
		}
	}
	if n := h.buyers.postCount(); n > 0 {
		t.Errorf("got %d posts", n)
	}
	if a := h.post(acme, "k1", body); a.status != 201 || a.header.Get(httperror.HeaderReplayed) != "" {
		t.Errorf("%d %s", a.status, a.body)
	}
}

func TestPostOfExpiredBid(t *testing.T) {
	h := newAuctionExchange(t)
	acme := h.requestToken("acme", "")
	body := h.postBodyForNewBid(acme, "a1")
	h.advance(5 * time.Second)
	h.post(acme, "k1", withMembers(body, "lead.phone", "")).wantError(t, 422, "invalid_payload")
	h.post(acme, "k1", withMembers(body, "bid_token", `"x"`)).wantError(t, 422, "invalid_bid_token")
	h.post(acme, "k1", body).wantError(t, 410, "bid_expired")
	h.ping(acme, "k2", withMembers(pingBody, "auction_id", `"a1"`)).wantError(t, 409, "auction_exists")
	// A bid may expire earlier by the buyer's time.
	h.buyers.update(func() { h.buyers.validUntil = h.clock.Now() + int64(time.Second) })
	body = h.postBodyForNewBid(acme, "a2")
	h.advance(time.Second)
	h.post(acme, "k1", body).wantError(t, 410, "bid_expired")
	// Rejected posts do not claim the key.
	h.buyers.update(func() { h.buyers.validUntil = 0 })
	if a := h.post(acme, "k1", h.postBodyForNewBid(acme, "a3")); a.status != 201 {
		t.Errorf("%d %s", a.status, a.body)
	}
}

// Posts that the buyer or the duplicate check rejects are logged and replayed with the
// first request id.
func TestRejectedPostIsReplayed(t *testing.T) {
	h := newAuctionExchange(t)
	acme := h.requestToken("acme", "")
	h.buyers.update(func() {
		h.buyers.postResults = []market.BuyerPostResult{{Verdict: market.VerdictRefused, Status: 422, Code: "no_thanks", Final: true}}
	})
	sold := h.postBodyForNewBid(acme, "a2")
	var lead struct{ Lead json.RawMessage }
	must.Succeed(t, json.Unmarshal([]byte(sold), &lead))
	refused := h.postBodyForNewBid(acme, "a1")
	for _, row := range []struct{ key, body, reason string }{
		{"k1", refused, "post_rejected"},
		{"k3", withMembers(h.postBodyForNewBid(acme, "a3"), "lead", string(lead.Lead)), "duplicate"},
	} {
		first := h.post(acme, row.key, row.body)
		first.wantError(t, 422, "post_rejected")
		if got := decodeAnswer[errorBody](t, first, 422); got.Reason != row.reason {
			t.Errorf("%s: %s", row.reason, first.body)
		}
		h.post(acme, row.key, row.body).wantReplayOf(t, first)
		h.post(acme, row.key, row.body+" ").wantError(t, 422, "idempotency_key_reused")
		if a := h.post(acme, "k2", sold); a.status != 201 {
			t.Errorf("%d %s", a.status, a.body)
		}
	}
	// After a rejection, the bid may be used again under another key until it expires.
	if a := h.post(acme, "k4", refused); a.status != 201 {
		t.Errorf("%d %s", a.status, a.body)
	}
}

// firstAttemptTime is the ceiling of answers in tests of a post whose first attempt fails. If the next
// attempt is due after the same time, the answer comes after the first one, also on a busy machine.
const firstAttemptTime = 3 * time.Second

// 502 and 504 are not final: the delivery continues, and the same key returns its result.
func TestUnansweredPostContinues(t *testing.T) {
	for _, row := range []struct {
		name   string
		first  market.BuyerPostResult
		hangs  bool
		status int
		code   string
	}{
		{"not reachable", market.BuyerPostResult{Verdict: market.VerdictNotSent, Fault: market.FaultConnect}, false, 502, "buyer_unavailable"},
		{"server error", market.BuyerPostResult{Verdict: market.VerdictUnknown, Status: 500}, false, 502, "buyer_unavailable"},
		{"timed out", market.BuyerPostResult{Verdict: market.VerdictUnknown, Fault: market.FaultTimeout}, false, 504, "buyer_timeout"},
		{"no answer", market.BuyerPostResult{Verdict: market.VerdictAccepted, Status: 201, BuyerLeadID: "theirs"}, true, 504, "buyer_timeout"},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			h := newAuctionExchange(t, func(o *engine.Options) { o.Ceiling = firstAttemptTime })
			acme, gate := h.requestToken("acme", ""), make(chan struct{})
			h.buyers.update(func() {
				row.first.RetryAfter = firstAttemptTime
				h.buyers.postResults = []market.BuyerPostResult{row.first}
				if row.hangs {
					h.buyers.postGate = gate
				}
			})
			body := h.postBodyForNewBid(acme, "a1")
			a := h.post(acme, "k1", body)
			a.wantError(t, row.status, row.code)
			if a.header.Get("Retry-After") == "" || a.header.Get(httperror.HeaderReplayed) != "" {
				t.Errorf("%v", a.header)
			}
			h.post(acme, "k2", body).wantError(t, 409, "already_sold")
			close(gate)
			servertest.WaitUntil(t, "the post is delivered and the key returns its result", func() bool { a = h.post(acme, "k1", body); return a.status < 500 })
			if got := decodeAnswer[postAnswer](t, a, 201); got.BuyerLead != "theirs" || a.header.Get(httperror.HeaderReplayed) != "true" {
				t.Errorf("%s %v", a.body, a.header)
			}
			h.post(acme, "k1", body).wantReplayOf(t, &apiAnswer{a.status, map[string][]string{httperror.HeaderRequestID: a.header.Values(httperror.HeaderRequestID)}, a.body})
		})
	}
}

// A concurrent post under the same key waits for the first one's answer. Under another key
// it gets already_sold.
func TestConcurrentPostsOfOneBid(t *testing.T) {
	h := newAuctionExchange(t)
	acme, gate := h.requestToken("acme", ""), make(chan struct{})
	h.buyers.update(func() { h.buyers.postGate = gate })
	body := h.postBodyForNewBid(acme, "a1")
	answers := make([]*apiAnswer, 4)
	var posts sync.WaitGroup
	for i, key := range []string{"k1", "k1", "k1", "k2"} {
		posts.Go(func() {
			if key == "k2" {
				servertest.WaitUntil(t, "the first post is in flight", func() bool { return h.buyers.postCount() == 1 })
			}
			answers[i] = h.post(acme, key, body)
		})
	}
	servertest.WaitUntil(t, "a post is in flight", func() bool { return h.buyers.postCount() == 1 })
	time.Sleep(20 * time.Millisecond) // gives the other posts time to arrive; the test does not depend on it
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
			answers[i].wantReplayOf(t, answers[first])
		}
	}
	answers[3].wantError(t, 409, "already_sold")
	if n := h.buyers.postCount(); n != 1 || answers[first].status != 201 {
		t.Errorf("%d posts, %d %s", n, answers[first].status, answers[first].body)
	}
}
