package cluster

import (
	"errors"
	"fmt"
	"path/filepath"

	"github.com/hashicorp/raft"
	raftwal "github.com/hashicorp/raft-wal"
)

// RaftPosition is the end of a node's Raft log. Of two nodes, the one with the higher term has the newer
// log, and for equal terms the one with the higher index.
type RaftPosition struct{ Term, Index uint64 }

// ReadRaftPosition returns the end of the Raft log in dir, the Options.Dir of a node that does not run.
func ReadRaftPosition(dir string) (at RaftPosition, err error) {
	store, err := raftwal.Open(filepath.Join(dir, "log"))
	if err != nil {
		return at, fmt.Errorf("cannot open the Raft log in %q: %w", dir, err)
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	if at.Index, err = store.LastIndex(); err != nil || at.Index == 0 {
		return at, err
	}
	var last raft.Log
	if err = store.GetLog(at.Index, &last); err == nil {
		at.Term = last.Term
	}
	return at, err
}

// Recover appends all entries of this node's Raft log to its log, and applies them, although the node
// cannot know whether a majority has them. It is for the time after a majority was lost for good: every
// acknowledged entry is on a majority, but this node may know only later that an entry is. The node must not
// run, now or ever again with this Raft log.
func Recover(opt Options) (err error) {
	n := &Node{opt: opt.withDefaults(), failed: make(chan struct{})}
	n.machine = newRaftMachine(n)
	logger := newRaftLogger(n.opt.Logger)
	store, err := raftwal.Open(filepath.Join(n.opt.Dir, "log"), raftwal.WithLogger(logger))
	if err != nil {
		return fmt.Errorf("cannot open the Raft log in %q: %w", n.opt.Dir, err)
	}
	defer func() {
		n.machine.history.close()
		err = errors.Join(err, store.Close())
	}()
	snapshots, err := raft.NewFileSnapshotStoreWithLogger(n.opt.Dir, keptSnapshots, logger)
	if err != nil {
		return fmt.Errorf("cannot open the Raft snapshots in %q: %w", n.opt.Dir, err)
	}
	if err := n.loadMarker(snapshots); err != nil {
		return err
	}
	list, err := snapshots.List()
	if err != nil {
		return err
	}
	next := uint64(1)
	if len(list) > 0 {
		next = list[0].Index + 1
	}
	if err := n.applyStored(store, next); err != nil {
		return err
	}
	_, err = n.opt.Log.Sync()
	return err
}

// applyStored applies the entries of the Raft log from index next on.
func (n *Node) applyStored(store raft.LogStore, next uint64) error {
	last, err := store.LastIndex()
	if err != nil {
		return err
	}
	for ; next <= last; next++ {
		var entry raft.Log
		if err := store.GetLog(next, &entry); err != nil {
			return fmt.Errorf("cannot read entry %d of the Raft log: %w", next, err)
		}
		if entry.Type != raft.LogCommand {
			continue
		}
		n.machine.Apply(&entry)
		if err := n.Err(); err != nil {
			return err
		}
	}
	return nil
}
