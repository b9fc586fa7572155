package cluster

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/hashicorp/go-hclog"
	"github.com/hashicorp/raft"
	raftwal "github.com/hashicorp/raft-wal"
	"github.com/hashicorp/raft-wal/metadb"
	"github.com/hashicorp/raft-wal/types"

	"pingpost/internal/must"
)

// crashingMeta is a store of raft-wal's meta data that a crash interrupts before it begins the second segment.
type crashingMeta struct {
	metadb.BoltMetaDB
}

func (m *crashingMeta) CommitState(state types.PersistentState) error {
	if len(state.Segments) < 2 {
		return m.BoltMetaDB.CommitState(state)
	}
	return errors.New("the process was killed")
}

// TestRaftLogAfterCrashBetweenSegments: the process is killed after it filled a segment and before the meta data
// have the next one. A power loss may also tear the end of the full segment. The node stores further entries.
func TestRaftLogAfterCrashBetweenSegments(t *testing.T) {
	for _, isTorn := range []bool{false, true} {
		dir := t.TempDir()
		quiet := raftwal.WithLogger(hclog.NewNullLogger())
		store := must.Value(raftwal.Open(dir, quiet, raftwal.WithSegmentSize(4<<10), raftwal.WithMetaStore(new(crashingMeta))))(t)
		last := uint64(0)
		add := func(to *raftwal.WAL) error {
			err := to.StoreLogs([]*raft.Log{{Index: last + 1, Data: bytes.Repeat([]byte{byte(last + 1)}, 500)}})
			if err == nil {
				last++
			}
			return err
		}
		for full := false; !full; {
			full = add(store) != nil
		}
		must.Succeed(t, store.Close())
		if isTorn {
			tearEnd(t, dir)
			last-- // it was not confirmed
		}
		for range 2 {
			must.Succeed(t, repairSealedTail(dir))
			store = must.Value(raftwal.Open(dir, quiet))(t)
			if got := must.Value(store.LastIndex())(t); got != last {
				t.Fatalf("torn %v: the Raft log ends with entry %d, want %d", isTorn, got, last)
			}
			if err := add(store); err != nil {
				t.Fatalf("torn %v: cannot store entry %d: %v", isTorn, last+1, err)
			}
			for index := uint64(1); index <= last; index++ {
				var entry raft.Log
				if err := store.GetLog(index, &entry); err != nil || len(entry.Data) != 500 || entry.Data[0] != byte(index) {
					t.Errorf("torn %v: entry %d: %v, %.10v", isTorn, index, err, entry.Data)
				}
			}
			must.Succeed(t, store.Close())
		}
	}
}

// tearEnd overwrites a part of the index at the end of the only segment.
func tearEnd(t *testing.T, dir string) {
	t.Helper()
	paths := must.Value(filepath.Glob(filepath.Join(dir, "*.wal")))(t)
	if len(paths) != 1 {
		t.Fatal(fmt.Errorf("%d segments, want 1", len(paths)))
	}
	text := must.Value(os.ReadFile(paths[0]))(t)
	end := len(bytes.TrimRight(text, "\x00"))
	clear(text[end-20 : end-10])
	must.Succeed(t, os.WriteFile(paths[0], text, 0o600))
}
