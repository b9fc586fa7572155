package cluster

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hashicorp/raft"

	"pingpost/internal/must"
)

// TestFileReachesEveryNode: a file of several parts is on every node, unchanged, also after all nodes
// restart and Raft delivers its parts again. A key that was erased in it stays erased.
func TestFileReachesEveryNode(t *testing.T) {
	t.Parallel()
	c := startCluster(t, nil)
	leader, _ := c.awaitLeader()
	want := bytes.Repeat([]byte("0123456789abcdef"), 3*fileChunkSize/16+5)
	must.Succeed(t, leader.ReplicateFile("keys/leads/1", want))
	must.Succeed(t, leader.ReplicateFile("catalogs/empty.json", nil))
	c.putUntilDone("lead")
	c.awaitEqual(1)
	erased := append(make([]byte, 32), want[32:]...)
	for _, m := range c.members {
		path := filepath.Join(m.dir, "keys", "leads", "1")
		if got := must.Value(os.ReadFile(path))(t); !bytes.Equal(got, want) {
			t.Errorf("node %s has %d other bytes, want %d", m.id, len(got), len(want))
		}
		must.Value(os.Stat(filepath.Join(m.dir, "catalogs", "empty.json")))(t)
		must.Succeed(t, os.WriteFile(path, erased, 0o600))
		m.kill()
	}
	for _, m := range c.members {
		m.start()
	}
	c.putUntilDone("another lead")
	c.awaitEqual(2)
	for _, m := range c.members {
		if got := must.Value(os.ReadFile(filepath.Join(m.dir, "keys", "leads", "1")))(t); !bytes.Equal(got, erased) {
			t.Errorf("node %s has an erased key again", m.id)
		}
	}
}

// fileParts returns the parts of a file with two bytes each.
func fileParts(name string, transfer uint64, content string) (parts []*fileChunk) {
	for offset := 0; offset < len(content); offset += 2 {
		parts = append(parts, &fileChunk{
			name: name, offset: uint64(offset), total: uint64(len(content)), transfer: transfer,
			sum: sha256.Sum256([]byte(content)), data: []byte(content[offset : offset+2]),
		})
	}
	return parts
}

// applyPart applies a part in a Raft entry of a term.
func applyPart(m *raftMachine, term uint64, c *fileChunk) error {
	err, _ := m.Apply(&raft.Log{Index: 1, Term: term, Type: raft.LogCommand, Data: encodeFileChunk(c)}).(error)
	return err
}

func readTestFile(t *testing.T, m *raftMachine) string {
	t.Helper()
	return string(must.Value(os.ReadFile(filepath.Join(m.node.opt.DataDir, "lists", "dnc")))(t))
}

// TestFileWithMissingPartIsIgnored: the parts of two transfers never mix.
func TestFileWithMissingPartIsIgnored(t *testing.T) {
	m := historyNode(t).machine
	lower, upper, late := fileParts("lists/dnc", 1, "abcdef"), fileParts("lists/dnc", 2, "ABCDEF"), fileParts("lists/dnc", 3, "xxyyzz")
	for i, row := range []struct {
		term uint64
		part *fileChunk
		want error
	}{
		{1, lower[1], errIgnored},
		{1, lower[0], nil},
		{1, lower[2], errIgnored},
		{1, lower[1], nil},
		{2, lower[2], errIgnored}, // another leader's term has begun
		{2, late[0], nil},
		{2, late[1], nil},
		{2, upper[0], nil}, // the leader begins again
		{2, late[2], errIgnored},
		{2, upper[2], errIgnored},
		{2, upper[1], nil},
		{2, late[2], errIgnored},
		{2, upper[2], nil},
		{2, late[0], nil}, // the file exists
	} {
		if err := applyPart(m, row.term, row.part); !errors.Is(err, row.want) {
			t.Errorf("part %d, %q: %v, want %v", i, row.part.data, err, row.want)
		}
	}
	if got := readTestFile(t, m); got != "ABCDEF" {
		t.Errorf("the file is %q, want ABCDEF", got)
	}
	if left := must.Value(os.ReadDir(m.node.incomingFolder()))(t); len(left) != 0 {
		t.Errorf("%d incomplete files are left", len(left))
	}
}

