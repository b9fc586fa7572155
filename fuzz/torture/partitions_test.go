//go:build linux

package torture

import (
	"time"

	"pingpost/fuzz/witness"
)

// maxPartition is the longest time of a partition.
const maxPartition = 6 * time.Second

// partitions are the faults of the connections between nodes.
var partitions = []*fault{
	newPartition("leader partitioned", 3, unplugged, (*torture).leaderOnly),
	newPartition("leader's carrier lost", 1, carrierLost, (*torture).leaderOnly),
	newPartition("follower partitioned", 2, unplugged, (*torture).followerOnly),
	newPartition("leader deaf", 1, deaf, (*torture).leaderOnly),
	newPartition("follower deaf", 1, deaf, (*torture).followerOnly),
	newPartition("leader mute", 1, mute, (*torture).leaderOnly),
	newPartition("follower mute", 1, mute, (*torture).followerOnly),
	newPartition("leader's line slow", 1, slow, (*torture).leaderOnly),
	newPartition("all nodes partitioned", 1, unplugged, func(t *torture) []*witness.ClusterNode { return t.Cluster.Nodes }),
	newPartition("leader and a follower disconnected", 2, isolated, func(t *torture) []*witness.ClusterNode {
		leader := t.leader()
		return []*witness.ClusterNode{leader, t.followerOf(leader)}
	}),
	{name: "leader's line flaps", weight: 1, missing: whyNoNetwork, inject: func(t *torture) bool {
		leader := t.leader()
		for range 4 + t.random.IntN(6) {
			t.network.disturb(unplugged, 50*time.Millisecond+time.Duration(t.random.Int64N(int64(400*time.Millisecond))), leader)
			t.sleepUpTo(500 * time.Millisecond)
		}
		return true
	}},
}

// newPartition returns a fault that disturbs the ports of some nodes for a time.
func newPartition(name string, weight int, kind linkFault, nodes func(t *torture) []*witness.ClusterNode) *fault {
	return &fault{name: name, weight: weight, missing: whyNoNetwork, inject: func(t *torture) bool {
		span := 300*time.Millisecond + time.Duration(t.random.Int64N(int64(maxPartition)))
		t.network.disturb(kind, span, nodes(t)...)
		return true
	}}
}
