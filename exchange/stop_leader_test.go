package exchange

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"pingpost/engine/event"
	"pingpost/wal"
)

// TestStoppingLeaderHandsOverFirst: the other nodes answer requests while the leader, which stops, waits for
// a request in flight.
func TestStoppingLeaderHandsOverFirst(t *testing.T) {
	t.Parallel()
	reached, release := make(chan struct{}, 10), make(chan struct{})
	buyer := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		reached <- struct{}{}
		<-release
		w.WriteHeader(http.StatusInternalServerError)
	}))
	defer buyer.Close()
	config := strings.Replace(clusterConfig, "buyers:\n", "buyers:\n  - {id: buy_slow, endpoint: "+buyer.URL+", post_timeout: 20s}\n", 1)
	config = strings.Replace(config, "campaigns:\n", "campaigns:\n  - {id: cmp_slow, method: waterfall, buyers: [{buyer: buy_slow, price: 5}]}\n", 1)
	c := startClusterWith(t, config, "a", "b", "c")
	leader := c.waitForLeader()
	var waiting sync.WaitGroup
	waiting.Go(func() { leader.ingest(leadBody(1, "flo_campaign_id", `"cmp_slow"`)) })
	<-reached
	stopped := make(chan struct{})
	go func() {
		leader.stop()
		close(stopped)
	}()
	delete(c.nodes, "a")
	c.waitForLeader().ingest(leadBody(2)).mustHave(t, 201, `"ACCEPTED"`)
	select {
	case <-stopped:
		t.Error("no other node decided before the leader had stopped")
	default:
	}
	close(release)
	<-stopped
	waiting.Wait()
}

// TestNextLeaderRepeatsPostsAtOnce: the next leader sends the posts in flight again, and logs no failed
// attempt before that.
func TestNextLeaderRepeatsPostsAtOnce(t *testing.T) {
	t.Parallel()
	const posts = 20
	reached, release := make(chan struct{}, 10*posts), make(chan struct{})
	buyer := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		reached <- struct{}{}
		<-release
		w.WriteHeader(http.StatusCreated)
	}))
	defer buyer.Close()
	config := strings.Replace(clusterConfig, "buyers:\n", "buyers:\n  - {id: buy_slow, endpoint: "+buyer.URL+", post_timeout: 20s}\n", 1)
	config = strings.Replace(config, "campaigns:\n", "campaigns:\n  - {id: cmp_slow, method: waterfall, buyers: [{buyer: buy_slow, price: 5}]}\n", 1)
	c := startClusterWith(t, config, "a", "b", "c")
	var waiting sync.WaitGroup
	for i := range posts {
		waiting.Go(func() { c.nodes["a"].ingest(leadBody(i, "flo_campaign_id", `"cmp_slow"`)) })
	}
	for range posts {
		<-reached
	}
	next := c.handOver("b")
	for range posts {
		<-reached
	}
	attempts := 0
	forEachLogEntry(t, next.dataDir(), func(_ wal.Entry, ev event.Event) {
		if ev.Kind() == event.KindPostAttemptFailed {
			attempts++
		}
	})
	if attempts > 0 {
		t.Errorf("the log has %d failed attempts before the next leader's first one", attempts)
	}
	close(release)
	waiting.Wait()
}
