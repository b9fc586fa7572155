package cluster

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hashicorp/raft"

	"pingpost/internal/must"
)

// TestHandOverLeavesNoResultUnknown hands over under load. Every entry is acknowledged or refused, and the
// next leader accepts a refused one.
func TestHandOverLeavesNoResultUnknown(t *testing.T) {
	t.Parallel()
	c := startCluster(t, nil)
	var stop atomic.Bool
	var callers sync.WaitGroup
	var put atomic.Int64
	for n := range 8 {
		callers.Go(func() {
			for i := 0; !stop.Load(); i++ {
				if c.putUntilDone(fmt.Sprintf("lead %d of supplier %d", i, n)) {
					t.Error("a result is unknown")
				}
				put.Add(1)
			}
		})
	}
	leaders := map[string]bool{}
	for range 3 {
		m, _ := c.awaitLeader()
		leaders[m.id] = true
		must.Succeed(t, m.HandOver(""))
		time.Sleep(50 * time.Millisecond)
	}
	stop.Store(true)
	callers.Wait()
	if len(leaders) < 2 {
		t.Errorf("the leaders were %v, want at least two", leaders)
	}
	got := c.awaitEqual(int(put.Load()))
	if slices.Sort(got); len(got) != int(put.Load()) || len(slices.Compact(got)) != len(got) {
		t.Errorf("%d entries, want %d different ones", len(got), put.Load())
	}
}

// stallingStore is a Raft log on a disk that can stall.
type stallingStore struct {
	raft.LogStore
	stalled *sync.RWMutex // locked while the disk stalls
}

func (s *stallingStore) StoreLogs(logs []*raft.Log) error {
	s.stalled.RLock()
	defer s.stalled.RUnlock()
	return s.LogStore.StoreLogs(logs)
}

// TestStalledLeaderIsReplaced: the leader's disk stalls while its connections work. Another node takes
// over, although Raft's own heartbeats would go on. The old leader does not hold the lease then, and
// applies all entries after its disk works again. A new leader may replicate a file before its first entry.
func TestStalledLeaderIsReplaced(t *testing.T) {
	for name, begin := range map[string]func(*member) error{
		"entry": func(m *member) error { return m.put("stalled") },
		"file":  func(m *member) error { return m.ReplicateFile("stalled", []byte("content")) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			checkStalledLeader(t, begin)
		})
	}
}

func checkStalledLeader(t *testing.T, begin func(*member) error) {
	disks := map[string]*sync.RWMutex{"a": {}, "b": {}, "c": {}}
	c := startCluster(t, func(o *Options) {
		disk := disks[o.ID]
		o.wrapLogStore = func(s raft.LogStore) raft.LogStore { return &stallingStore{s, disk} }
	})
	c.putUntilDone("before")
	old, _ := c.awaitLeader()
	disks[old.id].Lock()
	result := make(chan error, 1)
	go func() { result <- begin(old) }()
	deadline := time.Now().Add(10 * time.Second)
	var next *member
	for next == nil && time.Now().Before(deadline) {
		for _, m := range c.members {
			if m != old && m.leading.Load() != nil {
				next = m
			}
		}
		time.Sleep(time.Millisecond)
	}
	if next == nil {
		disks[old.id].Unlock()
		t.Fatal("no other node became the leader")
	}
	if old.HoldsLease() {
		t.Error("the stalled leader holds the lease beside the next one")
	}
	must.Succeed(t, next.put("after"))
	disks[old.id].Unlock()
	if err := <-result; !errors.Is(err, ErrUnknown) {
		t.Errorf("the result of the stalled %s: %v, want %v", t.Name(), err, ErrUnknown)
	}
	if got := c.awaitEqual(2); got[len(got)-1] != "after" {
		t.Errorf("the entries are %q", got)
	}
}

// TestHandOverToLostNode: a hand-over to a node that does not run fails, and the leader goes on in its term. Without a
// choice, another node takes over.
func TestHandOverToLostNode(t *testing.T) {
	t.Parallel()
	c := startCluster(t, nil)
	leader, _ := c.awaitLeader()
	c.putUntilDone("before")
	var others []*member
	for _, m := range c.members {
		if m != leader {
			others = append(others, m)
		}
	}
	lost, left := others[0], others[1]
	lost.kill()
	term := leader.Term()
	for range 2 {
		if err := leader.HandOver(lost.id); !errors.Is(err, ErrNotTakenOver) {
			t.Errorf("a hand-over to a lost node: %v", err)
		}
	}
	must.Succeed(t, leader.put("after"))
	if now, _ := c.awaitLeader(); now != leader || now.Term() != term {
		t.Errorf("node %q leads in term %d after failed hand-overs, want node %q in term %d", now.id, now.Term(), leader.id, term)
	}
	must.Succeed(t, leader.HandOver(""))
	awaitTrue(t, "the other node leads", func() bool { return left.leading.Load() != nil })
}

