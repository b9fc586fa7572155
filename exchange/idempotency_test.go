package exchange

import (
	"strings"
	"testing"
)

// TestIdempotentReplay: the same key and body get the same bytes and request id, also after
// restarts and crashes.
func TestIdempotentReplay(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name    string
		between func(t *testing.T, x *testExchange) *testExchange
	}{
		{"at once", func(_ *testing.T, x *testExchange) *testExchange { return x }},
		{"over a restart", func(_ *testing.T, x *testExchange) *testExchange { return x.restart() }},
		{"over two restarts", func(_ *testing.T, x *testExchange) *testExchange { return x.restart().restart() }},
		{"over a crash", func(t *testing.T, x *testExchange) *testExchange { return start(t, x.copyFiles(t)) }},
		{"over a snapshot and a crash", func(t *testing.T, x *testExchange) *testExchange {
			x.mustSnapshot()
			x.mustSell(leadBody(9))
			return start(t, x.copyFiles(t))
		}},
	} {
		t.Run(row.name, func(t *testing.T) {
			x := start(t, newTestDir(t, baseConfig))
			first := x.mustSell(leadBody(1), "Idempotency-Key", "k1")
			unsold := x.ingest(leadBody(2, "state", `"NY"`), "Idempotency-Key", "k2")
			if !strings.Contains(unsold.body, "no_state_match") {
				t.Fatalf("unexpected answer to an unsold lead: %v", unsold)
			}
			x = row.between(t, x)
			leads := x.state.LeadCountWithExpired()
			again := x.ingest(leadBody(1), "Idempotency-Key", "k1")
			again.mustBeReplayOf(t, first)
			x.ingest(leadBody(1), "Idempotency-Key", `"k1"`).mustBeReplayOf(t, first)
			x.ingest(leadBody(2, "state", `"NY"`), "Idempotency-Key", "k2").mustBeReplayOf(t, unsold)
			x.ingest(leadBody(3), "Idempotency-Key", "k1").mustFail(t, 422, "idempotency_key_reused")
			if now := x.state.LeadCountWithExpired(); now != leads {
				t.Errorf("%d new leads, want none", now-leads)
			}
		})
	}
}

// mustBeReplayOf checks that an answer has the same bytes and request id as the first one.
func (a *answer) mustBeReplayOf(t testing.TB, first *answer) {
	t.Helper()
	if a.status != first.status || a.body != first.body || a.requestID() != first.requestID() {
		t.Errorf("replayed answer %d %s %s\nwant %d %s %s", a.status, a.requestID(), a.body, first.status, first.requestID(), first.body)
	}
	if a.header.Get("Idempotent-Replayed") != "true" || first.header.Get("Idempotent-Replayed") == "true" {
		t.Error("Idempotent-Replayed must be in the second answer only")
	}
}
