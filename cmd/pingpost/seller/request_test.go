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
	acceptedAnswer  = `{"data":{"id":"lead_1","status":"ACCEPTED","buyer_id":"buy_a","campaign_id":"cmp_a","price":{"amount":7.5,"currency":"USD"}}}`
	unmatchedAnswer = `{"data":{"id":"lead_2","status":"UNMATCHED","buyer_id":null,"campaign_id":"cmp_a","reason":"caps_full"}}`
)

// reply is the scripted answer to one request.
type reply struct {
	status     int
	body       string
	retryAfter string
	err        error
	after      time.Duration
}

// scriptedExchange answers from a list and repeats the last entry.
type scriptedExchange struct {
	mu          sync.Mutex
	replies     []reply
	keys        []string
	bodies      []string
	busy        int
	maxInFlight int
}

func (s *scriptedExchange) RoundTrip(req *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(req.Body)
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	r := s.replies[min(len(s.keys), len(s.replies)-1)]
	s.keys, s.bodies = append(s.keys, req.Header.Get("Idempotency-Key")), append(s.bodies, string(body))
	s.busy++
	s.maxInFlight = max(s.maxInFlight, s.busy)
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

func newScriptedSender(width int, replies ...reply) (*leadSender, *scriptedExchange) {
	s, exchange := newLeadSender("http://exchange.test/", "key", width, new(http.Transport)), &scriptedExchange{replies: replies}
	s.client = &http.Client{Transport: exchange, Timeout: sendTimeout}
	return s, exchange
}

func inputLines(lines ...string) iter.Seq[numberedLine] {
	return nonBlankLines(strings.NewReader(strings.Join(lines, "\n")), new(error))
}

func manyLines(n int) iter.Seq[numberedLine] {
	return inputLines(strings.Split(strings.Repeat("{}\n", n), "\n")...)
}

// TestSendRetries checks the tries and the duration for one line.
func TestSendRetries(t *testing.T) {
	refused := &net.OpError{Op: "dial", Err: errors.New("connection refused")}
	reset := &net.OpError{Op: "read", Err: errors.New("connection reset")}
	sold, busy := reply{status: 201, body: acceptedAnswer}, reply{status: 429, body: `{"error":"rate_limited"}`, retryAfter: "3"}
	down, invalid := reply{status: 503, body: `{"error":"unavailable"}`}, reply{status: 422, body: `{"error":"invalid_payload"}`}
	rows := []struct {
		name    string
		keyless bool
		replies []reply
		tries   int
		final   bool
		took    time.Duration
	}{
		{"answered at once", false, []reply{sold}, 1, true, 0},
		{"a refusalResult is final", false, []reply{invalid}, 1, true, 0},
		{"wrong API key", false, []reply{{status: 401, body: `{"error":"unauthorized"}`}}, 1, true, 0},
		{"unavailable, then sold", false, []reply{down, down, sold}, 3, true, 3 * time.Second},
		{"busy", false, []reply{busy, sold}, 2, true, 3 * time.Second},
		{"busy, retry at once", false, []reply{{status: 429, retryAfter: "0"}, sold}, 2, true, 0},
		{"busy, retry after a day", false, []reply{{status: 429, retryAfter: "86400"}, sold}, 2, true, time.Minute},
		{"busy, retry after a date", false, []reply{{status: 503, retryAfter: "Fri, 31 Dec 2027 23:59:59 GMT"}, sold}, 2, true, time.Second},
		{"connection refused once", false, []reply{{err: refused}, sold}, 2, true, time.Second},
		{"connection reset", false, []reply{{err: reset}, sold}, 2, true, time.Second},
		{"always unavailable", false, []reply{down}, 6, false, 31 * time.Second},
		{"invalid answer", false, []reply{{status: 200, body: "hello"}, sold}, 2, true, time.Second},
		{"unknown lead status", false, []reply{{status: 201, body: `{"data":{"status":"SOLD"}}`}, sold}, 2, true, time.Second},
		{"keyless, unavailable", true, []reply{down, sold}, 1, false, 0},
		{"keyless, connection reset", true, []reply{{err: reset}, sold}, 1, false, 0},
		{"keyless, busy", true, []reply{busy, sold}, 2, true, 3 * time.Second},
		{"keyless, connection refused", true, []reply{{err: refused}, sold}, 2, true, time.Second},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s, exchange := newScriptedSender(1, row.replies...)
				s.keyed = !row.keyless
				var got *lineSendResult
				took := s.sendLines(t.Context(), inputLines(`{"a":1}`), func(a *lineSendResult) { got = a })
				if got.tries != row.tries || got.isFinal() != row.final || took != row.took || got.took != row.took {
					t.Errorf("%d tries, final %v, after %v; want %d, %v, %v", got.tries, got.isFinal(), took, row.tries, row.final, row.took)
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

func TestLineIdempotencyKeys(t *testing.T) {
	keys := map[string]bool{}
	for _, l := range []numberedLine{{1, []byte("{}")}, {2, []byte("{}")}, {1, []byte("{ }")}, {12, []byte("3{}")}, {123, []byte("{}")}} {
		keys[deriveIdempotencyKey(&l)] = true
	}
	if len(keys) != 5 {
		t.Errorf("%d keys for 5 lines: %v", len(keys), keys)
	}
	if a, b := deriveIdempotencyKey(&numberedLine{1, []byte("{}")}), deriveIdempotencyKey(&numberedLine{1, []byte("{}")}); a != b || !strings.HasPrefix(a, "send_") {
		t.Errorf("keys %s and %s for the same line", a, b)
	}
}

// TestSendRate: lines start at the rate. If the exchange is slower, the wait counts as
// latency.
func TestSendRate(t *testing.T) {
	rows := []struct {
		name        string
		rate        float64
		width       int
		takes       time.Duration
		took        time.Duration
		longest     time.Duration
		maxInFlight int
	}{
		{"faster than the rate", 10, 4, 50 * time.Millisecond, 950 * time.Millisecond, 50 * time.Millisecond, 1},
		{"concurrent requests", 10, 4, 250 * time.Millisecond, 1150 * time.Millisecond, 250 * time.Millisecond, 3},
		{"slower than the rate", 10, 1, time.Second, 10 * time.Second, 10*time.Second - 900*time.Millisecond, 1},
		{"no rate", 0, 5, time.Second, 2 * time.Second, time.Second, 5},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s, exchange := newScriptedSender(row.width, reply{status: 201, body: acceptedAnswer, after: row.takes})
				s.rate = row.rate
				var longest time.Duration
				count := 0
				took := s.sendLines(t.Context(), manyLines(10), func(a *lineSendResult) {
					count++
					longest = max(longest, a.took)
				})
				if count != 10 || took != row.took || exchange.maxInFlight != row.maxInFlight {
					t.Errorf("%d answers in %v, %d at once; want %v, %d", count, took, exchange.maxInFlight, row.took, row.maxInFlight)
				}
				if row.rate > 0 && longest != row.longest {
					t.Errorf("longest latency %v, want %v", longest, row.longest)
				}
			})
		})
	}
}