// TestSnapshotInTheMiddleOfFile: a Raft snapshot has the parts of a file whose last part is not applied yet.
// A new node, and the same node after a restart, complete the file. The node itself goes on meanwhile.
func TestSnapshotInTheMiddleOfFile(t *testing.T) {
	parts := fileParts("lists/dnc", 1, "abcdef")
	old := historyNode(t, "lead")
	must.Succeed(t, applyPart(old.machine, 1, parts[0]))
	must.Succeed(t, applyPart(old.machine, 1, parts[1]))
	snapshot := must.Value(old.machine.Snapshot())(t)
	must.Succeed(t, applyPart(old.machine, 1, parts[2]))
	to := new(sink)
	must.Succeed(t, snapshot.Persist(to))
	snapshot.Release()
	fresh := historyNode(t, "lead")
	must.Succeed(t, fresh.machine.Restore(io.NopCloser(bytes.NewReader(to.Bytes()))))
	restarted := historyNode(t, "lead")
	must.Succeed(t, applyPart(restarted.machine, 2, fileParts("lists/dnc", 7, "xxyyzz")[0])) // before the restart
	restarted.machine = newRaftMachine(restarted)
	must.Succeed(t, restarted.machine.load(bytes.NewReader(to.Bytes())))
	for name, n := range map[string]*Node{"the old node": old, "a new node": fresh, "a restarted node": restarted} {
		if n != old {
			must.Succeed(t, applyPart(n.machine, 1, parts[2]))
		}
		if got := readTestFile(t, n.machine); got != "abcdef" {
			t.Errorf("%s has the file %q, want abcdef", name, got)
		}
		if left := must.Value(os.ReadDir(n.incomingFolder()))(t); len(left) != 0 {
			t.Errorf("%s has %d incomplete files", name, len(left))
		}
	}
	short := historyNode(t, "lead")
	if err := short.machine.Restore(io.NopCloser(bytes.NewReader(to.Bytes()[:to.Len()-1]))); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("a short snapshot: %v, want %v", err, io.ErrUnexpectedEOF)
	}
}

// TestDamagedFileStopsNode: a small file whose parts changed on the disk never gets its name.
func TestDamagedFileStopsNode(t *testing.T) {
	n := historyNode(t)
	parts := fileParts("lists/dnc", 1, "abcdef")
	must.Succeed(t, applyPart(n.machine, 1, parts[0]))
	must.Succeed(t, os.WriteFile(n.incomingPath(1), []byte("xb"), 0o600))
	must.Succeed(t, applyPart(n.machine, 1, parts[1]))
	if err := applyPart(n.machine, 1, parts[2]); err == nil || n.Err() == nil || !strings.Contains(err.Error(), "SHA-256") {
		t.Errorf("the node stores a damaged file: %v", err)
	}
	if _, err := os.Stat(filepath.Join(n.opt.DataDir, "lists", "dnc")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the damaged file has its name: %v", err)
	}
}

// TestInvalidNamesAreNotReplicated: a name that every node would refuse never enters the Raft log.
func TestInvalidNamesAreNotReplicated(t *testing.T) {
	for _, name := range []string{"../x", "/x", "", strings.Repeat("x", maxFileName+1)} {
		if err := new(Node).ReplicateFile(name, nil); err == nil {
			t.Errorf("the name %q is accepted", name)
		}
	}
}

// TestInvalidFilesAreRejected: a name cannot leave the data directory.
func TestInvalidFilesAreRejected(t *testing.T) {
	for _, c := range []fileChunk{
		{name: "../exchange.key"},
		{name: "/etc/passwd"},
		{name: ""},
		{name: "keys/../../x"},
		{name: "x", total: 1, data: []byte("xx")},
		{name: "x", offset: 5, total: 5, data: []byte("x")},
	} {
		if _, err := decodeFileChunk(encodeFileChunk(&c)[entryHeaderSize:]); err == nil {
			t.Errorf("part %+v is accepted", c)
		}
	}
	if _, err := decodeFileChunk([]byte("short")); err == nil {
		t.Error("a short part is accepted")
	}
}
