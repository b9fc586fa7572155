package public

import (
	"bytes"
	"strconv"
	"strings"
	"testing"

	"pingpost/internal/must"
	"pingpost/server/metrics"
)

// phaseCounts are the phases of a path that /metrics shows, with their sums in
// seconds.
func phaseSums(t *testing.T, m *metrics.Meter, path string) map[string]float64 {
	t.Helper()
	var text bytes.Buffer
	m.WriteMetrics(&text)
	sums := map[string]float64{}
	for line := range strings.Lines(text.String()) {
		rest, found := strings.CutPrefix(line, "pingpost_phase_seconds"+`_sum{path="`+path+`",phase="`)
		if !found {
			continue
		}
		phase, value, _ := strings.Cut(strings.TrimSpace(rest), `"} `)
		seconds := must.Value(strconv.ParseFloat(value, 64))(t)
		sums[phase] = seconds
	}
	return sums
}

// TestPhasesOfRequests checks the phases of ingest, ping and post. Rejected requests have
// none.
func TestPhasesOfRequests(t *testing.T) {
	h := holding(t)
	acme := h.token("acme", "")
	body := h.won(acme, "a1")
	if sold := h.post(acme, "k1", body); sold.status != 201 {
		t.Fatal(sold.body)
	}
	if again := h.post(acme, "k2", body); again.status != 409 {
		t.Fatal(again.body)
	}
	for _, path := range []string{"/v1/ping", "/v1/post"} {
		for phase, seconds := range phaseSums(t, h.opt.Meter, path) {
			if seconds <= 0 || seconds > 60 {
				t.Errorf("%s: %s has %v s", path, phase, seconds)
			}
		}
	}
	for phase, seconds := range phaseSums(t, h.opt.Meter, "/api/v1/ingest") {
		if seconds != 0 {
			t.Errorf("an ingest that was not sent has %v s of %s", seconds, phase)
		}
	}
	var text bytes.Buffer
	h.opt.Meter.WriteMetrics(&text)
	if !strings.Contains(text.String(), `pingpost_phase_seconds_count{path="/v1/post",phase="commit"} 1`+"\n") {
		t.Error("a refused post is counted in a phase, or the sold one is not")
	}
}
