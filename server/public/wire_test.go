package public

import (
	"strings"
	"testing"

	"pingpost/server/ratelimit"
	"pingpost/server/servertest"
)

// public serves an exchange with so many places.
func public(t *testing.T, places int) string {
	t.Helper()
	s := newServer(t)
	s.opt.Connections, s.opt.MaxConnsPerIP = places, 1000
	s.documents = ratelimit.NewNetworkBuckets(1000)
	filled(t, s)
	return servertest.StartServer(t, s.Serve, s.Shutdown)
}

// TestOneCredential checks that a request with a repeated credential is rejected.
func TestOneCredential(t *testing.T) {
	address := public(t, 100)
	for _, twice := range []string{"X-Api-Key: " + key + "\r\n", "Idempotency-Key: a\r\n"} {
		head := headOf(leadOf(1), twice, strings.ToLower(twice[:9])+twice[9:])
		k := servertest.Dial(t, address)
		if status, _, body := k.Send(head + leadOf(1)); status != 400 || !strings.Contains(body, "malformed_request") || !k.IsClosed() {
			t.Errorf("%q: %d %s", twice, status, body)
		}
	}
	for _, line := range []string{"//api/v1/ingest", "/api/v1/%69ngest", "/a/../api/v1/ingest", "ftp://x/api/v1/ingest"} {
		head := strings.Replace(headOf(leadOf(1)), "/api/v1/ingest", line, 1)
		if status, _, body := servertest.Dial(t, address).Send(head + leadOf(1)); status != 404 {
			t.Errorf("%s: %d %s", line, status, body)
		}
	}
	for _, version := range []string{"HTTP/2.0", "HTTP/1.7"} {
		head := strings.Replace(headOf(leadOf(1)), "HTTP/1.1", version, 1)
		k := servertest.Dial(t, address)
		if status, _, body := k.Send(head + leadOf(1)); status != 505 || !k.IsClosed() {
			t.Errorf("%s: %d %s", version, status, body)
		}
	}
}

// TestStrangersCannotShutTheHouse checks that connections without a valid credential give
// way at the limit, while a supplier keeps its connection.
func TestStrangersCannotShutTheHouse(t *testing.T) {
	address := public(t, 4)
	good, bad := headOf(leadOf(1))+leadOf(1), servertest.FormatRequest("GET /none", "", "")
	supplier := servertest.Dial(t, address)
	if status, _, body := supplier.Send(good); status != 201 {
		t.Fatalf("%d %s", status, body)
	}
	k := servertest.Dial(t, address)
	for range 2 {
		if status, header, _ := k.Send(bad); status != 404 || header.Get("Connection") == "close" {
			t.Errorf("a stranger in a house half empty: %d, Connection %q", status, header.Get("Connection"))
		}
	}
	idle := []*servertest.Conn{servertest.Dial(t, address), servertest.Dial(t, address)}
	if status, header, _ := idle[1].Send(bad); status != 404 || header.Get("Connection") != "close" {
		t.Errorf("the last one in: %d, Connection %q", status, header.Get("Connection"))
	}
	if status, header, _ := k.Send(bad); status != 404 || header.Get("Connection") != "close" || !k.IsClosed() {
		t.Errorf("a stranger in a house that fills: %d, Connection %q", status, header.Get("Connection"))
	}
	for i := range 6 {
		newcomer := servertest.Dial(t, address)
		if status, _, body := newcomer.Send(bad); status != 404 {
			t.Errorf("newcomer %d: %d %s", i, status, body)
		}
		idle = append(idle, servertest.Dial(t, address), servertest.Dial(t, address), servertest.Dial(t, address))
	}
	if status, header, body := supplier.Send(strings.Replace(bad, "\r\n\r\n", "\r\nX-Api-Key: "+key+"\r\n\r\n", 1)); status != 404 || header.Get("Connection") == "close" {
		t.Errorf("a supplier's mistake: %d %s, Connection %q", status, body, header.Get("Connection"))
	}
	if status, _, body := supplier.Send(good); status != 201 {
		t.Errorf("the supplier: %d %s", status, body)
	}
	for _, one := range idle {
		one.Close()
	}
}
