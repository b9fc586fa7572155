//go:build unix

package witness

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

// Cluster is the tested program as the nodes of one cluster. Each node has a folder, a configuration,
// and one process after another.
type Cluster struct {
	t        testing.TB
	document Object // the configuration that all nodes share
	Nodes    []*ClusterNode
	// TLS has the section cluster.tls of each node's configuration, by its id. Nil: without TLS.
	TLS map[string]Object
}

// ClusterNode is one node of a Cluster. Its methods of Exchange act on this node only.
type ClusterNode struct {
	*Exchange
	ID        string
	PublicIP  string // of the public address and the admin address; both have the same port after a restart
	ClusterIP string // of the address for the other nodes
}

const (
	clusterPort      = 7400
	nodePublicPort   = 8080
	nodeAdminPort    = 9090
	membershipTries  = 40
	membershipPause  = 250 * time.Millisecond
	leaderCheckPause = 5 * time.Millisecond
	leaderTimeout    = time.Minute
	decidesTimeout   = 300 * time.Millisecond
)

// NewCluster returns the nodes of a cluster in folders of dir, before their first start. Each has a loopback
// address of its own. document is the configuration without the section cluster; NewCluster replaces its
// addresses, and the provisioning, which a cluster restricts.
func NewCluster(t testing.TB, program, dir string, document []byte, ids ...string) *Cluster {
	t.Helper()
	c := &Cluster{t: t}
	if err := json.Unmarshal(document, &c.document); err != nil {
		t.Fatalf("the configuration of the cluster: %v", err)
	}
	for _, id := range ids {
		folder := filepath.Join(dir, id)
		if err := os.MkdirAll(folder, 0o700); err != nil {
			t.Fatal(err)
		}
		// Almost certainly no other process of the machine has this address.
		ip := fmt.Sprintf("127.%d.%d.%d", 1+rand.IntN(254), rand.IntN(256), 1+rand.IntN(254))
		n := &ClusterNode{Exchange: NewExchange(t, program, folder), ID: id, PublicIP: ip, ClusterIP: ip}
		n.name = "node " + id
		var err error
		if n.output, err = os.Create(filepath.Join(folder, "output.log")); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = n.output.Close() })
		c.Nodes = append(c.Nodes, n)
	}
	return c
}

// clusterAddress returns the address for the other nodes.
func (n *ClusterNode) clusterAddress() string { return fmt.Sprintf("%s:%d", n.ClusterIP, clusterPort) }

// keyPath returns the path of the exchange's key.
func (n *ClusterNode) keyPath() string { return filepath.Join(n.DataDir(), "keys", "exchange.key") }

// Configure writes the configuration of each node, with its present addresses.
func (c *Cluster) Configure() {
	c.t.Helper()
	peers := Object{}
	for _, n := range c.Nodes {
		peers[n.ID] = n.clusterAddress()
	}
	for _, n := range c.Nodes {
		section := Object{"node": n.ID, "listen": n.clusterAddress(), "peers": peers}
		if c.TLS != nil {
			section["tls"] = c.TLS[n.ID]
		}
		admin := Object{}
		if given, ok := c.document["admin"].(map[string]any); ok {
			admin = maps.Clone(given)
		}
		admin["listen"] = fmt.Sprintf("%s:%d", n.PublicIP, nodeAdminPort)
		own := maps.Clone(c.document)
		own["provisioning"], own["data_dir"], own["cluster"], own["admin"] = "seed", "data", section, admin
		own["listen"] = fmt.Sprintf("%s:%d", n.PublicIP, nodePublicPort)
		n.Configure(Encode(own))
	}
}

// Create creates the cluster with its first node, and starts and adds the other nodes.
func (c *Cluster) Create() {
	c.t.Helper()
	c.Configure()
	first := c.Nodes[0]
	if first.Run("cluster", "init", "-c", first.configPath()); c.t.Failed() {
		c.t.FailNow()
	}
	first.Start()
	c.AwaitLeader()
	for _, n := range c.Nodes[1:] {
		c.StartCopy(n)
		c.Add(n)
	}
}

// Node returns the node with this id.
func (c *Cluster) Node(id string) *ClusterNode {
	i := slices.IndexFunc(c.Nodes, func(n *ClusterNode) bool { return n.ID == id })
	if i < 0 {
		c.t.Fatalf("the cluster has no node %q", id)
	}
	return c.Nodes[i]
}

// StartCopy starts a node without data, and waits until it serves.
func (c *Cluster) StartCopy(n *ClusterNode) {
	c.t.Helper()
	c.LaunchCopy(n)
	n.AwaitServing()
}

