package server

import (
	"errors"
	"io"
	"net"
	"testing"
	"time"
)

// TestShutdownWaitsForNobodyWhoIsSilent: a connection that never said anything
// keeps nobody from leaving, though requests may take as long as they like here.
func TestShutdownWaitsForNobodyWhoIsSilent(t *testing.T) {
	s := open(t, func(o *Options) { o.ReadTimeout = time.Hour }).Server
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan error, 1)
	go func() { served <- s.Serve(listener) }()
	var silent []net.Conn
	for range 3 {
		conn, err := net.Dial("tcp", listener.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { conn.Close() })
		silent = append(silent, conn)
	}
	left := make(chan error, 1)
	go func() { left <- s.Shutdown() }()
	select {
	case err := <-left:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(time.Minute):
		t.Fatal("it still waits after a minute")
	}
	if err := <-served; err != nil {
		t.Error(err)
	}
	for _, conn := range silent {
		var reset net.Error
		if _, err := conn.Read(make([]byte, 1)); !errors.Is(err, io.EOF) && !errors.As(err, &reset) {
			t.Errorf("a silent connection: %v", err)
		}
	}
}
