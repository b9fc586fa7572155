package public

import (
	"crypto/sha256"
	"fmt"
	"io"
	"strings"
	"testing"

	"pingpost/engine"
	"pingpost/engine/event"
	"pingpost/internal/must"
	"pingpost/server/servertest"
)

// The server answers 100 only if path, method, credential and length are valid. Otherwise
// it sends the error and closes the connection.
func TestExpectContinueChecksHeadFirst(t *testing.T) {
	d := newTestServer(t, sandbox)
	err := d.engine.Load().AsOperator("").AddCredential(&engine.Credential{
		Kind: event.CredentialAPIKey, Owner: event.ObjectSupplier, ID: "sup_acme", Hash: sha256.Sum256([]byte("the-key")), Hint: "the",
	})
	if err != nil {
		t.Fatal(err)
	}
	add := func(owner event.ConfigObjectKind, id, secret string, scopes event.OAuthScopes) {
		d.addCredential(engine.Credential{Kind: event.CredentialBearer, Owner: owner, ID: id, Scopes: scopes}, secret)
	}
	add(event.ObjectSupplier, "sup_acme", "pings", event.ScopePing)
	add(event.ObjectSupplier, "sup_acme", "posts", event.ScopePost)
	add(event.ObjectBuyer, "buy_blue", "buys", event.ScopePing|event.ScopePost)
	add(event.ObjectBuyer, "buy_blue", "reports", event.ScopeWebhook)
	address := servertest.StartServer(t, d.Serve, d.Shutdown)
	const limit = 64 << 10
	for _, row := range []struct {
		line, credential string
		length           int
		status           int
		code             string
	}{
		{"POST /api/v1/ingest", "x-api-key: the-key", 2, 100, ""},
		{"POST /api/v1/ingest", "x-api-key: the-key", limit, 100, ""},
		{"POST /api/v1/ingest", "x-api-key: the-key", limit + 1, 413, "payload_too_large"},
		{"POST /api/v1/ingest", "x-api-key: another", 2, 401, "unauthorized"},
		{"POST /api/v1/ingest", "x-api-key: another", limit + 1, 401, "unauthorized"},
		{"POST /api/v1/ingest", "A: b", 2, 401, "unauthorized"},
		{"POST /api/v1/ingest", "x-api-key: the-key\r\nx-api-key: the-key", 2, 400, "malformed_request"},
		{"PUT /api/v1/ingest", "x-api-key: the-key", 2, 405, "method_not_allowed"},
		{"POST /api/v2/ingest", "x-api-key: the-key", 2, 404, "not_found"},
		{"POST /api/v1/ping", "x-api-key: the-key", 2, 100, ""},
		{"POST /api/v1/ping", "Authorization: Bearer pings", 2, 401, "unauthorized"},
		{"POST /v1/ping", "Authorization: Bearer pings", 2, 100, ""},
		{"POST /v1/ping", "Authorization: Bearer posts", 2, 403, "insufficient_scope"},
		{"POST /v1/ping", "Authorization: Bearer nobody", 2, 401, "unauthorized"},
		{"POST /v1/ping", "Authorization: Bearer buys", 2, 403, "forbidden"},
		{"POST /v1/post", "Authorization: Bearer posts", 2, 100, ""},
		{"POST /v1/post", "Authorization: Bearer pings", 2, 403, "insufficient_scope"},
		{"POST /v1/post", "A: b", 2, 401, "unauthorized"},
		{"POST /v1/dev/seed", "Authorization: Bearer posts", 2, 100, ""},
		{"POST /v1/dev/seed", "Authorization: Bearer buys", 2, 403, "forbidden"},
		{"POST /v1/leads/" + unusedLeadID + "/status", "Authorization: Bearer reports", 2, 100, ""},
		{"POST /v1/leads/" + unusedLeadID + "/status", "Authorization: Bearer reports", limit + 1, 413, "payload_too_large"},
		{"POST /v1/leads/" + unusedLeadID + "/status", "Authorization: Bearer buys", 2, 403, "insufficient_scope"},
		{"POST /v1/leads/status", "Authorization: Bearer reports", 8 * limit, 100, ""},
		{"POST /v1/leads/status", "Authorization: Bearer reports", 8*limit + 1, 413, "payload_too_large"},
		{"POST /v1/leads/status", "Authorization: Bearer pings", 8 * limit, 403, "forbidden"},
		{"POST /v1/leads/status", "A: b", 8*limit + 1, 401, "unauthorized"},
		{"GET /v1/leads/" + unusedLeadID, "Authorization: Bearer buys", 2, 100, ""},
		{"GET /v1/leads/" + unusedLeadID, "Authorization: Bearer nobody", 2, 401, "unauthorized"},
		{"GET /v1/leads/" + unusedLeadID, "A: b", 2, 401, "unauthorized"},
		{"GET /api/v1/leads/" + unusedLeadID, "x-api-key: the-key", 2, 100, ""},
		{"GET /api/v1/leads/" + unusedLeadID, "x-api-key: another", 2, 401, "unauthorized"},
		{"GET /api/v1/leads/" + unusedLeadID, "A: b", 0, 401, "unauthorized"},
		{"POST /oauth/token", "A: b", 2, 100, ""},
		{"POST /oauth/token", "A: b", limit + 1, 413, "payload_too_large"},
	} {
		t.Run(fmt.Sprint(row.line, " ", row.credential, " ", row.length), func(t *testing.T) {
			k := servertest.Dial(t, address)
			status, header, body := k.Send(fmt.Sprintf("%s HTTP/1.1\r\nHost: x\r\n%s\r\nExpect: 100-continue\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n", row.line, row.credential, row.length))
			if status != row.status {
				t.Fatalf("%d %s, want %d", status, body, row.status)
			}
			if status == 100 {
				must.Value(io.WriteString(k, "{}"+strings.Repeat(" ", row.length-2)))(t)
				if status, _, body := k.ReadAnswer(); status < 200 || strings.Contains(body, "payload_too_large") {
					t.Errorf("after 100: got %d %s", status, body)
				}
				return
			}
			id := header.Get("X-Request-Id")
			if !strings.Contains(body, `{"error":"`+row.code+`"`) || id == "" || !strings.Contains(body, id) || header.Get("Connection") != "close" || !k.IsClosedOnNextRequest() {
				t.Errorf("%v %s", header, body)
			}
			if hasChallenge := header.Get("WWW-Authenticate") != ""; hasChallenge != (strings.Contains(row.line, " /v1") && (status == 401 || row.code == "insufficient_scope")) {
				t.Errorf("challenge %q", header.Get("WWW-Authenticate"))
			}
			if allow := header.Get("Allow"); (allow == "POST") != (status == 405) {
				t.Errorf("Allow %q", allow)
			}
		})
	}
}
