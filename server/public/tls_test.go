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

// secured serves an exchange with so many places over TLS.
func secured(t *testing.T, places int, tune ...func(*Server)) (address string, theirs *tls.Config, s *Server) {
	t.Helper()
	ours, theirs := servertest.NewTLSConfigs(t)
	s = newServer(t)
	s.opt.Connections, s.opt.MaxConnsPerIP, s.opt.TLS = places, 1000, ours
	for _, change := range tune {
		change(s)
	}
	filled(t, s)
	return servertest.StartServer(t, s.Serve, s.Shutdown), theirs, s
}

// TestOverTLS checks that requests work over TLS as over plain connections, and that a
// valid credential protects the connection.
func TestOverTLS(t *testing.T) {
	address, theirs, s := secured(t, 4)
	k := servertest.DialTLS(t, address, theirs)
	for i := range 3 {
		if status, _, body := k.Send(headOf(leadOf(i)) + leadOf(i)); status != 201 {
			t.Fatalf("%d %s", status, body)
		}
	}
	if open, strangers := s.limiter.Load().CountConnections(); open != 1 || strangers != 0 {
		t.Errorf("%d are open, %d of them without a credential", open, strangers)
	}
	if status, _, _ := k.Send(strings.Replace(headOf(leadOf(5)), "/api/v1/ingest", "https://x/api/v1/ingest", 1) + leadOf(5)); status != 201 {
		t.Errorf("the whole address: %d", status)
	}
	idle := []*servertest.Conn{servertest.DialTLS(t, address, theirs), servertest.DialTLS(t, address, theirs), servertest.DialTLS(t, address, theirs)}
	newcomer := servertest.DialTLS(t, address, theirs)
	if status, _, body := newcomer.Send(headOf(leadOf(9)) + leadOf(9)); status != 201 {
		t.Errorf("a newcomer in a full house: %d %s", status, body)
	}
	if status, _, _ := k.Send(headOf(leadOf(8)) + leadOf(8)); status != 201 {
		t.Errorf("the one who is known: %d", status)
	}
	for _, one := range idle {
		one.Close()
	}
}

// TestWhatTLSIsSpoken: 1.2 at least, and HTTP/1.1 in it.
func TestWhatTLSIsSpoken(t *testing.T) {
	address, theirs, _ := secured(t, 100)
	for what, row := range map[string]struct {
		change func(*tls.Config)
		good   bool
	}{
		"as it comes":    {func(*tls.Config) {}, true},
		"1.2":            {func(c *tls.Config) { c.MaxVersion = tls.VersionTLS12 }, true},
		"1.3":            {func(c *tls.Config) { c.MinVersion = tls.VersionTLS13 }, true},
		"1.1":            {func(c *tls.Config) { c.MinVersion, c.MaxVersion = tls.VersionTLS11, tls.VersionTLS11 }, false},
		"HTTP/1.1":       {func(c *tls.Config) { c.NextProtos = []string{"h2", "http/1.1"} }, true},
		"HTTP/2 alone":   {func(c *tls.Config) { c.NextProtos = []string{"h2"} }, false},
		"somebody else":  {func(c *tls.Config) { c.ServerName = "elsewhere.test" }, false},
		"no name at all": {func(c *tls.Config) { c.ServerName, c.InsecureSkipVerify = "", true }, true},
	} {
		config := theirs.Clone()
		row.change(config)
		conn, err := tls.Dial("tcp", address, config)
		if (err == nil) != row.good {
			t.Errorf("%s: %v", what, err)
		}
		if err == nil {
			if got := conn.ConnectionState().NegotiatedProtocol; len(config.NextProtos) > 0 && got != "http/1.1" {
				t.Errorf("%s: %q is spoken", what, got)
			}
			conn.Close()
		}
	}
}

