package exchange

import (
	"errors"
	"net/http"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"pingpost/config/canonical"
	"pingpost/engine"
	"pingpost/engine/event"
	"pingpost/internal/must"
	"pingpost/server/admin"
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
	run("change of the configuration", checkChangeEndsWithLeadership)
	run("configuration of a follower", func(t *testing.T, x *testExchange) { checkConfigurationOfFollower(t, x, slowEndpoint(buyer)) })
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

// checkChangeEndsWithLeadership: a change in progress, which holds configMu, cannot use the engine of
// the next leadership, because another leader may have changed the configuration in between.
func checkChangeEndsWithLeadership(t *testing.T, x *testExchange) {
	version, leadership, own := x.state.CurrentConfigVersion().Version, x.cluster.leaderships.Load(), x.engine.Load()
	red := canonical.EntryRef{Kind: canonical.Buyers, ID: "buy_red"}
	x.configMu.Lock()
	unlock := sync.OnceFunc(x.configMu.Unlock)
	t.Cleanup(unlock) // before the node stops
	revised := must.Value(x.reviseWithEntry(must.Value(x.loadActiveConfigEntries())(t), &admin.ConfigEntryChange{EntryRef: red, Document: []byte(redBuyer)}))(t)
	x.endLeadership()
	for range 20 { // a next leadership that does not wait begins meanwhile
		if x.engine.Load() != own {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	if err := x.activateRevisionLocked(revised); !errors.Is(err, engine.ErrNotLeader) {
		t.Errorf("a change of the earlier leadership: %v, want %v", err, engine.ErrNotLeader)
	}
	unlock()
	x.waitForLeadership(leadership + 1)
	if got := x.state.CurrentConfigVersion().Version; got != version {
		t.Errorf("the configuration has version %d, want %d", got, version)
	}
	x.adminRequest("GET", configURL+"buyers/buy_red", "").mustFail(t, 404, "not_found")
	x.putEntry("buyers/buy_red", redBuyer)
}

// beginFollowing ends the node's leadership, and returns a function that begins the next one. Three changes of the
// configuration wait for configMu while the leadership ends. Their results are in waiting.
func (r *testExchange) beginFollowing() (waiting chan error, lead func()) {
	leadership := r.cluster.leaderships.Load()
	r.configMu.Lock()
	document := must.Value(os.ReadFile(r.configPath()))(r.t)
	waiting = make(chan error, 3)
	go func() {
		_, err := r.ConfigDrift()
		waiting <- err
	}()
	go func() {
		_, err := r.ResolveConfigDrift(&admin.ConfigDriftResolution{Side: admin.DriftSideFile})
		waiting <- err
	}()
	go func() {
		_, err := r.ApplyConfiguration(document, nil, false, "")
		waiting <- err
	}()
	time.Sleep(20 * time.Millisecond)
	r.cluster.lastLeadership.Add(1) // the next leadership waits for it
	lead = sync.OnceFunc(func() {
		r.cluster.lastLeadership.Done()
		r.waitForLeadership(leadership + 1)
	})
	r.t.Cleanup(lead) // before the node stops
	r.endLeadership()
	r.active.Store(nil) // as Follow does, which may get the lock before the changes
	r.configMu.Unlock()
	return waiting, lead
}

// checkConfigurationOfFollower: a follower changes no configuration. It checks the file at a reload, and activates the
// last good one when it becomes the leader.
func checkConfigurationOfFollower(t *testing.T, x *testExchange, endpoint string) {
	waiting, lead := x.beginFollowing()
	for range cap(waiting) {
		if err := <-waiting; !errors.Is(err, errNotReady) {
			t.Errorf("a change that waited for the end of the leadership: %v, want %v", err, errNotReady)
		}
	}
	seq, _ := x.log.LastEntry()
	file := string(must.Value(os.ReadFile(x.configPath()))(t))
	good := strings.Replace(file, "campaigns:\n", "campaigns:\n  - {id: cmp_new, method: waterfall, buyers: [{buyer: buy_blue, price: 5}]}\n", 1)
	x.reloadWith(strings.Replace(good, "listen: 127.0.0.1:0\n", "listen: 127.0.0.1:1\ntrusted_proxies: [10.9.8.7]\n", 1))
	for _, line := range []string{`take effect at the next start" tenant=production settings=listen`, "this node is not the leader"} {
		if !strings.Contains(x.logged.String(), line) {
			t.Errorf("the log lacks %q", line)
		}
	}
	for config, want := range map[string]string{
		"no configuration": "exchange.yaml",
		strings.NewReplacer("trusted_networks: [127.0.0.0/8]\n", "", endpoint, "").Replace(file): "change the entries in the exchange first",
	} {
		x.writeConfig(t, config)
		if err := x.ReloadConfiguration(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("a reload of a file with a mistake: %v, want %q", err, want)
		}
	}
	if after, _ := x.log.LastEntry(); after != seq || x.ActiveConfigurationJSON() != nil {
		t.Errorf("the log has %d entries, want %d; the active configuration is %s", after, seq, x.ActiveConfigurationJSON())
	}
	lead()
	if active := string(x.ActiveConfigurationJSON()); !strings.Contains(active, "10.9.8.7") || strings.Contains(active, "cmp_new") {
		t.Errorf("the leader has the configuration %s, want the settings of the last good file, and its own entries", active)
	}
	if drift := x.activeDriftOrNil(); len(drift) != 1 || drift[0].ID != "cmp_new" {
		t.Errorf("the file differs in %+v, want cmp_new", drift)
	}
}
