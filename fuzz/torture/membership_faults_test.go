//go:build linux

package torture

import (
	"os"
	"path/filepath"
	"time"

	"pingpost/fuzz/witness"
)

// membershipFaults kill the leader during a change of the members. The change is complete or absent
// afterwards, and the operator repeats it. A cluster of two members waits until its leader runs again.
var membershipFaults = []*fault{
	{name: "leader killed while a follower is removed", weight: 1, inject: func(t *torture) bool {
		follower := t.follower()
		t.killDuringChange("DELETE", follower)
		if t.leader() == follower { // it replaced the killed leader
			t.handOverTo("")
		}
		t.Cluster.Remove(follower)
		if t.random.IntN(2) == 0 {
			follower.Kill()
			t.Cluster.Replace(follower)
		} else {
			t.Cluster.Add(follower)
		}
		t.awaitAllMembers()
		return true
	}},
	{name: "leader killed while a follower is added", weight: 1, inject: func(t *torture) bool {
		follower := t.follower()
		t.Cluster.Remove(follower)
		t.killDuringChange("POST", follower)
		t.Cluster.Add(follower)
		t.awaitAllMembers()
		return true
	}},
	{name: "leader killed while a node copies its data", weight: 1, inject: func(t *torture) bool {
		leader := t.leader()
		n := t.followerOf(leader)
		n.Kill()
		t.Cluster.Remove(n)
		t.failOnError(os.RemoveAll(n.DataDir()))
		t.Cluster.LaunchCopy(n)
		begun := func() bool {
			_, err := os.Stat(filepath.Join(n.DataDir(), "COPYING"))
			return err == nil || n.ExitReport() != "" || n.Address() != ""
		}
		witness.Await(t.test, "the node copies data", begun)
		t.sleepUpTo(20 * time.Millisecond)
		leader.Kill()
		unfinished := n.Address() == ""
		leader.Start()
		witness.Await(t.test, "the copy succeeds or fails", func() bool { return n.Address() != "" || n.ExitReport() != "" })
		if n.ExitReport() != "" { // the node must be able to start again, and to repeat the copy
			if code := n.AwaitFailure(); code != 1 {
				t.test.Errorf("the node whose copy failed ended with exit code %d:\n%s", code, n.LastLines())
			}
			n.Start()
		}
		t.Cluster.Add(n)
		t.awaitAllMembers()
		return unfinished
	}},
}

// killDuringChange sends a change of the members to the leader, kills the leader, and starts it again.
func (t *torture) killDuringChange(method string, n *witness.ClusterNode) {
	leader, done := t.leader(), make(chan struct{})
	if leader == n {
		return // it became the leader meanwhile
	}
	go func() {
		_, _, _ = leader.AdminRequest(method, "/admin/v1/cluster/nodes/"+n.ID, "")
		close(done)
	}()
	t.sleepUpTo(50 * time.Millisecond)
	leader.Kill()
	<-done
	leader.Start()
}

// awaitAllMembers waits until all nodes are members that the leader reaches.
func (t *torture) awaitAllMembers() {
	t.awaitMembersReachable()
	if members := t.leader().Metric("pingpost_cluster_members"); members != "3" {
		t.test.Errorf("the cluster has %s members, want 3", members)
	}
}
