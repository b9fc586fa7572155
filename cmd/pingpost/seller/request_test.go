package seller

import (
	"context"
	"errors"
	"io"
	"iter"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

const (
	saidAccepted  = `{"data":{"id":"lead_1","status":"ACCEPTED","buyer_id":"buy_a","campaign_id":"cmp_a","price":{"amount":7.5,"currency":"USD"}}}`
	saidUnmatched = `{"data":{"id":"lead_2","status":"UNMATCHED","buyer_id":null,"campaign_id":"cmp_a","reason":"caps_full"}}`
)

// reply is what the exchange of a test does with one request.
type reply struct {
	status     int
	body       string
	retryAfter string
	err        error
	after      time.Duration
}

// script is an exchange that answers from a list, the last entry again and
// again.
type script struct {
	mu      sync.Mutex
	replies []reply
	keys    []string
	bodies  []string
	busy    int
	busiest int
}

func (s *script) RoundTrip(req *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(req.Body)
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	r := s.replies[min(len(s.keys), len(s.replies)-1)]
	s.keys, s.bodies = append(s.keys, req.Header.Get("Idempotency-Key")), append(s.bodies, string(body))
	s.busy++
	s.busiest = max(s.busiest, s.busy)
	s.mu.Unlock()
	time.Sleep(r.after)
	s.mu.Lock()
	s.busy--
	s.mu.Unlock()
	if r.err != nil {
		return nil, r.err
	}
	res := &http.Response{StatusCode: r.status, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(r.body)), Request: req}
	if r.retryAfter != "" {
		res.Header.Set("Retry-After", r.retryAfter)
	}
	return res, nil
}

func scripted(width int, replies ...reply) (*leadSender, *script) {
	s, exchange := newLeadSender("http://exchange.test/", "key", width, new(http.Transport)), &script{replies: replies}
	s.client = &http.Client{Transport: exchange, Timeout: sendTimeout}
	return s, exchange
}

func texts(lines ...string) iter.Seq[numberedLine] {
	return nonBlankLines(strings.NewReader(strings.Join(lines, "\n")), new(error))
}

func manyLines(n int) iter.Seq[numberedLine] {
	return texts(strings.Split(strings.Repeat("{}\n", n), "\n")...)
}

// TestTries tells what becomes of one line.
func TestTries(t *testing.T) {
	refused := &net.OpError{Op: "dial", Err: errors.New("connection refused")}
	reset := &net.OpError{Op: "read", Err: errors.New("connection reset")}
	yes, busy := reply{status: 201, body: saidAccepted}, reply{status: 429, body: `{"error":"rate_limited"}`, retryAfter: "3"}
	down, wrong := reply{status: 503, body: `{"error":"unavailable"}`}, reply{status: 422, body: `{"error":"invalid_payload"}`}
	rows := []struct {
		name    string
		keyless bool
		replies []reply
		tries   int
		final   bool
		took    time.Duration
	}{
		{"at once", false, []reply{yes}, 1, true, 0},
		{"a refusal is final", false, []reply{wrong}, 1, true, 0},
		{"a key is wrong", false, []reply{{status: 401, body: `{"error":"unauthorized"}`}}, 1, true, 0},
		{"down, then up", false, []reply{down, down, yes}, 3, true, 3 * time.Second},
		{"busy", false, []reply{busy, yes}, 2, true, 3 * time.Second},
		{"busy for no time", false, []reply{{status: 429, retryAfter: "0"}, yes}, 2, true, 0},
		{"busy for a day", false, []reply{{status: 429, retryAfter: "86400"}, yes}, 2, true, time.Minute},
		{"busy till a date", false, []reply{{status: 503, retryAfter: "Fri, 31 Dec 2027 23:59:59 GMT"}, yes}, 2, true, time.Second},
		{"nobody there at first", false, []reply{{err: refused}, yes}, 2, true, time.Second},
		{"a connection breaks", false, []reply{{err: reset}, yes}, 2, true, time.Second},
		{"never up", false, []reply{down}, 6, false, 31 * time.Second},
		{"no exchange", false, []reply{{status: 200, body: "hello"}, yes}, 2, true, time.Second},
		{"no status of a lead", false, []reply{{status: 201, body: `{"data":{"status":"SOLD"}}`}, yes}, 2, true, time.Second},
		{"keyless, down", true, []reply{down, yes}, 1, false, 0},
		{"keyless, a connection breaks", true, []reply{{err: reset}, yes}, 1, false, 0},
		{"keyless, busy", true, []reply{busy, yes}, 2, true, 3 * time.Second},
		{"keyless, nobody there", true, []reply{{err: refused}, yes}, 2, true, time.Second},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s, exchange := scripted(1, row.replies...)
				s.keyed = !row.keyless
				var got *lineSendResult
				took := s.sendLines(t.Context(), texts(`{"a":1}`), func(a *lineSendResult) { got = a })
				if got.tries != row.tries || got.isFinal() != row.final || took != row.took || got.took != row.took {
					t.Errorf("%d tries, final %v, %v; want %d, %v, %v", got.tries, got.isFinal(), took, row.tries, row.final, row.took)
				}
				for i, key := range exchange.keys {
					if key != exchange.keys[0] || exchange.bodies[i] != `{"a":1}` || (key == "") != row.keyless {
						t.Errorf("try %d had the key %q and the body %s", i+1, key, exchange.bodies[i])
					}
				}
			})
		})
	}
}

