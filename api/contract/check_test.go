package contract

import (
	"bytes"
	"compress/gzip"
	"net/http"
	"strings"
	"testing"

	"pingpost/api"
	"pingpost/internal/must"
)

const requestID = "req_01kc8z3n5w9x4m7q2t6v8y0b1d"

// rateLimitHeaders returns the headers of an answer with a rate limit.
func rateLimitHeaders(more ...string) http.Header {
	return lines(append([]string{"Content-Type", "application/json", "X-Request-Id", requestID, "X-RateLimit-Limit", "100", "X-RateLimit-Remaining", "99", "X-RateLimit-Reset", "1772471047"}, more...)...)
}

func lines(pairs ...string) http.Header {
	h := http.Header{}
	for i := 0; i+1 < len(pairs); i += 2 {
		h.Set(pairs[i], pairs[i+1])
	}
	return h
}

const (
	lead     = `{"flo_campaign_id":"c","flo_supplier_id":"s","first_name":"Ann","last_name":"Lee","phone":"+14155550123","email":"a@example.com","state":"CA","own":{"x":1}}`
	accepted = `{"data":{"id":"lead_1","status":"ACCEPTED","buyer_id":"b","campaign_id":"c","price":{"amount":1.5,"currency":"USD"}}}`
)

func ingest(body string) *Request {
	return &Request{"POST", "/api/v1/ingest", lines("Content-Type", "application/json"), []byte(body)}
}

func failed(status int, code string, more ...string) *Answer {
	h := lines(append([]string{"Content-Type", "application/json", "X-Request-Id", requestID}, more...)...)
	return &Answer{status, h, []byte(`{"error":"` + code + `","message":"m","request_id":"` + requestID + `"}`)}
}

