package exchange

import (
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"
)

const rated = head + `suppliers:
  - {id: sup_acme, api_key: "${ACME_KEY}", ingest_rate: 5}
  - {id: sup_other, api_key: "${OTHER_KEY}", ingest_rate: 1000000}
`

// TestRateLimitOnTheWire: the header lines are spelled as the contract spells
// them, on the refusal and on what is let through.
func TestRateLimitOnTheWire(t *testing.T) {
	x := start(t, newPlace(t, strings.Replace(recorded, head+acme, rated, 1)))
	w := dial(t, x.PublicAddress())
	ask := func() (a *answer, bytes string) {
		before := w.heard.Len()
		w.say(post(lead(1)))
		a = w.next("POST")
		return a, w.heard.String()[before:]
	}
	var refused, taken bool // that the first is refused, a test with its own time shows
	for begun := time.Now(); !refused || !taken; time.Sleep(20 * time.Millisecond) {
		a, bytes := ask()
		for _, name := range []string{"X-RateLimit-Limit: 5\r\n", "X-RateLimit-Remaining: ", "X-RateLimit-Reset: ", "X-Request-Id: req_"} {
			if !strings.Contains(bytes, "\r\n"+name) {
				t.Fatalf("no line %q in %q", name, bytes)
			}
		}
		left, err := strconv.Atoi(a.header.Get("X-Ratelimit-Remaining"))
		if err != nil || left < 0 || left >= 5 {
			t.Errorf("X-RateLimit-Remaining %d, %v", left, err)
		}
		reset, err := strconv.ParseInt(a.header.Get("X-Ratelimit-Reset"), 10, 64)
		if err != nil || reset < begun.Unix() || reset > time.Now().Unix()+2 {
			t.Errorf("X-RateLimit-Reset %d at %d, %v", reset, time.Now().Unix(), err)
		}
		if a.status == 201 {
			taken = true
			continue
		}
		a.mustFail(t, 429, "rate_limited")
		refused = true
		if !strings.Contains(bytes, "\r\nRetry-After: 1\r\n") || left != 0 {
			t.Fatalf("refused with %d left in %q", left, bytes)
		}
	}
}

// TestRateFollowsTheConfiguration: a reload changes the rate.
func TestRateFollowsTheConfiguration(t *testing.T) {
	config := strings.Replace(recorded, head+acme, rated, 1)
	p := newPlace(t, strings.Replace(config, "ingest_rate: 5}", "ingest_rate: 1}", 1))
	x := start(t, p)
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
