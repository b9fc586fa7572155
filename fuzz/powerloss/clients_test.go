package main

import (
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"pingpost/fuzz/witness"
)

// stubExchange sends prepared answers and records the requests.
type stubExchange struct {
	mu      sync.Mutex
	seen    []*http.Request
	bodies  []string
	answers func(n int, path string) (status int, text string)
}

func (s *stubExchange) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	s.mu.Lock()
	s.seen, s.bodies = append(s.seen, r), append(s.bodies, string(body))
	n := len(s.seen)
	s.mu.Unlock()
	status, text := s.answers(n, r.URL.Path)
	w.Header().Set("X-Request-Id", "req_"+r.Header.Get("Idempotency-Key"))
	w.WriteHeader(status)
	fmt.Fprint(w, text)
}

// newTestWorker returns a worker that sends to a stub.
func newTestWorker(t *testing.T, answers func(n int, path string) (int, string)) (*worker, *stubExchange) {
	t.Helper()
	s := &stubExchange{answers: answers}
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)
	d := witness.NewLocator()
	d.Publish(server.URL)
	c := newClients(d)
	c.tokens = map[string]string{witness.ClientID: "token-of-acme", "rec_alpha": "token-of-alpha"}
	return c.newWorker(d, "desk", rand.New(rand.NewPCG(1, 1))), s
}

// A worker sends each kind of request as the contract defines it.
func TestWorkerRequests(t *testing.T) {
	const sold = `{"data":{"id":"lead_1","status":"ACCEPTED","buyer_id":"rec_alpha"}}`
	for what, test := range map[string]struct {
		do    func(d *worker) bool
		want  []string // expected paths
		token string   // token of the last request
		has   string   // part of the last body
	}{
		"an ingest":                {func(d *worker) bool { return d.ingest(t.Context(), "k") }, []string{"/api/v1/ingest"}, "", `"flo_supplier_id":"sup_acme"`},
		"a ping, and a post":       {func(d *worker) bool { return d.pingAndPost(t.Context(), "k") }, []string{"/v1/ping", "/v1/post"}, "token-of-acme", `"bid_token":"bid_1"`},
		"a question, and a choice": {func(d *worker) bool { return d.askAndIngest(t.Context(), "k") }, []string{"/api/v1/ping", "/api/v1/ingest"}, "", `"flo_buyer_id":"buy_fussy"`},
		"the first, where there is nothing to ask again": {func(d *worker) bool { return d.repeatRequest(t.Context()) }, []string{"/api/v1/ingest"}, "", "phone"},
	} {
		d, s := newTestWorker(t, func(_ int, path string) (int, string) {
			switch path {
			case "/v1/ping":
				return 200, `{"auction_id":"k","bid":{"amount":8,"bid_token":"bid_1"}}`
			case "/api/v1/ping":
				return 200, `{"data":{"ping_id":"ping_1","buyers":[{"buyer_id":"buy_fussy"}]}}`
			}
			return 201, sold
		})
		d.tokens["rec_alpha"] = "" // status reports have their own test
		if !test.do(d) {
			t.Errorf("%s: no answer", what)
		}
		var paths []string
		for i, r := range s.seen {
			paths = append(paths, r.URL.Path)
			if !json.Valid([]byte(s.bodies[i])) {
				t.Errorf("%s: %q", what, s.bodies[i])
			}
		}
		last := len(s.seen) - 1
		if strings.Join(paths, " ") != strings.Join(test.want, " ") || !strings.Contains(s.bodies[last], test.has) {
			t.Errorf("%s: %q, %s", what, paths, s.bodies[last])
		}
		if got := strings.TrimPrefix(s.seen[last].Header.Get("Authorization"), "Bearer "); got != test.token {
			t.Errorf("%s: with the token %q", what, got)
		}
		if len(d.answers.answers) != len(test.want) {
			t.Errorf("%s: %d answers are kept", what, len(d.answers.answers))
		}
	}
}

func TestWorkerSendsStatusReports(t *testing.T) {
	d, s := newTestWorker(t, func(int, string) (int, string) {
		return 201, `{"data":{"id":"lead_1","status":"ACCEPTED","buyer_id":"rec_alpha"}}`
	})
	for n := range 40 {
		d.ingest(t.Context(), fmt.Sprint(n))
	}
	reports := 0
	for _, r := range s.seen {
		if r.URL.Path == "/v1/leads/lead_1/status" && r.Header.Get("Authorization") == "Bearer token-of-alpha" {
			reports++
		}
	}
	if reports < 3 || reports > 30 || len(s.seen) != 40+reports {
		t.Errorf("%d reports among %d requests", reports, len(s.seen))
	}
}

