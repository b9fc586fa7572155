//go:build unix

package main

import (
	"os"
	"syscall"
	"testing"

	"pingpost/internal/must"
)

// TestServeStopsWhileReloading: a reload that blocks while reading does not delay the stop.
func TestServeStopsWhileReloading(t *testing.T) {
	t.Parallel()
	path := writeConfig(t, testConfig)
	s := startServe(t, "-c", path)
	public, _ := s.addresses("production")
	must.Succeed(t, os.Remove(path))
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Skipf("cannot create a pipe: %v", err)
	}
	for range 3 {
		s.sendSignal(syscall.SIGHUP)
	}
	mustSell(t, public, "ACCEPTED")
	s.stop()
}
