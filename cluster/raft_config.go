package cluster

import (
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/hashicorp/raft"
)

// maxAppendEntries is the number of Raft entries, each a batch, in one message to a follower.
const maxAppendEntries = 64

func (n *Node) raftConfig(logger hclog.Logger) *raft.Config {
	c := raft.DefaultConfig()
	c.LocalID = raft.ServerID(n.opt.ID)
	c.HeartbeatTimeout, c.ElectionTimeout = n.opt.HeartbeatTimeout, electionTimeout(n.opt.HeartbeatTimeout)
	c.LeaderLeaseTimeout = n.opt.HeartbeatTimeout
	c.CommitTimeout = min(n.opt.HeartbeatTimeout/8, 50*time.Millisecond)
	c.MaxAppendEntries = maxAppendEntries
	c.BatchApplyCh = true
	c.SnapshotThreshold, c.TrailingLogs = n.opt.CompactEvery, n.opt.CompactEvery
	c.SnapshotInterval = 10 * time.Second
	c.NoSnapshotRestoreOnStart = true // the node's own log and snapshots have the data
	c.NoLegacyTelemetry = true
	c.ShutdownOnRemove = false
	c.Logger = logger
	return c
}

// newRaftLogger returns a logger for Raft that writes its errors to ours, as warnings. Raft also logs each step
// of an election, and each message that another node does not answer. Roles and the exchange report the results.
func newRaftLogger(logger *slog.Logger) hclog.Logger {
	return hclog.New(&hclog.LoggerOptions{
		Name: "raft", Level: hclog.Error, Exclude: isRaftNoise, DisableTime: true,
		Output: slog.NewLogLogger(logger.Handler(), slog.LevelWarn).Writer(),
	})
}

// raftNoise begins the messages that Raft repeats as long as another node is down or leads.
var raftNoise = []string{"failed to heartbeat", "failed to appendEntries", "failed to make request", "failed to decode incoming command", "peer has newer term", "failed to get previous log"}

// raftLogStays is the first part of the error of a compaction of Raft's log that must wait, for example for
// another node. Raft tries again every 10 to 20 seconds, and would log this error each time.
const raftLogStays = "the Raft log must not be shortened yet"

func isRaftNoise(_ hclog.Level, message string, args ...any) bool {
	if message == "failed to take snapshot" && strings.Contains(fmt.Sprint(args...), raftLogStays) {
		return true
	}
	return slices.ContainsFunc(raftNoise, func(begin string) bool { return strings.HasPrefix(message, begin) })
}
