package member

import (
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/hashicorp/raft"

	"pingpost/cluster"
	"pingpost/internal/must"
	"pingpost/server/admin/clusterapi"
	"pingpost/wal"
)

// noExchange is the exchange of a member without log entries.
type noExchange struct{}

func (noExchange) Apply(uint64, int64, []byte) error { return nil }
func (noExchange) Hash() (seq, hash uint64)          { return 0, 0 }
func (noExchange) Lead(*cluster.Log)                 {}
func (noExchange) Follow()                           {}

// openLeader opens the only member of a cluster, waits until it leads, and returns it. Node b is no member;
// its status is the value behind other.
func openLeader(t *testing.T, other *NodeStatus) *Member {
	t.Helper()
	dir := t.TempDir()
	log := must.Value(wal.OpenReplica(dir, wal.Options{}))(t)
	m := must.Value(Open(Options{
		Settings: Settings{
			Node: "a", Listen: "127.0.0.1:0", Peers: map[string]string{"a": "127.0.0.1:7400", "b": "127.0.0.1:7401"},
			DataDir: dir, Logger: slog.New(slog.DiscardHandler),
		},
		Log: log, StateMachine: noExchange{}, Roles: noExchange{}, Now: func() int64 { return time.Now().UnixNano() },
	}))(t)
	m.SetAsk(func(string, string, string, time.Duration) (int, io.ReadCloser, error) {
		text, err := json.Marshal(other)
		return 200, io.NopCloser(strings.NewReader(string(text))), err
	})
	t.Cleanup(func() {
		must.Succeed(t, m.Close())
		must.Succeed(t, log.Close())
	})
	must.Succeed(t, m.Bootstrap())
	for deadline := time.Now().Add(20 * time.Second); !m.HoldsLease(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("the only member does not lead")
		}
	}
	return m
}

// compactTo stores a Raft snapshot, as Raft does before it deletes its log up to entry last.
func compactTo(t *testing.T, m *Member, last string) {
	t.Helper()
	store := must.Value(raft.NewFileSnapshotStoreWithLogger(folder(m.opt.DataDir), 2, hclog.NewNullLogger()))(t)
	sink := must.Value(store.Create(raft.SnapshotVersionMax, 1, 1, raft.Configuration{}, 1, nil))(t)
	must.Value(io.WriteString(sink, `{"last_entry":`+last+"}\n"))(t)
	must.Succeed(t, sink.Close())
}

// TestStaleCopyIsRefused: Raft sends a new member the entries of its log. A copy that ends before them has a
// gap, so the node would fail as soon as it is a member.
func TestStaleCopyIsRefused(t *testing.T) {
	t.Parallel()
	other := &NodeStatus{Node: "b", Role: RoleFailed} // so that no row makes it a member
	m := openLeader(t, other)
	compactTo(t, m, "5")
	for entry, want := range map[uint64]error{4: clusterapi.ErrStaleCopy, 5: clusterapi.ErrNotReachable} {
		other.Entry = entry
		if err := m.AddNode("b"); !errors.Is(err, want) {
			t.Errorf("a copy up to entry %d: %v, want %v", entry, err, want)
		}
	}
	for _, state := range must.Value(filepath.Glob(filepath.Join(folder(m.opt.DataDir), "snapshots", "*", "state.bin")))(t) {
		must.Succeed(t, os.WriteFile(state, []byte("damaged"), 0o600))
	}
	if err := m.AddNode("b"); err == nil || errors.Is(err, clusterapi.ErrStaleCopy) {
		t.Errorf("with a damaged Raft snapshot of the leader: %v; deleting the copy would not help", err)
	}
	if m.isMember("b") {
		t.Error("node b is a member")
	}
}
