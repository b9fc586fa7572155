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

// soon is a deadline for rows that are meant to run into it; ample is one for
// all the others.
const (
	shortTimeout = 600 * time.Millisecond
	longTimeout  = 20 * time.Second
)

// endpoint is a buyer made of sockets.
type endpoint struct{ *dialtest.Endpoint }

type reply = dialtest.ReplyFunc

func listen(t *testing.T, replies ...reply) *endpoint {
	t.Helper()
	return &endpoint{dialtest.StartEndpoint(t, replies...)}
}

func answers(status, body string, headers ...string) reply {
	return dialtest.ReplyWithAnswer(status, body, headers...)
}

// newClient makes a client that trusts loopback and knows no secret.
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

// leadTo is a post of a lead to an address.
func postTo(url string, within time.Duration) *market.PostRequest {
	return &market.PostRequest{
		Endpoint:       market.Endpoint{URL: url},
		IdempotencyKey: "key-1",
		RequestID:      market.RequestID{1},
		Body:           []byte(`{"auction_id":"auc_1","lead":{"lead_uuid":"lead_1"}}`),
		Deadline:       time.Now().Add(within),
	}
}

func (e *endpoint) post() string { return "http://" + e.Address + "/v1/post" }

// withoutElapsed leaves of a result what a table can state.
func withoutElapsed(r market.PostResult) market.PostResult {
	r.Elapsed = 0
	return r
}

// warm opens n connections to a buyer and leaves them idle. The buyer's first n
// replies have to be by dialtest.Together(n).
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

// idleOf is how many idle connections a client keeps to the buyer.
func (e *endpoint) idleOf(client *Client) int {
	target, _ := client.hosts.FindTarget(dial.ConnOwner{}, e.post())
	_, idle := target.CountConnections()
	return idle
}
