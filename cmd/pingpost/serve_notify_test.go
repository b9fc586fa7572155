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

// TestServeNotifiesServiceManager: the program reports when it is ready, and when it stops.
func TestServeNotifiesServiceManager(t *testing.T) {
	socket := filepath.Join(t.TempDir(), "notify")
	manager := must.Value(net.ListenUnixgram("unixgram", &net.UnixAddr{Name: socket, Net: "unixgram"}))(t)
	defer manager.Close()
	mustReceive := func(want string) {
		t.Helper()
		message := make([]byte, 256)
		must.Succeed(t, manager.SetReadDeadline(time.Now().Add(time.Minute)))
		n, err := manager.Read(message)
		if err != nil || string(message[:n]) != want {
			t.Fatalf("%q, %v, want %q", message[:n], err, want)
		}
	}
	t.Setenv("NOTIFY_SOCKET", socket)
	s := startServe(t, "-c", writeConfig(t, testConfig))
	mustReceive("READY=1")
	public, _ := s.addresses("production")
	mustSell(t, public, "ACCEPTED")
	s.sendSignal(syscall.SIGTERM)
	mustReceive("STOPPING=1")
	if code := s.waitForExit(); code != 0 {
		t.Errorf("exit %d", code)
	}
}