func TestKeysOfLines(t *testing.T) {
	keys := map[string]bool{}
	for _, l := range []numberedLine{{1, []byte("{}")}, {2, []byte("{}")}, {1, []byte("{ }")}, {12, []byte("3{}")}, {123, []byte("{}")}} {
		keys[deriveIdempotencyKey(&l)] = true
	}
	if len(keys) != 5 {
		t.Errorf("%d keys for 5 lines: %v", len(keys), keys)
	}
	if a, b := deriveIdempotencyKey(&numberedLine{1, []byte("{}")}), deriveIdempotencyKey(&numberedLine{1, []byte("{}")}); a != b || !strings.HasPrefix(a, "send_") {
		t.Errorf("%s and %s", a, b)
	}
}

// TestTurns: lines come at the rate, and where the exchange is slower than that
// the wait is part of the latency.
func TestTurns(t *testing.T) {
	rows := []struct {
		name    string
		rate    float64
		width   int
		takes   time.Duration
		took    time.Duration
		longest time.Duration
		busiest int
	}{
		{"in time", 10, 4, 50 * time.Millisecond, 950 * time.Millisecond, 50 * time.Millisecond, 1},
		{"side by side", 10, 4, 250 * time.Millisecond, 1150 * time.Millisecond, 250 * time.Millisecond, 3},
		{"behind", 10, 1, time.Second, 10 * time.Second, 10*time.Second - 900*time.Millisecond, 1},
		{"no rate", 0, 5, time.Second, 2 * time.Second, time.Second, 5},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s, exchange := scripted(row.width, reply{status: 201, body: saidAccepted, after: row.takes})
				s.rate = row.rate
				var longest time.Duration
				count := 0
				took := s.sendLines(t.Context(), manyLines(10), func(a *lineSendResult) {
					count++
					longest = max(longest, a.took)
				})
				if count != 10 || took != row.took || exchange.busiest != row.busiest {
					t.Errorf("%d answers in %v, %d at once; want %v, %d", count, took, exchange.busiest, row.took, row.busiest)
				}
				if row.rate > 0 && longest != row.longest {
					t.Errorf("the longest took %v, want %v", longest, row.longest)
				}
			})
		})
	}
}

// TestInterrupted: what is under way is heard, what waits is given up, what was
// not begun is not sent.
func TestInterrupted(t *testing.T) {
	t.Run("under way", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			s, exchange := scripted(2, reply{status: 201, body: saidAccepted, after: 4 * time.Second})
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			var got []*lineSendResult
			took := s.sendLines(ctx, manyLines(10), func(a *lineSendResult) { got = append(got, a) })
			if len(got) != 2 || len(exchange.keys) != 2 || took != 4*time.Second || !got[0].isFinal() || !got[1].isFinal() {
				t.Errorf("%d answers to %d requests in %v", len(got), len(exchange.keys), took)
			}
		})
	})
	t.Run("between two tries", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			s, exchange := scripted(1, reply{status: 503, body: `{"error":"unavailable"}`})
			ctx, cancel := context.WithTimeout(t.Context(), 4*time.Second)
			defer cancel()
			var got *lineSendResult
			took := s.sendLines(ctx, texts("{}"), func(a *lineSendResult) { got = a })
			if got.isFinal() || got.tries != 3 || len(exchange.keys) != 3 || took != 4*time.Second {
				t.Errorf("%d tries in %v, final %v", got.tries, took, got.isFinal())
			}
		})
	})
	t.Run("between two turns", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			s, exchange := scripted(1, reply{status: 201, body: saidAccepted})
			s.rate = 0.1
			ctx, cancel := context.WithTimeout(t.Context(), 15*time.Second)
			defer cancel()
			took := s.sendLines(ctx, manyLines(10), func(*lineSendResult) {})
			if len(exchange.keys) != 2 || took != 15*time.Second {
				t.Errorf("%d requests in %v", len(exchange.keys), took)
			}
		})
	})
}
