package cluster

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"pingpost/internal/must"
	"pingpost/wal"
)

// TestKeptRaftLogIsNotLoggedAsError: Raft's log stays while another node needs it, for up to half an hour.
// Raft repeats the attempt to shorten it, which is no error. A disk that fails is one.
func TestKeptRaftLogIsNotLoggedAsError(t *testing.T) {
	for name, row := range map[string]struct {
		mayCompact, disk error
		wantLine         bool
	}{
		"another node needs the log": {mayCompact: errors.New("a node copies the data")},
		"the disk fails":             {disk: errors.New("input/output error"), wantLine: true},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			log := must.Value(wal.OpenReplica(dir, wal.Options{Faults: wal.Faults{Sync: func() error { return row.disk }}}))(t)
			defer log.Close()
			m := &raftMachine{node: &Node{opt: Options{Dir: dir, Log: log, MayCompact: func(uint64) error { return row.mayCompact }}}}
			snapshot := must.Value(m.Snapshot())(t)
			err := snapshot.Persist(new(sink))
			if err == nil {
				t.Fatal("the Raft log was shortened")
			}
			var text bytes.Buffer
			logger := newRaftLogger(slog.New(slog.NewTextHandler(&text, nil)))
			logger.Error("failed to take snapshot", "error", fmt.Errorf("failed to persist snapshot: %v", err)) //nolint:errorlint // as Raft does
			if hasLine := strings.Contains(text.String(), "failed to take snapshot"); hasLine != row.wantLine {
				t.Errorf("logged: %v, want %v: %s", hasLine, row.wantLine, text.String())
			}
		})
	}
}