func TestCheck(t *testing.T) {
	for _, row := range []struct {
		what string
		q    *Request
		a    *Answer
		want string // part of the expected finding; empty: none
	}{
		{"a sale", ingest(lead), &Answer{201, rateLimitHeaders(), []byte(accepted)}, ""},
		{"with what is plumbing", ingest(lead), &Answer{201, rateLimitHeaders("Date", "today", "Connection", "close"), []byte(accepted)}, ""},
		{"a replay", ingest(lead), &Answer{201, rateLimitHeaders("Idempotent-Replayed", "true"), []byte(accepted)}, ""},
		{"a member that says nothing", ingest(strings.Replace(lead, `"CA"`, `null,"zip":" "`, 1)), &Answer{201, rateLimitHeaders(), []byte(accepted)}, ""},
		{"a charset", &Request{"POST", "/api/v1/ingest", lines("Content-Type", "application/json; charset=utf-8"), []byte(lead)}, &Answer{201, rateLimitHeaders(), []byte(accepted)}, ""},
		{"a lead of nobody", ingest(lead), &Answer{201, rateLimitHeaders(), []byte(`{"data":{"id":"lead_1","status":"UNMATCHED","buyer_id":null,"campaign_id":"c","reason":"no_buyer"}}`)}, ""},
		{"a status", ingest(lead), &Answer{202, rateLimitHeaders(), []byte(accepted)}, "the status is not documented"},
		{"a missing header", ingest(lead), &Answer{201, lines("Content-Type", "application/json", "X-Request-Id", requestID), []byte(accepted)}, "X-RateLimit-Limit is missing"},
		{"a header of another form", ingest(lead), &Answer{201, rateLimitHeaders("X-RateLimit-Limit", "many"), []byte(accepted)}, "the header X-RateLimit-Limit"},
		{"a header that nobody named", ingest(lead), &Answer{201, rateLimitHeaders("X-More", "1"), []byte(accepted)}, "X-More is not documented"},
		{"another type", ingest(lead), &Answer{201, rateLimitHeaders("Content-Type", "text/html"), []byte(accepted)}, `"text/html" is not documented`},
		{"no JSON", ingest(lead), &Answer{201, rateLimitHeaders(), []byte(`{`)}, "is not JSON"},
		{"a missing member", ingest(lead), &Answer{201, rateLimitHeaders(), []byte(strings.Replace(accepted, `"buyer_id":"b",`, "", 1))}, "buyer_id"},
		{"a member that nobody named", ingest(lead), &Answer{201, rateLimitHeaders(), []byte(strings.Replace(accepted, `"id"`, `"more":1,"id"`, 1))}, "more"},
		{"a member of another type", ingest(lead), &Answer{201, rateLimitHeaders(), []byte(strings.Replace(accepted, `1.5`, `"1.5"`, 1))}, "amount"},
		{"a value of none of those", ingest(lead), &Answer{201, rateLimitHeaders(), []byte(strings.Replace(accepted, `ACCEPTED`, `accepted`, 1))}, "status"},
		{"a request without a member", ingest(strings.Replace(lead, `"first_name":"Ann",`, "", 1)), &Answer{201, rateLimitHeaders(), []byte(accepted)}, "first_name"},
		{"a request with another type", ingest(strings.Replace(lead, `"CA"`, `"Ca"`, 1)), &Answer{201, rateLimitHeaders(), []byte(accepted)}, "state"},
		{"a request of another kind", &Request{"POST", "/api/v1/ingest", lines("Content-Type", "text/plain"), []byte(lead)}, &Answer{201, rateLimitHeaders(), []byte(accepted)}, "text/plain"},
		{"a bad key that was taken", &Request{"POST", "/api/v1/ingest", lines("Content-Type", "application/json", "Idempotency-Key", "a b"), []byte(lead)}, &Answer{201, rateLimitHeaders(), []byte(accepted)}, "Idempotency-Key"},
		{"a key in quotes", &Request{"POST", "/api/v1/ingest", lines("Content-Type", "application/json", "Idempotency-Key", `"`+strings.Repeat("k", 255)+`"`), []byte(lead)}, &Answer{201, rateLimitHeaders(), []byte(accepted)}, ""},
		{"a key that is a quote", &Request{"POST", "/api/v1/ingest", lines("Content-Type", "application/json", "Idempotency-Key", `"`), []byte(lead)}, &Answer{201, rateLimitHeaders(), []byte(accepted)}, ""},
		{"a head of nothing", &Request{Method: "HEAD", Path: "/v1/ping"}, &Answer{405, rateLimitHeaders(), nil}, ""},
		{"a head of nothing that is something", &Request{Method: "HEAD", Path: "/v1/ping"}, &Answer{200, rateLimitHeaders(), nil}, "no such operation"},
		{"no key that was taken", &Request{"POST", "/v1/leads/lead_1/status", lines("Content-Type", "application/json"), []byte(`{"status":"sold"}`)}, &Answer{200, rateLimitHeaders(), []byte(`{"lead_id":"lead_1","status":"sold"}`)}, "Idempotency-Key is missing"},
		{"what was refused may be anything", ingest(`[]`), failed(400, "malformed_json"), ""},
		{"an error", ingest(lead), failed(403, "forbidden"), ""},
		{"an error of another status", ingest(lead), failed(403, "unauthorized"), `no error 403 "unauthorized"`},
		{"an error that this response has no example of", ingest(lead), failed(422, "post_rejected"), `no example of this response has the error "post_rejected"`},
		{"an error that nobody knows", ingest(lead), failed(422, "wrong"), `no error 422 "wrong"`},
		{"another request's id", ingest(lead), failed(403, "forbidden", "X-Request-Id", "req_2"), "request_id"},
		{"a field's code that nobody knows", ingest(lead), &Answer{422, lines("Content-Type", "application/json", "X-Request-Id", requestID), []byte(`{"error":"invalid_payload","message":"m","request_id":"` + requestID + `","field_errors":[{"field":"a","code":"odd","expected":"b"}]}`)}, "code"},
		{"no such path", &Request{Method: "GET", Path: "/v2"}, failed(404, "not_found"), ""},
		{"no such path, and an answer", &Request{Method: "GET", Path: "/v2"}, &Answer{200, rateLimitHeaders(), []byte(accepted)}, "no such operation"},
		{"no such path, too slowly", &Request{Method: "GET", Path: "/v2"}, failed(408, "request_timeout"), ""},
		{"no such method", &Request{Method: "PUT", Path: "/v1/ping"}, failed(405, "method_not_allowed", "Allow", "POST"), ""},
		{"no such method, and others allowed", &Request{Method: "PUT", Path: "/v1/ping"}, failed(405, "method_not_allowed", "Allow", "GET"), "Allow"},
		{"no such method, and no such path", &Request{Method: "PUT", Path: "/v1/ping"}, failed(404, "not_found"), "no such operation"},
		{"of many leads, not of one", &Request{"POST", "/v1/leads/status", lines("Content-Type", "application/json", "Idempotency-Key", "k"), []byte(`{"changes":[{"lead_id":"x","status":"sold"}]}`)}, &Answer{200, rateLimitHeaders(), []byte(`{"results":[{"lead_id":"x","error":"not_found","message":"m"}]}`)}, ""},
		{"a bad one among many", &Request{"POST", "/v1/leads/status", lines("Content-Type", "application/json", "Idempotency-Key", "k"), []byte(`{"changes":[7,{"lead_id":"x","status":"sold"}]}`)}, &Answer{200, rateLimitHeaders(), []byte(`{"results":[{"lead_id":null,"error":"invalid_payload","message":"m"},{"lead_id":"x","status":"sold"}]}`)}, ""},
		{"a bad one among many that was taken", &Request{"POST", "/v1/leads/status", lines("Content-Type", "application/json", "Idempotency-Key", "k"), []byte(`{"changes":[7,{"lead_id":"x","status":"sold"}]}`)}, &Answer{200, rateLimitHeaders(), []byte(`{"results":[{"lead_id":"x","status":"sold"},{"lead_id":"x","status":"sold"}]}`)}, "/changes/0"},
		{"no sandbox, and another method", &Request{Method: "GET", Path: "/v1/dev/seed"}, failed(404, "not_found"), ""},
		{"a packed body", &Request{Method: "GET", Path: "/openapi.json", Header: http.Header{}}, &Answer{200, rateLimitHeaders("Content-Encoding", "gzip", "X-Request-Id", requestID, "ETag", `"x"`, "Cache-Control", "public", "X-Content-Type-Options", "nosniff", "Access-Control-Allow-Origin", "*"), packed(t, `{"openapi":"3.1.0","info":{},"paths":{}}`)}, ""},
		{"not modified", &Request{Method: "GET", Path: "/openapi.yaml", Header: http.Header{}}, &Answer{304, lines("X-Request-Id", requestID, "ETag", `"x"`, "Cache-Control", "public"), nil}, ""},
		{"redirect of a slash", &Request{Method: "GET", Path: "/docs/", Header: http.Header{}}, &Answer{308, lines("X-Request-Id", requestID, "Location", "../docs", "Cache-Control", "public"), nil}, ""},
		{"redirect elsewhere", &Request{Method: "GET", Path: "/docs/", Header: http.Header{}}, &Answer{308, lines("X-Request-Id", requestID, "Location", "/docs", "Cache-Control", "public"), nil}, "Location"},
		{"redirect of another path", &Request{Method: "GET", Path: "/docs/api/", Header: http.Header{}}, &Answer{308, lines("X-Request-Id", requestID, "Location", "../docs", "Cache-Control", "public"), nil}, "308"},
		{"not modified, and a body", &Request{Method: "GET", Path: "/openapi.yaml", Header: http.Header{}}, &Answer{304, lines("X-Request-Id", requestID, "ETag", `"x"`, "Cache-Control", "public"), []byte("x")}, "the answer has a body"},
		{"a form", &Request{"POST", "/oauth/token", lines("Content-Type", "application/x-www-form-urlencoded"), []byte("grant_type=client_credentials&scope=ping")}, &Answer{200, lines("Content-Type", "application/json", "X-Request-Id", requestID, "Cache-Control", "no-store", "Pragma", "no-cache"), []byte(`{"access_token":"t","token_type":"Bearer","expires_in":1,"scope":"ping"}`)}, ""},
		{"a form that asks for nothing", &Request{"POST", "/oauth/token", lines("Content-Type", "application/x-www-form-urlencoded"), []byte("scope=ping")}, &Answer{200, lines("Content-Type", "application/json", "X-Request-Id", requestID, "Cache-Control", "no-store", "Pragma", "no-cache"), []byte(`{"access_token":"t","token_type":"Bearer","expires_in":1,"scope":"ping"}`)}, "grant_type"},
	} {
		verdict(t, row.what, Public().CheckTraffic(row.q, row.a), row.want)
	}
}

