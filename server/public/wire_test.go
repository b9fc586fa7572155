package public

import (
	"strings"
	"testing"

	"pingpost/server/ratelimit"
	"pingpost/server/servertest"
)

// startPublicServer serves an exchange with at most maxConns connections.
func startPublicServer(t *testing.T, maxConns int) string {
	t.Helper()
	s := newServer(t)
	s.opt.Connections, s.opt.MaxConnsPerIP = maxConns, 1000
	s.documents = ratelimit.NewNetworkBuckets(1000)
	fillBucket(t, s)
	return servertest.StartServer(t, s.Serve, s.Shutdown)
}

// Requests with repeated credential or key headers, other spellings of a path, or other
// HTTP versions are rejected.
func TestAmbiguousRequestsAreRejected(t *testing.T) {
	address := startPublicServer(t, 100)
	for _, header := range []string{"X-Api-Key: " + supplierKey + "\r\n", "Idempotency-Key: a\r\n"} {
		head := ingestHead(ingestBody(1), header, strings.ToLower(header[:9])+header[9:])
		k := servertest.Dial(t, address)
		if status, _, body := k.Send(head + ingestBody(1)); status != 400 || !strings.Contains(body, "malformed_request") || !k.IsClosedOnNextRequest() {
			t.Errorf("%q: %d %s", header, status, body)
		}
	}
	for _, line := range []string{"//api/v1/ingest", "/api/v1/%69ngest", "/a/../api/v1/ingest", "ftp://x/api/v1/ingest"} {
		head := strings.Replace(ingestHead(ingestBody(1)), "/api/v1/ingest", line, 1)
		if status, _, body := servertest.Dial(t, address).Send(head + ingestBody(1)); status != 404 {
			t.Errorf("%s: %d %s", line, status, body)
		}
	}
	for _, version := range []string{"HTTP/2.0", "HTTP/1.7"} {
		head := strings.Replace(ingestHead(ingestBody(1)), "HTTP/1.1", version, 1)
		k := servertest.Dial(t, address)
		if status, _, body := k.Send(head + ingestBody(1)); status != 505 || !k.IsClosedOnNextRequest() {
			t.Errorf("%s: %d %s", version, status, body)
		}
	}
}

// Near the connection limit, connections without a valid credential are closed, while a
// supplier keeps its connection.
func TestUnauthenticatedConnsGiveWay(t *testing.T) {
	address := startPublicServer(t, 4)
	good, bad := ingestHead(ingestBody(1))+ingestBody(1), servertest.FormatRequest("GET /none", "", "")
	supplier := servertest.Dial(t, address)
	if status, _, body := supplier.Send(good); status != 201 {
		t.Fatalf("%d %s", status, body)
	}
	k := servertest.Dial(t, address)
	for range 2 {
		if status, header, _ := k.Send(bad); status != 404 || header.Get("Connection") == "close" {
			t.Errorf("below the limit: got %d, Connection %q, want 404 and an open connection", status, header.Get("Connection"))
		}
	}
	idle := []*servertest.RawClientConn{servertest.Dial(t, address), servertest.Dial(t, address)}
	if status, header, _ := idle[1].Send(bad); status != 404 || header.Get("Connection") != "close" {
		t.Errorf("last connection: got %d, Connection %q, want 404 and close", status, header.Get("Connection"))
	}
	if status, header, _ := k.Send(bad); status != 404 || header.Get("Connection") != "close" || !k.IsClosedOnNextRequest() {
		t.Errorf("near the limit: got %d, Connection %q, want 404 and close", status, header.Get("Connection"))
	}
	for i := range 6 {
		conn := servertest.Dial(t, address)
		if status, _, body := conn.Send(bad); status != 404 {
			t.Errorf("new connection %d: got %d %s, want 404", i, status, body)
		}
		idle = append(idle, servertest.Dial(t, address), servertest.Dial(t, address), servertest.Dial(t, address))
	}
	if status, header, body := supplier.Send(strings.Replace(bad, "\r\n\r\n", "\r\nX-Api-Key: "+supplierKey+"\r\n\r\n", 1)); status != 404 || header.Get("Connection") == "close" {
		t.Errorf("supplier's request to an unknown path: got %d %s, Connection %q", status, body, header.Get("Connection"))
	}
	if status, _, body := supplier.Send(good); status != 201 {
		t.Errorf("supplier: got %d %s, want 201", status, body)
	}
	for _, one := range idle {
		one.Close()
	}
}
