//go:build unix

package main

import (
	"os"
	"syscall"
	"testing"

	"pingpost/internal/must"
)

// TestServeStopsWhileReloading: a file that cannot be read to its end keeps
// nobody from stopping the program.
func TestServeStopsWhileReloading(t *testing.T) {
	path := configuration(t, served)
	s := serve(t, "-c", path)
	public, _ := s.addresses("production")
	must.Succeed(t, os.Remove(path))
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Skipf("no pipe in the file system: %v", err)
	}
	for range 3 {
		s.signal(syscall.SIGHUP)
	}
	mustSell(t, public, "ACCEPTED")
	s.stops()
}
