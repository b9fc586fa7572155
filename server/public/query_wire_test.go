package public

import (
	"net/http"
	"strings"
	"testing"

	"pingpost/api"
	"pingpost/server/httperror"
	"pingpost/server/servertest"
)

// TestUnknownParametersOfASeed: the sandbox's own operation rejects a parameter too.
func TestUnknownParametersOfASeed(t *testing.T) {
	ctx := nursery(t).ask("POST", seedPath+"?limit=1", `{"count":100,"vertical":"v","state":"CA"}`, "Authorization", "Bearer "+sandboxKey, "Content-Type", httperror.TypeJSON)
	if body := string(ctx.Response.Body()); !servertest.HasFieldError(ctx.Response.StatusCode(), body, "limit", "unknown_field") {
		t.Errorf("%d %.200s", ctx.Response.StatusCode(), body)
	}
}

// TestUnknownParametersAtThePublicAddress: no operation takes a parameter. It is
// reported with the faults of the body, after the credential, the content type and
// the JSON, and after a replay.
func TestUnknownParametersAtThePublicAddress(t *testing.T) {
	m := trading(t, new(servertest.MemoryLog))
	lead := m.sold("cmp_auto")
	senders := map[string]string{"/api/v1/ingest": "key of acme", "/api/v1/ping": "key of acme", "/api/v1/leads/{id}": "key of acme", "/v1/ping": "acme", "/v1/post": "acme", "/v1/leads/{id}": "acme", "/v1/leads/{id}/status": "blue", "/v1/leads/status": "blue"}
	for operation := range servertest.QueryParameters(t, api.PublicYAML()) {
		method, path, _ := strings.Cut(operation, " ")
		client, secured := senders[path]
		body := "{}"
		switch path {
		case "/v1/dev/seed":
			continue // of a sandbox: see TestUnknownParametersOfASeed
		case "/oauth/token":
			body = `{"grant_type":"client_credentials","client_id":"acme","client_secret":"` + acmeSecret + `"}`
		}
		if method == http.MethodGet {
			body = ""
		}
		at := strings.Replace(path, "{id}", lead, 1) + "?limit=1&limit=2"
		if a := m.send(client, method, at, body, "Idempotency-Key", "of "+strings.ReplaceAll(path, "/", "")); !servertest.HasFieldError(a.status, a.body, "limit", "unknown_field") || strings.Count(a.body, `"limit"`) != 1 {
			t.Errorf("%s: %d %s", operation, a.status, a.body)
		}
		if !secured {
			continue
		}
		if a := m.send("", method, at, body); a.status != 401 {
			t.Errorf("%s for a stranger: %d %s", operation, a.status, a.body)
		}
		if method != http.MethodPost {
			continue
		}
		if a := m.send(client, method, at, "{"); a.status != 400 {
			t.Errorf("%s with torn JSON: %d %s", operation, a.status, a.body)
		}
		if a := m.send(client, method, at, "{}", "Content-Type", "text/plain"); a.status != 415 {
			t.Errorf("%s with text: %d %s", operation, a.status, a.body)
		}
	}
	person := `{"status":"contacted"}`
	first := m.send("blue", http.MethodPost, "/v1/leads/"+lead+"/status", person, "Idempotency-Key", "k1")
	again := m.send("blue", http.MethodPost, "/v1/leads/"+lead+"/status?limit=1", person, "Idempotency-Key", "k1")
	if first.status != 200 || again.status != 200 || again.body != first.body || again.header.Get(httperror.HeaderReplayed) != "true" {
		t.Errorf("a replay: %d %s, %d %s", first.status, first.body, again.status, again.body)
	}
}
