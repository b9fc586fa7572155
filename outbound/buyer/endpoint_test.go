package buyer

import (
	"net/netip"
	"sync"
	"testing"
	"time"

	"pingpost/engine/market"
	"pingpost/outbound/dial"
	"pingpost/outbound/dial/dialtest"
)

var loopback = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}

// shortTimeout is for rows that must reach it; longTimeout is for all others.
const (
	shortTimeout = 600 * time.Millisecond
	longTimeout  = 20 * time.Second
)

// endpoint is a buyer's server on real sockets.
type endpoint struct{ *dialtest.Endpoint }

type reply = dialtest.ReplyFunc

func listen(t *testing.T, replies ...reply) *endpoint {
	t.Helper()
	return &endpoint{dialtest.StartEndpoint(t, replies...)}
}

func answers(status, body string, headers ...string) reply {
	return dialtest.ReplyWithAnswer(status, body, headers...)
}

// newClient returns a client that trusts loopback and has no secrets.
func newClient(t *testing.T, change func(*Options)) *Client {
	t.Helper()
	options := Options{
		Secrets:         func(string) (string, bool) { return "", false },
		TrustedNetworks: loopback,
	}
	if change != nil {
		change(&options)
	}
	c := New(options)
	t.Cleanup(c.Close)
	return c
}

// postTo returns a post of a lead to an address.
func postTo(url string, within time.Duration) *market.BuyerPostRequest {
	return &market.BuyerPostRequest{
		Endpoint:       market.OutboundEndpoint{URL: url},
		IdempotencyKey: "key-1",
		RequestID:      market.RequestID{1},
		Body:           []byte(`{"auction_id":"auc_1","lead":{"lead_uuid":"lead_1"}}`),
		Deadline:       time.Now().Add(within),
	}
}

func (e *endpoint) post() string { return "http://" + e.Address + "/v1/post" }

// withoutElapsed clears the part of a result that no table can state.
func withoutElapsed(r market.BuyerPostResult) market.BuyerPostResult {
	r.Elapsed = 0
	return r
}

// openIdleConns opens n connections to a buyer and leaves them idle. The buyer's first n
// replies must be those of dialtest.AnswerOnceAllArrived(n).
func openIdleConns(t *testing.T, client *Client, buyer *endpoint, n int) {
	t.Helper()
	var posting sync.WaitGroup
	for range n {
		posting.Go(func() {
			if got := client.Post(postTo(buyer.post(), longTimeout)); got.Verdict != market.VerdictAccepted {
				t.Errorf("got %+v", got)
			}
		})
	}
	posting.Wait()
	if idle := buyer.idleOf(client); idle != n {
		t.Fatalf("%d idle connections, want %d", idle, n)
	}
}

// idleOf returns the number of idle connections that a client keeps to the buyer.
func (e *endpoint) idleOf(client *Client) int {
	target, _ := client.hosts.FindOrCreateTarget(dial.ConnOwner{}, e.post())
	_, idle := target.CountConnsToHost()
	return idle
}
