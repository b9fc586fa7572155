package dialtest

import (
	"errors"
	"net"
	"syscall"
	"testing"
)

// TestUnusedAddress: no server can listen on the address, and connections to it are refused.
func TestUnusedAddress(t *testing.T) {
	address := UnusedAddress(t)
	if ln, err := net.Listen("tcp", address); err == nil {
		t.Errorf("another test can listen on %s", ln.Addr())
		_ = ln.Close()
	}
	conn, err := net.Dial("tcp", address)
	if err == nil {
		_ = conn.Close()
	}
	if !errors.Is(err, syscall.ECONNREFUSED) {
		t.Errorf("a connection to %s: %v, want %v", address, err, syscall.ECONNREFUSED)
	}
}
