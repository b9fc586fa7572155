package dial

import (
	"crypto/tls"
	"io"
	"net"
	"net/http/httptest"
	"testing"
	"time"

	"pingpost/outbound/dial/dialtest"
)

// waitsFor waits until something lies on the client's idle connection.
func waitsFor(t *testing.T, target *Target) {
	t.Helper()
	held, err := target.host.pools[0].AcquireConn(ample, false)
	if err != nil {
		t.Fatal(err)
	}
	conn := held.Conn().(*line)
	for deadline := time.Now().Add(ample); !newWire(conn.wire.Conn).pending(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("nothing came")
		}
	}
	target.host.pools[0].ReleaseConn(held)
}

// TestSpoiled: what an endpoint sends while nobody has asked answers no request.
// The next one goes over a new connection, and is sent once: even where it may not
// be repeated.
func TestSpoiled(t *testing.T) {
	certificate := httptest.NewTLSServer(nil)
	defer certificate.Close()
	for _, secure := range []bool{false, true} {
		for name, spoil := range map[string]func(c net.Conn){
			"201": func(c net.Conn) { _, _ = io.WriteString(c, dialtest.Message("201 Created", `{}`)) },
			"400": func(c net.Conn) { _, _ = io.WriteString(c, dialtest.Message("400 Bad Request", `{}`)) },
			"408": func(c net.Conn) {
				_, _ = io.WriteString(c, dialtest.Message("408 Request Timeout", ``, "Connection: close"))
			},
			"one byte": func(c net.Conn) { _, _ = io.WriteString(c, "H") },
			"the end":  func(c net.Conn) { _ = c.Close() },
		} {
			if secure {
				name += " over TLS"
			}
			t.Run(name, func(t *testing.T) {
				e, hosts, scheme := dialtest.Listen(t, dialtest.Answers("200 OK", `1`), dialtest.Answers("200 OK", `2`)), open(t, nil), "http://"
				if secure {
					e, hosts, scheme = overTLS(t, certificate, dialtest.Answers("200 OK", `1`), dialtest.Answers("200 OK", `2`)), trusting(t, certificate), "https://"
				}
				target := find(t, hosts, scheme+e.Address+"/")
				if done, body := send(target, false); done != (Trip{Sent: true, Status: 200}) || body != "1" {
					t.Fatalf("an earlier request: %+v %q", done, body)
				}
				spoil(e.Conn(0))
				waitsFor(t, target)
				if done, body := send(target, false); done != (Trip{Sent: true, Status: 200}) || body != "2" {
					t.Errorf("%+v %q", done, body)
				}
				if requests := e.Got(); len(requests) != 2 || requests[1].Conn != 1 {
					t.Errorf("%d requests, the last over connection %d", len(requests), requests[len(requests)-1].Conn)
				}
			})
		}
	}
}

// TestSpoiledInTLS: an answer too many that TLS has taken from the wire along
// with the good one is seen too.
func TestSpoiledInTLS(t *testing.T) {
	certificate := httptest.NewTLSServer(nil)
	defer certificate.Close()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	e := dialtest.ServeOn(t, tls.NewListener(gathering{ln}, certificate.TLS), func(c net.Conn) bool {
		below := c.(*tls.Conn).NetConn().(*gathered)
		below.hold = true
		_, _ = io.WriteString(c, dialtest.Message("200 OK", `yours`))
		_, _ = io.WriteString(c, dialtest.Message("200 OK", `not yours`))
		below.hold = false
		_, err := below.Conn.Write(below.text)
		return err == nil
	})
	target := find(t, trusting(t, certificate), "https://"+e.Address+"/")
	for i := range 3 {
		if done, body := send(target, true); body != "yours" {
			t.Errorf("request %d: %+v %q", i, done, body)
		}
	}
}

// TestKeptTLS: a quiet line is used again and again.
func TestKeptTLS(t *testing.T) {
	certificate := httptest.NewTLSServer(nil)
	defer certificate.Close()
	e := overTLS(t, certificate, dialtest.Answers("200 OK", `{}`))
	target := find(t, trusting(t, certificate), "https://"+e.Address+"/")
	for i := range 5 {
		if done, _ := send(target, true); done.Status != 200 {
			t.Errorf("request %d: %+v", i, done)
		}
	}
	for _, request := range e.Got() {
		if request.Conn != 0 {
			t.Errorf("connection %d", request.Conn)
		}
	}
}

// gathering makes connections that can hold back what is written, to send it in
// one piece.
type gathering struct{ net.Listener }

func (g gathering) Accept() (net.Conn, error) {
	conn, err := g.Listener.Accept()
	return &gathered{Conn: conn}, err
}

type gathered struct {
	net.Conn
	hold bool
	text []byte
}

func (g *gathered) Write(p []byte) (int, error) {
	if g.hold {
		g.text = append(g.text, p...)
		return len(p), nil
	}
	return g.Conn.Write(p)
}
