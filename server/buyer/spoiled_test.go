package buyer

import (
	"crypto/tls"
	"crypto/x509"
	"io"
	"net"
	"net/http/httptest"
	"testing"
	"time"

	"pingpost/engine/market"
)

// waitsFor waits until something lies on the client's idle connection.
func waitsFor(t *testing.T, client *Client, url string) {
	t.Helper()
	target, _ := client.targets.find(url)
	held, err := target.host.pool.AcquireConn(ample, false)
	if err != nil {
		t.Fatal(err)
	}
	conn := held.Conn().(*line)
	for deadline := time.Now().Add(ample); !newWire(conn.wire.Conn).pending(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("nothing came")
		}
	}
	target.host.pool.ReleaseConn(held)
}

// TestSpoiled: what a buyer sends while nobody has asked decides no lead. The
// next one goes over a new connection, and is sent once: even without a key.
func TestSpoiled(t *testing.T) {
	certificate := httptest.NewTLSServer(nil)
	defer certificate.Close()
	for _, secure := range []bool{false, true} {
		for name, spoil := range map[string]func(c net.Conn){
			"201":      func(c net.Conn) { _, _ = io.WriteString(c, message("201 Created", `{"lead_id":"not yours"}`)) },
			"400":      func(c net.Conn) { _, _ = io.WriteString(c, message("400 Bad Request", `{"error":"no"}`)) },
			"408":      func(c net.Conn) { _, _ = io.WriteString(c, message("408 Request Timeout", ``, "Connection: close")) },
			"one byte": func(c net.Conn) { _, _ = io.WriteString(c, "H") },
			"the end":  func(c net.Conn) { _ = c.Close() },
		} {
			if secure {
				name += " over TLS"
			}
			t.Run(name, func(t *testing.T) {
				ln, err := net.Listen("tcp", "127.0.0.1:0")
				if err != nil {
					t.Fatal(err)
				}
				scheme := "http://"
				if secure {
					ln, scheme = tls.NewListener(ln, certificate.TLS), "https://"
				}
				buyer := serveOn(t, ln, answers("201 Created", `{"lead_id":"b1"}`), answers("201 Created", `{"lead_id":"b2"}`))
				client := newClient(t, func(o *Options) { o.Roots = rootsOf(certificate) })
				url := scheme + buyer.address + "/v1/post"
				if got := client.Post(leadTo(url, ample)); got.BuyerLeadID != "b1" {
					t.Fatalf("an earlier lead: %+v", got)
				}
				buyer.mu.Lock()
				spoil(buyer.open[0])
				buyer.mu.Unlock()
				waitsFor(t, client, url)
				p := leadTo(url, ample)
				p.Key = ""
				want := market.PostResult{Verdict: accepted, Status: 201, BuyerLeadID: "b2"}
				if got := withoutElapsed(client.Post(p)); got != want {
					t.Errorf("\n got %+v\nwant %+v", got, want)
				}
				if requests := buyer.got(); len(requests) != 2 || requests[1].conn != 1 {
					t.Errorf("%d requests, the last over connection %d", len(requests), requests[len(requests)-1].conn)
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
	buyer := serveOn(t, tls.NewListener(gathering{ln}, certificate.TLS), func(c net.Conn) bool {
		below := c.(*tls.Conn).NetConn().(*gathered)
		below.hold = true
		_, _ = io.WriteString(c, message("201 Created", `{"lead_id":"b1"}`))
		_, _ = io.WriteString(c, message("201 Created", `{"lead_id":"not yours"}`))
		below.hold = false
		_, err := below.Conn.Write(below.text)
		return err == nil
	})
	client := newClient(t, func(o *Options) { o.Roots = rootsOf(certificate) })
	for i := range 3 {
		if got := client.Post(leadTo("https://"+buyer.address+"/", ample)); got.BuyerLeadID != "b1" {
			t.Errorf("post %d: got %+v", i, got)
		}
	}
}

// TestKeptTLS: a quiet line is used again and again.
func TestKeptTLS(t *testing.T) {
	certificate := httptest.NewTLSServer(nil)
	defer certificate.Close()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	buyer := serveOn(t, tls.NewListener(ln, certificate.TLS), answers("201 Created", `{}`))
	client := newClient(t, func(o *Options) { o.Roots = rootsOf(certificate) })
	for i := range 5 {
		if got := client.Post(leadTo("https://"+buyer.address+"/", ample)); got.Verdict != accepted {
			t.Errorf("post %d: got %+v", i, got)
		}
	}
	for _, request := range buyer.got() {
		if request.conn != 0 {
			t.Errorf("connection %d", request.conn)
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

func rootsOf(server *httptest.Server) *x509.CertPool {
	roots := x509.NewCertPool()
	roots.AddCert(server.Certificate())
	return roots
}
