package public

import (
	"errors"
	"io"
	"net"
	"testing"
	"time"

	"pingpost/internal/must"
)

// Serve and Shutdown both return if they run at the same time, and no connection is
// accepted afterwards.
func TestShutdownDuringServeStart(t *testing.T) {
	for range 200 {
		s := newTestServer(t, func(*Options) {}).Server
		listener := must.Value(net.Listen("tcp", "127.0.0.1:0"))(t)
		ended := make(chan error, 2)
		go func() { ended <- s.Serve(listener) }()
		go func() { ended <- s.Shutdown() }()
		for range 2 {
			select {
			case err := <-ended:
				if err != nil {
					t.Fatal(err)
				}
			case <-time.After(time.Minute):
				t.Fatal("Serve or Shutdown did not return")
			}
		}
		if conn, err := net.Dial("tcp", listener.Addr().String()); err == nil {
			conn.Close()
			t.Fatal("a connection was accepted after the shutdown")
		}
	}
}

// A silent connection does not delay a shutdown, even with a long read timeout.
func TestShutdownClosesSilentConns(t *testing.T) {
	s := newTestServer(t, func(o *Options) { o.ReadTimeout = time.Hour }).Server
	listener := must.Value(net.Listen("tcp", "127.0.0.1:0"))(t)
	served := make(chan error, 1)
	go func() { served <- s.Serve(listener) }()
	var silent []net.Conn
	for range 3 {
		conn := must.Value(net.Dial("tcp", listener.Addr().String()))(t)
		t.Cleanup(func() { conn.Close() })
		silent = append(silent, conn)
	}
	stopped := make(chan error, 1)
	go func() { stopped <- s.Shutdown() }()
	select {
	case err := <-stopped:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(time.Minute):
		t.Fatal("the shutdown did not end within a minute")
	}
	if err := <-served; err != nil {
		t.Error(err)
	}
	for _, conn := range silent {
		var reset net.Error
		if _, err := conn.Read(make([]byte, 1)); !errors.Is(err, io.EOF) && !errors.As(err, &reset) {
			t.Errorf("silent connection: got error %v, want its end", err)
		}
	}
}
