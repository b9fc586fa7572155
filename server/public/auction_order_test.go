package public

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"golang.org/x/oauth2/clientcredentials"

	"pingpost/internal/must"
	"pingpost/server/httperror"
)

// faultyRequest is a request that requestFaults change.
type faultyRequest struct {
	method, path, body, bearer string
	headers                    map[string]string
}

// requestFault is an error in a request, and the expected answer.
type requestFault struct {
	name   string
	status int
	code   string
	apply  func(r *faultyRequest)
}

// requestFaults returns all errors of a path that do not depend on an auction, in the
// order of the contract.
func (h *testExchange) requestFaults(path string) []requestFault {
	flaws := []requestFault{
		{"unknown path", 404, "not_found", func(r *faultyRequest) { r.path += "/" }},
		{"wrong method", 405, "method_not_allowed", func(r *faultyRequest) { r.method = "GET" }},
		{"no credential", 401, "unauthorized", func(r *faultyRequest) { r.bearer = ""; delete(r.headers, "X-Api-Key") }},
		{"missing scope", 403, "insufficient_scope", nil},
		{"credential of a buyer", 403, "forbidden", nil},
		{"over the rate limit", 429, "rate_limited", func(r *faultyRequest) { h.drainSlowSupplier(); r.useDrainedSupplier() }},
		{"too large", 413, "payload_too_large", func(r *faultyRequest) { r.body += strings.Repeat(" ", 1<<16) }},
		{"wrong content type", 415, "unsupported_media_type", func(r *faultyRequest) { r.headers["Content-Type"] = "text/plain" }},
		{"two JSON objects", 400, "malformed_json", func(r *faultyRequest) { r.body += "{}" }},
		{"another body under a used key", 422, "idempotency_key_reused", func(r *faultyRequest) { r.headers["Idempotency-Key"] = "used"; r.body += " " }},
		{"invalid payload", 422, "invalid_payload", func(r *faultyRequest) {
			r.body = strings.Replace(r.body, `"state":"CA"`, `"state":"XX"`, 1)
			r.body = strings.Replace(r.body, `"last_name":"Lee",`, "", 1)
		}},
		{"campaign of another supplier", 403, "forbidden", nil},
	}
	otherScope, buyer := map[string]string{"/v1/ping": "post", "/v1/post": "ping"}[path], h.requestToken("blue", "ping post")
	if strings.HasPrefix(path, "/api/") {
		flaws[11].apply = func(r *faultyRequest) { r.body = strings.Replace(r.body, `"sup_acme"`, `"sup_other"`, 1) }
	} else {
		unscoped := h.requestToken("acme", otherScope)
		flaws[3].apply = func(r *faultyRequest) { r.setBearer(unscoped) }
		flaws[4].apply = func(r *faultyRequest) { r.setBearer(buyer) }
	}
	return flaws
}

// setBearer sets the token if the request has one.
func (r *faultyRequest) setBearer(token string) {
	if r.bearer != "" {
		r.bearer = token
	}
}

// useDrainedSupplier sets the credential of the supplier with empty buckets, if the
// request has a valid one.
func (r *faultyRequest) useDrainedSupplier() {
	if r.headers["X-Api-Key"] != "" {
		r.headers["X-Api-Key"] = "canary-key-of-slow"
	}
	if r.bearer == r.headers["token of acme"] {
		r.setBearer(r.headers["token of slow"])
	}
}

func (h *testExchange) drainSlowSupplier() {
	ref := h.supplierRef("sup_slow")
	for _, l := range []*tokenBucketsByOwner{&h.ingestLimits, &h.pingLimits, &h.postLimits} {
		(*l.buckets.Load())[ref].takeTokens(1, time.Unix(0, h.clock.Now()))
	}
}

func (r *faultyRequest) send(h *testExchange) *apiAnswer {
	h.t.Helper()
	var lines []string
	for name, value := range r.headers {
		if !strings.HasPrefix(name, "token of") {
			lines = append(lines, name, value)
		}
	}
	if r.bearer != "" {
		lines = append(lines, "Authorization", "Bearer "+r.bearer)
	}
	return h.request(r.method, h.address+r.path, r.body, lines...)
}

