package dial

import (
	"crypto/tls"
	"io"
	"net"
	"net/http/httptest"
	"testing"
	"time"

	"pingpost/internal/must"
	"pingpost/outbound/dial/dialtest"
)

// waitForPendingData waits until the client's idle connection holds data.
func waitForPendingData(t *testing.T, target *Target) {
	t.Helper()
	held := must.Value(target.host.pools[0].AcquireConn(longTimeout, false))(t)
	conn := held.Conn().(*outboundConn)
	for deadline := time.Now().Add(longTimeout); !newSocketConn(conn.socket.Conn).hasPendingDataOrEnd(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("no data arrived")
		}
	}
	target.host.pools[0].ReleaseConn(held)
}

// Data that arrives before a request answers no request. The next request uses a new
// connection and is sent once, even if it is not repeatable.
func TestUnexpectedDataIsNoAnswer(t *testing.T) {
	certificate := httptest.NewTLSServer(nil)
	defer certificate.Close()
	for _, secure := range []bool{false, true} {
		for name, disturb := range map[string]func(c net.Conn){
			"201": func(c net.Conn) { _, _ = io.WriteString(c, dialtest.FormatResponse("201 Created", `{}`)) },
			"400": func(c net.Conn) { _, _ = io.WriteString(c, dialtest.FormatResponse("400 Bad Request", `{}`)) },
			"408": func(c net.Conn) {
				_, _ = io.WriteString(c, dialtest.FormatResponse("408 Request Timeout", ``, "Connection: close"))
			},
			"one byte": func(c net.Conn) { _, _ = io.WriteString(c, "H") },
			"a close":  func(c net.Conn) { _ = c.Close() },
		} {
			if secure {
				name += " over TLS"
			}
			t.Run(name, func(t *testing.T) {
				e, hosts, scheme := dialtest.StartEndpoint(t, dialtest.ReplyWithAnswer("200 OK", `1`), dialtest.ReplyWithAnswer("200 OK", `2`)), newHosts(t, nil), "http://"
				if secure {
					e, hosts, scheme = listenTLS(t, certificate, dialtest.ReplyWithAnswer("200 OK", `1`), dialtest.ReplyWithAnswer("200 OK", `2`)), newTLSHosts(t, certificate), "https://"
				}
				target := findTarget(t, hosts, scheme+e.Address+"/")
				if done, body := sendRequest(target, false); done != (SendResult{Sent: true, Status: 200}) || body != "1" {
					t.Fatalf("an earlier request: %+v %q", done, body)
				}
				disturb(e.ServerConn(0))
				waitForPendingData(t, target)
				if done, body := sendRequest(target, false); done != (SendResult{Sent: true, Status: 200}) || body != "2" {
					t.Errorf("%+v %q", done, body)
				}
				if requests := e.Requests(); len(requests) != 2 || requests[1].Conn != 1 {
					t.Errorf("%d requests, the last over connection %d", len(requests), requests[len(requests)-1].Conn)
				}
			})
		}
	}
}

// An extra answer that TLS has buffered along with the first answer is detected too.
func TestUnexpectedDataInTLSBuffer(t *testing.T) {
	certificate := httptest.NewTLSServer(nil)
	defer certificate.Close()
	ln := must.Value(net.Listen("tcp", "127.0.0.1:0"))(t)
	e := dialtest.StartEndpointOn(t, tls.NewListener(bufferingListener{ln}, certificate.TLS), func(c net.Conn) bool {
		rawConn := c.(*tls.Conn).NetConn().(*bufferingConn)
		rawConn.hold = true
		_, _ = io.WriteString(c, dialtest.FormatResponse("200 OK", `yours`))
		_, _ = io.WriteString(c, dialtest.FormatResponse("200 OK", `not yours`))
		rawConn.hold = false
		_, err := rawConn.Conn.Write(rawConn.text)
		return err == nil
	})
	target := findTarget(t, newTLSHosts(t, certificate), "https://"+e.Address+"/")
	for i := range 3 {
		if done, body := sendRequest(target, true); body != "yours" {
			t.Errorf("request %d: %+v %q", i, done, body)
		}
	}
}

// A connection without unexpected data is used again and again.
func TestTLSConnIsReused(t *testing.T) {
	certificate := httptest.NewTLSServer(nil)
	defer certificate.Close()
	e := listenTLS(t, certificate, dialtest.ReplyWithAnswer("200 OK", `{}`))
	target := findTarget(t, newTLSHosts(t, certificate), "https://"+e.Address+"/")
	for i := range 5 {
		if done, _ := sendRequest(target, true); done.Status != 200 {
			t.Errorf("request %d: %+v", i, done)
		}
	}
	for _, request := range e.Requests() {
		if request.Conn != 0 {
			t.Errorf("connection %d", request.Conn)
		}
	}
}

// bufferingListener accepts connections that can hold back writes and send them in one
// piece.
type bufferingListener struct{ net.Listener }

func (g bufferingListener) Accept() (net.Conn, error) {
	conn, err := g.Listener.Accept()
	return &bufferingConn{Conn: conn}, err
}

type bufferingConn struct {
	net.Conn
	hold bool
	text []byte
}

func (g *bufferingConn) Write(p []byte) (int, error) {
	if g.hold {
		g.text = append(g.text, p...)
		return len(p), nil
	}
	return g.Conn.Write(p)
}
