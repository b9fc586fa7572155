package public

import (
	"net/http"
	"strings"
	"testing"

	"pingpost/api"
	"pingpost/server/httperror"
	"pingpost/server/servertest"
)

// The sandbox's seed operation rejects unknown parameters.
func TestSeedRejectsUnknownParameters(t *testing.T) {
	ctx := newSeedSandbox(t).send("POST", seedPath+"?limit=1", `{"count":100,"vertical":"v","state":"CA"}`, "Authorization", "Bearer "+sandboxKey, "Content-Type", httperror.TypeJSON)
	if body := string(ctx.Response.Body()); !servertest.HasFieldError(ctx.Response.StatusCode(), body, "limit", "unknown_field") {
		t.Errorf("%d %.200s", ctx.Response.StatusCode(), body)
	}
}

// No operation has a query parameter. An unknown one is reported with the errors of the
// body, after those of the credential, content type and JSON. A replay ignores it.
func TestPublicAPIRejectsUnknownParameters(t *testing.T) {
	m := newAfterSaleExchange(t, new(servertest.MemoryLog))
	lead := m.sellLead("cmp_auto")
	senders := map[string]string{"/api/v1/ingest": "key of acme", "/api/v1/ping": "key of acme", "/api/v1/leads/{id}": "key of acme", "/v1/ping": "acme", "/v1/post": "acme", "/v1/leads/{id}": "acme", "/v1/leads/{id}/status": "blue", "/v1/leads/status": "blue"}
	for operation := range servertest.QueryParameters(t, api.PublicYAML()) {
		method, path, _ := strings.Cut(operation, " ")
		client, secured := senders[path]
		body := "{}"
		switch path {
		case "/v1/dev/seed":
			continue // sandbox only: see TestSeedRejectsUnknownParameters
		case "/oauth/token":
			body = `{"grant_type":"client_credentials","client_id":"acme","client_secret":"` + acmeSecret + `"}`
		}
		if method == http.MethodGet {
			body = ""
		}
		at := strings.NewReplacer("{id}", lead, "{page}", "concepts").Replace(path) + "?limit=1&limit=2"
		if a := m.send(client, method, at, body, "Idempotency-Key", "of "+strings.ReplaceAll(path, "/", "")); !servertest.HasFieldError(a.status, a.body, "limit", "unknown_field") || strings.Count(a.body, `"limit"`) != 1 {
			t.Errorf("%s: %d %s", operation, a.status, a.body)
		}
		if !secured {
			continue
		}
		if a := m.send("", method, at, body); a.status != 401 {
			t.Errorf("%s without a credential: got %d %s, want 401", operation, a.status, a.body)
		}
		if method != http.MethodPost {
			continue
		}
		for _, row := range []struct {
			fault, body string
			headers     []string
			status      int
		}{
			{"malformed JSON", "{", nil, 400},
			{"text/plain", "{}", []string{"Content-Type", "text/plain"}, 415},
			{"a compressed body", "{}", []string{"Content-Encoding", "gzip"}, 415},
		} {
			if a := m.send(client, method, at, row.body, row.headers...); a.status != row.status {
				t.Errorf("%s with %s: got %d %s, want %d", operation, row.fault, a.status, a.body, row.status)
			}
		}
	}
	change := `{"status":"contacted"}`
	first := m.send("blue", http.MethodPost, "/v1/leads/"+lead+"/status", change, "Idempotency-Key", "k1")
	again := m.send("blue", http.MethodPost, "/v1/leads/"+lead+"/status?limit=1", change, "Idempotency-Key", "k1")
	if first.status != 200 || again.status != 200 || again.body != first.body || again.header.Get(httperror.HeaderReplayed) != "true" {
		t.Errorf("replay: got %d %s, then %d %s", first.status, first.body, again.status, again.body)
	}
}
