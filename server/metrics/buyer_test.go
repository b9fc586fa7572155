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

// TestFailing checks that a rejected lead is not a failure, and a rejected caller is one.
func TestFailing(t *testing.T) {
	for _, row := range []struct {
		name    string
		verdict market.PostVerdict
		status  int
		want    bool
	}{
		{"taken", market.VerdictAccepted, 201, false},
		{"busy", market.VerdictBusy, 429, false},
		{"not wanted", market.VerdictRefused, 422, false},
		{"not wanted, with a 200", market.VerdictRefused, 200, false},
		{"known already", market.VerdictRefused, 409, false},
		{"moved", market.VerdictRefused, 301, true},
		{"not let in", market.VerdictRefused, 401, true},
		{"forbidden", market.VerdictRefused, 403, true},
		{"no such page", market.VerdictRefused, 404, true},
		{"no such method", market.VerdictRefused, 405, true},
		{"not read", market.VerdictRefused, 415, true},
		{"nobody there", market.VerdictNotSent, 0, true},
		{"broken", market.VerdictUnknown, 500, true},
		{"silent", market.VerdictUnknown, 0, true},
	} {
		if got := isFailedPost(&market.PostResult{Verdict: row.verdict, Status: row.status}); got != row.want {
			t.Errorf("%s: %v", row.name, got)
		}
	}
}

// TestFailuresAreToldOnceAMinute: a line for each buyer that fails, with the
// number of failures since its last one, however often it does.
func TestFailuresAreToldOnceAMinute(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var lines bytes.Buffer
		m := NewMeter(func(string, error) {})
		m.SetLogger(slog.New(slog.NewTextHandler(&lines, nil)))
		down := &market.PostResult{Verdict: market.VerdictUnknown, Status: 503, Code: "unavailable"}
		heard := func(want ...string) {
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
		m.PostAttempted("buy_a", &market.PostResult{Verdict: market.VerdictAccepted})
		heard()
		m.PostAttempted("buy_a", down)
		m.PostAttempted("buy_b", &market.PostResult{Verdict: market.VerdictNotSent, Fault: market.FaultConnect})
		heard(
			"buyer_id=buy_a failures=1 verdict=unknown fault=none status=503 code=unavailable",
			`buyer_id=buy_b failures=1 verdict=unreached fault=connect status=0 code=""`)
		var crowd sync.WaitGroup
		for range 20 {
			crowd.Go(func() {
				for range 10 {
					m.PostAttempted("buy_a", down)
				}
			})
		}
		crowd.Wait()
		time.Sleep(throttleFor - 1)
		m.PostAttempted("buy_a", down)
		heard()
		time.Sleep(time.Nanosecond)
		m.PostAttempted("buy_a", down)
		m.PostAttempted("buy_a", down)
		heard("buyer_id=buy_a failures=202 verdict=unknown fault=none status=503 code=unavailable")

		servertest.RequireMetrics(
			t, m,
			`pingpost_buyer_post_attempts_total{buyer="buy_a",verdict="unknown"} 204`,
			`pingpost_buyer_post_attempts_total{buyer="buy_a",verdict="accepted"} 1`,
			`pingpost_buyer_post_attempts_total{buyer="buy_b",verdict="unreached"} 1`,
		)
	})
}

// TestFamilyMakesOneOfAName, whoever asks first.
func TestFamilyMakesOneOfAName(t *testing.T) {
	var mu sync.Mutex
	made := map[string]int{}
	f := countersByName[int]{newOne: func(name string) *int {
		mu.Lock()
		defer mu.Unlock()
		made[name]++
		time.Sleep(time.Millisecond) // all the others are there by then
		return new(int)
	}}
	var crowd sync.WaitGroup
	for range 8 {
		crowd.Go(func() {
			for _, name := range []string{"a", "b", "c", "a", "b"} {
				if one, same := f.get(name), f.get(name); one != same {
					t.Errorf("two of the name %s", name)
				}
			}
		})
	}
	crowd.Wait()
	if len(made) != 3 || made["a"] != 1 || made["b"] != 1 || made["c"] != 1 {
		t.Errorf("made %v", made)
	}
}
