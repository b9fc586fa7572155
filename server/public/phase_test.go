package public

import (
	"bytes"
	"strconv"
	"strings"
	"testing"

	"pingpost/internal/must"
	"pingpost/server/metrics"
)

// phaseSums returns the phases of a path in /metrics, with their sums in seconds.
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

// /metrics has the phases of pings and posts. Rejected requests have none.
func TestRequestPhasesAreMeasured(t *testing.T) {
	h := newAuctionExchange(t)
	acme := h.requestToken("acme", "")
	body := h.postBodyForNewBid(acme, "a1")
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
			t.Errorf("got %v s of phase %s for ingest, but no lead was ingested", seconds, phase)
		}
	}
	var text bytes.Buffer
	h.opt.Meter.WriteMetrics(&text)
	if !strings.Contains(text.String(), `pingpost_phase_seconds_count{path="/v1/post",phase="commit"} 1`+"\n") {
		t.Error("want one commit phase, of the sold post and not of the rejected one")
	}
}
