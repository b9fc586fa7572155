//go:build linux

package torture

import (
	"time"

	"pingpost/fuzz/mutant"
)

// clusterMutants break the promises of a cluster. The histories detect a leader that decides without the
// lease; the torture rarely does, because its clients seldom ask the old and the new leader about one lead
// at the same moment.
var clusterMutants = []mutantCase{
	{
		mutant.Mutation{
			Name: "a batch is acknowledged before a majority has it", File: "cluster/leadership.go",
			Old: "\t\tp.result = l.node.raft.ApplyLog(", New: "\t\tcommitqueue.NotifyCommitted(entries, b.first, b.at)\n" +
				"\t\tfor i := range entries {\n\t\t\tentries[i].Waiter = nil\n\t\t}\n\t\tp.result = l.node.raft.ApplyLog(",
		}, "leader partitioned,leader killed,all nodes killed", 60 * time.Second, []string{"is not in the log", "are missing or changed", "which the log does not sell to it", "the log has no lead and no auction", "log: no such entry"},
	},
	{
		mutant.Mutation{
			Name: "a leader decides before it has the entries of the last one", File: "cluster/roles.go",
			Old: "\tif err := n.raft.Barrier(barrierTimeout).Error(); err != nil || n.Err() != nil {\n", New: "\tif err := n.Err(); err != nil {\n",
		}, "killed,hand-over,flaps", 90 * time.Second, []string{"a node of the cluster decides", "ended unexpectedly", "failed:", "this node of the cluster failed", "both must be equal", "cannot have this answer", "is not in the log"},
	},
	{
		mutant.Mutation{
			Name: "followers apply a batch twice", File: "cluster/state_machine.go",
			Old: "\t} else if err := m.applyToState(first, at, b.entries[known:]); err != nil {\n",
			New: "\t} else if err := errors.Join(m.applyToState(first, at, b.entries[known:]), m.applyToState(first, at, b.entries[known:])); err != nil {\n",
		}, "killed,hand-over", 30 * time.Second, []string{"a node of the cluster decides", "ended unexpectedly", "failed:", "replay: the live exchange", "over the cap of"},
	},
	{
		mutant.Mutation{
			Name: "followers do not erase keys", File: "exchange/cluster.go",
			Old: "\treturn r.exchange.keys.Erase(erased)\n", New: "\treturn nil\n",
		}, "erase", 30 * time.Second, []string{"is deleted: false"},
	},
}
