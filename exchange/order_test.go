package exchange

import (
	"strings"
	"testing"
)

// exhaustRateLimit sends requests until a key gets a 429. It sends many at once, so that also a busy
// machine is faster than the limit.
func (r *testExchange) exhaustRateLimit(key string) {
	r.t.Helper()
	const atOnce = 20
	w := dial(r.t, r.PublicAddress())
	defer w.Close()
	for {
		w.send(strings.Repeat(strings.Replace(ingestRequest("{"), acmeKey, key, 1), atOnce))
		for range atOnce {
			if w.readAnswer("POST").status == 429 {
				return
			}
		}
	}
}

func TestReplayPrecedesFieldMapping(t *testing.T) {
	t.Parallel()
	x := start(t, newTestDir(t, baseConfig))
	key := []string{"Idempotency-Key", "k1"}
	body := leadBody(1)
	first := x.mustSell(body, key...)
	// Without the campaign, a new request fails and the replay does not.
	x.reloadWith(strings.Replace(baseConfig, "id: cmp\n", "id: cmp_new\n", 1))
	x.ingest(body).mustFail(t, 422, "invalid_payload")
	if again := x.ingest(body, key...); again.body != first.body || again.status != 201 {
		t.Errorf("replayed answer %d %s, want %s", again.status, again.body, first.body)
	}
	// The request itself is checked first.
	for _, row := range []struct {
		name, body, kind string
		status           int
		code             string
	}{
		{"wrong content type", body, "text/plain", 415, "unsupported_media_type"},
		{"malformed", body + "x", jsonType, 400, "malformed_json"},
		{"another body", leadBody(2), jsonType, 422, "idempotency_key_reused"},
		{"another invalid body", leadBody(2, "phone", ""), jsonType, 422, "idempotency_key_reused"},
	} {
		t.Run(row.name, func(t *testing.T) {
			request(t, "POST", "http://"+x.PublicAddress()+"/api/v1/ingest", row.body,
				"X-Api-Key", acmeKey, "Content-Type", row.kind, "Idempotency-Key", "k1").mustFail(t, row.status, row.code)
		})
	}
}

func TestIngestAllowsOnlyPOST(t *testing.T) {
	t.Parallel()
	x := start(t, newTestDir(t, baseConfig))
	for _, method := range []string{"GET", "HEAD", "OPTIONS", "PUT", "PATCH", "DELETE", "TRACE", "CONNECT", "POSTS", "post"} {
		t.Run(method, func(t *testing.T) {
			w := dial(t, x.PublicAddress())
			w.send(strings.Replace(ingestRequest(leadBody(1)), "POST", method, 1))
			a := w.readAnswer(method)
			if a.status != 405 || a.header.Get("Allow") != "POST" || !requestIDPattern.MatchString(a.requestID()) {
				t.Errorf("got %d, Allow %q, X-Request-Id %q", a.status, a.header.Get("Allow"), a.requestID())
			}
			if method == "HEAD" {
				if a.body != "" {
					t.Errorf("a body on HEAD: %q", a.body)
				}
			} else {
				a.mustFail(t, 405, "method_not_allowed")
			}
		})
	}
}

func TestUnknownPathsAreNotFound(t *testing.T) {
	t.Parallel()
	x := start(t, newTestDir(t, baseConfig))
	for _, path := range []string{"/x", "/api/v1/ingest/", "/api/v1/ingestx", "/api/v1", "/v1", "/v1/post/", "/v1/pings", "/api/v1/post", "/oauth/token/", "/oauth", "/admin/v1/config", "/metrics", "/API/V1/INGEST", "/%00", "*"} {
		w := dial(t, x.PublicAddress())
		w.send(strings.Replace(ingestRequest(leadBody(1)), "/api/v1/ingest", path, 1))
		w.readAnswer("POST").mustFail(t, 404, "not_found")
	}
}
