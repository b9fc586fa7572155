package server

import (
	"bufio"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

// keys are a certificate for this machine, and what a client needs to trust it.
func keys(t *testing.T) (ours, theirs *tls.Config) {
	t.Helper()
	made := httptest.NewTLSServer(http.NotFoundHandler())
	defer made.Close()
	pool := x509.NewCertPool()
	pool.AddCert(made.Certificate())
	return &tls.Config{MinVersion: tls.VersionTLS12, NextProtos: []string{"http/1.1"}, Certificates: made.TLS.Certificates},
		&tls.Config{RootCAs: pool, ServerName: "127.0.0.1", MinVersion: tls.VersionTLS12}
}

// secured serves an exchange with so many places over TLS.
func secured(t *testing.T, places int, tune ...func(*Server)) (address string, theirs *tls.Config, s *Server) {
	t.Helper()
	ours, theirs := keys(t)
	s = newServer(t)
	s.opt.Connections, s.opt.MaxConnsPerIP, s.opt.TLS = places, 1000, ours
	for _, change := range tune {
		change(s)
	}
	filled(t, s)
	return listen(t, s.Serve, s.Shutdown), theirs, s
}

// over is a connection of TLS, its handshake done.
func over(t *testing.T, address string, theirs *tls.Config) *talk {
	t.Helper()
	k := speak(t, address)
	conn := tls.Client(k.Conn, theirs)
	if err := conn.Handshake(); err != nil {
		t.Fatal(err)
	}
	return &talk{Conn: conn, t: t, answer: bufio.NewReader(conn)}
}

// TestOverTLS: the same paths, bodies and credentials as over a plain connection,
// which is kept; whoever has shown a good one is known.
func TestOverTLS(t *testing.T) {
	address, theirs, s := secured(t, 4)
	k := over(t, address, theirs)
	for i := range 3 {
		if status, _, body := k.ask(headOf(leadOf(i)) + leadOf(i)); status != 201 {
			t.Fatalf("%d %s", status, body)
		}
	}
	c := s.crowd.Load()
	c.mu.Lock()
	if c.open != 1 || len(c.strangers) != 0 {
		t.Errorf("%d are open, %d of them strangers", c.open, len(c.strangers))
	}
	c.mu.Unlock()
	if status, _, _ := k.ask(strings.Replace(headOf(leadOf(5)), "/api/v1/ingest", "https://x/api/v1/ingest", 1) + leadOf(5)); status != 201 {
		t.Errorf("the whole address: %d", status)
	}
	idle := []*talk{over(t, address, theirs), over(t, address, theirs), over(t, address, theirs)}
	newcomer := over(t, address, theirs)
	if status, _, body := newcomer.ask(headOf(leadOf(9)) + leadOf(9)); status != 201 {
		t.Errorf("a newcomer in a full house: %d %s", status, body)
	}
	if status, _, _ := k.ask(headOf(leadOf(8)) + leadOf(8)); status != 201 {
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

// TestPlainHTTPToTLS: whoever speaks plain HTTP is told so in the interface's form,
// however much it had begun to send; what is neither gets no word.
func TestPlainHTTPToTLS(t *testing.T) {
	address, _, s := secured(t, 100)
	for _, text := range []string{
		headOf(leadOf(1)) + leadOf(1), say("GET /none", "", ""), say("DELETE /none", "", ""),
		"POST /api/v1/ingest HTTP/1.1\r\nHost: x\r\nContent-Length: 9000\r\n\r\n" + strings.Repeat("d", 9000),
	} {
		status, header, body := speak(t, address).ask(text)
		if status != 400 || !strings.Contains(body, `"malformed_request"`) || !strings.Contains(body, "https") || header.Get("X-Request-Id") == "" || header.Get("Connection") != "close" {
			t.Errorf("%.20q: %d %v %s", text, status, header, body)
		}
	}
	k := speak(t, address)
	if _, err := io.WriteString(k, "SSH-2.0-client\r\n"); err != nil {
		t.Fatal(err)
	}
	if text, _ := io.ReadAll(k); strings.Contains(string(text), "HTTP") {
		t.Errorf("to what is no HTTP: %q", text)
	}
	if n := s.opt.Meter.unsealed.Get(); n != 5 {
		t.Errorf("%d handshakes are counted as failed, want 5", n)
	}
}

// TestHandshakesThatDoNotEnd: one that is slow ends with the time for reading, and one
// that is long at its length; both are held without a request's memory.
func TestHandshakesThatDoNotEnd(t *testing.T) {
	address, theirs, s := secured(t, 100, func(s *Server) { s.http.ReadTimeout = 200 * time.Millisecond })
	silent, slow, long := speak(t, address), speak(t, address), speak(t, address)
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
	for what, k := range map[string]*talk{"silent": silent, "slow": slow, "long": long} {
		if _, err := k.answer.ReadByte(); err == nil {
			if _, err = io.ReadAll(k.answer); err != nil && !isReset(err) {
				t.Errorf("%s: %v", what, err)
			}
		} else if !errors.Is(err, io.EOF) && !isReset(err) {
			t.Errorf("%s: %v", what, err)
		}
	}
	if status, _, _ := over(t, address, theirs).ask(headOf(leadOf(1)) + leadOf(1)); status != 201 {
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

// TestHelloIsBounded: until the handshake is through no more than that is taken in.
func TestHelloIsBounded(t *testing.T) {
	ours, theirs := net.Pipe()
	defer theirs.Close()
	c := newCrowd(nil, 1, 1, nil, nil)
	c.seal = &tls.Config{MinVersion: tls.VersionTLS12}
	b := &below{guest: newGuest(ours, c)}
	go func() {
		for {
			if _, err := theirs.Write(make([]byte, 1000)); err != nil {
				return
			}
		}
	}()
	took, p := 0, make([]byte, 1000)
	var err error
	for err == nil && took < 2*maxHello {
		var n int
		n, err = b.Read(p)
		took += n
	}
	if !errors.Is(err, errHello) {
		t.Error(err)
	}
	if took < maxHello || took > maxHello+len(p) {
		t.Errorf("%d bytes were taken in, of %d", took, maxHello)
	}
	b.through = true
	if _, err := b.Read(p); err != nil {
		t.Errorf("after the handshake: %v", err)
	}
	ours.Close()
}

// TestStopUnderTLS: an orderly stop waits neither for a handshake that is under way
// nor for a connection over which no request has come, and says a last word to one
// that is idle.
func TestStopUnderTLS(t *testing.T) {
	ours, theirs := keys(t)
	s := newServer(t)
	s.opt.Connections, s.opt.MaxConnsPerIP, s.opt.TLS = 100, 1000, ours
	filled(t, s)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan error, 1)
	go func() { served <- s.Serve(listener) }()
	address := listener.Addr().String()
	half := speak(t, address)
	if _, err := half.Write([]byte{22, 3, 1, 1, 0, 1}); err != nil {
		t.Fatal(err)
	}
	unused, used := over(t, address, theirs), over(t, address, theirs)
	if status, _, body := used.ask(headOf(leadOf(1)) + leadOf(1)); status != 201 {
		t.Fatalf("%d %s", status, body)
	}
	stopped := make(chan error, 1)
	go func() { stopped <- s.Shutdown() }()
	for what, k := range map[string]*talk{"half a handshake": half, "unused": unused} {
		if _, err := io.ReadAll(k.answer); err != nil && !isReset(err) {
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

// TestTooManyOverTLS: one connection too many is closed without a word, since none
// would be understood.
func TestTooManyOverTLS(t *testing.T) {
	address, theirs, _ := secured(t, 10, func(s *Server) { s.opt.MaxConnsPerIP = 1 })
	first := over(t, address, theirs)
	if status, _, _ := first.ask(headOf(leadOf(1)) + leadOf(1)); status != 201 {
		t.Errorf("the first: %d", status)
	}
	second := speak(t, address)
	if text, err := io.ReadAll(second); len(text) > 0 {
		t.Errorf("the second: %q, %v", text, err)
	}
}

// TestDeadlinesUnderTLS: they reach the connection through the notes that are kept of
// them, and the last word's, which another goroutine may say, past them.
func TestDeadlinesUnderTLS(t *testing.T) {
	one, other := net.Pipe()
	defer other.Close()
	c := newCrowd(nil, 1, 1, nil, nil)
	c.seal, _ = keys(t)
	c.unsealed = func() {}
	conn, ok := c.sealed(newGuest(one, c)).(*sealed)
	if !ok {
		t.Fatal("it is not sealed")
	}
	c.enter(conn.below.guest)
	soon := time.Now().Add(time.Minute)
	for _, set := range []func(time.Time) error{conn.SetReadDeadline, conn.SetWriteDeadline, conn.SetDeadline} {
		if err := set(soon); err != nil {
			t.Fatal(err)
		}
	}
	g := conn.below.guest
	if !g.reading.wanted.Equal(soon) || !g.writing.wanted.Equal(soon) {
		t.Errorf("noted: %s and %s", g.reading.wanted, g.writing.wanted)
	}
	if err := conn.below.SetWriteDeadline(time.Now().Add(time.Hour)); err != nil {
		t.Fatal(err)
	}
	if !g.writing.wanted.Equal(soon) {
		t.Error("the last word's deadline was noted as the guest's")
	}
	if err := conn.Close(); err != nil || c.open != 0 {
		t.Errorf("%v, %d are open", err, c.open)
	}
}