// Of two errors in a request, the answer reports the one that is first in the contract's
// order.
func TestFirstErrorInContractOrderIsReported(t *testing.T) {
	for path, body := range map[string]string{
		"/v1/ping": pingBody, "/api/v1/ping": availabilityBody, "/api/v1/ingest": leadBody,
		"/v1/post": `{"auction_id":"a9","bid_token":"bid_x","lead":` + personBody + `}`,
	} {
		t.Run(strings.Trim(path, "/"), func(t *testing.T) {
			h := newAuctionExchange(t)
			h.t = t
			acme, slow := h.requestToken("acme", ""), h.requestToken("slow", "")
			validRequest := func() *faultyRequest {
				r := &faultyRequest{"POST", path, body, acme, map[string]string{"Content-Type": contentTypeJSON, "token of acme": acme, "token of slow": slow}}
				if strings.HasPrefix(path, "/api/") {
					r.bearer, r.headers["X-Api-Key"] = "", "canary-key-of-acme"
				} else {
					r.headers["Idempotency-Key"] = "k"
				}
				return r
			}
			h.useKey(path, acme)
			h.useKey(path, slow)
			flaws := h.requestFaults(path)
			for i, first := range flaws {
				for _, second := range append([]requestFault{{name: "none"}}, flaws[i+1:]...) {
					if first.apply == nil || second.name != "none" && second.apply == nil {
						continue
					}
					var r *faultyRequest
					var a *apiAnswer
					for range 10 { // the drained bucket may get a token before the request; retry
						r = validRequest()
						if second.apply != nil {
							second.apply(r)
						}
						first.apply(r)
						if a = r.send(h); first.status != 429 || a.status == 429 {
							break
						}
					}
					name := first.name + " and " + second.name
					if f := decodeAnswer[errorBody](t, a, first.status); f.Error != first.code || f.RequestID != a.header.Get(httperror.HeaderRequestID) {
						t.Errorf("%s: %d %s, want %d %s", name, a.status, a.body, first.status, first.code)
					}
					if (first.status == 405) != (a.header.Get("Allow") == "POST") || (a.header.Get(httperror.HeaderChallenge) != "") != (r.bearer != "" && first.code == "insufficient_scope" || first.status == 401 && !strings.HasPrefix(path, "/api/")) {
						t.Errorf("%s: %v", name, a.header)
					}
				}
			}
		})
	}
}

// useKey sends a successful request with the idempotency key "used".
func (h *testExchange) useKey(path, token string) {
	h.t.Helper()
	supplier := "acme"
	if claims, ok := h.opt.Tokens.OpenUnexpiredToken([]byte(token), h.clock.Now()); ok && claims.Ref == h.supplierRef("sup_slow") {
		supplier = "slow"
	}
	h.advance(time.Second)
	var a *apiAnswer
	switch path {
	case "/v1/ping":
		a = h.ping(token, "used", withMembers(pingBody, "auction_id", `"used"`))
	case "/api/v1/ingest":
		a = h.postJSON(path, withMembers(leadBody, "flo_supplier_id", `"sup_`+supplier+`"`), "X-Api-Key", "canary-key-of-"+supplier, "Idempotency-Key", "used")
	case "/api/v1/ping":
		a = h.checkAvailability(supplier, withMembers(availabilityBody, "flo_supplier_id", `"sup_`+supplier+`"`), "Idempotency-Key", "used")
	default:
		a = h.post(token, "used", h.postBodyForNewBid(token, "used"))
	}
	if a.status > 299 {
		h.t.Fatalf("%d %s", a.status, a.body)
	}
}

// The seller paths accept neither API keys nor client secrets. The supplier paths accept
// no token.
func TestPathsRejectOtherCredentialKinds(t *testing.T) {
	h := newAuctionExchange(t)
	for _, path := range []string{"/v1/ping", "/v1/post"} {
		for _, row := range []struct{ header, value, challenge string }{
			{"X-Api-Key", "canary-key-of-acme", challengeMissingToken},
			{"Authorization", "Bearer canary-key-of-acme", challengeInvalidToken},
			{"Authorization", "Bearer " + acmeSecret, challengeInvalidToken},
		} {
			a := h.postJSON(path, pingBody, row.header, row.value, "Idempotency-Key", "k")
			if a.wantError(t, 401, "unauthorized"); a.header.Get(httperror.HeaderChallenge) != row.challenge {
				t.Errorf("%s with %s: %s %q", path, row.header, httperror.HeaderChallenge, a.header.Get(httperror.HeaderChallenge))
			}
		}
	}
	h.postJSON("/api/v1/ping", availabilityBody, "Authorization", "Bearer "+h.requestToken("acme", "")).wantError(t, 401, "unauthorized")
}

// golang.org/x/oauth2 gets a token and sends pings.
func TestStandardOAuthClientPings(t *testing.T) {
	h := newAuctionExchange(t)
	config := clientcredentials.Config{
		ClientID: "acme", ClientSecret: "canary-secret-of-acme", Scopes: []string{"ping"}, TokenURL: h.address + "/oauth/token",
	}
	client := config.Client(context.Background())
	defer client.CloseIdleConnections()
	for i := range 2 {
		req := must.Value(http.NewRequest(http.MethodPost, h.address+"/v1/ping", strings.NewReader(withMembers(pingBody, "auction_id", fmt.Sprintf(`"a%d"`, i)))))(t)
		req.Header.Set("Content-Type", contentTypeJSON)
		req.Header.Set("Idempotency-Key", fmt.Sprint("k", i))
		response, err := client.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(response.Body)
		response.Body.Close()
		if got := decodeAnswer[pingAnswer](t, &apiAnswer{response.StatusCode, response.Header, string(text)}, 200); err != nil || got.Bid == nil {
			t.Errorf("%s, %v", text, err)
		}
	}
}
