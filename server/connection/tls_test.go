package connection

import (
	"crypto/tls"
	"errors"
	"net"
	"testing"
	"time"

	"pingpost/internal/must"
	"pingpost/server/servertest"
)

// Until the end of the handshake, the server reads at most maxHandshake bytes.
func TestHandshakeBytesAreLimited(t *testing.T) {
	server, client := net.Pipe()
	defer client.Close()
	c := NewLimiter(nil, 1, 1, nil, nil)
	c.TLS = &tls.Config{MinVersion: tls.VersionTLS12}
	b := &tlsUnderlyingConn{LimitedConn: newConn(server, c)}
	go func() {
		for {
			if _, err := client.Write(make([]byte, 1000)); err != nil {
				return
			}
		}
	}()
	received, p := 0, make([]byte, 1000)
	var err error
	for err == nil && received < 2*maxHandshake {
		var n int
		n, err = b.Read(p)
		received += n
	}
	if !errors.Is(err, errLongHandshake) {
		t.Error(err)
	}
	if received < maxHandshake || received > maxHandshake+len(p) {
		t.Errorf("read %d bytes, want about %d", received, maxHandshake)
	}
	b.handshakeDone = true
	if _, err := b.Read(p); err != nil {
		t.Errorf("after the handshake: %v", err)
	}
	server.Close()
}

// Deadlines of the TLS connection are lazy deadlines of the plain one. The deadline of the
// last answer, which another goroutine may write, is not.
func TestTLSConnDeadlines(t *testing.T) {
	server, client := net.Pipe()
	defer client.Close()
	c := NewLimiter(nil, 1, 1, nil, nil)
	c.TLS, _ = servertest.NewTLSConfigs(t)
	c.OnFailedHandshake = func() {}
	conn, ok := c.wrapTLSIfConfigured(newConn(server, c)).(*tlsConn)
	if !ok {
		t.Fatal("the connection does not use TLS")
	}
	c.admitConn(conn.transport.LimitedConn)
	soon := time.Now().Add(time.Minute)
	for _, set := range []func(time.Time) error{conn.SetReadDeadline, conn.SetWriteDeadline, conn.SetDeadline} {
		must.Succeed(t, set(soon))
	}
	g := conn.transport.LimitedConn
	if !g.readDeadline.wanted.Equal(soon) || !g.writeDeadline.wanted.Equal(soon) {
		t.Errorf("wanted deadlines: got %s and %s, want the one that was set", g.readDeadline.wanted, g.writeDeadline.wanted)
	}
	must.Succeed(t, conn.transport.SetWriteDeadline(time.Now().Add(time.Hour)))
	if !g.writeDeadline.wanted.Equal(soon) {
		t.Error("the deadline of the last answer changed the wanted deadline")
	}
	if err := conn.Close(); err != nil || c.open != 0 {
		t.Errorf("%v, %d connections are open, want 0", err, c.open)
	}
}
