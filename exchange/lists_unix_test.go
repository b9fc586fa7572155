//go:build unix

package exchange

import (
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"pingpost/engine/market"
)

// TestListPipe: the import does not wait for who writes to a pipe.
func TestListPipe(t *testing.T) {
	pipe := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Skipf("no pipe in the file system: %v", err)
	}
	_, _, err := importSuppressionList(t.TempDir(), &market.SuppressionList{ID: "dnc"}, new([32]byte), pipe)
	if err == nil || !strings.Contains(err.Error(), "not a regular file") {
		t.Error(err)
	}
}
