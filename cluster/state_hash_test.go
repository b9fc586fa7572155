package cluster

import (
	"errors"
	"fmt"
	"testing"
)

// TestNodeWithOtherStateStops: one bit of a follower's memory flips. After the next comparison it stops,
// and the other nodes go on.
func TestNodeWithOtherStateStops(t *testing.T) {
	t.Parallel()
	c := startCluster(t, nil)
	leader, _ := c.awaitLeader()
	put := func(from, to int) {
		t.Helper()
		for i := from; i < to; i += 250 {
			done := make(chan error, 250)
			for n := range 250 {
				w := &commit{machine: leader.machine, data: fmt.Appendf(nil, "lead %d", i+n), done: done}
				if err := leader.appendEntry(w.data, w); err != nil {
					t.Fatal(err)
				}
			}
			for range 250 {
				if err := <-done; err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	put(0, hashEvery+250)
	c.awaitEqual(hashEvery + 250)
	var faulty *member
	for _, m := range c.members {
		if m != leader {
			faulty = m
		}
	}
	faulty.machine.mu.Lock()
	faulty.machine.applied[5] = "another lead"
	faulty.machine.mu.Unlock()
	put(hashEvery+250, 2*hashEvery+250)
	<-faulty.Failed()
	if err := faulty.Err(); !errors.Is(err, ErrStatesDiffer) {
		t.Errorf("the faulty node: %v, want %v", err, ErrStatesDiffer)
	}
	faulty.kill()
	c.awaitEqual(2*hashEvery + 250)
}
