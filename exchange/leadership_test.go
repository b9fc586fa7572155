package exchange

import (
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"pingpost/engine/event"
	"pingpost/wal"
)

// endLeadership ends the leadership of a cluster's only node, which then leads again at once.
func (r *testExchange) endLeadership() {
	r.t.Helper()
	if err := r.cluster.member.Load().HandOver(""); err == nil {
		r.t.Fatal("the only node made another one the leader")
	}
}

// waitForLeadership waits until the node decides in its leadership with this number.
func (r *testExchange) waitForLeadership(number uint64) {
	r.t.Helper()
	eventually(r.t, "the node leads again", func() bool { return r.cluster.leaderships.Load() == number && r.mayDecide() })
}

// TestLeadershipsOfOneNode: a node that leads again begins anew.
func TestLeadershipsOfOneNode(t *testing.T) {
	t.Parallel()
	released := [2]chan struct{}{make(chan struct{}), make(chan struct{})}
	acceptAfter := func(released chan struct{}) func(http.ResponseWriter, *http.Request) {
		return func(w http.ResponseWriter, r *http.Request) {
			select {
			case <-released:
				reply(201, `{"lead_id":"theirs"}`)(w, r)
			case <-r.Context().Done():
			}
		}
	}
	buyer := newFakeBuyer(t, acceptAfter(released[0]), acceptAfter(released[1]))
	config := strings.Replace(clusterConfig, "{id: buy_blue}", "{id: buy_blue"+slowEndpoint(buyer)+"}", 1)
	node := startClusterWith(t, config, "a").nodes["a"]
	run := func(name string, test func(t *testing.T, x *testExchange)) {
		t.Run(name, func(t *testing.T) {
			x := *node
			x.t = t
			test(t, &x)
		})
	}
	run("engine", func(t *testing.T, x *testExchange) { checkEngineEndsWithItsLeadership(t, x, buyer, released) })
}

func slowEndpoint(b *fakeBuyer) string { return ", endpoint: " + b.URL + ", post_timeout: 20s" }

// checkEngineEndsWithItsLeadership: the node leads again while a post of its earlier leadership waits for the
// buyer. Only the present engine, which sent the post again, may record its result.
func checkEngineEndsWithItsLeadership(t *testing.T, x *testExchange, buyer *fakeBuyer, released [2]chan struct{}) {
	var request sync.WaitGroup
	request.Go(func() { x.ingest(leadBody(1)) })
	awaitPosts := func(n int) {
		eventually(t, "the buyer gets the post", func() bool { return len(buyer.received()) == n })
	}
	awaitPosts(1)
	earlier := x.cluster.leaderships.Load()
	x.endLeadership()
	x.waitForLeadership(earlier + 1)
	awaitPosts(2)
	if soon := time.Now().Add(time.Minute); x.waitUntilMayDecide(earlier, soon) || !x.waitUntilMayDecide(earlier+1, soon) {
		t.Error("an engine of the earlier leadership may send, or that of the present one may not")
	}
	countResults := func() (n int) {
		forEachLogEntry(t, x.dataDir(), func(_ wal.Entry, ev event.Event) {
			if post, ok := ev.(*event.PostSettled); ok && post.Settlement == event.SettledDelivered || ev.Kind() == event.KindPostAttemptFailed {
				n++
			}
		})
		return n
	}
	close(released[0])
	request.Wait()
	x.cluster.oldEngines.Wait()
	if n := countResults(); n != 0 {
		t.Errorf("the log has %d results of the post before the present engine has its answer", n)
	}
	close(released[1])
	x.waitForDeliveries()
	if n := countResults(); n != 1 {
		t.Errorf("the log has %d results of the post, want 1", n)
	}
}
