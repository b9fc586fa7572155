package exchange

import (
	"net/http"
	"strings"
	"testing"
)

// TestHandOverDuringPost: the leader changes while a buyer has not answered a post yet. A request with an
// Idempotency-Key gets the answer of the next leader, which posts the lead again, as if it were the first one.
// Another request gets a 503, because a repeat could be a second lead.
func TestHandOverDuringPost(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		headers []string
		follow  bool // the client sends the request to a follower
		status  int
	}{
		"key":             {[]string{"Idempotency-Key", "k"}, false, 201},
		"key at follower": {[]string{"Idempotency-Key", "k"}, true, 201},
		"no key":          {nil, false, 503},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			arrived, ended := make(chan struct{}), make(chan struct{})
			slow := func(w http.ResponseWriter, r *http.Request) {
				close(arrived)
				<-ended
				reply(201, `{"lead_id":"theirs"}`)(w, r)
			}
			buyer := newFakeBuyer(t, slow)
			config := strings.Replace(clusterConfig, "{id: buy_blue}", `{id: buy_blue, endpoint: "`+buyer.URL+`", auth: {bearer: "${BLUE_TOKEN}"}}`, 1)
			c := startClusterWith(t, config, "a", "b", "c")
			to := c.waitForLeader()
			if row.follow {
				to = c.nodes["b"]
			}
			answers := make(chan *answer, 1)
			go func() { answers <- to.ingest(leadBody(1), row.headers...) }()
			<-arrived
			next := c.handOver("c")
			close(ended)
			got := <-answers
			if got.status != row.status || got.header.Get("Idempotent-Replayed") != "" {
				t.Fatalf("the client gets %d %v %s, want status %d", got.status, got.header, got.body, row.status)
			}
			if row.status != 201 {
				return
			}
			repeat := next.ingest(leadBody(1), row.headers...)
			if repeat.body != got.body || repeat.requestID() != got.requestID() || repeat.header.Get("Idempotent-Replayed") != "true" {
				t.Errorf("a repeat gets %v %s, and the request got %v %s", repeat.header, repeat.body, got.header, got.body)
			}
			if posts := buyer.received(); len(posts) != 2 || posts[0].key != posts[1].key {
				t.Errorf("the buyer got the posts %v, want the same one twice", posts)
			}
		})
	}
}
