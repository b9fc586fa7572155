package cluster

import (
	"errors"
	"fmt"

	"github.com/hashicorp/raft"

	"pingpost/wal/commitqueue"
)

// StateMachine is the part of the exchange that every node keeps equal. The node calls it on one
// goroutine, in the order of the log.
type StateMachine interface {
	// Apply applies a log entry that no waiter on this node waits for. The entry is in this node's log.
	// An error stops the node.
	Apply(seq uint64, at int64, data []byte) error
	// Hash returns the sequence of the last applied entry and a hash of the state.
	Hash() (seq, hash uint64)
}

// ErrMissingEntries means that the cluster's Raft log begins after the end of this node's log. The node
// needs a copy of another node's data.
var ErrMissingEntries = errors.New("cluster: this node lacks log entries that the other nodes no longer have in their Raft logs; copy the data of another node")

// raftMachine is the node's Raft state machine. It appends committed batches to the node's log, applies
// them, and notifies the waiters of those that this node proposed. Raft calls it on one goroutine, but
// for Persist.
type raftMachine struct {
	node      *Node
	order     batchOrder
	decoded   batch
	transfers transfers
	history   history
	hash      stateHash // the last that this node computed
	failure   error     // after the first error no entry is applied
}

func newRaftMachine(n *Node) *raftMachine {
	return &raftMachine{node: n, history: history{log: n.opt.Log}}
}

// ApplyBatch applies Raft entries, in order. The result of an entry is nil or an error.
func (m *raftMachine) ApplyBatch(logs []*raft.Log) []any {
	results := make([]any, len(logs))
	for i, l := range logs {
		if l.Type == raft.LogConfiguration && m.node.opt.MembersChanged != nil {
			m.reportMembers()
		}
		if l.Type != raft.LogCommand {
			continue
		}
		if err := m.applyEntry(l); err != nil {
			results[i] = err
		}
	}
	return results
}

// reportMembers reports the latest members, not those of the applied entry: after a restart Raft delivers
// earlier changes of the members again.
func (m *raftMachine) reportMembers() {
	if started := m.node.started.Load(); started != nil {
		m.node.opt.MembersChanged(membersOf(started.GetConfiguration().Configuration()))
	}
}

// Apply applies one Raft entry.
func (m *raftMachine) Apply(l *raft.Log) any { return m.ApplyBatch([]*raft.Log{l})[0] }

func (m *raftMachine) applyEntry(l *raft.Log) error {
	if m.failure != nil {
		return m.failure
	}
	kind, body, err := checkEntry(l.Data)
	if err == nil {
		err = m.endOldTransfers(l.Term)
	}
	switch {
	case err != nil:
	case kind == kindBatch:
		if err = m.decoded.decode(body); err == nil {
			if !m.order.accept(&m.decoded, l.Term) {
				return errIgnored
			}
			err = m.applyNewEntries(&m.decoded)
		}
	case kind == kindStateHash:
		err = m.compareStateHash(body)
	case kind == kindFileChunk:
		var c fileChunk
		if c, err = decodeFileChunk(body); err == nil {
			err = m.applyFileChunk(&c)
		}
		if errors.Is(err, errIgnored) {
			return errIgnored
		}
	default:
		err = fmt.Errorf("a replicated entry has the unknown kind %d; this node needs a newer program", kind)
	}
	if err != nil {
		m.failure = fmt.Errorf("cannot apply entry %d of the Raft log: %w", l.Index, err)
		m.node.fail(m.failure)
	}
	return m.failure
}

// applyNewEntries appends and applies the entries of a batch that this node's log does not have yet.
// After a restart Raft delivers batches again that the log has, completely or in part.
func (m *raftMachine) applyNewEntries(b *batch) error {
	log := m.node.opt.Log
	last, _ := log.LastEntry()
	if b.first > last+1 {
		return fmt.Errorf("it begins with log entry %d, and this node's log ends with %d: %w", b.first, last, ErrMissingEntries)
	}
	known := last + 1 - b.first
	if err := m.history.compare(b, known); err != nil {
		return err
	}
	own := m.node.takeProposal(b)
	if own != nil && known > 0 {
		panic(fmt.Sprintf("BUG: this node proposed entry %d, which its log already had", b.first))
	}
	if known >= uint64(len(b.entries)) {
		return nil
	}
	if known > 0 {
		if err := log.ContinueBatch(b.first); err != nil {
			return err
		}
	}
	first, at, err := log.AppendBatch(b.at, b.entries[known:])
	if err != nil {
		if own != nil {
			commitqueue.NotifyFailed(own.entries, ErrUnknown)
		}
		return err
	}
	if own != nil {
		commitqueue.NotifyCommitted(own.entries, first, at)
	} else if err := m.applyToState(first, at, b.entries[known:]); err != nil {
		return err
	}
	last = b.first + uint64(len(b.entries)) - 1
	m.history.appended(last, at, b.entries[len(b.entries)-1])
	m.hashStateIfDue(first, last, own != nil)
	return nil
}

// applyToState applies entries that no waiter of this node waits for.
func (m *raftMachine) applyToState(first uint64, at int64, entries [][]byte) error {
	for i, data := range entries {
		if err := m.node.opt.StateMachine.Apply(first+uint64(i), at, data); err != nil {
			return err
		}
	}
	return nil
}
