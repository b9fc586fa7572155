package exchange

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"pingpost/engine/event"
	"pingpost/internal/must"
	"pingpost/keys/leadkeys"
	"pingpost/server/admin/clusterapi"
	"pingpost/wal"
)

// clusterConfig is the configuration of each node of a test's cluster.
const clusterConfig = `data_dir: data
listen: 127.0.0.1:0
admin: {listen: 127.0.0.1:0, password: "${PASSWORD}"}
trusted_networks: [127.0.0.0/8]
` + configSuppliers + `buyers:
  - {id: buy_blue}
campaigns:
  - id: cmp
    method: waterfall
    suppression: [dnc]
    duplicates: {window: 24h}
    buyers: [{buyer: buy_blue, price: 12.05, caps: [{per: total, count: 100000}]}]
suppression_lists: [{id: dnc, field: phone}]
`

// testHeartbeatTimeout is the heartbeat timeout of the nodes. Only tests of package cluster need the short default, with
// which a stall of a busy machine causes an election.
const testHeartbeatTimeout = time.Second

// testCluster has the folders and the running nodes of a cluster.
type testCluster struct {
	t     *testing.T
	ids   []string
	dirs  map[string]testDir
	nodes map[string]*testExchange
}

// startCluster creates a cluster whose first node begins with the configuration's entries, and adds the
// other nodes.
func startCluster(t *testing.T, ids ...string) *testCluster {
	t.Helper()
	return startClusterWith(t, clusterConfig, ids...)
}

// startClusterWith is startCluster with another configuration.
func startClusterWith(t *testing.T, config string, ids ...string) *testCluster {
	t.Helper()
	return startClusterAfter(t, config, func(testDir) {}, ids...)
}

// startClusterAfter is startClusterWith, and calls prepare with the folder of the first node before the cluster
// begins.
func startClusterAfter(t *testing.T, config string, prepare func(testDir), ids ...string) *testCluster {
	t.Helper()
	c := &testCluster{t: t, ids: ids, dirs: map[string]testDir{}, nodes: map[string]*testExchange{}}
	var peers []string
	listen := map[string]string{}
	for _, id := range ids {
		// No other connection of the machine has this address, so it is free again after a restart.
		listen[id] = fmt.Sprintf("127.%d.%d.%d:7400", 1+rand.IntN(254), rand.IntN(256), 1+rand.IntN(254))
		peers = append(peers, id+": "+listen[id])
	}
	for _, id := range ids {
		c.dirs[id] = newTestDir(t, fmt.Sprintf("%scluster: {node: %s, listen: %s, peers: {%s}}\n", config, id, listen[id], strings.Join(peers, ", ")))
	}
	prepare(c.dirs[ids[0]])
	must.Succeed(t, CreateCluster(c.dirs[ids[0]].configPath(), Options{Env: env, Logger: c.dirs[ids[0]].logger()}))
	c.start(ids[0])
	c.waitForLeader()
	for _, id := range ids[1:] {
		c.addNode(id)
	}
	return c
}

// start starts a node. Its keys come from the other nodes.
func (c *testCluster) start(id string) {
	c.t.Helper()
	p := c.dirs[id]
	built := must.Value(loadConfiguration(p.configPath(), env))(c.t)
	x := newExchange(p.configPath(), Options{Env: env, Logger: p.logger(), clusterHeartbeatTimeout: testHeartbeatTimeout}, built)
	must.Succeed(c.t, x.startConfigured(built))
	c.nodes[id] = &testExchange{Exchange: x, testDir: p, t: c.t}
	c.t.Cleanup(c.nodes[id].stop)
}

// addNode starts a new node with the key of the first one, and makes it a member.
func (c *testCluster) addNode(id string) {
	c.t.Helper()
	from, to := filepath.Join(c.dirs[c.ids[0]].dataDir(), "keys", "exchange.key"), filepath.Join(c.dirs[id].dataDir(), "keys", "exchange.key")
	must.Succeed(c.t, os.MkdirAll(filepath.Dir(to), 0o700))
	must.Succeed(c.t, os.WriteFile(to, must.Value(os.ReadFile(from))(c.t), 0o600))
	c.start(id)
	must.Succeed(c.t, c.waitForLeader().cluster.member.Load().AddNode(id))
}

// waitForLeader returns the node that decides.
func (c *testCluster) waitForLeader() *testExchange {
	c.t.Helper()
	for deadline := time.Now().Add(waitTimeout); time.Now().Before(deadline); time.Sleep(5 * time.Millisecond) {
		for _, x := range c.nodes {
			if x.mayDecide() {
				return x
			}
		}
	}
	c.t.Fatal("no node of the cluster decides")
	return nil
}

