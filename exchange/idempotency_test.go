package exchange

import (
	"strings"
	"testing"
)

// TestReplay: the same key and body get the same bytes, and the first one's
// request id, however the exchange went on in between.
func TestReplay(t *testing.T) {
	for _, row := range []struct {
		name  string
		since func(t *testing.T, x *running) *running
	}{
		{"at once", func(_ *testing.T, x *running) *running { return x }},
		{"over a restart", func(_ *testing.T, x *running) *running { return x.again() }},
		{"over two", func(_ *testing.T, x *running) *running { return x.again().again() }},
		{"over a crash", func(t *testing.T, x *running) *running { return start(t, x.copy(t)) }},
		{"over a snapshot and a crash", func(t *testing.T, x *running) *running {
			x.snapshot()
			x.sold(lead(9))
			return start(t, x.copy(t))
		}},
	} {
		t.Run(row.name, func(t *testing.T) {
			x := start(t, newPlace(t, recorded))
			first := x.sold(lead(1), "Idempotency-Key", "k1")
			lost := x.ingest(lead(2, "state", `"NY"`), "Idempotency-Key", "k2")
			if !strings.Contains(lost.body, "no_state_match") {
				t.Fatal(lost)
			}
			x = row.since(t, x)
			leads := x.state.LeadCount()
			again := x.ingest(lead(1), "Idempotency-Key", "k1")
			again.isReplayOf(t, first)
			x.ingest(lead(1), "Idempotency-Key", `"k1"`).isReplayOf(t, first)
			x.ingest(lead(2, "state", `"NY"`), "Idempotency-Key", "k2").isReplayOf(t, lost)
			x.ingest(lead(3), "Idempotency-Key", "k1").mustFail(t, 422, "idempotency_key_reused")
			if now := x.state.LeadCount(); now != leads {
				t.Errorf("%d leads more", now-leads)
			}
		})
	}
}

func (a *answer) isReplayOf(t testing.TB, first *answer) {
	t.Helper()
	if a.status != first.status || a.body != first.body || a.id() != first.id() {
		t.Errorf("replayed as %d %s %s\nwant %d %s %s", a.status, a.id(), a.body, first.status, first.id(), first.body)
	}
	if a.header.Get("Idempotent-Replayed") != "true" || first.header.Get("Idempotent-Replayed") == "true" {
		t.Error("Idempotent-Replayed is not on the second answer alone")
	}
}
