package main

import "pingpost/fuzz/mutant"

// shorterLimits shorten the program's limits: segments of 48 KB instead of 2 MB, a snapshot
// once the log has grown by 64 KB, and immediate archiving and backups. Everything else is
// unchanged. A crash during a rotation then shows within seconds instead of hours.
var shorterLimits = []mutant.Mutation{
	{
		Name: "segments of 48 KB", File: "wal/options.go",
		Old: "setIfNotPositive(&o.SegmentSize, 2<<20)",
		New: "setIfNotPositive(&o.SegmentSize, 48<<10)",
	},
	{
		Name: "tidwall's log is reopened after nine of them", File: "wal/log.go",
		Old: "	opt = opt.withDefaults()\n",
		New: "	opt = opt.withDefaults()\n	opt.reopenAfter = 9\n",
	},
	{
		Name: "snapshots and archive at once", File: "exchange/write_snapshot.go",
		Old: "	snapshotBytes    = 256 << 20\n	snapshotInterval = 5 * time.Second\n	archiveInterval  = time.Minute\n",
		New: "	snapshotBytes    = 64 << 10\n	snapshotInterval = 120 * time.Millisecond\n	archiveInterval  = 250 * time.Millisecond\n",
	},
	{
		Name: "backups look often, and merge small objects soon", File: "wal/backup/shipper.go",
		Old: "	o.pollInterval = cmp.Or(o.pollInterval, 400*time.Millisecond)\n	o.fenceInterval = cmp.Or(o.fenceInterval, 5*time.Second)\n	o.expireInterval = cmp.Or(o.expireInterval, time.Hour)\n	o.mergeAt = cmp.Or(o.mergeAt, 8<<20)\n	o.maxSmallObjects = cmp.Or(o.maxSmallObjects, 1000)\n",
		New: "	o.pollInterval = cmp.Or(o.pollInterval, 20*time.Millisecond)\n	o.fenceInterval = cmp.Or(o.fenceInterval, 150*time.Millisecond)\n	o.expireInterval = cmp.Or(o.expireInterval, time.Hour)\n	o.mergeAt = cmp.Or(o.mergeAt, 48<<10)\n	o.maxSmallObjects = cmp.Or(o.maxSmallObjects, 9)\n",
	},
	{
		Name: "snapshots are backed up in several pieces", File: "wal/backup/pieces.go",
		Old: "const pieceSize = 8 << 20", New: "const pieceSize = 16 << 10",
	},
	{
		Name: "erased keys are settled soon", File: "wal/backup/keys.go",
		Old: "const keyFileSettleTime = 2 * time.Second", New: "const keyFileSettleTime = 100 * time.Millisecond",
	},
}

// shorterClusterLimits let the nodes of a cluster shorten Raft's log all the time. A recorded node is slow, so
// it gets more time until the others replace it.
var shorterClusterLimits = []mutant.Mutation{
	{
		Name: "Raft's log is shortened at once", File: "cluster/options.go",
		Old: "	setIfZero(&o.CompactEvery, 16_384)\n	setIfZero(&o.KeepFor, 10*time.Minute)\n",
		New: "	setIfZero(&o.CompactEvery, 48)\n	setIfZero(&o.KeepFor, 12*time.Second)\n",
	},
	{
		Name: "nodes have more time", File: "cluster/options.go",
		Old: "const DefaultHeartbeatTimeout = 250 * time.Millisecond", New: "const DefaultHeartbeatTimeout = 500 * time.Millisecond",
	},
	{
		Name: "disks have more time", File: "cluster/options.go",
		Old: "setIfZero(&o.MaxStall, 400*time.Millisecond)", New: "setIfZero(&o.MaxStall, 2*time.Second)",
	},
	{
		Name: "Raft looks often whether its log is long", File: "cluster/raft_config.go",
		Old: "c.SnapshotInterval = 10 * time.Second", New: "c.SnapshotInterval = 100 * time.Millisecond",
	},
	{
		Name: "segments of Raft's log have 64 KB", File: "cluster/node.go",
		Old: "raftwal.WithLogger(logger))", New: "raftwal.WithLogger(logger), raftwal.WithSegmentSize(64<<10))",
	},
	{
		Name: "a copy delays the shortening for a moment", File: "exchange/member/copy.go",
		Old: "keepLogAfterCopy = 30 * time.Minute", New: "keepLogAfterCopy = 3 * time.Second",
	},
}
