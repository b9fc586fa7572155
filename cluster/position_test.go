package cluster

import (
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"pingpost/internal/must"
)

// confirmations are the highest positions that the leaders of a test's cluster got from each node.
type confirmations struct {
	mu    sync.Mutex
	nodes map[string][3]uint64
}

func (c *confirmations) add(node string, index, term, vote uint64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	before := c.nodes[node]
	c.nodes[node] = [3]uint64{max(before[0], index), max(before[1], term), max(before[2], vote)}
}

func (c *confirmations) of(node string) [3]uint64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.nodes[node]
}

// TestPositionsReachTheConfirmedOnes: after a kill a node has all that it confirmed: entries, terms and votes. A
// copy of its folder from before has less.
func TestPositionsReachTheConfirmedOnes(t *testing.T) {
	t.Parallel()
	confirmed := &confirmations{nodes: map[string][3]uint64{}}
	c := startCluster(t, func(o *Options) { o.Confirmed = confirmed.add })
	c.putUntilDone("before")
	c.awaitEqual(1)
	first, _ := c.awaitLeader()
	must.Succeed(t, first.HandOver(""))
	c.putUntilDone("a later term")
	var follower *member
	awaitTrue(t, "a follower confirms its vote", func() bool {
		leader, _ := c.awaitLeader()
		for _, m := range c.members {
			if m != leader && confirmed.of(m.id)[2] > 0 {
				follower = m
			}
		}
		return follower != nil
	})
	folder := filepath.Join(follower.dir, "raft")
	follower.kill()
	old := filepath.Join(t.TempDir(), "raft")
	must.Succeed(t, os.CopyFS(old, os.DirFS(folder)))
	follower.start()
	c.putUntilDone("after the copy")
	last := follower.raft.LastIndex()
	for i := range 100 {
		c.putUntilDone(fmt.Sprintf("lead %d", i))
	}
	awaitTrue(t, "the follower confirms entries", func() bool { return confirmed.of(follower.id)[0] > last })
	follower.kill()
	index, term, vote, err := ReadPosition(folder)
	must.Succeed(t, err)
	want := confirmed.of(follower.id)
	if index < want[0] || term < want[1] || vote < want[2] {
		t.Errorf("the node has index %d, term %d, vote %d; it confirmed %d", index, term, vote, want)
	}
	index, _, _, err = ReadPosition(old)
	must.Succeed(t, err)
	if index >= want[0] || index == 0 {
		t.Errorf("the old copy has index %d, and the node confirmed %d", index, want[0])
	}
	if index, term, vote, err := ReadPosition(t.TempDir()); index+term+vote > 0 || err != nil {
		t.Errorf("a new node has index %d, term %d, vote %d, error %v", index, term, vote, err)
	}
	follower.start()
}

// TestMayOpenRaft: a node with a leader refuses nodes that are no members. One without a leader allows every node.
func TestMayOpenRaft(t *testing.T) {
	t.Parallel()
	c := startCluster(t, nil)
	c.putUntilDone("lead")
	c.awaitEqual(1)
	for _, m := range c.members {
		if !m.MayOpenRaft("a") || !m.MayOpenRaft("b") || m.MayOpenRaft("x") {
			t.Errorf("node %s: a %v, b %v, x %v", m.id, m.MayOpenRaft("a"), m.MayOpenRaft("b"), m.MayOpenRaft("x"))
		}
	}
	fresh := newMember(t, "d", nil)
	fresh.start()
	if !fresh.MayOpenRaft("x") {
		t.Error("a new node refuses the leader that adds it")
	}
	c.members[1].kill()
	c.members[2].kill()
	awaitTrue(t, "a node without a leader lets a new leader connect", func() bool { return c.members[0].MayOpenRaft("x") })
}
