//go:build unix

package history

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"pingpost/fuzz/witness"
	"pingpost/loadtest/refbuyer"
)

// cluster is the tested cluster with its buyer.
type cluster struct {
	*witness.Cluster
	t          testing.TB
	buyer      *refbuyer.Buyer
	lastLeader atomic.Pointer[witness.ClusterNode] // as far as known
	stopWatch  context.CancelFunc
}

// startCluster starts three nodes and a buyer.
func startCluster(t testing.TB, program, dir string) *cluster {
	t.Helper()
	latency, err := refbuyer.ParseLatency("1ms-30ms")
	if err != nil {
		t.Fatal(err)
	}
	buyer, err := refbuyer.New(refbuyer.Options{Bid: refbuyer.Fixed(12_000_000), PostLatency: latency})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	go func() { _ = buyer.Serve(ctx) }()
	c := &cluster{Cluster: witness.NewCluster(t, program, dir, document("http://"+buyer.Addr().String()), "a", "b", "c"), t: t, buyer: buyer, stopWatch: stop}
	c.Create()
	c.lastLeader.Store(c.AwaitLeader())
	go c.watchLeader(ctx)
	return c
}

// stop kills all nodes.
func (c *cluster) stop() {
	c.stopWatch()
	for _, n := range c.Nodes {
		if n.IsRunning() {
			n.Kill()
		}
	}
	_ = c.buyer.Close()
}

// watchLeader keeps lastLeader up to date.
func (c *cluster) watchLeader(ctx context.Context) {
	for ctx.Err() == nil {
		for _, n := range c.Nodes {
			if c.isLeader(ctx, n) {
				c.lastLeader.Store(n)
			}
		}
		time.Sleep(20 * time.Millisecond)
	}
}

const watchTimeout = 100 * time.Millisecond

func (c *cluster) isLeader(ctx context.Context, n *witness.ClusterNode) bool {
	ctx, cancel := context.WithTimeout(ctx, watchTimeout)
	defer cancel()
	status, text, _, err := sendAdmin(ctx, "GET", n, "/metrics", "")
	return err == nil && status == http.StatusOK && strings.Contains(string(text), "\npingpost_cluster_leader 1\n")
}

// sendAdmin sends a request to the admin API of a node.
func sendAdmin(ctx context.Context, method string, n *witness.ClusterNode, path, body string) (status int, text []byte, header http.Header, err error) {
	return witness.SendAdmin(ctx, method, fmt.Sprintf("http://%s:9090%s", n.PublicIP, path), strings.NewReader(body))
}

// newHistory returns the next history of the cluster.
func (c *cluster) newHistory(id string, number int) *history {
	h := &history{id: id, number: number, budgets: budgetsOf(number), returned: map[*budget][]string{}}
	for _, n := range c.Nodes {
		h.nodes = append(h.nodes, node{n, n.Address()})
	}
	return h
}

// heal starts the killed nodes and waits until no delivery is open and all nodes have the same log entries. It
// returns an error if they do not get there, or if a node ended by itself.
func (c *cluster) heal(killed []*witness.ClusterNode) error {
	c.t.Helper()
	for _, n := range c.Nodes {
		if !n.IsRunning() && !slices.Contains(killed, n) {
			return fmt.Errorf("node %s: %s", n.ID, n.ExitReport())
		}
	}
	for _, n := range killed {
		n.Start()
	}
	entries := make([]uint64, len(c.Nodes))
	deadline := time.Now().Add(healTimeout)
	for time.Now().Before(deadline) {
		for i, n := range c.Nodes {
			if !n.IsRunning() {
				return fmt.Errorf("node %s: %s", n.ID, n.ExitReport())
			}
			entries[i] = lastEntry(n)
		}
		leader := c.Leader()
		if leader != nil && leader.Metric("pingpost_open_deliveries") == "0" && entries[0] != 0 && entries[0] == entries[1] && entries[1] == entries[2] {
			return nil
		}
		time.Sleep(20 * time.Millisecond)
	}
	return fmt.Errorf("%v after the history a delivery is open, or the nodes have different last log entries: %v", healTimeout, entries)
}

// lastEntry returns the last log entry of a node, or 0 without an answer.
func lastEntry(n *witness.ClusterNode) uint64 {
	var status struct{ Entry uint64 }
	code, text, err := n.AdminRequest("GET", "/admin/v1/cluster", "")
	if err != nil || code != http.StatusOK || json.Unmarshal(text, &status) != nil {
		return 0
	}
	return status.Entry
}

const healTimeout = 40 * time.Second // some retries of a delivery

// checkBuyer compares the leads at the endpoint with the sales to its buyers in a history.
func (c *cluster) checkBuyer(all []operation) error {
	var failures error
	held := map[string]bool{}
	for _, lead := range c.buyer.Leads() {
		held[lead.LeadUUID] = true
	}
	for i := range all {
		o := &all[i]
		lead := ""
		if o.kind == post && o.status == http.StatusCreated {
			lead = o.LeadID
		} else if o.budget != nil && o.budget.isPosted && o.isAccepted() {
			lead = o.Data.ID
		}
		if lead != "" && !held[lead] {
			failures = errors.Join(failures, fmt.Errorf("the buyer does not have lead %s: %s", lead, o))
		}
	}
	if n := c.buyer.Stats().DoubleSold; n > 0 {
		failures = errors.Join(failures, fmt.Errorf("the buyer has %d leads under two keys", n))
	}
	return failures
}