// Repeated persons would be duplicates and remain unsold.
func TestLeadsAreUnique(t *testing.T) {
	d, _ := newTestWorker(t, func(int, string) (int, string) { return 201, "{}" })
	seen := map[any]bool{}
	for range 3000 {
		p := d.newLead("cmp_fall")
		if seen[p["phone"]] || seen[p["email"]] {
			t.Fatalf("%v came before", p)
		}
		seen[p["phone"]], seen[p["email"]] = true, true
	}
}

// An answer that is not final is not recorded, because it need not be repeated.
func TestOnlyFinalAnswersAreRecorded(t *testing.T) {
	for said, kept := range map[witness.Response]int{
		{Status: 200}: 1, {Status: 201}: 1, {Status: 404}: 0, {Status: 409}: 0, {Status: 410}: 0,
		{Status: 422, Body: `{"error":"post_rejected"}`}: 1, {Status: 422, Body: `{"error":"invalid_bid_token"}`}: 0,
	} {
		d, _ := newTestWorker(t, func(int, string) (int, string) { return said.Status, said.Body })
		if d.sendAndRecord(t.Context(), &witness.Request{Path: "/", Key: "k"}); len(d.answers.answers) != kept {
			t.Errorf("%d %s: %d are kept", said.Status, said.Body, len(d.answers.answers))
		}
	}
}

func TestCompareRepeat(t *testing.T) {
	first := witness.Response{Status: 201, RequestID: "req_1", Body: "{}"}
	for what, test := range map[string]struct {
		again witness.Response
		same  bool
	}{
		"the same":        {witness.Response{Status: 201, RequestID: "req_1", Body: "{}", Replayed: true}, true},
		"another byte":    {witness.Response{Status: 201, RequestID: "req_1", Body: "{} "}, false},
		"another request": {witness.Response{Status: 201, RequestID: "req_2", Body: "{}"}, false},
		"another status":  {witness.Response{Status: 200, RequestID: "req_1", Body: "{}"}, false},
	} {
		var l answerLog
		l.add(&witness.Request{Key: "k"}, first)
		l.compareRepeat(l.findByRequestID("req_1"), test.again)
		if wrong := l.violationList(); (len(wrong) == 0) != test.same {
			t.Errorf("%s: %q", what, wrong)
		}
	}
	var l answerLog
	if l.pickRandom(rand.New(rand.NewPCG(1, 1))) != nil || l.findByRequestID("req_1") != nil {
		t.Error("an empty ledger knows an answer")
	}
}

// Answers after the power loss are removed. Answers before it stay, even if they were repeated
// after it.
func TestForgetAfter(t *testing.T) {
	var l answerLog
	for _, request := range []string{"before", "both", "after", "earlier life"} {
		l.add(&witness.Request{Key: request}, witness.Response{RequestID: request})
	}
	l.forgetAnswersAfter([]ack{{tick: 5, request: "before"}, {tick: 6, request: "both"}, {tick: 11, request: "both"}, {tick: 12, request: "after"}, {tick: 13}}, 10)
	for request, kept := range map[string]bool{"before": true, "both": true, "earlier life": true, "after": false} {
		if (l.findByRequestID(request) != nil) != kept {
			t.Errorf("%s: kept is %t", request, !kept)
		}
	}
	if len(l.answers) != 3 {
		t.Errorf("%d are left", len(l.answers))
	}
}

// A worker may hold or receive an answer that the power loss removes.
func TestAnswersAfterLossAreIgnored(t *testing.T) {
	var l answerLog
	parcel := &witness.Request{Key: "k"}
	l.add(parcel, witness.Response{RequestID: "picked", Body: "one"})
	picked := l.findByRequestID("picked")
	l.forgetAnswersAfter([]ack{{tick: 12, request: "picked"}, {tick: 12, request: "given"}, {tick: 13}}, 10)
	l.compareRepeat(picked, witness.Response{RequestID: "another", Body: "two"})
	l.add(parcel, witness.Response{RequestID: "given"})
	if wrong := l.violationList(); len(wrong) > 0 || len(l.answers) > 0 {
		t.Errorf("%q, and %d are kept", wrong, len(l.answers))
	}
	l.add(parcel, witness.Response{RequestID: "later"})
	if l.compareRepeat(l.findByRequestID("later"), witness.Response{RequestID: "another"}); len(l.violationList()) != 1 {
		t.Error("what was told since may differ")
	}
}