// waitForEqualStates waits until all nodes have applied the same entries, and compares their states.
func (c *testCluster) waitForEqualStates() {
	c.t.Helper()
	var states []string
	for deadline := time.Now().Add(waitTimeout); time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
		states = states[:0]
		for _, id := range c.ids {
			seq, hash := c.nodes[id].state.Hash()
			states = append(states, fmt.Sprintf("%d %x", seq, hash))
		}
		if strings.Count(strings.Join(states, ","), states[0]) == len(states) {
			return
		}
	}
	c.t.Errorf("the nodes have different states: %q", states)
}

// TestNodesOfClusterKeepTheSameState: leads that a leader sold are known to the next leader, which answers a
// repeat with the first answer.
func TestNodesOfClusterKeepTheSameState(t *testing.T) {
	t.Parallel()
	c := startCluster(t, "a", "b", "c")
	answers := map[string]string{}
	version := c.waitForLeader().state.CurrentConfigVersion().Version
	for turn := range 3 {
		leader := c.waitForLeader()
		for i := range 20 {
			key := fmt.Sprintf("key-%d-%d", turn, i)
			answers[key] = leader.mustSell(leadBody(turn*100+i), "Idempotency-Key", key).body
		}
		must.Succeed(t, leader.cluster.member.Load().HandOver(""))
		next := c.waitForLeader()
		if next == leader {
			t.Fatalf("turn %d: the leader did not change", turn)
		}
		for i := range 20 {
			key := fmt.Sprintf("key-%d-%d", turn, i)
			if repeat := next.ingest(leadBody(turn*100+i), "Idempotency-Key", key); repeat.body != answers[key] {
				t.Errorf("turn %d: the next leader answers %d %s to a repeat, not %s", turn, repeat.status, repeat.body, answers[key])
			}
		}
	}
	c.waitForEqualStates()
	if got := c.waitForLeader().state.CurrentConfigVersion().Version; got != version {
		t.Errorf("the configuration has version %d after the changes of the leader, want %d: the nodes' files differ only in their own settings", got, version)
	}
}

// handOver makes a node the leader and returns it.
func (c *testCluster) handOver(to string) *testExchange {
	c.t.Helper()
	for deadline := time.Now().Add(waitTimeout); time.Now().Before(deadline); {
		leader := c.waitForLeader()
		if leader == c.nodes[to] {
			return leader
		}
		err := leader.cluster.member.Load().HandOver(to)
		if err != nil && !errors.Is(err, clusterapi.ErrNotLeader) && !errors.Is(err, clusterapi.ErrNotTakenOver) {
			c.t.Fatal(err)
		}
	}
	c.t.Fatalf("node %s does not lead after %v of hand-overs to it", to, waitTimeout)
	return nil
}

// useKeys uses so many keys of leads that the leader makes the next file of keys, and waits until all nodes
// have it.
func (c *testCluster) useKeys(leader *testExchange) {
	c.t.Helper()
	var key leadkeys.Key
	for range leadkeys.PerFile / 4 {
		_, err := leader.keys.TakeUnusedKey(&key)
		must.Succeed(c.t, err)
	}
	name := fmt.Sprintf("%020d", leadkeys.PerFile+1)
	for _, id := range c.ids {
		for _, folder := range []string{"leads", "checksums"} {
			path := filepath.Join(c.dirs[id].dataDir(), "keys", folder, name)
			for deadline := time.Now().Add(waitTimeout); !fileExists(path); time.Sleep(5 * time.Millisecond) {
				if time.Now().After(deadline) {
					c.t.Fatalf("node %s does not get the file %s", id, path)
				}
			}
		}
	}
}

