// Package gcpace chooses how far the heap grows between two runs of the garbage collector, and gives
// memory back that only the start needed.
package gcpace

import (
	"runtime/debug"
	"runtime/metrics"
	"time"
)

const (
	// highestPercent is the value of GOGC while there are few live data. It trades memory for time.
	highestPercent = 400

	// An eighth of the live data, or this many bytes if they are more, may be allocated between two runs.
	leastAllowance = 16 << 20
	leastPercent   = 12

	interval = time.Second

	// releaseAfter is the number of intervals after which memory of the start is given back. An exchange
	// with a heap above smallHeap continues without this collection.
	releaseAfter = 2
	smallHeap    = 64 << 20
)

// Start sets GOGC now, and each second according to the live data, until stop is called. After two
// seconds it gives back the memory that only the start needed.
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
		for set, n := highestPercent, 1; ; n++ {
			select {
			case <-ended:
				return
			case <-ticker.C:
			}
			if n == releaseAfter {
				releaseStartMemory()
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

// releaseStartMemory returns the garbage of the start to the system, unless the heap is large.
func releaseStartMemory() {
	heap := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	if metrics.Read(heap); heap[0].Value.Uint64() < smallHeap {
		debug.FreeOSMemory()
	}
}
