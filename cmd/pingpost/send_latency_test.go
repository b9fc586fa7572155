package main

import (
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// TestLatencyShares compares with a list of all.
func TestLatencyShares(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var l latencies
		var all []time.Duration
		for range rapid.IntRange(1, 300).Draw(t, "count") {
			d := time.Duration(rapid.Int64Range(0, int64(1)<<rapid.IntRange(1, 44).Draw(t, "size")).Draw(t, "latency"))
			l.add(d)
			all = append(all, d)
		}
		slices.Sort(all)
		for _, percent := range []int{1, 50, 90, 99, 100} {
			want := all[(len(all)*percent+99)/100-1]
			got := l.at(float64(percent) / 100)
			if got < want.Truncate(time.Microsecond) || got > want+want/64+time.Microsecond {
				t.Fatalf("%d percent do not exceed %v, want %v", percent, got, want)
			}
		}
	})
}

func TestBuckets(t *testing.T) {
	last := -1
	for n := range uint64(100_000) {
		bucket := bucketOf(n)
		if bucket < last || bucket > last+1 {
			t.Fatalf("%d is in bucket %d, after %d", n, bucket, last)
		}
		if topOf(bucket) < n || (bucket > 0 && topOf(bucket-1) >= n) {
			t.Fatalf("%d is in bucket %d, which ends at %d", n, bucket, topOf(bucket))
		}
		last = bucket
	}
}

func TestExtremeLatencies(t *testing.T) {
	var l latencies
	if l.at(0.5) != 0 || l.String() != "none" {
		t.Errorf("of none: %v, %s", l.at(0.5), l.String())
	}
	l.add(-time.Second)
	l.add(1 << 62)
	if l.at(0.5) != 0 || l.at(1) > 1<<62 || l.longest != 1<<62 {
		t.Errorf("%v and %v", l.at(0.5), l.at(1))
	}
}
