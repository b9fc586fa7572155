package cluster

import (
	"errors"
	"io"
	"log/slog"
	"testing"

	"github.com/hashicorp/raft"

	"pingpost/internal/must"
	"pingpost/wal"
	"pingpost/wal/commitqueue"
)

// historyNode is a node whose log has these entries, all of time 1.
func historyNode(t *testing.T, entries ...string) *Node {
	t.Helper()
	dir := t.TempDir()
	log := must.Value(wal.OpenReplica(dir, wal.Options{}))(t)
	t.Cleanup(func() { log.Close() })
	machine := new(leads)
	for _, e := range entries {
		_, _, err := log.AppendBatch(1, [][]byte{[]byte(e)})
		must.Succeed(t, err)
		machine.applied = append(machine.applied, e)
	}
	n := &Node{opt: Options{Dir: dir, DataDir: dir, Log: log, StateMachine: machine, Logger: slog.New(slog.DiscardHandler)}, failed: make(chan struct{})}
	n.machine = newRaftMachine(n)
	t.Cleanup(n.machine.history.close)
	return n
}

// batchEntry is a Raft entry with a batch of time 1. Its number is in leadership 7 of term 1.
func batchEntry(number, first uint64, before string, entries ...string) *raft.Log {
	b := batch{leadership: 7, term: 1, number: number, first: first, at: 1}
	if first > 1 {
		b.previous = entryFingerprint(first-1, 1, []byte(before))
	}
	var data []commitqueue.Entry
	for _, e := range entries {
		data = append(data, commitqueue.Entry{Data: []byte(e)})
	}
	return &raft.Log{Index: number, Term: 1, Type: raft.LogCommand, Data: encodeBatch(&b, data)}
}

// TestNodeWithOtherHistoryStops: a node whose log has other entries than the leader's stops at the first
// batch, also if its log has the sequences of that batch already.
func TestNodeWithOtherHistoryStops(t *testing.T) {
	for name, row := range map[string]struct {
		log     []string
		batches []*raft.Log
		want    error
	}{
		"the batch follows":                 {[]string{"a", "b"}, []*raft.Log{batchEntry(1, 3, "b", "c")}, nil},
		"the entry before it differs":       {[]string{"a", "x"}, []*raft.Log{batchEntry(1, 3, "b", "c")}, ErrOtherHistory},
		"the log has the batch":             {[]string{"a", "b", "c"}, []*raft.Log{batchEntry(1, 2, "a", "b"), batchEntry(2, 3, "b", "c"), batchEntry(3, 4, "c", "d")}, nil},
		"the log has its beginning":         {[]string{"a", "b"}, []*raft.Log{batchEntry(1, 2, "a", "b", "c"), batchEntry(2, 4, "c", "d")}, nil},
		"the log has another entry":         {[]string{"a", "x", "c"}, []*raft.Log{batchEntry(1, 2, "a", "b")}, ErrOtherHistory},
		"the log has another second entry":  {[]string{"a", "b", "x"}, []*raft.Log{batchEntry(1, 2, "a", "b", "c", "d")}, ErrOtherHistory},
		"the entry before known ones":       {[]string{"x", "b", "c"}, []*raft.Log{batchEntry(1, 2, "a", "b")}, ErrOtherHistory},
		"the first entry of the log":        {nil, []*raft.Log{batchEntry(1, 1, "", "a")}, nil},
		"another entry in the second batch": {[]string{"a", "b", "x"}, []*raft.Log{batchEntry(1, 2, "a", "b"), batchEntry(2, 3, "b", "c")}, ErrOtherHistory},
	} {
		t.Run(name, func(t *testing.T) {
			n := historyNode(t, row.log...)
			var err error
			for _, l := range row.batches {
				err, _ = n.machine.Apply(l).(error)
			}
			if !errors.Is(err, row.want) || !errors.Is(n.Err(), row.want) {
				t.Errorf("the result is %v, and the node reports %v; want %v", err, n.Err(), row.want)
			}
			if row.want != nil {
				return
			}
			last := row.batches[len(row.batches)-1]
			var b batch
			must.Succeed(t, b.decode(last.Data[entryHeaderSize:]))
			want := b.first + uint64(len(b.entries)) - 1
			if got, _ := n.opt.Log.LastEntry(); got != want {
				t.Errorf("the log ends with entry %d, want %d", got, want)
			}
		})
	}
}

// TestLeaderKnowsFingerprintAfterRestart: a new leader reads the entry before its first batch from its log.
// It names its own time, so that every node gives the batch the same one.
func TestLeaderKnowsFingerprintAfterRestart(t *testing.T) {
	n := historyNode(t, "a", "b")
	got := must.Value(n.lastFingerprint())(t)
	if want := entryFingerprint(2, 1, []byte("b")); got != want {
		t.Errorf("the fingerprint is %x, want %x", got, want)
	}
	if got := must.Value(historyNode(t).lastFingerprint())(t); got != 0 {
		t.Errorf("the fingerprint of an empty log is %x, want 0", got)
	}
}

// TestHistoryReaderEnds: the reader of known entries is closed when a batch is new.
func TestHistoryReaderEnds(t *testing.T) {
	n := historyNode(t, "a", "b")
	for i, l := range []*raft.Log{batchEntry(1, 2, "a", "b"), batchEntry(2, 3, "b", "c")} {
		if err, _ := n.machine.Apply(l).(error); err != nil {
			t.Fatal(err)
		}
		if open := n.machine.history.reader != nil; open != (i == 0) {
			t.Errorf("after batch %d the reader is open: %v", i+1, open)
		}
	}
	if _, err := n.opt.Log.EntryAt(4); !errors.Is(err, wal.ErrNoEntry) || errors.Is(err, io.EOF) {
		t.Errorf("the log has a fourth entry: %v", err)
	}
}
