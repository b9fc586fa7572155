package cluster

// batchOrder decides which batches count. It is a part of the replicated state: every node computes it
// from the Raft log, and the marker of a Raft snapshot contains it.
//
// A leadership proposes batches 1, 2, 3, … and learns their results later. So a batch can enter the Raft
// log although the one before it was refused, for example after a hand-over that failed. Its sequences
// would then be wrong. Every node ignores such a batch, and the leadership reports it as failed.
//
// A batch must also be in the term in which its leadership began. Otherwise a node that lost the
// leadership and won it again could still propose a batch with sequences of the time before.
//
// Rejected: comparing only the first sequence. A node whose log lacks entries could then not tell that
// from a batch that does not count.
type batchOrder struct {
	Leadership uint64 `json:"leadership"` // of the last batch that counted
	Number     uint64 `json:"number"`     // of that batch in its leadership
}

// accept reports whether a batch counts, and remembers it. term is that of its Raft entry.
func (o *batchOrder) accept(b *batch, term uint64) bool {
	previous := uint64(0)
	if b.leadership == o.Leadership {
		previous = o.Number
	}
	if b.term != term || b.number != previous+1 {
		return false
	}
	o.Leadership, o.Number = b.leadership, b.number
	return true
}
