package exchange

import (
	"net/http"
	"strings"
	"testing"
	"time"
)

const rateLimitedSuppliers = configHead + `suppliers:
  - {id: sup_acme, api_key: "${ACME_KEY}", ingest_rate: 5}
  - {id: sup_other, api_key: "${OTHER_KEY}", ingest_rate: 1000000}
`

// TestRateLimitHeaderSpelling: answers of 201 and 429 spell the headers as in the contract.
func TestRateLimitHeaderSpelling(t *testing.T) {
	t.Parallel()
	// One lead a second, so that a busy machine also exceeds the limit.
	config := strings.Replace(baseConfig, configHead+configSuppliers, rateLimitedSuppliers, 1)
	x := start(t, newTestDir(t, strings.Replace(config, "ingest_rate: 5}", "ingest_rate: 1}", 1)))
	w := dial(t, x.PublicAddress())
	for seen := map[int]bool{}; !seen[201] || !seen[429]; time.Sleep(20 * time.Millisecond) {
		before := w.received.Len()
		w.send(ingestRequest(leadBody(1)))
		a := w.readAnswer("POST")
		seen[a.status] = true
		lines := []string{"X-RateLimit-Limit: 1\r\n", "X-RateLimit-Remaining: ", "X-RateLimit-Reset: 1", "X-Request-Id: req_"}
		if a.status != 201 {
			a.mustFail(t, 429, "rate_limited")
			lines = append(lines, "X-RateLimit-Remaining: 0\r\n", "Retry-After: 1\r\n")
		}
		for _, line := range lines {
			if head := w.received.String()[before:]; !strings.Contains(head, "\r\n"+line) {
				t.Fatalf("answer %d lacks the line %q: %q", a.status, line, head)
			}
		}
	}
}

func TestReloadChangesRateLimit(t *testing.T) {
	t.Parallel()
	config := strings.Replace(baseConfig, configHead+configSuppliers, rateLimitedSuppliers, 1)
	x := start(t, newTestDir(t, strings.Replace(config, "ingest_rate: 5}", "ingest_rate: 1}", 1)))
	x.exhaustRateLimit(acmeKey)
	x.reloadWith(strings.Replace(config, "ingest_rate: 5}", "ingest_rate: 50000}", 1))
	eventually(t, "the new rate applies", func() bool {
		a := x.ingest(leadBody(1))
		return a.status == http.StatusCreated && a.header.Get("X-Ratelimit-Limit") == "50000"
	})
}

// TestRestartFillsRateLimitBuckets: a client that sends a full burst gets no 429, at the first
// start and after a restart with an empty bucket.
func TestRestartFillsRateLimitBuckets(t *testing.T) {
	t.Parallel()
	const burst = 10
	config := strings.Replace(baseConfig, configHead+configSuppliers, rateLimitedSuppliers, 1)
	x := start(t, newTestDir(t, strings.Replace(config, "ingest_rate: 5}", "ingest_rate: 10}", 1)))
	for _, when := range []string{"at the first start", "after a restart"} {
		statuses := make(chan int, burst)
		for i := range burst {
			go func() { statuses <- x.ingest(leadBody(i)).status }()
		}
		for range burst {
			if status := <-statuses; status != http.StatusCreated {
				t.Errorf("%s: got %d, want 201", when, status)
			}
		}
		x.exhaustRateLimit(acmeKey)
		x = x.restart()
	}
}