func packed(t *testing.T, text string) []byte {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	must.Value(w.Write([]byte(text)))(t)
	must.Succeed(t, w.Close())
	return b.Bytes()
}

func verdict(t *testing.T, what string, err error, want string) {
	t.Helper()
	switch {
	case want == "" && err != nil:
		t.Errorf("%s: %v", what, err)
	case want != "" && (err == nil || !strings.Contains(err.Error(), want)):
		t.Errorf("%s: found %v, want %q", what, err, want)
	}
}

func TestCheckSent(t *testing.T) {
	const body = `{"id":"evt_1","type":"lead.posted","created_at":"2026-03-02T17:04:05.500Z","data":{"lead_id":"lead_1","lead_uuid":null,"auction_id":null,"campaign_id":"c","supplier_id":"s","buyer_id":"b","status":"ACCEPTED","price":{"amount":1,"currency":"USD"},"reason":null}}`
	signed := []string{"webhook-id", "evt_1", "webhook-timestamp", "1", "webhook-signature", "v1,YQ==", "X-Pingpost-Signature", "t=1,v1=" + strings.Repeat("a", 64)}
	for _, row := range []struct {
		what, webhook, body string
		headers             []string
		want                string
	}{
		{"an event", "lead.posted", body, signed, ""},
		{"two keys", "lead.posted", body, append(signed[:6:6], "X-Pingpost-Signature", "t=1,v1="+strings.Repeat("a", 64)+",v1="+strings.Repeat("b", 64)), ""},
		{"an unsigned one", "lead.posted", body, signed[:6], "X-Pingpost-Signature is missing"},
		{"a person in it", "lead.posted", strings.Replace(body, `"lead_id"`, `"phone":"1","lead_id"`, 1), signed, "phone"},
		{"another kind of event", "lead.posted", strings.Replace(body, "lead.posted", "lead.lost", 1), signed, "type"},
		{"an event that there is not", "lead.lost", body, signed, "no such webhook"},
		{"a ping", "buyer.ping", `{"auction_id":"a","vertical":"v","state":"CA","tcpa_consent":false,"own":1}`, []string{"Idempotency-Key", "k", "X-Pingpost-Hops", "1"}, ""},
		{"a ping of nobody's", "buyer.ping", `{"auction_id":"a"}`, []string{"Idempotency-Key", "k"}, "vertical"},
	} {
		verdict(t, row.what, Public().CheckWebhookRequest(row.webhook, &Request{Header: lines(row.headers...), Body: []byte(row.body)}), row.want)
	}
}