// TestHandOverWaitsForSlowNode: the disk of the chosen node is slow, so the node lacks entries when the
// hand-over begins. The leader goes on until the node has them. If the disk stalls for longer, the hand-over
// fails.
func TestHandOverWaitsForSlowNode(t *testing.T) {
	t.Parallel()
	disks := map[string]*sync.RWMutex{"a": {}, "b": {}, "c": {}}
	c := startCluster(t, func(o *Options) {
		disk := disks[o.ID]
		o.wrapLogStore = func(s raft.LogStore) raft.LogStore { return &stallingStore{s, disk} }
		o.HeartbeatTimeout, o.MaxStall = time.Second, time.Second
	})
	leader, _ := c.awaitLeader()
	var chosen *member
	for _, m := range c.members {
		if m != leader {
			chosen = m
		}
	}
	for _, stall := range []time.Duration{time.Minute, 2 * time.Second} {
		disk := disks[chosen.id]
		disk.Lock()
		must.Succeed(t, leader.put("lead"))
		works := time.AfterFunc(stall, disk.Unlock)
		err := leader.HandOver(chosen.id)
		if works.Stop() {
			disk.Unlock()
			if !errors.Is(err, ErrNotTakenOver) {
				t.Errorf("a hand-over to a stalled node: %v", err)
			}
			awaitTrue(t, "the leader goes on", func() bool { return leader.put("lead") == nil })
			continue
		}
		must.Succeed(t, err)
		awaitTrue(t, "the chosen node leads", func() bool { return chosen.leading.Load() != nil })
	}
}

// TestFailedLeaderIsReplaced: the disk with the leader's own log fails, or that with its Raft log. The node
// reports the error, and another node takes over although the failed one could still be elected.
func TestFailedLeaderIsReplaced(t *testing.T) {
	t.Parallel()
	broken := errors.New("broken disk")
	for _, raftLog := range []bool{false, true} {
		faults := map[string]*atomic.Bool{"a": {}, "b": {}, "c": {}}
		c := startCluster(t, func(o *Options) {
			fault := faults[o.ID]
			o.wrapLogStore = func(s raft.LogStore) raft.LogStore { return &failingStore{s, fault, broken} }
		})
		c.putUntilDone("before")
		old, _ := c.awaitLeader()
		if raftLog {
			faults[old.id].Store(true)
		} else {
			old.logDisk.Store(&broken)
		}
		if err := old.put("failed"); !errors.Is(err, ErrUnknown) && !errors.Is(err, ErrNotLeader) {
			t.Errorf("Raft log %v: the result of an entry on the broken disk: %v", raftLog, err)
		}
		awaitTrue(t, "another node leads", func() bool {
			for _, m := range c.members {
				if m != old && m.leading.Load() != nil {
					return m.put("after") == nil
				}
			}
			return false
		})
		if err := old.Err(); !errors.Is(err, broken) {
			t.Errorf("Raft log %v: the failed node reports %v, want %v", raftLog, err, broken)
		}
	}
}

// failingStore is a Raft log on a disk that fails after a while.
type failingStore struct {
	raft.LogStore
	failed *atomic.Bool
	err    error
}

func (s *failingStore) StoreLogs(logs []*raft.Log) error {
	if s.failed.Load() {
		return s.err
	}
	return s.LogStore.StoreLogs(logs)
}

// TestLeaseEndsWithoutMajority: a leader that no other node answers does not hold the lease.
func TestLeaseEndsWithoutMajority(t *testing.T) {
	t.Parallel()
	c := startCluster(t, nil)
	leader, _ := c.awaitLeader()
	awaitTrue(t, "the leader gets the lease", leader.HoldsLease)
	for _, m := range c.members {
		if m != leader {
			m.kill()
		}
	}
	awaitTrue(t, "the lease ends", func() bool { return !leader.HoldsLease() })
}

func awaitTrue(t *testing.T, what string, condition func() bool) {
	t.Helper()
	for deadline := time.Now().Add(20 * time.Second); !condition(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("%s: not within 20 seconds", what)
		}
	}
}

// TestBatchOrder compares the rule for batches with the entries that they would store: the accepted ones
// are consecutive.
func TestBatchOrder(t *testing.T) {
	type row struct {
		what                     string
		leadership, term, number uint64
		inTerm                   uint64
		counts                   bool
	}
	var order batchOrder
	for _, r := range []row{
		{"the first batch of a leadership", 7, 2, 1, 2, true},
		{"the second", 7, 2, 2, 2, true},
		{"the second again", 7, 2, 2, 2, false},
		{"the fourth without the third", 7, 2, 4, 2, false},
		{"the third", 7, 2, 3, 2, true},
		{"the fourth in a later term", 7, 2, 4, 3, false},
		{"the second batch of another leadership", 8, 3, 2, 3, false},
		{"its first", 8, 3, 1, 3, true},
		{"the fourth of the first leadership", 7, 2, 4, 3, false},
		{"the second leadership goes on", 8, 3, 2, 3, true},
	} {
		b := batch{leadership: r.leadership, term: r.term, number: r.number}
		if got := order.accept(&b, r.inTerm); got != r.counts {
			t.Errorf("%s: counts %v, want %v", r.what, got, r.counts)
		}
	}
}

// TestLogEndsWithItsLeadership: a request that began in an earlier leadership of the node cannot append an
// entry in a later one, because other nodes have led in between.
func TestLogEndsWithItsLeadership(t *testing.T) {
	t.Parallel()
	c := startCluster(t, nil)
	first, log := c.awaitLeader()
	for _, to := range []string{"b", "c", first.id} {
		if leader, _ := c.awaitLeader(); leader.id != to {
			must.Succeed(t, leader.HandOver(to))
		}
	}
	if leader, _ := c.awaitLeader(); leader != first {
		t.Fatalf("node %s leads, want %s again", leader.id, first.id)
	}
	c.putUntilDone("of the present leadership")
	w := &commit{machine: first.machine, data: []byte("of an earlier leadership"), done: make(chan error, 1)}
	if err := log.Append(w.data, w); !errors.Is(err, ErrNotLeader) {
		t.Errorf("an earlier log accepts an entry: %v", err)
	}
	c.awaitEqual(1)
}
