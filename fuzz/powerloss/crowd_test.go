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

// stub answers as an exchange might, and notes what it was sent.
type stub struct {
	mu      sync.Mutex
	seen    []*http.Request
	bodies  []string
	answers func(n int, path string) (status int, text string)
}

func (s *stub) ServeHTTP(w http.ResponseWriter, r *http.Request) {
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

// seat is a desk that speaks to a stub.
func seat(t *testing.T, answers func(n int, path string) (int, string)) (*desk, *stub) {
	t.Helper()
	s := &stub{answers: answers}
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)
	d := witness.NewLocator()
	d.Publish(server.URL)
	c := gather(d)
	c.tokens = map[string]string{clientID: "token-of-acme", "rec_alpha": "token-of-alpha"}
	return c.desk(d, "desk", rand.New(rand.NewPCG(1, 1))), s
}

// TestDesksDoWhatClientsDo: each kind of request, as the exchange's contract has it.
func TestDesksDoWhatClientsDo(t *testing.T) {
	const sold = `{"data":{"id":"lead_1","status":"ACCEPTED","buyer_id":"rec_alpha"}}`
	for what, test := range map[string]struct {
		do    func(d *desk) bool
		want  []string // paths
		token string   // of the last
		has   string   // in the last one's body
	}{
		"an ingest":                {func(d *desk) bool { return d.ingest(t.Context(), "k") }, []string{"/api/v1/ingest"}, "", `"flo_supplier_id":"sup_acme"`},
		"a ping, and a post":       {func(d *desk) bool { return d.offer(t.Context(), "k") }, []string{"/v1/ping", "/v1/post"}, "token-of-acme", `"bid_token":"bid_1"`},
		"a question, and a choice": {func(d *desk) bool { return d.choose(t.Context(), "k") }, []string{"/api/v1/ping", "/api/v1/ingest"}, "", `"flo_buyer_id":"buy_fussy"`},
		"the first, where there is nothing to ask again": {func(d *desk) bool { return d.askAgain(t.Context()) }, []string{"/api/v1/ingest"}, "", "phone"},
	} {
		d, s := seat(t, func(_ int, path string) (int, string) {
			switch path {
			case "/v1/ping":
				return 200, `{"auction_id":"k","bid":{"amount":8,"bid_token":"bid_1"}}`
			case "/api/v1/ping":
				return 200, `{"data":{"ping_id":"ping_1","buyers":[{"buyer_id":"buy_fussy"}]}}`
			}
			return 201, sold
		})
		d.tokens["rec_alpha"] = "" // reports have a test of their own
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
		if len(d.ledger.told) != len(test.want) {
			t.Errorf("%s: %d answers are kept", what, len(d.ledger.told))
		}
	}
}

func TestSomeLeadsAreReportedOn(t *testing.T) {
	d, s := seat(t, func(int, string) (int, string) {
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

// TestNobodyComesTwice: else leads would be duplicates, and not sold.
func TestNobodyComesTwice(t *testing.T) {
	d, _ := seat(t, func(int, string) (int, string) { return 201, "{}" })
	seen := map[any]bool{}
	for range 3000 {
		p := d.person("cmp_fall")
		if seen[p["phone"]] || seen[p["email"]] {
			t.Fatalf("%v came before", p)
		}
		seen[p["phone"]], seen[p["email"]] = true, true
	}
}

// TestWhatIsNoFinalAnswerIsNotKept: it would not be repeated.
func TestWhatIsNoFinalAnswerIsNotKept(t *testing.T) {
	for said, kept := range map[witness.Response]int{
		{Status: 200}: 1, {Status: 201}: 1, {Status: 404}: 0, {Status: 409}: 0, {Status: 410}: 0,
		{Status: 422, Body: `{"error":"post_rejected"}`}: 1, {Status: 422, Body: `{"error":"invalid_bid_token"}`}: 0,
	} {
		d, _ := seat(t, func(int, string) (int, string) { return said.Status, said.Body })
		if d.ask(t.Context(), &witness.Request{Path: "/", Key: "k"}); len(d.ledger.told) != kept {
			t.Errorf("%d %s: %d are kept", said.Status, said.Body, len(d.ledger.told))
		}
	}
}

func TestLedgerCompares(t *testing.T) {
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
		var l ledger
		l.enter(&witness.Request{Key: "k"}, first)
		l.compare(l.of("req_1"), test.again)
		if wrong := l.wrong(); (len(wrong) == 0) != test.same {
			t.Errorf("%s: %q", what, wrong)
		}
	}
	var l ledger
	if l.pick(rand.New(rand.NewPCG(1, 1))) != nil || l.of("req_1") != nil {
		t.Error("an empty ledger knows an answer")
	}
}

// TestWhatWasToldInTheDarkIsForgotten, and what was told before stays, also where it
// was told again later.
func TestWhatWasToldInTheDarkIsForgotten(t *testing.T) {
	var l ledger
	for _, request := range []string{"before", "both", "after", "earlier life"} {
		l.enter(&witness.Request{Key: request}, witness.Response{RequestID: request})
	}
	l.forget([]ack{{tick: 5, request: "before"}, {tick: 6, request: "both"}, {tick: 11, request: "both"}, {tick: 12, request: "after"}, {tick: 13}}, 10)
	for request, kept := range map[string]bool{"before": true, "both": true, "earlier life": true, "after": false} {
		if (l.of(request) != nil) != kept {
			t.Errorf("%s: kept is %t", request, !kept)
		}
	}
	if len(l.told) != 3 {
		t.Errorf("%d are left", len(l.told))
	}
}

// TestADeskMayBeSlowerThanALossOfPower: it picks an answer, or is given one, that is
// gone when it comes back with it.
func TestADeskMayBeSlowerThanALossOfPower(t *testing.T) {
	var l ledger
	parcel := &witness.Request{Key: "k"}
	l.enter(parcel, witness.Response{RequestID: "picked", Body: "one"})
	picked := l.of("picked")
	l.forget([]ack{{tick: 12, request: "picked"}, {tick: 12, request: "given"}, {tick: 13}}, 10)
	l.compare(picked, witness.Response{RequestID: "another", Body: "two"})
	l.enter(parcel, witness.Response{RequestID: "given"})
	if wrong := l.wrong(); len(wrong) > 0 || len(l.told) > 0 {
		t.Errorf("%q, and %d are kept", wrong, len(l.told))
	}
	l.enter(parcel, witness.Response{RequestID: "later"})
	if l.compare(l.of("later"), witness.Response{RequestID: "another"}); len(l.wrong()) != 1 {
		t.Error("what was told since may differ")
	}
}