// TestPlainHTTPToTLS checks that plain HTTP receives a 400 in the form of the API, whatever
// the size of the request. Other protocols receive no answer.
func TestPlainHTTPToTLS(t *testing.T) {
	address, _, s := secured(t, 100)
	for _, text := range []string{
		headOf(leadOf(1)) + leadOf(1), servertest.FormatRequest("GET /none", "", ""), servertest.FormatRequest("DELETE /none", "", ""),
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
		t.Errorf("to what is no HTTP: %q", text)
	}
	var figures bytes.Buffer
	if s.opt.Meter.WriteMetrics(&figures); !strings.Contains(figures.String(), "pingpost_tls_handshake_failures_total 5\n") {
		t.Errorf("not 5 handshakes are counted as failed:\n%s", &figures)
	}
}

// TestHandshakesThatDoNotEnd: one that is slow ends with the time for reading, and one
// that is long at its length; both are held without a request's memory.
func TestHandshakesThatDoNotEnd(t *testing.T) {
	address, theirs, s := secured(t, 100, func(s *Server) { s.http.ReadTimeout = 200 * time.Millisecond })
	silent, slow, long := servertest.Dial(t, address), servertest.Dial(t, address), servertest.Dial(t, address)
	if _, err := slow.Write([]byte{22, 3, 1, 1, 0, 1}); err != nil { // of a record of 256 bytes
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
	for what, k := range map[string]*servertest.Conn{"silent": silent, "slow": slow, "long": long} {
		if _, err := k.Answer.ReadByte(); err == nil {
			if _, err = io.ReadAll(k.Answer); err != nil && !isReset(err) {
				t.Errorf("%s: %v", what, err)
			}
		} else if !errors.Is(err, io.EOF) && !isReset(err) {
			t.Errorf("%s: %v", what, err)
		}
	}
	if status, _, _ := servertest.DialTLS(t, address, theirs).Send(headOf(leadOf(1)) + leadOf(1)); status != 201 {
		t.Errorf("then a good one: %d", status)
	}
	if s.http.GetCurrentConcurrency() > 1 {
		t.Errorf("%d are still served", s.http.GetCurrentConcurrency())
	}
}

// isReset tells whether the other end cut the connection, rather than time having
// run out here.
func isReset(err error) bool {
	var timeout net.Error
	return !errors.As(err, &timeout) || !timeout.Timeout()
}

// TestStopUnderTLS: an orderly stop waits neither for a handshake that is under way
// nor for a connection over which no request has come, and says a last word to one
// that is idle.
func TestStopUnderTLS(t *testing.T) {
	ours, theirs := servertest.NewTLSConfigs(t)
	s := newServer(t)
	s.opt.Connections, s.opt.MaxConnsPerIP, s.opt.TLS = 100, 1000, ours
	filled(t, s)
	listener := must.Value(net.Listen("tcp", "127.0.0.1:0"))(t)
	served := make(chan error, 1)
	go func() { served <- s.Serve(listener) }()
	address := listener.Addr().String()
	half := servertest.Dial(t, address)
	must.Value(half.Write([]byte{22, 3, 1, 1, 0, 1}))(t)
	unused, used := servertest.DialTLS(t, address, theirs), servertest.DialTLS(t, address, theirs)
	if status, _, body := used.Send(headOf(leadOf(1)) + leadOf(1)); status != 201 {
		t.Fatalf("%d %s", status, body)
	}
	stopped := make(chan error, 1)
	go func() { stopped <- s.Shutdown() }()
	for what, k := range map[string]*servertest.Conn{"half a handshake": half, "unused": unused} {
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

// TestTooManyOverTLS checks that a connection over the limit is closed without an answer,
// which the client could not read.
func TestTooManyOverTLS(t *testing.T) {
	address, theirs, _ := secured(t, 10, func(s *Server) { s.opt.MaxConnsPerIP = 1 })
	first := servertest.DialTLS(t, address, theirs)
	if status, _, _ := first.Send(headOf(leadOf(1)) + leadOf(1)); status != 201 {
		t.Errorf("the first: %d", status)
	}
	second := servertest.Dial(t, address)
	if text, err := io.ReadAll(second); len(text) > 0 {
		t.Errorf("the second: %q, %v", text, err)
	}
}
