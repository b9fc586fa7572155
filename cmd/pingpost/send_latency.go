package main

import (
	"fmt"
	"math/bits"
	"time"

	"pingpost/loadtest/load"
)

// latencies counts durations in buckets that are each at most a 64th wider than
// they begin: any share of them can be told to 1.6 percent, in 10 KB however
// many there are. Below 64 microseconds each has its own.
type latencies struct {
	buckets [latencyOctaves * latencyParts]uint32
	count   int
	longest time.Duration
}

const (
	latencyParts   = 64
	latencyOctaves = 40 // up to some 18 months, in microseconds
)

func (l *latencies) add(d time.Duration) {
	d = max(d, 0)
	l.count++
	l.longest = max(l.longest, d)
	l.buckets[min(bucketOf(uint64(d.Microseconds())), len(l.buckets)-1)]++
}

// bucketOf numbers the buckets: first those of 0 to 63, then 64 for each power
// of two.
func bucketOf(n uint64) int {
	if n < latencyParts {
		return int(n)
	}
	octave := bits.Len64(n) - bits.Len64(latencyParts) // how far n is shifted to have 7 bits
	return (octave+1)*latencyParts + int(n>>octave) - latencyParts
}

// topOf is the highest number of a bucket.
func topOf(bucket int) uint64 {
	if bucket < latencyParts {
		return uint64(bucket)
	}
	octave := bucket/latencyParts - 1
	return (uint64(bucket%latencyParts+latencyParts+1) << octave) - 1
}

// at is the duration that a share of all do not exceed, from 0 to 1: never
// below the true one, and at most a 64th above it.
func (l *latencies) at(share float64) time.Duration {
	if l.count == 0 {
		return 0
	}
	rank := max(1, int(share*float64(l.count)+0.999999))
	seen := 0
	for i, n := range &l.buckets {
		if seen += int(n); seen >= rank {
			return min(time.Duration(topOf(i))*time.Microsecond, l.longest)
		}
	}
	return l.longest
}

func (l *latencies) String() string {
	if l.count == 0 {
		return "none"
	}
	return fmt.Sprintf("p50 %s   p90 %s   p99 %s   max %s",
		load.Short(l.at(0.5)), load.Short(l.at(0.9)), load.Short(l.at(0.99)), load.Short(l.longest))
}
