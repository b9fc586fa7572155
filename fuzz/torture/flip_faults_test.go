//go:build linux

package torture

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"pingpost/fuzz/witness"
)

// flipFaults are bits that flip in the files of a killed node. If its start reads the damage, the node ends with
// an error that names the file. The other nodes go on.
var flipFaults = []*fault{
	{name: "bit flipped in a follower's Raft log", weight: 1, inject: func(t *torture) bool { return t.flipInRaftLog(t.killFollower()) }},
	{name: "bit flipped in the old leader's Raft log", weight: 1, inject: func(t *torture) bool { return t.flipInRaftLog(t.killLeader()) }},
	{name: "bit flipped in a follower's log", weight: 1, inject: func(t *torture) bool { return t.flipInLog(t.killFollower()) }},
	{name: "bit flipped in the old leader's log", weight: 1, inject: func(t *torture) bool { return t.flipInLog(t.killLeader()) }},
}

func (t *torture) killFollower() *witness.ClusterNode {
	n := t.follower()
	n.Kill()
	return n
}

func (t *torture) killLeader() *witness.ClusterNode {
	n := t.leader()
	t.killAndAwaitOther(n)
	return n
}

// flipInRaftLog flips a bit in the used part of a killed node's Raft log. The node may not read the damaged
// part, or ask the leader for it again. Afterwards it is replaced, because it could read that part later.
func (t *torture) flipInRaftLog(n *witness.ClusterNode) bool {
	files, err := filepath.Glob(filepath.Join(n.DataDir(), "cluster", "log", "*.wal"))
	t.failOnError(err)
	if len(files) == 0 {
		t.test.Fatalf("%s has no Raft log", n.DataDir())
	}
	path := files[t.random.IntN(len(files))]
	text, err := os.ReadFile(path)
	t.failOnError(err)
	used := int64(len(bytes.TrimRight(text, "\x00"))) // the file has its full size from the beginning
	at := t.random.Int64N(used)
	if t.random.IntN(2) == 0 {
		at = max(0, used-1-t.random.Int64N(8<<10)) // entries that the node has to apply again
	}
	t.flipBit(path, at, 1<<t.random.IntN(8))
	refused := t.endsOrCatchesUp(n)
	t.test.Logf("bit flipped at offset %d of %d in %s: the node ended: %t: %s", at, used, path, refused, lastLines(n.LastLines(), 1))
	if !refused {
		t.checkEqualStates()
		n.Kill()
	} else if said := n.LastLines(); !strings.Contains(said, "Raft log") {
		t.test.Errorf("bit flipped at offset %d of %s: the node ended with a message that does not name the Raft log:\n%s", at, path, said)
	}
	t.Cluster.Replace(n)
	return true
}

// flipInLog flips a bit of an acknowledged record in a killed node's log. If Raft has the record, the node gets
// it again. Otherwise the node refuses to start until the bit is restored, or the node is replaced.
func (t *torture) flipInLog(n *witness.ClusterNode) bool {
	all, err := readFrames(n.DataDir())
	t.failOnError(err)
	victims := detectableFrames(all, newestSnapshotSeq(n.DataDir()))
	if len(victims) == 0 {
		n.Start()
		return false
	}
	victim := victims[t.random.IntN(len(victims))]
	at, bit := victim.at+t.random.Int64N(victim.size), byte(1)<<t.random.IntN(8)
	t.flipBit(victim.path, at, bit)
	refused := t.endsOrCatchesUp(n)
	t.test.Logf("bit flipped at offset %d of %s (entry %d, frame at %d): the node ended: %t", at, victim.path, victim.seq, victim.at, refused)
	if !refused {
		return true
	}
	where := fmt.Sprintf("%q is damaged at offset %d,", victim.path, victim.at)
	if said := n.LastLines(); !strings.Contains(strings.ReplaceAll(said, `\"`, `"`), where) {
		t.test.Errorf("bit flipped at offset %d of %s: expected a message with %s, got:\n%s", at, victim.path, where, said)
	}
	if t.random.IntN(2) == 0 {
		t.flipBit(victim.path, at, bit)
		n.Start()
	} else {
		t.Cluster.Replace(n)
	}
	return true
}

// endsOrCatchesUp starts a node with damaged files. It reports whether the node ended, which must be with exit
// code 1. Otherwise the node has the entries of the leader, and later ones.
func (t *torture) endsOrCatchesUp(n *witness.ClusterNode) (ended bool) {
	n.Launch()
	for range 2 {
		target := t.leader().ReadStateHash().Seq
		witness.Await(t.test, "the node ends or has the leader's entries", func() bool {
			time.Sleep(20 * time.Millisecond)
			return n.ExitReport() != "" || n.Address() != "" && appliedEntry(n) >= target
		})
		if n.ExitReport() != "" {
			if code := n.AwaitFailure(); code != 1 {
				t.test.Errorf("a node with a damaged file ended with exit code %d, want 1:\n%s", code, n.LastLines())
			}
			return true
		}
		t.sendFewLeads()
	}
	return false
}

// appliedEntry returns the last entry that a node has applied, or 0 if it does not answer.
func appliedEntry(n *witness.ClusterNode) (seq uint64) {
	status, text, err := n.AdminRequest("GET", "/admin/v1/cluster", "")
	if err != nil || status != 200 {
		return 0
	}
	_, after, _ := strings.Cut(string(text), `"entry":`)
	_, _ = fmt.Sscanf(strings.TrimSpace(after), "%d", &seq)
	return seq
}

// checkEqualStates makes each node the leader in turn, and compares their states.
func (t *torture) checkEqualStates() {
	<-t.topUpDone
	resume := t.AdminEditor.PauseEdits()
	defer resume()
	t.hashes = append(t.hashes, t.CheckEqualStates())
}
