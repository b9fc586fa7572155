package cluster

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/hashicorp/raft"

	"pingpost/internal/must"
)

// raftLogs are entries of 100 bytes each.
func raftLogs(first, last uint64, at time.Time) (logs []*raft.Log) {
	for i := first; i <= last; i++ {
		logs = append(logs, &raft.Log{Index: i, Data: make([]byte, 100), AppendedAt: at})
	}
	return logs
}

// TestRetention: an entry may be deleted if it is too old, or if the entries after it have too many bytes.
func TestRetention(t *testing.T) {
	began := time.Now()
	at := func(minutes int) time.Time { return began.Add(time.Duration(minutes) * time.Minute) }
	r := &retention{keepFor: 10 * time.Minute, keepBytes: 1 << 20}
	for minute := range 20 {
		r.add(raftLogs(uint64(minute*100+1), uint64(minute*100+100), at(minute)), at(minute))
	}
	for _, row := range []struct {
		now  int
		last uint64 // that Raft wants to delete
		want uint64
	}{{5, 1500, 0}, {20, 500, 500}, {20, 1500, 1000}, {25, 1500, 1500}, {60, 1990, 1990}} {
		if got := r.deletable(row.last, at(row.now)); got != row.want {
			t.Errorf("in minute %d Raft may delete up to %d, want %d", row.now, got, row.want)
		}
	}
	r.keepBytes = 50_000
	if got := r.deletable(1990, at(20)); got < 1400 || got > 1600 {
		t.Errorf("with 50,000 bytes Raft may delete up to %d, want about 1500", got)
	}
	r.deletedFrom(1701)
	if got := r.deletable(1990, at(60)); got > 1700 {
		t.Errorf("after entries from 1701 on were deleted Raft may delete up to %d", got)
	}
}

// storeWithLogs is a Raft log in memory, from entry 1 on.
type storeWithLogs struct {
	raft.LogStore
	logs []*raft.Log
}

func (s storeWithLogs) FirstIndex() (uint64, error) { return 1, nil }
func (s storeWithLogs) LastIndex() (uint64, error)  { return uint64(len(s.logs)), nil }
func (s storeWithLogs) GetLog(i uint64, l *raft.Log) error {
	*l = *s.logs[i-1]
	return nil
}

// TestRetentionAfterRestart: a node that restarts knows the times and sizes of the entries in its log.
func TestRetentionAfterRestart(t *testing.T) {
	began := time.Now()
	old, recent := began.Add(-20*time.Minute), began.Add(-5*time.Minute)
	r := &retention{keepFor: 10 * time.Minute, keepBytes: 1 << 30}
	must.Succeed(t, r.load(storeWithLogs{logs: append(raftLogs(1, 5000, old), raftLogs(5001, 9000, recent)...)}, began))
	if got := r.deletable(8000, began); got < 4980 || got > 5020 {
		t.Errorf("Raft may delete up to %d, want about 5000", got)
	}
	r = &retention{keepFor: 10 * time.Minute, keepBytes: 200_000}
	must.Succeed(t, r.load(storeWithLogs{logs: raftLogs(1, 9000, recent)}, began))
	if got := r.deletable(8000, began); got < 6900 || got > 7100 {
		t.Errorf("with 200,000 bytes Raft may delete up to %d, want about 7000", got)
	}
}

// shortStore is a Raft log that no longer has deleted entries. raft-wal still returns those in a segment that
// it did not delete completely.
type shortStore struct{ raft.LogStore }

func (s shortStore) GetLog(index uint64, l *raft.Log) error {
	if first, err := s.FirstIndex(); err != nil || index < first {
		return cmp.Or(err, raft.ErrLogNotFound)
	}
	return s.LogStore.GetLog(index, l)
}

func (s shortStore) IsMonotonic() bool { return s.LogStore.(raft.MonotonicLogStore).IsMonotonic() }

// lagging kills a member, and lets the others shorten their Raft logs meanwhile.
func lagging(t *testing.T, tune func(*Options)) (*testCluster, *member) {
	t.Helper()
	c := startCluster(t, func(o *Options) {
		o.CompactEvery = 8
		o.wrapLogStore = func(s raft.LogStore) raft.LogStore { return shortStore{s} }
		tune(o)
	})
	c.putUntilDone("before")
	c.awaitEqual(1)
	var behind *member
	for _, m := range c.members {
		if m.leading.Load() == nil {
			behind = m
		}
	}
	behind.kill()
	for i := range 50 {
		c.putUntilDone(fmt.Sprintf("lead %d", i))
	}
	c.awaitEqual(51)
	for _, m := range c.members {
		if m != behind {
			must.Succeed(t, m.raft.Snapshot().Error())
		}
	}
	return c, behind
}

// TestNodeThatLagsNeedsNoCopy: the Raft log keeps entries for a node that was down, as long as the limits of
// time and bytes allow.
func TestNodeThatLagsNeedsNoCopy(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		tune func(*Options)
		want error
	}{
		"the defaults":   {func(*Options) {}, nil},
		"a shorter time": {func(o *Options) { o.KeepFor = 1 }, ErrMissingEntries},
		"fewer bytes":    {func(o *Options) { o.KeepBytes = 1 }, ErrMissingEntries},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c, behind := lagging(t, row.tune)
			behind.start()
			if row.want == nil {
				c.awaitEqual(51)
				return
			}
			<-behind.Failed()
			if err := behind.Err(); !errors.Is(err, row.want) {
				t.Errorf("the node that lags: %v, want %v", err, row.want)
			}
		})
	}
}

// TestNodeWithNewerCopy: a node gets a copy of the data and keeps its old Raft log. It goes on after the gap.
func TestNodeWithNewerCopy(t *testing.T) {
	t.Parallel()
	c, behind := lagging(t, func(o *Options) { o.KeepFor = 1 })
	leader, _ := c.awaitLeader()
	must.Succeed(t, os.RemoveAll(filepath.Join(behind.dir, "log")))
	must.Succeed(t, os.CopyFS(filepath.Join(behind.dir, "log"), os.DirFS(filepath.Join(leader.dir, "log"))))
	behind.start()
	c.putUntilDone("after")
	c.awaitEqual(52)
}