func fileExists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// TestOperatorsChangesReachTheNextLeader: each change is in force on a leader that never saw its request, and
// on one that led before it.
func TestOperatorsChangesReachTheNextLeader(t *testing.T) {
	t.Parallel()
	c := startCluster(t, "a", "b", "c")
	leader := c.waitForLeader()
	leader.putEntry("buyers/buy_red", redBuyer)
	leader.putEntry("campaigns/cmp_api", redCampaign)
	leader.mustAdmin(200, "PUT", "/admin/v1/suppression/dnc", phoneLines(5), "Content-Type", "text/plain")
	erased := leader.mustSell(leadBody(70))
	leader.mustSell(leadBody(71))
	if got := leader.erase(`{"lead":"` + erased.leadID() + `"}`); got.Erased != 1 {
		t.Fatalf("%d leads were erased, want 1", got.Erased)
	}
	c.useKeys(leader)
	for i, to := range []string{"b", "c", "a", "b"} {
		leader = c.handOver(to)
		leader.ingest(leadBody(80, "flo_campaign_id", `"cmp_api"`)).mustHave(t, 201, `"buy_red"`)
		leader.ingest(leadBody(5)).mustHave(t, 201, "suppressed")
		for before := range i {
			leader.ingest(leadBody(90+i, "flo_campaign_id", fmt.Sprintf(`"cmp_%d"`, before))).mustHave(t, 201, `"ACCEPTED"`)
		}
		leader.putEntry(fmt.Sprintf("campaigns/cmp_%d", i), redCampaign)
	}
	explained := leader.mustAdmin(200, "GET", "/admin/v1/explain?id="+erased.leadID(), "").body
	if !strings.Contains(explained, "buy_blue") {
		t.Errorf("the explanation of a lead lacks its buyer: %s", explained)
	}
	if versions := leader.history("").Entries; len(versions) != 7 {
		t.Errorf("the configuration has %d versions, want the first and one for each of six changes", len(versions))
	}
	c.waitForEqualStates()
	for _, id := range c.ids {
		if readable, gone := c.nodes[id].countReadableLeads(); gone != 1 || readable == 0 {
			t.Errorf("node %s can decrypt %d leads, and the keys of %d are erased; want all but 1", id, readable, gone)
		}
	}
}

// countReadableLeads counts the leads of the node's log that its keys decrypt, and those with erased keys.
func (r *testExchange) countReadableLeads() (readable, erased int) {
	r.t.Helper()
	forEachLogEntry(r.t, r.dataDir(), func(_ wal.Entry, ev event.Event) {
		lead, ok := ev.(*event.LeadDecided)
		if !ok {
			return
		}
		switch _, err := r.keys.Open(nil, lead.Slot, lead.Lead, lead.Sealed); {
		case err == nil:
			readable++
		case errors.Is(err, leadkeys.ErrErased):
			erased++
		default:
			r.t.Errorf("lead %s: %v", lead.Lead, err)
		}
	})
	return readable, erased
}

// TestNodeRejoinsAndIsReplaced: a node that was down applies the entries that it missed. A new node with
// the id of a removed one copies the data.
func TestNodeRejoinsAndIsReplaced(t *testing.T) {
	t.Parallel()
	c := startCluster(t, "a", "b", "c")
	sell := func(first int) {
		for i := range 10 {
			c.waitForLeader().mustSell(leadBody(first + i))
		}
	}
	sell(0)
	c.nodes["b"].stop()
	delete(c.nodes, "b")
	sell(100)
	c.start("b")
	c.waitForEqualStates()
	c.nodes["c"].stop()
	delete(c.nodes, "c")
	leader := c.waitForLeader()
	must.Succeed(t, leader.cluster.member.Load().RemoveNode("c"))
	sell(200)
	must.Succeed(t, os.RemoveAll(c.dirs["c"].dataDir()))
	c.addNode("c")
	sell(300)
	c.waitForEqualStates()
}

// TestClusterDataNeedsItsConfiguration: a node's data never serves without the cluster.
func TestClusterDataNeedsItsConfiguration(t *testing.T) {
	t.Parallel()
	c := startCluster(t, "a")
	c.waitForLeader().mustSell(leadBody(1))
	c.nodes["a"].stop()
	p := c.dirs["a"]
	whole := string(must.Value(os.ReadFile(p.configPath()))(t))
	single, _, _ := strings.Cut(whole, "cluster:")
	p.writeConfig(t, single)
	if _, err := tryStart(t, p, func(*Exchange) {}); err == nil || !strings.Contains(err.Error(), "pingpost cluster recover") {
		t.Errorf("the node starts as a single exchange: %v", err)
	}
	p.writeConfig(t, whole)
	if err := CreateCluster(p.configPath(), Options{Env: env, Logger: p.logger()}); err == nil || !strings.Contains(err.Error(), "already") {
		t.Errorf("a second cluster begins with the data of the first: %v", err)
	}
	c.start("a")
	c.waitForLeader().mustSell(leadBody(2))
}

