package exchange

import (
	"fmt"
	"strings"
	"testing"
)

// flaw is one thing that is wrong with a request.
type flaw struct {
	name   string
	status int
	code   string
	spoil  func(r *raw)
}

// raw is a request in parts.
type raw struct {
	method, path, body string
	lines              map[string]string
}

func (r *raw) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s HTTP/1.1\r\nHost: x\r\n", r.method, r.path)
	for name, value := range r.lines {
		fmt.Fprintf(&b, "%s: %s\r\n", name, value)
	}
	fmt.Fprintf(&b, "Content-Length: %d\r\n\r\n%s", len(r.body), r.body)
	return b.String()
}

// flaws are all errors of the ingest, in the order of the contract: 404, 405,
// 401, 429, 413, 415, 400, 422, 403. A replay stands between 400 and 422.
var flaws = []flaw{
	{"elsewhere", 404, "not_found", func(r *raw) { r.path = "/api/v1/nothing" }},
	{"by GET", 405, "method_not_allowed", func(r *raw) { r.method = "GET" }},
	{"no key", 401, "unauthorized", func(r *raw) { delete(r.lines, "X-Api-Key") }},
	{"too often", 429, "rate_limited", func(r *raw) { r.limit() }},
	{"too large", 413, "payload_too_large", func(r *raw) { r.body += strings.Repeat(" ", 1<<16) }},
	{"as text", 415, "unsupported_media_type", func(r *raw) { r.lines["Content-Type"] = "text/plain" }},
	{"two bodies", 400, "malformed_json", func(r *raw) { r.body += "{}" }},
	{"no phone", 422, "invalid_payload", func(r *raw) { r.body = strings.Replace(r.body, `"phone"`, `"phony"`, 1) }},
	{"not its campaign", 403, "forbidden", func(r *raw) { r.body = strings.Replace(r.body, `"cmp"`, `"cmp_other"`, 1) }},
}

// limit takes the key of the supplier whose bucket is never full enough.
func (r *raw) limit() {
	if _, ok := r.lines["X-Api-Key"]; ok {
		r.lines["X-Api-Key"] = slowKey
	}
}

// slowKey is of a supplier that has just used up its one request.
const slowKey = "slow-key-of-a-canary-0003"

const limited = `  - {id: sup_slow, api_key: "` + slowKey + `", ingest_rate: 1}
`

// TestOneCheckAfterTheOther: of two things that are wrong, the one that comes
// first in the contract's order is told.
func TestOneCheckAfterTheOther(t *testing.T) {
	config := strings.Replace(recorded, "buyers:\n", limited+"buyers:\n", 1)
	x := start(t, newPlace(t, config))
	once := func(t *testing.T, flaws []flaw) *answer {
		x.drain(slowKey)
		r := &raw{"POST", "/api/v1/ingest", lead(1), map[string]string{"X-Api-Key": acmeKey, "Content-Type": typeIsOwn}}
		for _, flaw := range flaws {
			flaw.spoil(r)
		}
		w := dial(t, x.PublicAddress())
		go w.say(r.String())
		return w.next(r.method)
	}
	// A token may come between the draining and the asking, but not each time.
	ask := func(t *testing.T, status int, flaws ...flaw) (a *answer) {
		for range 10 {
			if a = once(t, flaws); status != 429 || a.status == status {
				break
			}
		}
		return a
	}
	for i, first := range flaws {
		t.Run(first.name, func(t *testing.T) {
			ask(t, first.status, first).mustFail(t, first.status, first.code)
		})
		for _, second := range flaws[i+1:] {
			t.Run(first.name+" and "+second.name, func(t *testing.T) {
				a := ask(t, first.status, second, first)
				a.mustFail(t, first.status, first.code)
				if allow := a.header.Get("Allow"); (first.status == 405) != (allow == "POST") {
					t.Errorf("Allow %q", allow)
				}
			})
		}
	}
	all := ask(t, 401, flaws[2:]...)
	all.mustFail(t, 401, "unauthorized")
	if x.state.LeadCount() != 0 {
		t.Error("one was taken all the same")
	}
}

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
	p := newPlace(t, recorded)
	x := start(t, p)
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
