package cluster

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/hashicorp/go-hclog"
	"github.com/hashicorp/raft"

	"pingpost/internal/durable"
)

// CompactedEntry returns the log entry up to which a node's Raft log may have been deleted already, for the MustReach
// of its wal.OpenReplica. dir is the node's Options.Dir; 0 means that the Raft log is complete.
func CompactedEntry(dir string) (uint64, error) {
	if _, err := os.Stat(dir); errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	snapshots, err := raft.NewFileSnapshotStoreWithLogger(dir, keptSnapshots, hclog.NewNullLogger())
	if err != nil {
		return 0, fmt.Errorf("cannot open the Raft snapshots in %q: %w", dir, err)
	}
	content, err := openNewestSnapshot(snapshots)
	if err != nil || content == nil {
		return 0, err
	}
	defer content.Close()
	at, err := readMarker(bufio.NewReader(content))
	return at.LastEntry, err
}

// durableSnapshotStore is a store whose complete snapshots survive a power loss, because Raft deletes its log
// after a snapshot. Raft's own store fsyncs the files of a snapshot and the folder with all snapshots. It does not
// fsync the folder of each snapshot, which has the names of its files. A file system such as btrfs may then lose
// these names.
type durableSnapshotStore struct {
	raft.SnapshotStore
	folder string // with all snapshots
}

// openSnapshotStore opens the store in dir, the Options.Dir of a node.
func openSnapshotStore(dir string, logger hclog.Logger) (raft.SnapshotStore, error) {
	files, err := raft.NewFileSnapshotStoreWithLogger(dir, keptSnapshots, logger)
	if err == nil {
		err = durable.SyncFolder(dir) // it has the name of the store's folder
	}
	return &durableSnapshotStore{files, filepath.Join(dir, "snapshots")}, err
}

// Create begins a snapshot.
func (s *durableSnapshotStore) Create(version raft.SnapshotVersion, index, term uint64, members raft.Configuration, membersIndex uint64, transport raft.Transport) (raft.SnapshotSink, error) {
	sink, err := s.SnapshotStore.Create(version, index, term, members, membersIndex, transport)
	if err != nil {
		return nil, err
	}
	return &durableSink{SnapshotSink: sink, folder: filepath.Join(s.folder, sink.ID()+".tmp")}, nil
}

// durableSink is a snapshot that is written into a folder. The folder has the names of all its files from the
// beginning, and gets its final name at the end.
type durableSink struct {
	raft.SnapshotSink
	folder string
	ended  bool
}

// Close completes the snapshot. Raft calls it again after Persist has called it.
func (s *durableSink) Close() error {
	if !s.ended {
		s.ended = true
		if err := durable.SyncFolder(s.folder); err != nil {
			return errors.Join(fmt.Errorf("cannot fsync the folder of a Raft snapshot: %w", err), s.SnapshotSink.Cancel())
		}
	}
	return s.SnapshotSink.Close()
}

// Cancel deletes the snapshot.
func (s *durableSink) Cancel() error {
	s.ended = true
	return s.SnapshotSink.Cancel()
}

// keptSnapshots is the number of Raft snapshots that a node keeps.
const keptSnapshots = 2

// openNewestSnapshot returns nil if there is none.
func openNewestSnapshot(snapshots raft.SnapshotStore) (io.ReadCloser, error) {
	list, err := snapshots.List()
	if err != nil || len(list) == 0 {
		return nil, err
	}
	_, content, err := snapshots.Open(list[0].ID)
	if err != nil {
		return nil, fmt.Errorf("cannot open a Raft snapshot: %w", err)
	}
	return content, nil
}

// loadMarker loads the position up to which the Raft log was deleted. Raft itself reads only its index.
func (n *Node) loadMarker(snapshots raft.SnapshotStore) error {
	content, err := openNewestSnapshot(snapshots)
	if err != nil {
		return err
	}
	if content == nil { // Raft delivers the parts of files again
		return os.RemoveAll(n.incomingFolder())
	}
	defer content.Close()
	return n.machine.load(content)
}
