package cluster

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/hashicorp/raft"
)

// hashEvery is the number of log entries between two comparisons of the nodes' states.
const hashEvery = 10_000

// ErrStatesDiffer means that this node's state differs from the leader's, although both applied the same
// entries. The memory or the program of one of them is faulty. This node needs a copy of another node's
// data.
var ErrStatesDiffer = errors.New("cluster: this node's state differs from the leader's after the same log entries; copy the data of another node, and check the memory of both machines")

// stateHash is the hash of the state after the log entry seq. Every node computes one after each batch
// that completes hashEvery entries. The leader replicates its own (kind 3: seq and hash, 8 bytes each),
// and every node compares it with the one that it remembers.
//
// The hash needs no pause, because the tables keep sums of their rows. A node remembers only the last
// hash; one that restarts in between has none to compare, and skips that comparison.
type stateHash struct{ seq, hash uint64 }

func encodeStateHash(h stateHash) []byte {
	out := make([]byte, entryHeaderSize, entryHeaderSize+16)
	out[0] = byte(kindStateHash)
	out = binary.LittleEndian.AppendUint64(out, h.seq)
	out = binary.LittleEndian.AppendUint64(out, h.hash)
	binary.LittleEndian.PutUint32(out[1:], entryChecksum(out))
	return out
}

// hashStateIfDue computes the hash after a batch whose entries are first to last, if it is due. The
// leader then replicates it, without waiting for the result: this goroutine would apply it.
func (m *raftMachine) hashStateIfDue(first, last uint64, ownBatch bool) {
	if first/hashEvery == (last+1)/hashEvery {
		return
	}
	seq, hash := m.node.opt.StateMachine.Hash()
	if seq != last {
		panic(fmt.Sprintf("BUG: the state contains entry %d after a batch that ends with entry %d", seq, last))
	}
	m.hash = stateHash{seq, hash}
	if ownBatch {
		go m.node.raft.ApplyLog(raft.Log{Data: encodeStateHash(m.hash)}, 0)
	}
}

// compareStateHash compares the leader's hash with this node's. They can only be compared after the same
// entry.
func (m *raftMachine) compareStateHash(body []byte) error {
	if len(body) != 16 {
		return fmt.Errorf("a replicated hash has %d bytes", len(body))
	}
	of := stateHash{binary.LittleEndian.Uint64(body), binary.LittleEndian.Uint64(body[8:])}
	if of.seq == m.hash.seq && of.hash != m.hash.hash {
		return fmt.Errorf("after log entry %d the leader's hash is %016x, this node's %016x: %w", of.seq, of.hash, m.hash.hash, ErrStatesDiffer)
	}
	return nil
}
