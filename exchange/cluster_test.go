package exchange

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"pingpost/internal/must"
)

// clusterConfig is the configuration of each node of a test's cluster.
const clusterConfig = `data_dir: data
listen: 127.0.0.1:0
admin: {listen: 127.0.0.1:0, password: "${PASSWORD}"}
trusted_networks: [127.0.0.0/8]
report: {keep: 0s}
` + configSuppliers + `buyers:
  - {id: buy_blue}
campaigns:
  - id: cmp
    method: waterfall
    duplicates: {window: 24h}
    buyers: [{buyer: buy_blue, price: 12.05, caps: [{per: total, count: 1000}]}]
`

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
	c := &testCluster{t: t, ids: ids, dirs: map[string]testDir{}, nodes: map[string]*testExchange{}}
	var peers []string
	listen := map[string]string{}
	for _, id := range ids {
		listener := must.Value(net.Listen("tcp", "127.0.0.1:0"))(t)
		listen[id] = listener.Addr().String()
		peers = append(peers, id+": "+listen[id])
		must.Succeed(t, listener.Close())
	}
	for _, id := range ids {
		c.dirs[id] = newTestDir(t, fmt.Sprintf("%scluster: {node: %s, listen: %s, peers: {%s}}\n", clusterConfig, id, listen[id], strings.Join(peers, ", ")))
	}
	must.Succeed(t, CreateCluster(c.dirs[ids[0]].configPath(), Options{Env: env, Logger: c.dirs[ids[0]].logger()}))
	c.start(ids[0])
	c.waitForLeader()
	for _, id := range ids[1:] {
		c.addNode(id)
	}
	return c
}

// start starts a node. Its keys come from the other nodes, so the test prepares none.
func (c *testCluster) start(id string) {
	c.t.Helper()
	p := c.dirs[id]
	built := must.Value(loadConfiguration(p.configPath(), env))(c.t)
	x := newExchange(p.configPath(), Options{Env: env, Logger: p.logger()}, built)
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
	for turn := range 3 {
		leader := c.waitForLeader()
		for i := range 20 {
			key := fmt.Sprintf("key-%d-%d", turn, i)
			answers[key] = leader.mustSell(leadBody(turn*100+i), "Idempotency-Key", key).body
		}
		must.Succeed(t, leader.cluster.member.Load().HandOver())
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
}
