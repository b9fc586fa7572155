package public

import (
	"bytes"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"pingpost/internal/must"
	"pingpost/server/servertest"
)

// startTLSServer serves an exchange over TLS with at most maxConns connections.
func startTLSServer(t *testing.T, maxConns int, tune ...func(*Server)) (address string, clientTLS *tls.Config, s *Server) {
	t.Helper()
	serverTLS, clientTLS := servertest.NewTLSConfigs(t)
	s = newServer(t)
	s.opt.Connections, s.opt.MaxConnsPerIP, s.opt.TLS = maxConns, 1000, serverTLS
	for _, change := range tune {
		change(s)
	}
	fillBucket(t, s)
	return servertest.StartServer(t, s.Serve, s.Shutdown), clientTLS, s
}

// Requests work over TLS as over plain connections, and a valid credential protects the
// connection.
func TestIngestOverTLS(t *testing.T) {
	address, clientTLS, s := startTLSServer(t, 4)
	k := servertest.DialTLS(t, address, clientTLS)
	for i := range 3 {
		if status, _, body := k.Send(ingestHead(ingestBody(i)) + ingestBody(i)); status != 201 {
			t.Fatalf("%d %s", status, body)
		}
	}
	if open, unauthenticated := s.limiter.Load().CountConnections(); open != 1 || unauthenticated != 0 {
		t.Errorf("%d connections are open, %d of them without a credential, want 1 and 0", open, unauthenticated)
	}
	if status, _, _ := k.Send(strings.Replace(ingestHead(ingestBody(5)), "/api/v1/ingest", "https://x/api/v1/ingest", 1) + ingestBody(5)); status != 201 {
		t.Errorf("absolute target: got %d, want 201", status)
	}
	idle := []*servertest.RawClientConn{servertest.DialTLS(t, address, clientTLS), servertest.DialTLS(t, address, clientTLS), servertest.DialTLS(t, address, clientTLS)}
	conn := servertest.DialTLS(t, address, clientTLS)
	if status, _, body := conn.Send(ingestHead(ingestBody(9)) + ingestBody(9)); status != 201 {
		t.Errorf("new connection at the limit: got %d %s, want 201", status, body)
	}
	if status, _, _ := k.Send(ingestHead(ingestBody(8)) + ingestBody(8)); status != 201 {
		t.Errorf("authenticated connection: got %d, want 201", status)
	}
	for _, one := range idle {
		one.Close()
	}
}

// The server accepts TLS 1.2 and later, and HTTP/1.1 only.
func TestTLSVersionsAndProtocols(t *testing.T) {
	address, clientTLS, _ := startTLSServer(t, 100)
	for what, row := range map[string]struct {
		change func(*tls.Config)
		want   bool
	}{
		"defaults":     {func(*tls.Config) {}, true},
		"1.2":          {func(c *tls.Config) { c.MaxVersion = tls.VersionTLS12 }, true},
		"1.3":          {func(c *tls.Config) { c.MinVersion = tls.VersionTLS13 }, true},
		"1.1":          {func(c *tls.Config) { c.MinVersion, c.MaxVersion = tls.VersionTLS11, tls.VersionTLS11 }, false},
		"HTTP/1.1":     {func(c *tls.Config) { c.NextProtos = []string{"h2", "http/1.1"} }, true},
		"HTTP/2 alone": {func(c *tls.Config) { c.NextProtos = []string{"h2"} }, false},
		"another name": {func(c *tls.Config) { c.ServerName = "elsewhere.test" }, false},
		"no name":      {func(c *tls.Config) { c.ServerName, c.InsecureSkipVerify = "", true }, true},
	} {
		config := clientTLS.Clone()
		row.change(config)
		conn, err := tls.Dial("tcp", address, config)
		if (err == nil) != row.want {
			t.Errorf("%s: %v", what, err)
		}
		if err == nil {
			if got := conn.ConnectionState().NegotiatedProtocol; len(config.NextProtos) > 0 && got != "http/1.1" {
				t.Errorf("%s: negotiated %q, want http/1.1", what, got)
			}
			conn.Close()
		}
	}
}

// Plain HTTP gets a 400 in the form of the API, at any request size. Other protocols get
// no HTTP answer.
func TestPlainHTTPToTLS(t *testing.T) {
	address, _, s := startTLSServer(t, 100)
	for _, text := range []string{
		ingestHead(ingestBody(1)) + ingestBody(1), servertest.FormatRequest("GET /none", "", ""), servertest.FormatRequest("DELETE /none", "", ""),
		"POST /api/v1/ingest HTTP/1.1\r\nHost: x\r\nContent-Length: 9000\r\n\r\n" + strings.Repeat("d", 9000),
	} {
		status, header, body := servertest.Dial(t, address).Send(text)
		if status != 400 || !strings.Contains(body, `"malformed_request"`) || !strings.Contains(body, "https") || header.Get("X-Request-Id") == "" || header.Get("Connection") != "close" {
			t.Errorf("%.20q: %d %v %s", text, status, header, body)
		}
	}
	k := servertest.Dial(t, address)
	must.Value(io.WriteString(k, "SSH-2.0-client\r\n"))(t)
	if text, _ := io.ReadAll(k); strings.Contains(string(text), "HTTP") {
		t.Errorf("answer to SSH: got %q, want none in HTTP", text)
	}
	var metrics bytes.Buffer
	if s.opt.Meter.WriteMetrics(&metrics); !strings.Contains(metrics.String(), "pingpost_tls_handshake_failures_total 5\n") {
		t.Errorf("want 5 failed handshakes in the metrics, got:\n%s", &metrics)
	}
}

