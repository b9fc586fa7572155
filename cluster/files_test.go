package cluster

import (
	"bytes"
	"errors"
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

// TestFileWithMissingPartIsIgnored: the parts of two leaders never mix.
func TestFileWithMissingPartIsIgnored(t *testing.T) {
	m := &raftMachine{node: &Node{opt: Options{Dir: t.TempDir(), DataDir: t.TempDir()}}}
	part := func(offset uint64, data string) error {
		return m.applyFileChunk(&fileChunk{name: "lists/dnc", offset: offset, total: 6, data: []byte(data)})
	}
	for _, row := range []struct {
		offset uint64
		data   string
		want   error
	}{
		{2, "xx", errIgnored},
		{0, "ab", nil},
		{4, "xx", errIgnored},
		{2, "xx", nil},
		{0, "AB", nil}, // the next leader begins again
		{4, "xx", errIgnored},
		{2, "CD", nil},
		{2, "CD", nil}, // a restarted node gets it twice
		{4, "EF", nil},
		{0, "xx", nil}, // the file exists
	} {
		if err := part(row.offset, row.data); !errors.Is(err, row.want) {
			t.Errorf("the part %q at %d: %v, want %v", row.data, row.offset, err, row.want)
		}
	}
	if got := must.Value(os.ReadFile(filepath.Join(m.node.opt.DataDir, "lists", "dnc")))(t); string(got) != "ABCDEF" {
		t.Errorf("the file is %q, want ABCDEF", got)
	}
}

// TestDamagedEntryStopsNode: a bit that flipped on a disk or in memory is found before the entry is applied.
func TestDamagedEntryStopsNode(t *testing.T) {
	t.Parallel()
	valid := encodeFileChunk(&fileChunk{name: "lists/dnc", total: 1, data: []byte("x")})
	for bit := range 8 * len(valid) {
		damaged := bytes.Clone(valid)
		damaged[bit/8] ^= 1 << (bit % 8)
		if _, _, err := checkEntry(damaged); !errors.Is(err, errChecksum) {
			t.Fatalf("bit %d: %v, want %v", bit, err, errChecksum)
		}
	}
	c := startCluster(t, nil)
	leader, _ := c.awaitLeader()
	damaged := bytes.Clone(valid)
	damaged[len(damaged)-1] ^= 1
	_ = leader.raft.ApplyLog(raft.Log{Data: damaged}, 0).Error()
	for _, m := range c.members {
		<-m.Failed()
		if err := m.Err(); !errors.Is(err, errChecksum) {
			t.Errorf("node %s: %v, want %v", m.id, err, errChecksum)
		}
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
