package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// clusterNode is a node of a measured cluster. It has one process after another.
type clusterNode struct {
	*process
	id, config, data string
	cores            []int
}

// measuredCluster is the exchange as a cluster of three nodes, or as one single node. The nodes of a cluster
// are never paused between measurements, because they would elect a leader afterwards.
type measuredCluster struct {
	b         *bench
	nodes     []*clusterNode
	campaigns []string
	next      uint64 // number of the next lead
}

const (
	clusterTimeout = 30 * time.Second // for an election, or until a node has caught up
	clusterPoll    = 5 * time.Millisecond
	nodeTimeout    = 500 * time.Millisecond // for an answer of a node, which may be stopped
)

// setLoopbackAddresses gives an exchange a loopback address of its own, so that it has the same ports after a
// restart.
func (d *document) setLoopbackAddresses() (ip string) {
	ip = fmt.Sprintf("127.%d.%d.%d", 1+rand.IntN(254), rand.IntN(256), 1+rand.IntN(254))
	d.Listen, d.Admin["listen"] = ip+":8080", ip+":9090"
	return ip
}

// startCluster creates a cluster whose leader is the first node. Like a single exchange, that node runs on
// the cores of servers. The others represent other machines, and run on the cores of the client.
func (b *bench) startCluster(name string) (*measuredCluster, error) {
	c := &measuredCluster{b: b}
	peers := object{}
	documents := map[string]*document{}
	for _, id := range []string{"a", "b", "c"} {
		d := catalogWithCampaigns(10).withoutReport()
		peers[id] = d.setLoopbackAddresses() + ":7400"
		d.Cluster = object{"node": id, "listen": peers[id], "peers": peers}
		documents[id] = d
		c.campaigns = d.campaignIDs("")
		c.nodes = append(c.nodes, &clusterNode{id: id, cores: b.cores.client})
	}
	c.nodes[0].cores = b.cores.servers
	for _, n := range c.nodes {
		d := documents[n.id]
		var err error
		if n.config, err = b.configure(name+"-"+n.id, d); err != nil {
			return nil, err
		}
		n.data = d.DataDir
	}
	if _, err := b.build(); err != nil {
		return nil, err
	}
	create := exec.CommandContext(b.ctx, b.exchange, "cluster", "init", "-c", c.nodes[0].config)
	if output, err := create.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("cannot create the cluster: %w\n%s", err, output)
	}
	for i, n := range c.nodes {
		if err := c.begin(n, i > 0); err != nil {
			return nil, fmt.Errorf("node %s: %w", n.id, err)
		}
	}
	_, err := c.awaitComplete()
	return c, err
}

// begin starts a node for the first time, and adds it unless it is the first of the cluster.
func (c *measuredCluster) begin(n *clusterNode, added bool) error {
	if !added {
		return c.serve(n)
	}
	keys := func(n *clusterNode) string { return filepath.Join(n.data, "keys") }
	key, err := os.ReadFile(filepath.Join(keys(c.nodes[0]), "exchange.key"))
	err = errors.Join(err, os.MkdirAll(keys(n), 0o700), os.WriteFile(filepath.Join(keys(n), "exchange.key"), key, 0o600))
	if err != nil {
		return err
	}
	if err := c.serve(n); err != nil {
		return err
	}
	leader, err := c.awaitLeader()
	if err != nil {
		return err
	}
	return leader.callAdmin(c.b.ctx, http.MethodPost, "/admin/v1/cluster/nodes/"+n.id, "", io.Discard)
}

func (c *measuredCluster) serve(n *clusterNode) (err error) {
	n.process, err = c.b.serve(n.config, n.cores)
	return err
}

// addresses returns the public addresses of all nodes.
func (c *measuredCluster) addresses() []string {
	list := make([]string, len(c.nodes))
	for i, n := range c.nodes {
		list[i] = n.Listen
	}
	return list
}

// leader returns the node that decides, or nil. A single node always does.
func (c *measuredCluster) leader() *clusterNode {
	for _, n := range c.nodes {
		if len(c.nodes) == 1 {
			return n
		}
		if n.process != nil && !n.hasEnded() && n.decides(c.b.ctx) {
			return n
		}
	}
	return nil
}

func (n *clusterNode) decides(ctx context.Context) bool {
	ctx, cancel := context.WithTimeout(ctx, nodeTimeout)
	defer cancel()
	var metrics strings.Builder
	return n.getAdmin(ctx, "/metrics", &metrics) == nil && strings.Contains(metrics.String(), "\npingpost_cluster_leader 1\n")
}

// awaitLeader waits until a node decides.
func (c *measuredCluster) awaitLeader() (leader *clusterNode, err error) {
	err = c.await("no node of the cluster decides", func() bool {
		leader = c.leader()
		return leader != nil
	})
	return leader, err
}

// await polls a condition until it is true.
func (c *measuredCluster) await(otherwise string, isTrue func() bool) error {
	for deadline := time.Now().Add(clusterTimeout); !isTrue(); time.Sleep(clusterPoll) {
		if c.b.ctx.Err() != nil || time.Now().After(deadline) {
			return errors.Join(errors.New(otherwise), c.b.ctx.Err())
		}
	}
	return nil
}

// clusterStatus is a part of the answer to GET cluster.
type clusterStatus struct{ Term, Entry uint64 }

func (n *clusterNode) status(ctx context.Context) (s clusterStatus, err error) {
	ctx, cancel := context.WithTimeout(ctx, nodeTimeout)
	defer cancel()
	var text bytes.Buffer
	if err := n.getAdmin(ctx, "/admin/v1/cluster", &text); err != nil {
		return s, err
	}
	err = json.Unmarshal(text.Bytes(), &s)
	return s, err
}

// awaitComplete waits until a node decides and all other nodes have caught up with it.
func (c *measuredCluster) awaitComplete() (leader *clusterNode, err error) {
	var last string
	err = c.await("not all nodes have the entries of the leader", func() bool {
		if leader = c.leader(); leader == nil {
			return false
		}
		ours, err := leader.status(c.b.ctx)
		last = fmt.Sprintf("%+v %v", ours, err)
		for _, n := range c.nodes {
			its, failed := n.status(c.b.ctx)
			err = errors.Join(err, failed)
			if its.Entry+lagLimit < ours.Entry || its.Term != ours.Term {
				return false
			}
		}
		return err == nil
	})
	if err != nil {
		return nil, fmt.Errorf("%w: %s", err, last)
	}
	return leader, nil
}

// lagLimit is the number of entries that a node may lack when it has caught up: leads arrive meanwhile.
const lagLimit = 20

// makeLeader hands over to a node, unless it leads already, and waits until all nodes follow it. It repeats
// a hand-over that fails.
func (c *measuredCluster) makeLeader(n *clusterNode) error {
	body, err := json.Marshal(object{"to": n.id})
	if err != nil {
		return err
	}
	for deadline := time.Now().Add(clusterTimeout); ; time.Sleep(clusterPoll) {
		leader, waiting := c.awaitComplete()
		if waiting != nil || leader == n {
			return waiting
		}
		if time.Now().After(deadline) {
			return errors.Join(fmt.Errorf("node %s leads after a hand-over to node %s", leader.id, n.id), err)
		}
		if err = leader.callAdmin(c.b.ctx, http.MethodPost, "/admin/v1/cluster/handover", string(body), io.Discard); err != nil {
			c.b.logf("hand-over to node %s: %s", n.id, oneLine(err))
		}
	}
}
