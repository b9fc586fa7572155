package cluster

import (
	"fmt"
	"time"

	"github.com/hashicorp/raft"
)

// checkedLogStore is a Raft log that checks the entries, and reports failed writes. Raft only steps down
// after a failed write, and would be elected again.
//
// A damaged entry stops the node that damaged it. The others must not store it, because each of them would
// stop when it applies the entry. So the leader checks an entry before it stores it and when it reads it
// for another node, and a follower checks it on arrival (see nodeTransport).
type checkedLogStore struct {
	raft.LogStore
	fail      func(error)
	retention *retention
}

// StoreLogs stores Raft entries.
func (s *checkedLogStore) StoreLogs(logs []*raft.Log) error {
	if err := checkEntries(logs); err != nil {
		return s.report(err)
	}
	if err := s.LogStore.StoreLogs(logs); err != nil {
		return s.report(err)
	}
	s.retention.add(logs, time.Now())
	return nil
}

// IsMonotonic reports whether the store accepts no gap. Raft then deletes all entries before it goes on after
// another node's snapshot.
func (s *checkedLogStore) IsMonotonic() bool {
	store, ok := s.LogStore.(raft.MonotonicLogStore)
	return ok && store.IsMonotonic()
}

// GetLog reads a Raft entry. It reports a damaged one, but returns it: Raft panics after an error. The node
// then stops before it applies the entry, and others refuse it.
func (s *checkedLogStore) GetLog(index uint64, l *raft.Log) error {
	if err := s.LogStore.GetLog(index, l); err != nil {
		return err
	}
	if err := checkEntries([]*raft.Log{l}); err != nil {
		s.fail(fmt.Errorf("cannot read the Raft log: %w; delete this node's data and let it copy that of another node", err))
	}
	return nil
}

// DeleteRange deletes the entries from first to last: the oldest ones that the retention allows, or all, or
// those at the end of the log that another leader replaces.
func (s *checkedLogStore) DeleteRange(first, last uint64) error {
	end, err := s.LastIndex()
	if err != nil {
		return s.report(err)
	}
	if last >= end {
		s.retention.deletedFrom(first)
		return s.report(s.LogStore.DeleteRange(first, last))
	}
	if last = s.retention.deletable(last, time.Now()); last < first {
		return nil
	}
	s.retention.deletedTo(last)
	return s.report(s.LogStore.DeleteRange(first, last))
}

func (s *checkedLogStore) report(err error) error {
	if err != nil {
		s.fail(fmt.Errorf("cannot write the Raft log: %w", err))
	}
	return err
}

// checkEntries verifies the checksums of Raft entries. Those of Raft itself have none.
func checkEntries(logs []*raft.Log) error {
	for _, l := range logs {
		if l.Type != raft.LogCommand {
			continue
		}
		if _, _, err := checkEntry(l.Data); err != nil {
			return fmt.Errorf("entry %d: %w", l.Index, err)
		}
	}
	return nil
}