// TestRecoverAfterLossOfTwoNodes: the last node becomes a single exchange with all acknowledged leads, also
// those that only its Raft log has, and begins a new cluster. The nodes of the old cluster are refused.
func TestRecoverAfterLossOfTwoNodes(t *testing.T) {
	t.Parallel()
	c := startCluster(t, "a", "b", "c")
	early := c.dirs["b"].copyFiles(t)
	answers := map[string]string{}
	for i := range 30 {
		key := fmt.Sprintf("key-%d", i)
		answers[key] = c.waitForLeader().mustSell(leadBody(i), "Idempotency-Key", key).body
	}
	c.waitForEqualStates()
	for _, id := range c.ids {
		c.nodes[id].stop()
	}
	p := c.dirs["b"]
	for _, folder := range []string{"log", "snapshot"} {
		must.Succeed(t, os.RemoveAll(filepath.Join(p.dataDir(), folder)))
	}
	must.Succeed(t, os.CopyFS(filepath.Join(p.dataDir(), "log"), os.DirFS(filepath.Join(early.dataDir(), "log"))))
	before := must.Value(InspectClusterNode(p.configPath(), Options{Env: env, Logger: p.logger()}))(t)
	last := must.Value(RecoverFromCluster(p.configPath(), Options{Env: env, Logger: p.logger()}))(t)
	if before.Raft.Index == 0 || before.Raft.Term == 0 || last < before.Last+30 {
		t.Errorf("the node had %+v, and %d entries after the recovery", before, last)
	}
	whole := string(must.Value(os.ReadFile(p.configPath()))(t))
	withoutCluster, _, _ := strings.Cut(whole, "cluster:")
	p.writeConfig(t, withoutCluster)
	single := must.Value(tryStart(t, p, func(*Exchange) {}))(t)
	for key, want := range answers {
		var i int
		must.Value(fmt.Sscanf(key, "key-%d", &i))(t)
		if got := single.ingest(leadBody(i), "Idempotency-Key", key); got.body != want {
			t.Errorf("the recovered exchange answers %s to %s, want %s", got.body, key, want)
		}
	}
	single.stop()
	p.writeConfig(t, whole)
	must.Succeed(t, CreateCluster(p.configPath(), Options{Env: env, Logger: p.logger()}))
	c.nodes = map[string]*testExchange{}
	c.start("b")
	c.waitForLeader()
	c.start("a")
	var err error
	for deadline := time.Now().Add(waitTimeout); time.Now().Before(deadline); time.Sleep(5 * time.Millisecond) {
		// The node that began before this one may have dialed it in vain, and pauses then.
		if err = c.nodes["b"].cluster.member.Load().AddNode("a"); err == nil || !strings.Contains(err.Error(), "a moment ago") {
			break
		}
	}
	if err == nil || !strings.Contains(err.Error(), "another cluster") {
		t.Errorf("a node of the old cluster is added: %v", err)
	}
}

// TestHandOverFailsNoRequest: clients send leads to all nodes while the leader changes, and each gets its
// answer at the first try.
func TestHandOverFailsNoRequest(t *testing.T) {
	t.Parallel()
	c := startCluster(t, "a", "b", "c")
	var stop atomic.Bool
	var clients sync.WaitGroup
	var sent atomic.Int64
	var longest atomic.Int64
	for n := range 6 {
		clients.Go(func() {
			for i := n; !stop.Load(); i += 6 {
				began := time.Now()
				c.nodes[c.ids[i%3]].mustSell(leadBody(i))
				longest.Store(max(longest.Load(), int64(time.Since(began))))
				sent.Add(1)
			}
		})
	}
	for _, to := range []string{"b", "c", "a", "c"} {
		time.Sleep(200 * time.Millisecond)
		c.handOver(to)
	}
	stop.Store(true)
	clients.Wait()
	t.Logf("%d leads, the longest wait %v", sent.Load(), time.Duration(longest.Load()))
	c.waitForEqualStates()
}

