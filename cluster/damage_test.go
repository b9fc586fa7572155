package cluster

import (
	"bytes"
	"errors"
	"sync/atomic"
	"testing"

	"github.com/hashicorp/raft"

	"pingpost/internal/must"
)

func damagedEntry() []byte {
	entry := encodeFileChunk(&fileChunk{name: "lists/dnc", total: 1, data: []byte("x")})
	entry[len(entry)-1] ^= 1
	return entry
}

// TestEveryDamageIsFound: a bit that flipped on a disk or in memory changes the checksum.
func TestEveryDamageIsFound(t *testing.T) {
	valid := encodeFileChunk(&fileChunk{name: "lists/dnc", total: 1, data: []byte("x")})
	for bit := range 8 * len(valid) {
		damaged := bytes.Clone(valid)
		damaged[bit/8] ^= 1 << (bit % 8)
		if _, _, err := checkEntry(damaged); !errors.Is(err, errChecksum) {
			t.Fatalf("bit %d: %v, want %v", bit, err, errChecksum)
		}
	}
}

// onlyFails checks that one node stopped because of a damaged entry, and that the others go on without it.
func onlyFails(t *testing.T, c *testCluster, damaged *member) {
	t.Helper()
	<-damaged.Failed()
	if err := damaged.Err(); !errors.Is(err, errChecksum) {
		t.Errorf("the node with the damaged entry: %v, want %v", err, errChecksum)
	}
	awaitTrue(t, "another node leads", func() bool {
		for _, m := range c.members {
			if m != damaged && m.leading.Load() != nil {
				return m.put("after") == nil
			}
		}
		return false
	})
	for _, m := range c.members {
		if m != damaged {
			must.Succeed(t, m.Err())
		}
	}
}

// TestLeaderWithDamagedProposalStops: an entry that changes in the leader's memory reaches no disk.
func TestLeaderWithDamagedProposalStops(t *testing.T) {
	t.Parallel()
	c := startCluster(t, nil)
	leader, _ := c.awaitLeader()
	last := leader.raft.LastIndex()
	if err := leader.raft.ApplyLog(raft.Log{Data: damagedEntry()}, 0).Error(); err == nil {
		t.Error("a damaged entry is committed")
	}
	var stored raft.Log
	if err := leader.store.GetLog(last+1, &stored); err == nil && checkEntries([]*raft.Log{&stored}) != nil {
		t.Error("the leader stored the damaged entry")
	}
	onlyFails(t, c, leader)
}

// damagingStore is a Raft log on a disk that changes entries.
type damagingStore struct {
	raft.LogStore
	damages *atomic.Bool
}

func (s *damagingStore) GetLog(index uint64, l *raft.Log) error {
	err := s.LogStore.GetLog(index, l)
	if err == nil && l.Type == raft.LogCommand && s.damages.Load() {
		l.Data = bytes.Clone(l.Data)
		l.Data[len(l.Data)-1] ^= 1
	}
	return err
}

// TestNodeWithDamagedDiskStops: the leader's disk changes an entry before the others get it, or a follower's
// before it is applied. Only that node stops.
func TestNodeWithDamagedDiskStops(t *testing.T) {
	t.Parallel()
	for _, ofLeader := range []bool{true, false} {
		disks := map[string]*atomic.Bool{"a": {}, "b": {}, "c": {}}
		c := startCluster(t, func(o *Options) {
			disk := disks[o.ID]
			o.wrapLogStore = func(s raft.LogStore) raft.LogStore { return &damagingStore{s, disk} }
		})
		c.putUntilDone("before")
		damaged, _ := c.awaitLeader()
		if !ofLeader {
			for _, m := range c.members {
				if m.leading.Load() == nil {
					damaged = m
				}
			}
		}
		disks[damaged.id].Store(true)
		c.awaitMembers(3)
		for _, m := range c.members {
			if m.leading.Load() != nil {
				go func() { _ = m.put("damaged") }() // the result depends on the node
			}
		}
		onlyFails(t, c, damaged)
	}
}

// TestFollowerRefusesDamagedEntry: an entry that changes on the way to a follower is not stored there.
func TestFollowerRefusesDamagedEntry(t *testing.T) {
	t.Parallel()
	c := startCluster(t, nil)
	c.putUntilDone("before")
	leader, _ := c.awaitLeader()
	from := intruder(t)
	for _, m := range c.members {
		if m == leader {
			continue
		}
		term, last := leader.raft.CurrentTerm(), m.raft.LastIndex()
		header := raft.RPCHeader{ProtocolVersion: raft.ProtocolVersionMax, ID: []byte(leader.id), Addr: []byte(leader.address)}
		message := &raft.AppendEntriesRequest{
			RPCHeader: header, Term: term, PrevLogEntry: last, PrevLogTerm: term,
			Entries: []*raft.Log{{Index: last + 1, Term: term, Type: raft.LogCommand, Data: damagedEntry()}},
		}
		var answer raft.AppendEntriesResponse
		if err := from.AppendEntries("", raft.ServerAddress(m.address), message, &answer); err == nil && answer.Success {
			t.Errorf("node %s stores a damaged entry", m.id)
		}
	}
	c.putUntilDone("after")
	c.awaitEqual(2)
}
