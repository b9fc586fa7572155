package exchange

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
)

// fakeBuyer is a buyer's endpoint that records posts and answers each with the next planned reply.
type fakeBuyer struct {
	*httptest.Server
	mu      sync.Mutex
	replies []func(w http.ResponseWriter, r *http.Request) // to the next posts; then each post is accepted
	posts   []receivedPost
}

// receivedPost is a post to a fake buyer.
type receivedPost struct {
	path, key, body string
	header          http.Header
}

func newFakeBuyer(t testing.TB, plan ...func(http.ResponseWriter, *http.Request)) *fakeBuyer {
	b := &fakeBuyer{replies: plan}
	b.Server = httptest.NewServer(b)
	t.Cleanup(func() {
		b.CloseClientConnections()
		b.Close()
	})
	return b
}

func (b *fakeBuyer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	b.mu.Lock()
	b.posts = append(b.posts, receivedPost{r.Method + " " + r.URL.Path, r.Header.Get("Idempotency-Key"), string(body), r.Header})
	respond := reply(201, `{"lead_id":"theirs"}`)
	if len(b.replies) > 0 {
		respond, b.replies = b.replies[0], b.replies[1:]
	}
	b.mu.Unlock()
	b.checkContract(r, body)
	respond(w, r)
}

// received returns the posts so far.
func (b *fakeBuyer) received() []receivedPost {
	b.mu.Lock()
	defer b.mu.Unlock()
	return append([]receivedPost(nil), b.posts...)
}

func reply(status int, body string) func(http.ResponseWriter, *http.Request) {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}
}

// hang waits until the client disconnects.
func hang(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }

// hangUntil waits until ended is closed or the client disconnects, and then closes the connection.
func hangUntil(ended chan struct{}) func(http.ResponseWriter, *http.Request) {
	return func(_ http.ResponseWriter, r *http.Request) {
		select {
		case <-ended:
		case <-r.Context().Done():
		}
		panic(http.ErrAbortHandler)
	}
}

// deliveryConfig posts to two buyers. The second one gets leads that the first one refuses.
func deliveryConfig(first, second *fakeBuyer) string {
	return configHead + configSuppliers + `buyers:
  - {id: buy_blue, endpoint: "` + first.URL + `", auth: {bearer: "${BLUE_TOKEN}"}, funds: {balance: 1000}}
  - {id: buy_red, endpoint: "` + second.URL + `/red/", auth: {api_key: "${BLUE_TOKEN}", header: X-Red}}
campaigns:
  - id: cmp
    method: waterfall
    duplicates: {window: 0s}
    fields: [{name: rooms, type: integer, to: room_count}]
    buyers:
      - {buyer: buy_blue, price: 5, caps: [{per: total, count: 3}]}
      - {buyer: buy_red, price: 4}
`
}

// leadID returns the lead's id in an answer.
func (a *answer) leadID() string {
	_, rest, _ := strings.Cut(a.body, `"id":"`)
	id, _, _ := strings.Cut(rest, `"`)
	return id
}
