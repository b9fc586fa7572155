// Package gcpace chooses how far the heap grows between two runs of the garbage collector.
package gcpace

import (
	"runtime/debug"
	"runtime/metrics"
	"time"
)

const (
	// highestPercent is the value of GOGC while there are few live data. It trades memory for time.
	highestPercent = 400

	// A quarter of the live data, or this many bytes if they are more, may be allocated between two runs.
	leastAllowance = 64 << 20
	leastPercent   = 25

	interval = time.Second
)

// Start sets GOGC now, and each second according to the live data, until stop is called.
//
// Most live data of an exchange are tables without pointers, which the collector need not scan. So the
// processor time of a run hardly depends on their size, and the heap needs no room in proportion to it.
// (Rejected: mapping the tables' memory outside the heap. A row that is read after its table has grown
// would then crash the process.)
func Start() (stop func()) {
	debug.SetGCPercent(highestPercent)
	ended := make(chan struct{})
	go func() {
		ticker := time.NewTicker(interval)
		defer ticker.Stop()
		live := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
		for set := highestPercent; ; {
			select {
			case <-ended:
				return
			case <-ticker.C:
			}
			metrics.Read(live)
			// A change stops the program for a moment, so small ones wait.
			if next := percentFor(live[0].Value.Uint64()); next < set*9/10 || next > set*11/10 {
				debug.SetGCPercent(next)
				set = next
			}
		}
	}()
	return func() { close(ended) }
}

// percentFor returns GOGC for this many bytes of live data.
func percentFor(liveBytes uint64) int {
	percent := uint64(leastAllowance) * 100 / max(liveBytes, 1)
	return int(min(max(percent, leastPercent), highestPercent))
}