// LaunchCopy starts a node without data: it copies the key of another node, and the node copies the data
// itself.
func (c *Cluster) LaunchCopy(n *ClusterNode) {
	c.t.Helper()
	i := slices.IndexFunc(c.Nodes, func(other *ClusterNode) bool { return other != n && other.IsRunning() })
	if i < 0 {
		c.t.Fatal("no other node runs")
	}
	key, err := os.ReadFile(c.Nodes[i].keyPath())
	err = errors.Join(err, os.MkdirAll(filepath.Dir(n.keyPath()), 0o700), os.WriteFile(n.keyPath(), key, 0o600))
	if err != nil {
		c.t.Fatal(err)
	}
	n.Launch()
}

// Add makes a running node a member.
func (c *Cluster) Add(n *ClusterNode) {
	c.t.Helper()
	c.changeMember("POST", n, "is a member already")
}

// Remove ends the membership of a node, which need not run.
func (c *Cluster) Remove(n *ClusterNode) {
	c.t.Helper()
	c.changeMember("DELETE", n, "is not a member")
}

// changeMember sends a change of the members to the leader until it is done. An attempt without a usable
// answer may have succeeded; the answer of the next one then contains isDone.
func (c *Cluster) changeMember(method string, n *ClusterNode, isDone string) {
	c.t.Helper()
	var last string
	for range membershipTries {
		status, text, err := c.AwaitLeader().AdminRequest(method, "/admin/v1/cluster/nodes/"+n.ID, "")
		if err == nil && (status < 300 || strings.Contains(string(text), isDone)) {
			return
		}
		last = fmt.Sprintf("%d %s %v", status, text, err)
		time.Sleep(membershipPause)
	}
	c.t.Fatalf("%s of node %s: %s\n%s", method, n.ID, last, n.LastLines())
}

// Replace removes a stopped node, deletes its data, and starts and adds it as a new one.
func (c *Cluster) Replace(n *ClusterNode) {
	c.t.Helper()
	c.Remove(n)
	if err := os.RemoveAll(n.DataDir()); err != nil {
		c.t.Fatal(err)
	}
	c.StartCopy(n)
	c.Add(n)
}

// IsRunning reports whether the node's process runs.
func (n *ClusterNode) IsRunning() bool { return n.process != nil && n.ExitReport() == "" }

// Decides reports whether the node leads and decides about requests. False without an answer.
func (n *ClusterNode) Decides() bool {
	if !n.IsRunning() || n.adminAddress() == "" {
		return false
	}
	ctx, cancel := context.WithTimeout(context.Background(), decidesTimeout)
	defer cancel()
	status, text, _, err := SendAdmin(ctx, http.MethodGet, n.adminAddress()+"/metrics", nil)
	return err == nil && status == http.StatusOK && strings.Contains(string(text), "\npingpost_cluster_leader 1\n")
}

// Leader returns the node that decides, or nil.
func (c *Cluster) Leader() *ClusterNode {
	for _, n := range c.Nodes {
		if n.Decides() {
			return n
		}
	}
	return nil
}

// AwaitLeader waits until a node decides.
func (c *Cluster) AwaitLeader() (leader *ClusterNode) {
	c.t.Helper()
	awaitFor(c.t, "a node of the cluster decides", leaderTimeout, func() bool {
		if leader = c.Leader(); leader == nil {
			time.Sleep(leaderCheckPause)
		}
		return leader != nil
	})
	return leader
}

// KillTogether kills nodes at the same time.
func (c *Cluster) KillTogether(nodes ...*ClusterNode) {
	for _, n := range nodes {
		n.mayEnd = true
		n.Signal(syscall.SIGKILL)
	}
	for _, n := range nodes {
		<-n.process.Ended
		n.locator.Withdraw()
	}
}

// Followers returns the other nodes.
func (c *Cluster) Followers(leader *ClusterNode) []*ClusterNode {
	return slices.DeleteFunc(slices.Clone(c.Nodes), func(n *ClusterNode) bool { return n == leader })
}

// HandOver asks the leader to make another node the leader: the one with the id, or any for "". It returns
// the status of the answer, or 0 without one.
func (c *Cluster) HandOver(to string) (status int, text []byte) {
	c.t.Helper()
	body := Object{}
	if to != "" {
		body["to"] = to
	}
	status, text, err := c.AwaitLeader().AdminRequest("POST", "/admin/v1/cluster/handover", string(Encode(body)))
	if err != nil {
		return 0, []byte(err.Error())
	}
	return status, text
}