// A changed document must make valid traffic fail.
func TestBrokenDocument(t *testing.T) {
	for _, row := range []struct{ what, old, instead, want string }{
		{"a member less", `"data":{"$ref":"#/components/schemas/IngestResult"}`, `"date":{"$ref":"#/components/schemas/IngestResult"}`, "data"},
		{"another type", `"description":"The lead's campaign.","type":"string"`, `"description":"","type":"integer"`, "campaign_id"},
		{"a status less", `"ACCEPTED","UNMATCHED"`, `"UNMATCHED"`, "status"},
		{"a path less", `"/api/v1/ingest":`, `"/api/v2/ingest":`, "no such operation"},
		{"a header less", `"X-RateLimit-Reset":`, `"X-RateLimit-Again":`, "X-Ratelimit-Reset is not documented"},
	} {
		text := strings.ReplaceAll(sorted(t), row.old, row.instead)
		if text == sorted(t) {
			t.Errorf("%s: the document does not say %s", row.what, row.old)
			continue
		}
		broken := must.Value(New([]byte(text)))(t)
		verdict(t, row.what, broken.CheckTraffic(ingest(lead), &Answer{201, rateLimitHeaders(), []byte(accepted)}), row.want)
	}
	if _, err := New(api.PublicYAML()); err == nil {
		t.Error("YAML was taken for JSON")
	}
}
