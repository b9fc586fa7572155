package exchange

import (
	"net/http"
	"strings"
	"testing"
	"time"
)

const rated = head + `suppliers:
  - {id: sup_acme, api_key: "${ACME_KEY}", ingest_rate: 5}
  - {id: sup_other, api_key: "${OTHER_KEY}", ingest_rate: 1000000}
`

// TestRateLimitOnTheWire: the header lines are spelled as the contract spells them, on the
// refusal and on an accepted request.
func TestRateLimitOnTheWire(t *testing.T) {
	x := start(t, newPlace(t, strings.Replace(recorded, head+acme, rated, 1)))
	w := dial(t, x.PublicAddress())
	for seen := map[int]bool{}; !seen[201] || !seen[429]; time.Sleep(20 * time.Millisecond) {
		before := w.heard.Len()
		w.say(post(lead(1)))
		a := w.next("POST")
		seen[a.status] = true
		lines := []string{"X-RateLimit-Limit: 5\r\n", "X-RateLimit-Remaining: ", "X-RateLimit-Reset: 1", "X-Request-Id: req_"}
		if a.status != 201 {
			a.mustFail(t, 429, "rate_limited")
			lines = append(lines, "X-RateLimit-Remaining: 0\r\n", "Retry-After: 1\r\n")
		}
		for _, line := range lines {
			if heard := w.heard.String()[before:]; !strings.Contains(heard, "\r\n"+line) {
				t.Fatalf("%d without a line %q: %q", a.status, line, heard)
			}
		}
	}
}

// TestRateFollowsTheConfiguration: a reload changes the rate.
func TestRateFollowsTheConfiguration(t *testing.T) {
	config := strings.Replace(recorded, head+acme, rated, 1)
	x := start(t, newPlace(t, strings.Replace(config, "ingest_rate: 5}", "ingest_rate: 1}", 1)))
	x.drain(acmeKey)
	x.reloadWith(strings.Replace(config, "ingest_rate: 5}", "ingest_rate: 50000}", 1))
	eventually(t, "the new rate is told", func() bool {
		a := x.ingest(lead(1))
		return a.status == http.StatusCreated && a.header.Get("X-Ratelimit-Limit") == "50000"
	})
}

// TestRestartFillsTheBuckets: a client that sends as many requests at once as its rate
// allows gets no 429, at the first start and after a restart that finds its bucket empty.
func TestRestartFillsTheBuckets(t *testing.T) {
	const burst = 10
	config := strings.Replace(recorded, head+acme, rated, 1)
	x := start(t, newPlace(t, strings.Replace(config, "ingest_rate: 5}", "ingest_rate: 10}", 1)))
	for _, when := range []string{"at the first start", "after a restart"} {
		statuses := make(chan int, burst)
		for i := range burst {
			go func() { statuses <- x.ingest(lead(i)).status }()
		}
		for range burst {
			if status := <-statuses; status != http.StatusCreated {
				t.Errorf("%s: %d", when, status)
			}
		}
		x.drain(acmeKey)
		x = x.again()
	}
}
