package cluster

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/hashicorp/go-hclog"
	"github.com/hashicorp/raft"
)

// CompactedEntry returns the log entry up to which a node's Raft log may be deleted, for the MustReach of its
// wal.OpenReplica. dir is the node's Options.Dir; 0 means that the Raft log is complete.
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
