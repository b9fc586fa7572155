package exchange

import (
	"strings"
	"testing"
)

// drain sends until a key's bucket has not one token.
func (r *running) drain(key string) {
	r.t.Helper()
	for {
		a := request(r.t, "POST", "http://"+r.PublicAddress()+"/api/v1/ingest", "{", "X-Api-Key", key, "Content-Type", typeIsOwn)
		if a.status == 429 {
			return
		}
	}
}

func TestReplayComesBeforeTheMapping(t *testing.T) {
	x := start(t, newPlace(t, recorded))
	key := []string{"Idempotency-Key", "k1"}
	body := lead(1)
	first := x.sold(body, key...)
	// The campaign has gone: a first use of the key is refused, the replay is not.
	x.reloadWith(strings.Replace(recorded, "id: cmp\n", "id: cmp_new\n", 1))
	x.ingest(body).mustFail(t, 422, "invalid_payload")
	if again := x.ingest(body, key...); again.body != first.body || again.status != 201 {
		t.Errorf("replayed as %d %s, want %s", again.status, again.body, first.body)
	}
	// But after what is wrong with the request itself.
	for _, row := range []struct {
		name, body, kind string
		status           int
		code             string
	}{
		{"as text", body, "text/plain", 415, "unsupported_media_type"},
		{"malformed", body + "x", typeIsOwn, 400, "malformed_json"},
		{"another body", lead(2), typeIsOwn, 422, "idempotency_key_reused"},
		{"another body, invalid too", lead(2, "phone", ""), typeIsOwn, 422, "idempotency_key_reused"},
	} {
		t.Run(row.name, func(t *testing.T) {
			request(t, "POST", "http://"+x.PublicAddress()+"/api/v1/ingest", row.body,
				"X-Api-Key", acmeKey, "Content-Type", row.kind, "Idempotency-Key", "k1").mustFail(t, row.status, row.code)
		})
	}
}

func TestMethods(t *testing.T) {
	x := start(t, newPlace(t, recorded))
	for _, method := range []string{"GET", "HEAD", "OPTIONS", "PUT", "PATCH", "DELETE", "TRACE", "CONNECT", "POSTS", "post"} {
		t.Run(method, func(t *testing.T) {
			w := dial(t, x.PublicAddress())
			w.say(strings.Replace(post(lead(1)), "POST", method, 1))
			a := w.next(method)
			if a.status != 405 || a.header.Get("Allow") != "POST" || !requestID.MatchString(a.id()) {
				t.Errorf("%d, Allow %q, X-Request-Id %q", a.status, a.header.Get("Allow"), a.id())
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

func TestPaths(t *testing.T) {
	x := start(t, newPlace(t, recorded))
	for _, path := range []string{"/", "/api/v1/ingest/", "/api/v1/ingestx", "/api/v1", "/v1", "/v1/post/", "/v1/pings", "/api/v1/post", "/oauth/token/", "/oauth", "/admin/v1/config", "/metrics", "/API/V1/INGEST", "/%00", "*"} {
		w := dial(t, x.PublicAddress())
		w.say(strings.Replace(post(lead(1)), "/api/v1/ingest", path, 1))
		w.next("POST").mustFail(t, 404, "not_found")
	}
}
