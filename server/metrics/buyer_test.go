package metrics

import (
	"bytes"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"pingpost/engine/market"
	"pingpost/server/servertest"
)

// A rejected lead is not a failed post. A rejected credential is one.
func TestIsFailedPost(t *testing.T) {
	for _, row := range []struct {
		name    string
		verdict market.PostAttemptVerdict
		status  int
		want    bool
	}{
		{"accepted", market.VerdictAccepted, 201, false},
		{"busy", market.VerdictBusy, 429, false},
		{"lead rejected", market.VerdictRefused, 422, false},
		{"lead rejected with a 200", market.VerdictRefused, 200, false},
		{"duplicate", market.VerdictRefused, 409, false},
		{"moved", market.VerdictRefused, 301, true},
		{"unauthorized", market.VerdictRefused, 401, true},
		{"forbidden", market.VerdictRefused, 403, true},
		{"not found", market.VerdictRefused, 404, true},
		{"method not allowed", market.VerdictRefused, 405, true},
		{"content type rejected", market.VerdictRefused, 415, true},
		{"not reachable", market.VerdictNotSent, 0, true},
		{"server error", market.VerdictUnknown, 500, true},
		{"no answer", market.VerdictUnknown, 0, true},
	} {
		if got := isTechnicalPostFailure(&market.BuyerPostResult{Verdict: row.verdict, Status: row.status}); got != row.want {
			t.Errorf("%s: got %v, want %v", row.name, got, row.want)
		}
	}
}

// For each failing buyer there is at most one log line per minute, with the number of
// failures since the last one.
func TestBuyerFailuresAreLoggedOncePerMinute(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var lines bytes.Buffer
		m := NewMeter(func(string, error) {})
		m.SetLogger(slog.New(slog.NewTextHandler(&lines, nil)))
		failure := &market.BuyerPostResult{Verdict: market.VerdictUnknown, Status: 503, Code: "unavailable"}
		wantLines := func(want ...string) {
			t.Helper()
			got := strings.Split(strings.TrimSuffix(lines.String(), "\n"), "\n")
			lines.Reset()
			for i, line := range want {
				if i >= len(got) || !strings.Contains(got[i], "level=WARN") || !strings.HasSuffix(got[i], line) {
					t.Errorf("line %d of %q, want %q", i, got, line)
				}
			}
			if len(want) == 0 && got[0] != "" || len(want) > 0 && len(got) != len(want) {
				t.Errorf("%d lines, want %d", len(got), len(want))
			}
		}
		m.PostAttempted("buy_a", &market.BuyerPostResult{Verdict: market.VerdictAccepted})
		wantLines()
		m.PostAttempted("buy_a", failure)
		m.PostAttempted("buy_b", &market.BuyerPostResult{Verdict: market.VerdictNotSent, Fault: market.FaultConnect})
		wantLines(
			"buyer_id=buy_a failures=1 verdict=unknown fault=none status=503 code=unavailable",
			`buyer_id=buy_b failures=1 verdict=unreached fault=connect status=0 code=""`)
		var calls sync.WaitGroup
		for range 20 {
			calls.Go(func() {
				for range 10 {
					m.PostAttempted("buy_a", failure)
				}
			})
		}
		calls.Wait()
		time.Sleep(throttleFor - 1)
		m.PostAttempted("buy_a", failure)
		wantLines()
		time.Sleep(time.Nanosecond)
		m.PostAttempted("buy_a", failure)
		m.PostAttempted("buy_a", failure)
		wantLines("buyer_id=buy_a failures=202 verdict=unknown fault=none status=503 code=unavailable")

		servertest.RequireMetrics(
			t, m,
			`pingpost_buyer_post_attempts_total{buyer="buy_a",verdict="unknown"} 204`,
			`pingpost_buyer_post_attempts_total{buyer="buy_a",verdict="accepted"} 1`,
			`pingpost_buyer_post_attempts_total{buyer="buy_b",verdict="unreached"} 1`,
		)
	})
}

// Concurrent calls with the same name get the same counter.
func TestCountersByNameCreatesEachOnce(t *testing.T) {
	var mu sync.Mutex
	created := map[string]int{}
	f := countersByName[int]{newOne: func(name string) *int {
		mu.Lock()
		defer mu.Unlock()
		created[name]++
		time.Sleep(time.Millisecond) // gives the other goroutines time to ask for it
		return new(int)
	}}
	var calls sync.WaitGroup
	for range 8 {
		calls.Go(func() {
			for _, name := range []string{"a", "b", "c", "a", "b"} {
				if first, second := f.getOrCreate(name), f.getOrCreate(name); first != second {
					t.Errorf("two counters with the name %s", name)
				}
			}
		})
	}
	calls.Wait()
	if len(created) != 3 || created["a"] != 1 || created["b"] != 1 || created["c"] != 1 {
		t.Errorf("created %v, want each name once", created)
	}
}
