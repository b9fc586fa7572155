package clusterid

import (
	"os"
	"path/filepath"
	"testing"

	"pingpost/internal/must"
)

// TestIDs: each cluster has another id, which a restart finds.
func TestIDs(t *testing.T) {
	dir := t.TempDir()
	if id := must.Value(Read(dir))(t); id != (ID{}) {
		t.Errorf("a new node has the id %x", id)
	}
	must.Succeed(t, Create(dir))
	first := must.Value(Read(dir))(t)
	must.Succeed(t, Create(dir))
	if second := must.Value(Read(dir))(t); second == first || first == (ID{}) || second == (ID{}) {
		t.Errorf("two clusters have the ids %x and %x", first, second)
	}
}

// TestDamagedID: a damaged file is an error, and not a node without a cluster.
func TestDamagedID(t *testing.T) {
	for _, text := range []string{"", "xyz", "00000000000000000000000000000000", "0123", "0123456789abcdef0123456789abcdef0"} {
		dir := t.TempDir()
		must.Succeed(t, os.WriteFile(filepath.Join(dir, FileName), []byte(text), 0o600))
		if id, err := Read(dir); err == nil {
			t.Errorf("%q is the id %x", text, id)
		}
	}
}
