package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"pingpost/internal/must"
)

// TestServeEndsWithItsLog: where the log cannot be written nothing more is
// acknowledged, and the process ends by itself, not with 0, and says why. The next
// one has what was acknowledged.
func TestServeEndsWithItsLog(t *testing.T) {
	path := configuration(t, served)
	s := serve(t, "-c", path)
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
	if status, body := sell(t, public); status != 503 || !strings.Contains(body, `"error":"unavailable"`) {
		t.Errorf("%d %s", status, body)
	}
	if code := s.ends(); code <= 0 || !strings.Contains(s.said(), "the log failed") || !strings.Contains(s.said(), "file too large") {
		t.Errorf("exit %d:\n%s", code, s.said())
	}
	s = serve(t, "-c", path, "--log-format", "json")
	s.hears(`"msg":"serving".*"leads":1`)
}
