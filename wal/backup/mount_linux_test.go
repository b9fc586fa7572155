package backup

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"pingpost/internal/must"
)

// A restored folder cannot replace a mount point. Restore reports this before it ends the
// life of the original exchange.
func TestRestoreToAMount(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	must.Succeed(t, os.Mkdir(dir, 0o700))
	if err := syscall.Mount("none", dir, "tmpfs", 0, "size=1m"); err != nil {
		t.Skipf("needs the right to mount: %v", err)
	}
	t.Cleanup(func() { _ = syscall.Unmount(dir, 0) })
	s := newSite(t, t.TempDir())
	s.many(4)
	to := newDir(t, t.TempDir())
	shipper := ship(t, s, small(to, nil))
	if _, err := NewRepository(to, nil).Restore(t.Context(), RestoreOptions{Dir: dir}); err == nil || !strings.Contains(err.Error(), "a folder below it") {
		t.Errorf("restored to a mount: %v", err)
	}
	s.many(1)
	if err := shipper.ShipAll(t.Context()); err != nil {
		t.Errorf("the exchange that was backed up goes on no more: %v", err)
	}
	restored(t, to, nil, s, RestoreOptions{Dir: filepath.Join(dir, "below")})
}
