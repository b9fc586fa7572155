//go:build linux

package torture

import (
	"slices"
	"syscall"
	"time"

	"pingpost/fuzz/witness"
)

// maxHold is the longest time in which a node is held.
const maxHold = 4 * time.Second

// clusterFaults are the faults of a cluster. Each leaves three running nodes.
var clusterFaults = slices.Concat([]*fault{
	{name: "leader killed", weight: 3, inject: func(t *torture) bool {
		leader := t.leader()
		t.sleepUpTo(8 * time.Millisecond)
		t.killAndAwaitOther(leader)
		t.sleepUpTo(2 * time.Second)
		leader.Start()
		return true
	}},
	{name: "follower killed", weight: 2, inject: func(t *torture) bool {
		follower := t.follower()
		follower.Kill()
		t.sleepUpTo(2 * time.Second)
		follower.Start()
		return true
	}},
	{name: "two leaders killed, one after the other", weight: 2, inject: func(t *torture) bool {
		first := t.leader()
		t.killAndAwaitOther(first)
		first.Launch()
		second := t.leader()
		t.sleepUpTo(50 * time.Millisecond)
		second.Kill()
		first.AwaitServing()
		second.Start()
		return true
	}},
	{name: "two nodes killed at once", weight: 2, inject: func(t *torture) bool { return t.killTogether(2) }},
	{name: "all nodes killed", weight: 2, inject: func(t *torture) bool { return t.killTogether(3) }},
	{name: "leader held", weight: 3, inject: func(t *torture) bool { return t.hold(t.leader()) }},
	{name: "follower held", weight: 1, inject: func(t *torture) bool { return t.hold(t.follower()) }},
	{name: "leader killed while a follower is held", weight: 1, inject: func(t *torture) bool {
		leader, follower := t.leader(), t.follower()
		follower.Signal(syscall.SIGSTOP)
		t.sleepUpTo(time.Second)
		leader.Kill()
		t.sleepUpTo(time.Second)
		follower.Signal(syscall.SIGCONT)
		t.sleepUpTo(time.Second)
		leader.Start()
		return true
	}},
	{name: "leader stopped in order", weight: 2, inject: func(t *torture) bool {
		leader := t.leader()
		leader.Stop()
		leader.Start()
		return true
	}},
	{name: "all nodes restarted in turn", weight: 1, missing: whyTooShort, inject: func(t *torture) bool {
		for _, n := range t.Cluster.Nodes {
			n.Stop()
			n.Start()
			t.awaitMembersReachable()
		}
		return true
	}},
	{name: "hand-over", weight: 3, inject: func(t *torture) bool {
		to := t.follower().ID
		if t.random.IntN(2) == 0 {
			to = ""
		}
		status, text := t.Cluster.HandOver(to)
		if status >= 300 {
			t.test.Logf("the hand-over to %q was answered %d %s", to, status, text)
		}
		t.leader()
		time.Sleep(300 * time.Millisecond) // for the attempts that began meanwhile
		return status < 300
	}},
	{name: "leader killed in a hand-over", weight: 1, inject: func(t *torture) bool {
		leader, done := t.leader(), make(chan struct{})
		go func() {
			_, _, _ = leader.AdminRequest("POST", "/admin/v1/cluster/handover", "{}")
			close(done)
		}()
		t.sleepUpTo(30 * time.Millisecond)
		killed := leader.Kill()
		<-done
		leader.Start()
		return killed
	}},
	{name: "follower replaced by a copy", weight: 1, inject: func(t *torture) bool {
		follower := t.follower()
		follower.Kill()
		t.Cluster.Replace(follower)
		return true
	}},
	{name: "leader replaced by a copy", weight: 1, inject: func(t *torture) bool {
		leader := t.leader()
		t.killAndAwaitOther(leader)
		t.Cluster.Replace(leader)
		return true
	}},
	{name: "person erased", weight: 2, inject: func(t *torture) bool {
		who := t.DrawErasure(t.random)
		return who != nil && t.Erase(who)
	}},
	{name: "leader killed while it erases", weight: 2, inject: func(t *torture) bool {
		who := t.DrawErasure(t.random)
		if who == nil {
			return false
		}
		leader, erased := t.leader(), make(chan struct{})
		go func() {
			t.Erase(who)
			close(erased)
		}()
		t.sleepUpTo(30 * time.Millisecond)
		t.killAndAwaitOther(leader)
		leader.Start()
		<-erased
		t.followLeaderNow()
		t.Erase(who)
		return true
	}},
	{name: "buyer paused over a leader's kill", weight: 1, inject: func(t *torture) bool {
		<-t.topUpDone
		return t.PauseBuyerDuring(func() {
			leader := t.leader()
			t.killAndAwaitOther(leader)
			leader.Start()
			t.FollowLeader()
		}, func() {
			until := t.Suppliers.Answered() + fewLeads/2
			t.Suppliers.SendLeads(fewLeads)
			t.awaitAnswered(until)
		})
	}},
	{name: "neighbor silent for seconds", weight: 1, inject: func(t *torture) bool {
		return t.stopPeer(time.Second+time.Duration(t.random.Int64N(int64(maxPause))), fewLeads)
	}},
}, clockFaults, flipFaults, membershipFaults, identityFaults, clusterDiskFaults, partitions)

