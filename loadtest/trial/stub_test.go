package trial

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"pingpost/internal/must"
	"pingpost/loadtest/refbuyer"
	"pingpost/loadtest/scenario"
)

// stub is an exchange with one buyer and a webhook receiver. By default it sells every
// lead, and all accounts agree. Tests change its behaviour.
type stub struct {
	*httptest.Server
	mu       sync.Mutex
	leads    int
	stats    refbuyer.Stats
	taken    []string // leads that the buyer accepted
	accepted int      // accepted leads in the exchange's metrics
	events   []string
	extra    string // further lines of /metrics
	key      string // Idempotency-Key of the request that is being answered

	ingest       func(lead int) (status int, body string) // replaces the answers
	ping         func() (status int, body string)
	post         func(lead int) (status int, body string)
	lose         func(lead int) bool // the buyer loses the lead
	noRetryAfter bool                // refusals without Retry-After
	mute         bool                // send no webhook
	open         func() int          // open deliveries
	metricsErr   string              // path that is missing
}

func newStub(t *testing.T) *stub {
	t.Helper()
	s := new(stub)
	s.Server = httptest.NewServer(http.HandlerFunc(s.answer))
	t.Cleanup(func() {
		http.DefaultClient.CloseIdleConnections()
		s.Close()
	})
	return s
}

const stubPrice = 7_500_000

func (s *stub) answer(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, _ = io.Copy(io.Discard, r.Body)
	status, body := 200, ""
	s.key = r.Header.Get("Idempotency-Key")
	switch r.URL.Path {
	case s.metricsErr:
		status = 404
	case "/metrics":
		open := 0
		if s.open != nil {
			open = s.open()
		}
		body = fmt.Sprintf("pingpost_leads_total{status=\"ACCEPTED\",reason=\"\"} %d\npingpost_open_deliveries %d\n%s", s.accepted, open, s.extra)
	case "/stats":
		text, _ := json.Marshal(s.stats)
		body = strings.TrimSuffix(string(text), "}") + fmt.Sprintf(`,"distinct":%d}`, len(s.events))
	case "/leads":
		for _, lead := range s.taken {
			body += fmt.Sprintf(`{"key":"k","lead_uuid":%q,"lead_id":"theirs"}`+"\n", lead)
		}
	case "/events":
		body = strings.Join(s.events, "\n")
	case "/v1/ping":
		status, body = 200, `{"auction_id":"a","bid":{"amount":7.5,"bid_token":"bid_x"}}`
		if s.ping != nil {
			status, body = s.ping()
		}
	default:
		status, body = s.sell(r.URL.Path)
	}
	if (status == 429 || status == 503) && !s.noRetryAfter {
		w.Header().Set("Retry-After", "1")
	}
	w.Header().Set("Content-Length", fmt.Sprint(len(body)))
	w.WriteHeader(status)
	_, _ = io.WriteString(w, body)
}

func (s *stub) sell(path string) (status int, body string) {
	s.leads++
	instead := s.ingest
	if path == "/v1/post" {
		instead = s.post
	}
	if instead != nil {
		if status, body = instead(s.leads); status != 0 {
			return status, body
		}
	}
	id := fmt.Sprintf("lead_%d", s.leads)
	s.accepted++
	if s.lose == nil || !s.lose(s.leads) {
		s.taken = append(s.taken, id)
		s.stats.Accepted++
		s.stats.Revenue += stubPrice
	}
	if !s.mute {
		s.events = append(s.events, fmt.Sprintf(`{"id":"evt_%d","type":"lead.posted","lead_id":%q}`, s.leads, id))
	}
	if path == "/v1/post" {
		return 201, fmt.Sprintf(`{"auction_id":"a","lead_id":"theirs","id":%q,"status":"ACCEPTED","buyer_id":"buy","price":{"amount":7.5,"currency":"USD"}}`, id)
	}
	return 201, fmt.Sprintf(`{"data":{"id":%q,"status":"ACCEPTED","buyer_id":"buy","price":{"amount":7.5,"currency":"USD"}}}`, id)
}

func (s *stub) target() *Target {
	return &Target{
		Addr: strings.TrimPrefix(s.URL, "http://"), Admin: s.URL, Supplier: "sup", APIKey: "k", Campaigns: []string{"cmp"},
		Token: "t", Vertical: "v", Buyers: map[string]string{"buy": s.URL}, Receiver: s.URL, Whole: true,
	}
}

// stubScenario returns a short scenario for the stub.
func stubScenario(t *testing.T, kinds, more string) *scenario.Scenario {
	t.Helper()
	s, err := scenario.Parse("stub.yaml", []byte(`name: stub
kinds: `+kinds+`
phases:
  - {name: warm, for: 50ms, rate: 100, arrival: fixed, warmup: true}
  - {name: steady, for: 300ms, rate: 100, arrival: fixed}
campaigns: [{method: ping_post}]
buyers: [{bid: "7.5"}]
`+more))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func (s *stub) tried(t *testing.T, of *scenario.Scenario) *Result {
	t.Helper()
	r := must.Value(Run(t.Context(), of, s.target(), Options{Seed: 3, Settling: time.Second}))(t)
	return r
}

// missed returns the limits that were not held.
func missed(r *Result) (what []string) {
	for _, l := range r.Limits {
		if !l.Held {
			what = append(what, l.What)
		}
	}
	return what
}
