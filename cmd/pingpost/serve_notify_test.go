//go:build linux

package main

import (
	"net"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"pingpost/internal/must"
)

// TestServeTellsItsManager: that it is ready when it is, and not before; and that it
// stops.
func TestServeTellsItsManager(t *testing.T) {
	socket := filepath.Join(t.TempDir(), "notify")
	manager := must.Value(net.ListenUnixgram("unixgram", &net.UnixAddr{Name: socket, Net: "unixgram"}))(t)
	defer manager.Close()
	hears := func(want string) {
		t.Helper()
		told := make([]byte, 256)
		must.Succeed(t, manager.SetReadDeadline(time.Now().Add(time.Minute)))
		n, err := manager.Read(told)
		if err != nil || string(told[:n]) != want {
			t.Fatalf("%q, %v, want %q", told[:n], err, want)
		}
	}
	t.Setenv("NOTIFY_SOCKET", socket)
	s := serve(t, "-c", configuration(t, served))
	hears("READY=1")
	public, _ := s.addresses("production")
	mustSell(t, public, "ACCEPTED")
	s.signal(syscall.SIGTERM)
	hears("STOPPING=1")
	if code := s.ends(); code != 0 {
		t.Errorf("exit %d", code)
	}
}
