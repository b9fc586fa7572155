package main

import (
	"context"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"pingpost/internal/must"
)

// The suite must detect faulty SDKs: an SDK without the mistake passes the case, and one with
// it fails for the expected reason.
func TestMistakes(t *testing.T) {
	if _, err := exec.LookPath("go"); err != nil {
		t.Skip("needs go, to build the exchange")
	}
	w := testWorld(t)
	themes := must.Value(readThemes("cases"))(t)
	for _, m := range []struct{ mistake, at, finding string }{
		{"never tries again", "retries: what passes is tried again", "slept"},
		{"does not wait", "retries: what passes is tried again", "~between 1 1.1"},
		{"tries all again", "retries: no other error is tried again", "slept"},
		{"passes over Retry-After", "retries: as many seconds as Retry-After says", "~between 7 7.7"},
		{"other bytes", "retries: a connection that breaks", "text differs"},
		{"a key for each try", "idempotency: an answer that was lost", "result.replayed: false, want true"},
		{"hides replays", "idempotency: a key that is given", "replayed: false, want true"},
		{"loses the key", "idempotency: the same key with something else", "idempotency_key: missing"},
		{"tells its key", "errors: a key that is nobody's", "the error contains a credential"},
		{"tells the lead", "errors: one field that is wrong", "the error contains personal data"},
		{"money as float32", "errors: what is new in an answer", "1234.5679"},
		{"null is absent", "ingest: a lead that nobody takes", "buyer_id: missing"},
		{"absent is null", "ingest: a lead that nobody takes", "price: present"},
		{"a token for each call", "tokens: none before it is needed", "want 1"},
		{"verifies nothing", "webhooks: refused: another secret", "error: missing"},
		{"has no clock", "webhooks: refused: too late", "error: missing"},
		{"takes a post twice", "buyers: posts under the same key at once", "post_calls: 4, want 2"},
		{"dies", "errors: one field that is wrong", "the driver's output ended"},
		{"chats", "errors: one field that is wrong", "wrote an invalid line"},
	} {
		t.Run(m.mistake, func(t *testing.T) {
			cases := selectThemes(themes, m.at)
			if len(cases) != 1 {
				t.Fatalf("%q is in %d themes", m.at, len(cases))
			}
			for _, v := range playNaive(t, w, "", cases) {
				if len(v.wrong) > 0 {
					t.Errorf("without the mistake: %s: %s", v.name, v.wrong)
				}
			}
			var found []string
			for _, v := range playNaive(t, w, m.mistake, cases) {
				found = append(found, v.wrong...)
			}
			if !strings.Contains(strings.Join(found, "\n"), m.finding) {
				t.Errorf("found %q, want %q", found, m.finding)
			}
		})
	}
}

func playNaive(t *testing.T, w *world, mistake string, cases []theme) []caseResult {
	t.Helper()
	verdicts, err := runCases(t.Context(), w, (&fakeSDK{mistake: mistake}).start, cases)
	if err != nil && mistake != "chats" {
		t.Fatal(err)
	}
	if err != nil { // the driver could not describe itself
		verdicts = append(verdicts, caseResult{wrong: []string{err.Error()}})
	}
	if len(verdicts) == 0 {
		t.Fatal("no case was played")
	}
	return verdicts
}

func testWorld(t *testing.T) *world {
	t.Helper()
	place := t.TempDir()
	program := filepath.Join(place, "pingpost")
	must.Succeed(t, buildExchange(t.Context(), filepath.Join("..", ".."), program))
	w := must.Value(openWorld(context.Background(), place, program))(t) // the world ends after the test's context
	t.Cleanup(func() {
		if err := w.close(); err != nil {
			t.Error(err)
		}
	})
	return w
}
