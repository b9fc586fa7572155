package exchange

import (
	"strings"
	"sync"
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

// TestKeyIsItsOwners: another supplier's key of the same name is another key.
func TestKeyIsItsOwners(t *testing.T) {
	x := start(t, newPlace(t, recorded))
	x.sold(lead(1), "Idempotency-Key", "k")
	a := request(t, "POST", "http://"+x.Addr()+"/api/v1/ingest", lead(1, "flo_supplier_id", `"sup_other"`),
		"X-Api-Key", otherKey, "Content-Type", typeIsOwn, "Idempotency-Key", "k")
	if a.status != 201 || a.header.Get("Idempotent-Replayed") != "" {
		t.Errorf("%d %s %v", a.status, a.body, a.header)
	}
}

// TestRefusalUsesUpNoKey: what was refused before a fact was logged leaves its
// key free for the mended request.
func TestRefusalUsesUpNoKey(t *testing.T) {
	x := start(t, newPlace(t, recorded))
	key := []string{"Idempotency-Key", "k"}
	x.ingest("{", key...).mustFail(t, 400, "malformed_json")
	x.ingest(lead(1, "phone", ""), key...).mustFail(t, 422, "invalid_payload")
	x.ingest(lead(1, "flo_supplier_id", `"sup_other"`), key...).mustFail(t, 403, "forbidden")
	x.sold(lead(1), key...)
}

// TestAtTheSameInstant: of many requests with one key at once one makes a lead,
// and all get its answer.
func TestAtTheSameInstant(t *testing.T) {
	x := start(t, newPlace(t, recorded))
	const many = 40
	answers := make([]*answer, many)
	var ready, done sync.WaitGroup
	ready.Add(1)
	for i := range many {
		done.Go(func() {
			ready.Wait()
			answers[i] = x.ingest(lead(1), "Idempotency-Key", "k")
		})
	}
	ready.Done()
	done.Wait()
	fresh := 0
	for _, a := range answers {
		if a.status != 201 || a.body != answers[0].body || a.id() != answers[0].id() {
			t.Errorf("%d %s %s, another got %s %s", a.status, a.id(), a.body, answers[0].id(), answers[0].body)
		}
		if a.header.Get("Idempotent-Replayed") == "" {
			fresh++
		}
	}
	if fresh != 1 || x.state.LeadCount() != 1 {
		t.Errorf("%d first answers, %d leads", fresh, x.state.LeadCount())
	}
}