// TestSendInterrupted: after an interrupt, running requests finish, waiting retries end,
// and no new line is sent.
func TestSendInterrupted(t *testing.T) {
	t.Run("during a request", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			s, exchange := newScriptedSender(2, reply{status: 201, body: acceptedAnswer, after: 4 * time.Second})
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			var got []*lineSendResult
			took := s.sendLines(ctx, manyLines(10), func(a *lineSendResult) { got = append(got, a) })
			if len(got) != 2 || len(exchange.keys) != 2 || took != 4*time.Second || !got[0].isFinal() || !got[1].isFinal() {
				t.Errorf("%d answers to %d requests in %v", len(got), len(exchange.keys), took)
			}
		})
	})
	t.Run("between two attempts", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			s, exchange := newScriptedSender(1, reply{status: 503, body: `{"error":"unavailable"}`})
			ctx, cancel := context.WithTimeout(t.Context(), 4*time.Second)
			defer cancel()
			var got *lineSendResult
			took := s.sendLines(ctx, inputLines("{}"), func(a *lineSendResult) { got = a })
			if got.isFinal() || got.tries != 3 || len(exchange.keys) != 3 || took != 4*time.Second {
				t.Errorf("%d tries in %v, final %v", got.tries, took, got.isFinal())
			}
		})
	})
	t.Run("between two lines", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			s, exchange := newScriptedSender(1, reply{status: 201, body: acceptedAnswer})
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
