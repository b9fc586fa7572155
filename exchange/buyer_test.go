package exchange

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
)

// taker is a buyer's endpoint that does what it is told, post by post.
type taker struct {
	*httptest.Server
	mu    sync.Mutex
	plan  []func(w http.ResponseWriter, r *http.Request) // of the posts to come; after the last: accepts
	posts []seen
}

// seen is a post as it came.
type seen struct {
	path, key, body string
	header          http.Header
}

func newTaker(t testing.TB, plan ...func(http.ResponseWriter, *http.Request)) *taker {
	b := &taker{plan: plan}
	b.Server = httptest.NewServer(b)
	t.Cleanup(func() {
		b.CloseClientConnections()
		b.Close()
	})
	return b
}

func (b *taker) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	b.mu.Lock()
	b.posts = append(b.posts, seen{r.Method + " " + r.URL.Path, r.Header.Get("Idempotency-Key"), string(body), r.Header})
	do := says(201, `{"lead_id":"theirs"}`)
	if len(b.plan) > 0 {
		do, b.plan = b.plan[0], b.plan[1:]
	}
	b.mu.Unlock()
	b.holds(r, body)
	do(w, r)
}

// got is what came so far.
func (b *taker) got() []seen {
	b.mu.Lock()
	defer b.mu.Unlock()
	return append([]seen(nil), b.posts...)
}

func says(status int, body string) func(http.ResponseWriter, *http.Request) {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}
}

// hangs answers nothing until the other side gives up.
func hangs(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }

// delivered is an exchange that posts to two buyers, the second of which comes
// in where the first refuses.
func delivered(first, second *taker) string {
	return head + acme + `buyers:
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

// leadID is the id in an answer.
func (a *answer) leadID() string {
	_, rest, _ := strings.Cut(a.body, `"id":"`)
	id, _, _ := strings.Cut(rest, `"`)
	return id
}