// TestFollowerServesOperators: an operator can use any node. A follower answers questions about itself and,
// if asked for, from a report that may be old.
func TestFollowerServesOperators(t *testing.T) {
	t.Parallel()
	c := startCluster(t, "a", "b", "c")
	follower, leader := c.nodes["b"], c.waitForLeader()
	follower.putEntry("campaigns/cmp_new", strings.Replace(redCampaign, "buy_red", "buy_blue", 1))
	follower.ingest(leadBody(1, "flo_campaign_id", `"cmp_new"`)).mustHave(t, 201, `"ACCEPTED"`)
	for _, row := range []struct {
		at     *testExchange
		path   string
		status int
	}{
		{leader, "/readyz", 200}, {follower, "/readyz", 200}, {leader, "/leader", 200}, {follower, "/leader", 503}, {follower, "/healthz", 200},
	} {
		if got := row.at.adminRequest("GET", row.path, ""); got.status != row.status {
			t.Errorf("%s: %d %s", row.path, got.status, got.body)
		}
	}
	follower.mustAdmin(200, "GET", "/admin/v1/cluster", "").mustHave(t, 200, `"role":"follower"`, `"leader":"a"`, `"lag_entries":0`)
	follower.mustAdmin(204, "POST", "/admin/v1/cluster/handover", `{"to":"c"}`)
	if c.waitForLeader() != c.nodes["c"] {
		t.Error("a hand-over that a follower was asked for has no effect")
	}
	follower.mustAdmin(200, "GET", "/admin/v1/report?by=campaign&consistency=latest", "")
	follower.mustAdmin(201, "PUT", "/admin/v1/users/olga", `{"role":"viewer","password":"a canary of a password"}`)
	token, _ := follower.createAPIToken(follower.signIn("olga", "a canary of a password"), `{"name":"reader"}`)
	stale := &answer{}
	for deadline := time.Now().Add(waitTimeout); !strings.Contains(stale.body, "cmp_new") && time.Now().Before(deadline); time.Sleep(50 * time.Millisecond) {
		stale = request(t, "GET", "http://"+follower.AdminAddress()+"/admin/v1/report?by=campaign&consistency=stale", "", "Authorization", "Bearer "+token)
	}
	if stale.status != 200 || stale.header.Get("Pingpost-Lag") == "" || !strings.Contains(stale.body, "cmp_new") {
		t.Errorf("a follower answers from its report: %d %v %s", stale.status, stale.header, stale.body)
	}
}

// TestLeaderWithFullDiskHandsOver: a leader that refuses leads, because its disk is almost full, makes another
// node the leader.
func TestLeaderWithFullDiskHandsOver(t *testing.T) {
	t.Parallel()
	c := startCluster(t, "a", "b", "c")
	first := c.waitForLeader()
	for deadline := time.Now().Add(waitTimeout); c.waitForLeader() == first; time.Sleep(10 * time.Millisecond) {
		first.disk.setExpectedSnapshotSize(1 << 60)
		if time.Now().After(deadline) {
			t.Fatal("the leader keeps leading")
		}
	}
	first.mustSell(leadBody(1)) // another node decides
}

// TestFollowerErasesKeysAtStart: a follower that ended between an erasure's entry and the key's erasure, or got
// an older copy of its keys back, erases the key when it starts.
func TestFollowerErasesKeysAtStart(t *testing.T) {
	t.Parallel()
	c := startCluster(t, "a", "b", "c")
	leader := c.waitForLeader()
	sold := leader.mustSell(leadBody(1))
	c.waitForEqualStates()
	keys := filepath.Join(c.dirs["b"].dataDir(), "keys", "leads", fmt.Sprintf("%020d", 1))
	before := must.Value(os.ReadFile(keys))(t)
	if got := leader.erase(`{"lead":"` + sold.leadID() + `"}`); got.Erased != 1 {
		t.Fatalf("%d leads were erased, want 1", got.Erased)
	}
	c.waitForEqualStates()
	c.nodes["b"].stop()
	must.Succeed(t, os.WriteFile(keys, before, 0o600))
	c.start("b")
	if readable, erased := c.nodes["b"].countReadableLeads(); readable != 0 || erased != 1 {
		t.Errorf("the follower can read %d leads and has erased %d keys, want 0 and 1", readable, erased)
	}
}

// TestClusterKeepsDataOfSingleExchange: a cluster that begins with the data of an exchange answers the repeat of
// a request as that exchange did, also at a node that copied the data.
func TestClusterKeepsDataOfSingleExchange(t *testing.T) {
	t.Parallel()
	var before *answer
	c := startClusterAfter(t, clusterConfig, func(p testDir) {
		whole := string(must.Value(os.ReadFile(p.configPath()))(t))
		single, _, _ := strings.Cut(whole, "cluster:")
		p.writeConfig(t, single)
		x := must.Value(tryStart(t, p, func(*Exchange) {}))(t)
		before = x.mustSell(leadBody(1), "Idempotency-Key", "before")
		x.stop()
		p.writeConfig(t, whole)
	}, "a", "b")
	for _, to := range []string{"b", "a"} {
		if repeat := c.handOver(to).ingest(leadBody(1), "Idempotency-Key", "before"); repeat.body != before.body {
			t.Errorf("node %s answers %s, want %s", to, repeat.body, before.body)
		}
	}
	c.waitForEqualStates()
}