// A silent or slow handshake ends at the read timeout, and a long one at its maximum
// length. Neither uses the memory of a request.
func TestUnfinishedHandshakesAreEnded(t *testing.T) {
	// The last connection below has to finish its handshake and request in this time, also on a busy machine.
	address, clientTLS, s := startTLSServer(t, 100, func(s *Server) { s.http.ReadTimeout = 3 * time.Second })
	silent, slow, long := servertest.Dial(t, address), servertest.Dial(t, address), servertest.Dial(t, address)
	if _, err := slow.Write([]byte{22, 3, 1, 1, 0, 1}); err != nil { // the beginning of a record of 256 bytes
		t.Fatal(err)
	}
	go func() {
		record := append([]byte{22, 3, 1, 0x40, 0, 1, 0, 0xff, 0xff}, make([]byte, 0x4000-4)...)
		for range 8 {
			if _, err := long.Write(record); err != nil {
				return
			}
			record = append([]byte{22, 3, 1, 0x40, 0}, make([]byte, 0x4000)...)
		}
	}()
	for what, k := range map[string]*servertest.RawClientConn{"silent": silent, "slow": slow, "long": long} {
		if _, err := k.Answer.ReadByte(); err == nil {
			if _, err = io.ReadAll(k.Answer); err != nil && !isReset(err) {
				t.Errorf("%s: %v", what, err)
			}
		} else if !errors.Is(err, io.EOF) && !isReset(err) {
			t.Errorf("%s: %v", what, err)
		}
	}
	if status, _, _ := servertest.DialTLS(t, address, clientTLS).Send(ingestHead(ingestBody(1)) + ingestBody(1)); status != 201 {
		t.Errorf("next connection: got %d, want 201", status)
	}
	servertest.WaitUntil(t, "at most one connection is served", func() bool { return s.http.GetCurrentConcurrency() <= 1 })
}

// isReset reports whether the other end closed the connection, rather than this end timing
// out.
func isReset(err error) bool {
	var timeout net.Error
	return !errors.As(err, &timeout) || !timeout.Timeout()
}

// A shutdown waits neither for an unfinished handshake nor for a connection without a
// request.
func TestShutdownClosesTLSConns(t *testing.T) {
	serverTLS, clientTLS := servertest.NewTLSConfigs(t)
	s := newServer(t)
	s.opt.Connections, s.opt.MaxConnsPerIP, s.opt.TLS = 100, 1000, serverTLS
	fillBucket(t, s)
	listener := must.Value(net.Listen("tcp", "127.0.0.1:0"))(t)
	served := make(chan error, 1)
	go func() { served <- s.Serve(listener) }()
	address := listener.Addr().String()
	unfinished := servertest.Dial(t, address)
	must.Value(unfinished.Write([]byte{22, 3, 1, 1, 0, 1}))(t)
	unused, used := servertest.DialTLS(t, address, clientTLS), servertest.DialTLS(t, address, clientTLS)
	if status, _, body := used.Send(ingestHead(ingestBody(1)) + ingestBody(1)); status != 201 {
		t.Fatalf("%d %s", status, body)
	}
	stopped := make(chan error, 1)
	go func() { stopped <- s.Shutdown() }()
	for what, k := range map[string]*servertest.RawClientConn{"unfinished handshake": unfinished, "unused": unused} {
		if _, err := io.ReadAll(k.Answer); err != nil && !isReset(err) {
			t.Errorf("%s: %v", what, err)
		}
	}
	used.Close()
	if err := <-stopped; err != nil {
		t.Error(err)
	}
	if err := <-served; err != nil {
		t.Error(err)
	}
}

// A connection over the limit is closed without an answer, which the client could not
// read.
func TestTLSConnOverLimitIsClosed(t *testing.T) {
	address, clientTLS, _ := startTLSServer(t, 10, func(s *Server) { s.opt.MaxConnsPerIP = 1 })
	first := servertest.DialTLS(t, address, clientTLS)
	if status, _, _ := first.Send(ingestHead(ingestBody(1)) + ingestBody(1)); status != 201 {
		t.Errorf("first connection: got %d, want 201", status)
	}
	second := servertest.Dial(t, address)
	if text, err := io.ReadAll(second); len(text) > 0 {
		t.Errorf("second connection: got %q, %v, want no answer", text, err)
	}
}
