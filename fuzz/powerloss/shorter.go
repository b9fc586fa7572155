package main

import "pingpost/fuzz/mutant"

// shorter is the program with its distances made short: segments of 48 KB and not
// two megabytes, a snapshot after as much as the last one was large, and moves to
// the archive at once. All else is as it is: a crash in a rotation is found in
// seconds, where it would take hours.
var shorter = []mutant.Mutation{
	{
		Name: "segments of 48 KB", File: "wal/options.go",
		Old: "setDefault(&o.SegmentSize, 2<<20)",
		New: "setDefault(&o.SegmentSize, 48<<10)",
	},
	{
		Name: "tidwall's log is opened anew after nine of them", File: "wal/log.go",
		Old: "	opt = opt.withDefaults()\n",
		New: "	opt = opt.withDefaults()\n	opt.reopenAfter = 9\n",
	},
	{
		Name: "snapshots and archive at once", File: "cmd/pingpost/exchange/keeper.go",
		Old: "	snapshotEvery = 256 << 20\n	keeperLooks   = 5 * time.Second\n	archiveLooks  = time.Minute\n",
		New: "	snapshotEvery = 64 << 10\n	keeperLooks   = 120 * time.Millisecond\n	archiveLooks  = 250 * time.Millisecond\n",
	},
}