// whyTooShort returns the reason why a fault of many seconds is not injected, or "".
func whyTooShort(t *torture) string {
	if t.span < time.Minute {
		return "the run is shorter than a minute"
	}
	return ""
}

func (t *torture) leader() *witness.ClusterNode { return t.Cluster.AwaitLeader() }

func (t *torture) follower() *witness.ClusterNode { return t.followerOf(t.leader()) }

func (t *torture) followerOf(leader *witness.ClusterNode) *witness.ClusterNode {
	return t.Cluster.Followers(leader)[t.random.IntN(len(t.Cluster.Nodes)-1)]
}

func (t *torture) leaderOnly() []*witness.ClusterNode { return []*witness.ClusterNode{t.leader()} }

func (t *torture) followerOnly() []*witness.ClusterNode { return []*witness.ClusterNode{t.follower()} }

// followLeaderNow makes the methods of Exchange act on the present leader.
func (t *torture) followLeaderNow() {
	<-t.topUpDone // it uses the leader of the last audit
	t.FollowLeader()
}

// killAndAwaitOther kills the leader and waits until another node decides.
func (t *torture) killAndAwaitOther(leader *witness.ClusterNode) {
	leader.Kill()
	began := time.Now()
	t.leader()
	t.failovers = append(t.failovers, time.Since(began))
}

// killTogether kills some nodes at once and starts them again in random order.
func (t *torture) killTogether(count int) bool {
	nodes := slices.Clone(t.Cluster.Nodes)
	t.random.Shuffle(len(nodes), func(i, j int) { nodes[i], nodes[j] = nodes[j], nodes[i] })
	nodes = nodes[:count]
	t.Cluster.KillTogether(nodes...)
	t.sleepUpTo(time.Second)
	for _, n := range nodes {
		n.Launch()
		t.sleepUpTo(200 * time.Millisecond)
	}
	for _, n := range nodes {
		n.AwaitServing()
	}
	return true
}

// hold stops a node's process for a time. It then has its old view of the cluster.
func (t *torture) hold(n *witness.ClusterNode) bool {
	n.Signal(syscall.SIGSTOP)
	time.Sleep(200 * time.Millisecond)
	t.sleepUpTo(maxHold - 200*time.Millisecond)
	n.Signal(syscall.SIGCONT)
	return true
}

// awaitMembersReachable waits until the leader reaches all members.
func (t *torture) awaitMembersReachable() {
	t.AwaitWhileRunning("the leader reaches all nodes, which have its entries", func() bool {
		var status struct {
			Nodes []struct {
				Reachable bool `json:"reachable"`
				Lag       *int `json:"lag_entries"`
			} `json:"nodes"`
		}
		t.leader().AdminGet("/admin/v1/cluster", &status)
		for _, n := range status.Nodes {
			if !n.Reachable || n.Lag == nil || *n.Lag > 100 {
				time.Sleep(100 * time.Millisecond)
				return false
			}
		}
		return true
	})
}
