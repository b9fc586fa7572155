package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"pingpost/internal/must"
)

// TestServeExitsAfterLogFailure: after a failed write to the log, the exchange acknowledges
// no lead, and the process exits with an error. A restart has the acknowledged lead.
func TestServeExitsAfterLogFailure(t *testing.T) {
	t.Parallel()
	path := writeConfig(t, testConfig)
	s := startServe(t, "-c", path)
	public, _ := s.addresses("production")
	mustSell(t, public, "ACCEPTED")
	segments, err := filepath.Glob(filepath.Join(filepath.Dir(path), "data", "log", strings.Repeat("[0-9]", 20)))
	if err != nil || len(segments) != 1 {
		t.Fatal(segments, err)
	}
	written := must.Value(os.Stat(segments[0]))(t)
	// The kernel fails the next write that would make a file grow, as on a disk that is full.
	limit := unix.Rlimit{Cur: uint64(written.Size()), Max: uint64(written.Size())}
	must.Succeed(t, unix.Prlimit(s.Process.Pid, unix.RLIMIT_FSIZE, &limit, nil))
	if status, body := ingestLead(t, public); status != 503 || !strings.Contains(body, `"error":"unavailable"`) {
		t.Errorf("lead after the log failure: %d %s, want 503", status, body)
	}
	if code := s.waitForExit(); code <= 0 || !strings.Contains(s.output(), "the log failed") || !strings.Contains(s.output(), "file too large") {
		t.Errorf("exit %d:\n%s", code, s.output())
	}
	s = startServe(t, "-c", path, "--log-format", "json")
	s.waitForOutput(`"msg":"serving".*"leads":1`)
}
