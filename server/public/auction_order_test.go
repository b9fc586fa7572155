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

// flawed is a request in parts, of a house that knows its callers' tokens.
type flawed struct {
	method, path, body, bearer string
	lines                      map[string]string
}

// flaw is one thing that is wrong with a request.
type flaw struct {
	name   string
	status int
	code   string
	spoil  func(r *flawed)
}

// flawsOf are all errors of one of the four paths that do not depend on an
// auction, in the order of the contract.
func (h *house) flawsOf(path string) []flaw {
	flaws := []flaw{
		{"elsewhere", 404, "not_found", func(r *flawed) { r.path += "/" }},
		{"by GET", 405, "method_not_allowed", func(r *flawed) { r.method = "GET" }},
		{"no credential", 401, "unauthorized", func(r *flawed) { r.bearer = ""; delete(r.lines, "X-Api-Key") }},
		{"without the scope", 403, "insufficient_scope", nil},
		{"a buyer", 403, "forbidden", nil},
		{"too often", 429, "rate_limited", func(r *flawed) { h.drain(); r.limit() }},
		{"too large", 413, "payload_too_large", func(r *flawed) { r.body += strings.Repeat(" ", 1<<16) }},
		{"as text", 415, "unsupported_media_type", func(r *flawed) { r.lines["Content-Type"] = "text/plain" }},
		{"two bodies", 400, "malformed_json", func(r *flawed) { r.body += "{}" }},
		{"another body under a used key", 422, "idempotency_key_reused", func(r *flawed) { r.lines["Idempotency-Key"] = "used"; r.body += " " }},
		{"a fault in the payload", 422, "invalid_payload", func(r *flawed) {
			r.body = strings.Replace(r.body, `"state":"CA"`, `"state":"XX"`, 1)
			r.body = strings.Replace(r.body, `"last_name":"Lee",`, "", 1)
		}},
		{"of another supplier", 403, "forbidden", nil},
	}
	none, buyer := map[string]string{"/v1/ping": "post", "/v1/post": "ping"}[path], h.token("blue", "ping post")
	if strings.HasPrefix(path, "/api/") {
		flaws[11].spoil = func(r *flawed) { r.body = strings.Replace(r.body, `"sup_acme"`, `"sup_other"`, 1) }
	} else {
		lacking := h.token("acme", none)
		flaws[3].spoil = func(r *flawed) { r.wear(lacking) }
		flaws[4].spoil = func(r *flawed) { r.wear(buyer) }
	}
	return flaws
}

// wear takes a token, where the request has one.
func (r *flawed) wear(token string) {
	if r.bearer != "" {
		r.bearer = token
	}
}

// limit takes the credential of the supplier whose buckets are empty, where the
// request has a good one.
func (r *flawed) limit() {
	if r.lines["X-Api-Key"] != "" {
		r.lines["X-Api-Key"] = "canary-key-of-slow"
	}
	if r.bearer == r.lines["token of acme"] {
		r.wear(r.lines["token of slow"])
	}
}

func (h *house) drain() {
	ref := h.ref("sup_slow")
	for _, l := range []*tokenBucketsByOwner{&h.ingestLimits, &h.pingLimits, &h.postLimits} {
		(*l.buckets.Load())[ref].takeTokens(1, time.Unix(0, h.clock.Now()))
	}
}

func (r *flawed) send(h *house) *heard {
	h.t.Helper()
	var lines []string
	for name, value := range r.lines {
		if !strings.HasPrefix(name, "token of") {
			lines = append(lines, name, value)
		}
	}
	if r.bearer != "" {
		lines = append(lines, "Authorization", "Bearer "+r.bearer)
	}
	return h.request(r.method, h.address+r.path, r.body, lines...)
}

