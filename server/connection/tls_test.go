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

// TestHelloIsBounded: until the handshake is through no more than that is taken in.
func TestHelloIsBounded(t *testing.T) {
	ours, theirs := net.Pipe()
	defer theirs.Close()
	c := NewLimiter(nil, 1, 1, nil, nil)
	c.TLS = &tls.Config{MinVersion: tls.VersionTLS12}
	b := &tcpTransport{Conn: newConn(ours, c)}
	go func() {
		for {
			if _, err := theirs.Write(make([]byte, 1000)); err != nil {
				return
			}
		}
	}()
	took, p := 0, make([]byte, 1000)
	var err error
	for err == nil && took < 2*maxHandshake {
		var n int
		n, err = b.Read(p)
		took += n
	}
	if !errors.Is(err, errLongHandshake) {
		t.Error(err)
	}
	if took < maxHandshake || took > maxHandshake+len(p) {
		t.Errorf("%d bytes were taken in, of %d", took, maxHandshake)
	}
	b.handshakeDone = true
	if _, err := b.Read(p); err != nil {
		t.Errorf("after the handshake: %v", err)
	}
	ours.Close()
}

// TestDeadlinesUnderTLS: they reach the connection through the notes that are kept of
// them, and the last word's, which another goroutine may say, past them.
func TestDeadlinesUnderTLS(t *testing.T) {
	one, other := net.Pipe()
	defer other.Close()
	c := NewLimiter(nil, 1, 1, nil, nil)
	c.TLS, _ = servertest.NewTLSConfigs(t)
	c.OnFailedHandshake = func() {}
	conn, ok := c.wrapTLSIfConfigured(newConn(one, c)).(*tlsConn)
	if !ok {
		t.Fatal("it is not sealed")
	}
	c.admitConn(conn.transport.Conn)
	soon := time.Now().Add(time.Minute)
	for _, set := range []func(time.Time) error{conn.SetReadDeadline, conn.SetWriteDeadline, conn.SetDeadline} {
		must.Succeed(t, set(soon))
	}
	g := conn.transport.Conn
	if !g.readDeadline.wanted.Equal(soon) || !g.writeDeadline.wanted.Equal(soon) {
		t.Errorf("noted: %s and %s", g.readDeadline.wanted, g.writeDeadline.wanted)
	}
	must.Succeed(t, conn.transport.SetWriteDeadline(time.Now().Add(time.Hour)))
	if !g.writeDeadline.wanted.Equal(soon) {
		t.Error("the last word's deadline was noted as the guest's")
	}
	if err := conn.Close(); err != nil || c.open != 0 {
		t.Errorf("%v, %d are open", err, c.open)
	}
}
