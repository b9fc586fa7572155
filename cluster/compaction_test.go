package cluster

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hashicorp/go-hclog"
	"github.com/hashicorp/raft"

	"pingpost/internal/must"
	"pingpost/wal"
)

// sink is a Raft snapshot in memory.
type sink struct {
	bytes.Buffer
	closed, cancelled bool
}

func (*sink) ID() string      { return "test" }
func (s *sink) Close() error  { s.closed = true; return nil }
func (s *sink) Cancel() error { s.cancelled = true; return nil }

// TestRaftLogIsDeletedOnlyAfterSync: Raft deletes its entries after a snapshot, so the snapshot exists only
// if the node's own log is durable and its readers have the entries.
func TestRaftLogIsDeletedOnlyAfterSync(t *testing.T) {
	broken := errors.New("broken disk")
	for name, row := range map[string]struct {
		syncErr, readerErr error
	}{
		"log and readers have the entries":  {},
		"the log cannot be fsynced":         {syncErr: broken},
		"a reader has not stored all of it": {readerErr: broken},
	} {
		t.Run(name, func(t *testing.T) {
			var steps []string
			dir := t.TempDir()
			log := must.Value(wal.OpenReplica(dir, wal.Options{Faults: wal.Faults{Sync: func() error {
				steps = append(steps, "fsync")
				return row.syncErr
			}}}))(t)
			defer log.Close()
			_, _, err := log.AppendBatch(1, [][]byte{[]byte("lead"), []byte("bid")})
			must.Succeed(t, err)
			m := &raftMachine{order: batchOrder{7, 3}, node: &Node{opt: Options{Dir: dir, Log: log, MayCompact: func(last uint64) error {
				if last != 2 {
					t.Errorf("the readers need entry %d, want 2", last)
				}
				steps = append(steps, "readers")
				return row.readerErr
			}}}}
			snapshot := must.Value(m.Snapshot())(t)
			to := new(sink)
			err = snapshot.Persist(to)
			if want := errors.Join(row.syncErr, row.readerErr); want != nil {
				if !errors.Is(err, broken) || to.closed || !to.cancelled {
					t.Errorf("error %v, closed %v, cancelled %v; want no snapshot", err, to.closed, to.cancelled)
				}
				return
			}
			must.Succeed(t, err)
			if len(steps) != 2 || steps[0] != "fsync" || !to.closed {
				t.Errorf("the steps are %v, closed %v", steps, to.closed)
			}
			if got := must.Value(readMarker(bufio.NewReader(&to.Buffer)))(t); got.LastEntry != 2 || got.Order != (batchOrder{7, 3}) {
				t.Errorf("the snapshot has %+v", got)
			}
		})
	}
}

// TestNodeWithoutDeletedEntriesStops: the node's log must reach the beginning of another node's Raft log. Raft
// deletes its own log after that, so the node's log is durable before.
func TestNodeWithoutDeletedEntriesStops(t *testing.T) {
	for last, want := range map[uint64]error{1: nil, 2: ErrMissingEntries} {
		dir := t.TempDir()
		syncs := 0
		log := must.Value(wal.OpenReplica(dir, wal.Options{Faults: wal.Faults{Sync: func() error { syncs++; return nil }}}))(t)
		t.Cleanup(func() { log.Close() })
		_, _, err := log.AppendBatch(1, [][]byte{[]byte("lead")})
		must.Succeed(t, err)
		opt := Options{Dir: dir, DataDir: dir, Log: log, Logger: slog.New(slog.DiscardHandler)}
		m := &raftMachine{node: &Node{opt: opt, failed: make(chan struct{})}}
		if err := m.Restore(io.NopCloser(strings.NewReader(fmt.Sprintf(`{"last_entry":%d}`, last)))); !errors.Is(err, want) {
			t.Errorf("the other log begins after entry %d: %v, want %v", last, err, want)
		}
		if syncs != 1 {
			t.Errorf("%d fsyncs of the log, want 1", syncs)
		}
	}
}

// TestCompactedEntry: the newest Raft snapshot says which entries the cluster no longer delivers.
func TestCompactedEntry(t *testing.T) {
	t.Parallel()
	c := startCluster(t, nil)
	c.putUntilDone("lead")
	c.putUntilDone("another lead")
	c.awaitEqual(2)
	m := c.members[0]
	dir := m.opt.Dir
	if got := must.Value(CompactedEntry(dir))(t); got != 0 {
		t.Errorf("before a snapshot: entry %d, want 0", got)
	}
	must.Succeed(t, m.raft.Snapshot().Error())
	if got := must.Value(CompactedEntry(dir))(t); got != 2 {
		t.Errorf("after a snapshot: entry %d, want 2", got)
	}
	m.kill()
	m.start()
	c.putUntilDone("third lead")
	c.awaitEqual(3)
}

// termStore is a Raft store in memory.
type termStore struct {
	raft.StableStore
	values map[string]uint64
}

func (s termStore) SetUint64(key []byte, value uint64) error {
	s.values[string(key)] = value
	return nil
}
func (s termStore) GetUint64(key []byte) (uint64, error) { return s.values[string(key)], nil }

// TestTermNeverFalls: a node that went back to an earlier term could vote twice in it.
func TestTermNeverFalls(t *testing.T) {
	s := &stableStore{StableStore: termStore{values: map[string]uint64{}}}
	for _, row := range []struct {
		key   string
		value uint64
		valid bool
	}{
		{termKey, 5, true}, {termKey, 5, true}, {termKey, 4, false}, {termKey, 6, true}, {"LastVoteTerm", 3, true},
	} {
		if err := s.SetUint64([]byte(row.key), row.value); (err == nil) != row.valid {
			t.Errorf("%s = %d: %v", row.key, row.value, err)
		}
	}
}

// TestSnapshotIsCompleteOrAbsent: a snapshot whose folder cannot be fsynced must not exist, because Raft
// would delete its log.
func TestSnapshotIsCompleteOrAbsent(t *testing.T) {
	for _, broken := range []bool{false, true} {
		dir := t.TempDir()
		store := must.Value(openSnapshotStore(dir, hclog.NewNullLogger()))(t)
		to := must.Value(store.Create(raft.SnapshotVersionMax, 7, 2, raft.Configuration{}, 1, nil))(t)
		must.Value(io.WriteString(to, "position"))(t)
		if broken {
			must.Succeed(t, os.RemoveAll(filepath.Join(dir, "snapshots", to.ID()+".tmp")))
		}
		if err := to.Close(); (err == nil) == broken {
			t.Fatalf("the folder is missing: %v; the result is %v", broken, err)
		}
		must.Succeed(t, to.Close()) // Raft calls it twice
		if list := must.Value(store.List())(t); len(list) > 0 == broken {
			t.Errorf("the folder is missing: %v; the store has %d snapshots", broken, len(list))
		}
	}
}