// TestOneCheckAfterTheOther checks that of two errors, the answer reports the one that is
// first in the contract's order.
func TestOneCheckAfterTheOther(t *testing.T) {
	for path, body := range map[string]string{
		"/v1/ping": aPing, "/api/v1/ping": aQuestion, "/api/v1/ingest": aLead,
		"/v1/post": `{"auction_id":"a9","bid_token":"bid_x","lead":` + aPerson + `}`,
	} {
		t.Run(strings.Trim(path, "/"), func(t *testing.T) {
			h := holding(t)
			h.t = t
			acme, slow := h.token("acme", ""), h.token("slow", "")
			sound := func() *flawed {
				r := &flawed{"POST", path, body, acme, map[string]string{"Content-Type": asJSON, "token of acme": acme, "token of slow": slow}}
				if strings.HasPrefix(path, "/api/") {
					r.bearer, r.lines["X-Api-Key"] = "", "canary-key-of-acme"
				} else {
					r.lines["Idempotency-Key"] = "k"
				}
				return r
			}
			h.useKey(path, acme)
			h.useKey(path, slow)
			flaws := h.flawsOf(path)
			for i, first := range flaws {
				for _, second := range append([]flaw{{name: "nothing"}}, flaws[i+1:]...) {
					if first.spoil == nil || second.name != "nothing" && second.spoil == nil {
						continue
					}
					var r *flawed
					var a *heard
					for range 10 { // a token may come between the draining and the asking, but not each time
						r = sound()
						if second.spoil != nil {
							second.spoil(r)
						}
						first.spoil(r)
						if a = r.send(h); first.status != 429 || a.status == 429 {
							break
						}
					}
					name := first.name + " and " + second.name
					if f := read[failed](t, a, first.status); f.Error != first.code || f.RequestID != a.header.Get(httperror.HeaderRequestID) {
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

// useKey makes the key "used" one that has an answer.
func (h *house) useKey(path, token string) {
	h.t.Helper()
	supplier := "acme"
	if claims, ok := h.opt.Tokens.VerifyToken([]byte(token), h.clock.Now()); ok && claims.Ref == h.ref("sup_slow") {
		supplier = "slow"
	}
	h.wait(time.Second)
	var a *heard
	switch path {
	case "/v1/ping":
		a = h.ping(token, "used", with(aPing, "auction_id", `"used"`))
	case "/api/v1/ingest":
		a = h.call(path, with(aLead, "flo_supplier_id", `"sup_`+supplier+`"`), "X-Api-Key", "canary-key-of-"+supplier, "Idempotency-Key", "used")
	case "/api/v1/ping":
		a = h.ask(supplier, with(aQuestion, "flo_supplier_id", `"sup_`+supplier+`"`), "Idempotency-Key", "used")
	default:
		a = h.post(token, "used", h.won(token, "used"))
	}
	if a.status > 299 {
		h.t.Fatalf("%d %s", a.status, a.body)
	}
}

// TestCredentialsOfPaths: the paths of sellers accept neither an API key nor a client's secret,
// and the path of suppliers accepts no token.
func TestCredentialsOfPaths(t *testing.T) {
	h := holding(t)
	for _, path := range []string{"/v1/ping", "/v1/post"} {
		for _, row := range []struct{ header, value, challenge string }{
			{"X-Api-Key", "canary-key-of-acme", wantToken},
			{"Authorization", "Bearer canary-key-of-acme", wantOther},
			{"Authorization", "Bearer " + acmeSecret, wantOther},
		} {
			a := h.call(path, aPing, row.header, row.value, "Idempotency-Key", "k")
			if a.mustFail(t, 401, "unauthorized"); a.header.Get(httperror.HeaderChallenge) != row.challenge {
				t.Errorf("%s with %s: %s %q", path, row.header, httperror.HeaderChallenge, a.header.Get(httperror.HeaderChallenge))
			}
		}
	}
	h.call("/api/v1/ping", aQuestion, "Authorization", "Bearer "+h.token("acme", "")).mustFail(t, 401, "unauthorized")
}

// TestStockClient: golang.org/x/oauth2 gets a token and pings.
func TestStockClient(t *testing.T) {
	h := holding(t)
	config := clientcredentials.Config{
		ClientID: "acme", ClientSecret: "canary-secret-of-acme", Scopes: []string{"ping"}, TokenURL: h.address + "/oauth/token",
	}
	client := config.Client(context.Background())
	defer client.CloseIdleConnections()
	for i := range 2 {
		req := must.Value(http.NewRequest(http.MethodPost, h.address+"/v1/ping", strings.NewReader(with(aPing, "auction_id", fmt.Sprintf(`"a%d"`, i)))))(t)
		req.Header.Set("Content-Type", asJSON)
		req.Header.Set("Idempotency-Key", fmt.Sprint("k", i))
		response, err := client.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(response.Body)
		response.Body.Close()
		if said := read[pinged](t, &heard{response.StatusCode, response.Header, string(text)}, 200); err != nil || said.Bid == nil {
			t.Errorf("%s, %v", text, err)
		}
	}
}
