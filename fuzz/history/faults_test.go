//go:build unix

package history

import (
	"math/rand/v2"
	"syscall"
	"time"

	"pingpost/fuzz/witness"
)

// fault is an event in the middle of a history.
type fault struct {
	name   string
	inject func(*cluster, *rand.Rand) (killed []*witness.ClusterNode)
}

var faults = []*fault{
	{name: "none", inject: func(*cluster, *rand.Rand) []*witness.ClusterNode { return nil }},
	{name: "leader killed", inject: func(c *cluster, _ *rand.Rand) []*witness.ClusterNode { return kill(c.leader()) }},
	{name: "leader stopped", inject: stopLeader},
	{name: "leader stopped again and again", inject: stopLeaderRepeatedly},
	{name: "hand-over", inject: handOver},
	{name: "hand-over again and again", inject: handOverRepeatedly},
	{name: "follower killed", inject: func(c *cluster, random *rand.Rand) []*witness.ClusterNode {
		return kill(c.Followers(c.leader())[random.IntN(2)])
	}},
	{name: "leader isolated, then killed", inject: isolateAndKillLeader},
}

// leader returns the leader as far as known.
func (c *cluster) leader() *witness.ClusterNode { return c.lastLeader.Load() }

func kill(n *witness.ClusterNode) []*witness.ClusterNode {
	n.Kill()
	return []*witness.ClusterNode{n}
}

func randomTime(random *rand.Rand, low, high time.Duration) time.Duration {
	return low + time.Duration(random.Int64N(int64(high-low)))
}

// stopLeader stops the leader's process for a while. The others elect another leader, and the stopped one
// must not decide or read when it continues.
func stopLeader(c *cluster, random *rand.Rand) []*witness.ClusterNode {
	leader := c.leader()
	leader.Signal(syscall.SIGSTOP)
	time.Sleep(randomTime(random, 300*time.Millisecond, 1500*time.Millisecond))
	leader.Signal(syscall.SIGCONT)
	return nil
}

const repeatedFaults = 5

// stopLeaderRepeatedly stops the present leader several times, each time for about as long as a lease lasts.
func stopLeaderRepeatedly(c *cluster, random *rand.Rand) []*witness.ClusterNode {
	for range repeatedFaults {
		leader := c.leader()
		leader.Signal(syscall.SIGSTOP)
		time.Sleep(randomTime(random, 100*time.Millisecond, 400*time.Millisecond))
		leader.Signal(syscall.SIGCONT)
		time.Sleep(randomTime(random, 20*time.Millisecond, 200*time.Millisecond))
	}
	return nil
}

// handOverRepeatedly makes other nodes the leader, one after the other.
func handOverRepeatedly(c *cluster, random *rand.Rand) []*witness.ClusterNode {
	for range repeatedFaults {
		handOver(c, random)
		time.Sleep(randomTime(random, 20*time.Millisecond, 300*time.Millisecond))
	}
	return nil
}

// handOver asks the leader to make another node the leader.
func handOver(c *cluster, random *rand.Rand) []*witness.ClusterNode {
	leader := c.leader()
	to := c.Followers(leader)[random.IntN(2)]
	if _, _, err := leader.AdminRequest("POST", "/admin/v1/cluster/handover", `{"to":"`+to.ID+`"}`); err != nil {
		c.t.Errorf("hand-over: %v", err)
	}
	return nil
}

// isolateAndKillLeader stops the followers, so that the leader can commit no entry, and then kills the leader.
// A leader that answers in this time loses its decisions.
func isolateAndKillLeader(c *cluster, random *rand.Rand) []*witness.ClusterNode {
	leader := c.leader()
	followers := c.Followers(leader)
	for _, n := range followers {
		n.Signal(syscall.SIGSTOP)
	}
	time.Sleep(randomTime(random, 30*time.Millisecond, 300*time.Millisecond))
	killed := kill(leader)
	for _, n := range followers {
		n.Signal(syscall.SIGCONT)
	}
	return killed
}
