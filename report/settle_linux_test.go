package report

import (
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"
)

// locksOn counts the locks that this process has on a file.
func locksOn(t *testing.T, path string) (n int) {
	t.Helper()
	info, err := os.Stat(path)
	must(t, err)
	all, err := os.ReadFile("/proc/locks")
	must(t, err)
	pid, inode := fmt.Sprintf(" %d ", os.Getpid()), fmt.Sprintf(":%d ", info.Sys().(*syscall.Stat_t).Ino)
	for line := range strings.Lines(string(all)) {
		if strings.Contains(line, pid) && strings.Contains(line, inode) {
			n++
		}
	}
	return n
}

// TestSettleKeepsSQLitesLocks: a descriptor of the file that is closed takes the process's
// locks with it, and the next program to close the file would remove SQLite's log.
func TestSettleKeepsSQLitesLocks(t *testing.T) {
	_, f := filled(t, 10)
	before := locksOn(t, f.path)
	if before == 0 {
		t.Fatal("SQLite holds no lock on its file")
	}
	must(t, f.settleAt(t.Context(), 0))
	if after := locksOn(t, f.path); after != before {
		t.Errorf("%d locks on the file, and %d once it has settled", before, after)
	}
}
