package server

import (
	"fmt"
	"strings"
	"testing"
)

// public serves an exchange with so many places.
func public(t *testing.T, places int) string {
	t.Helper()
	s := newServer(t)
	s.opt.Connections, s.opt.MaxConnsPerIP = places, 1000
	filled(t, s)
	return listen(t, s.Serve, s.Shutdown)
}

// TestTrailersAreNoHead: what comes behind the body is neither a credential nor
// a key, and replaces none.
func TestTrailersAreNoHead(t *testing.T) {
	address := public(t, 100)
	chunked := func(headers, body, trailers string) string {
		return fmt.Sprintf("POST /api/v1/ingest HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n%sTransfer-Encoding: chunked\r\n\r\n%x\r\n%s\r\n0\r\n%s\r\n",
			headers, len(body), body, trailers)
	}
	with := "X-Api-Key: " + key + "\r\n"
	for _, row := range []struct {
		name, headers, trailers string
		want                    int
	}{
		{"none", with, "", 201},
		{"a credential alone", "", with, 401},
		{"a credential that was announced", "Trailer: X-Api-Key\r\n", with, 401},
		{"a credential for a wrong one", "X-Api-Key: wrong\r\n", with, 401},
		{"a wrong one", with, "X-Api-Key: wrong\r\n", 201},
		{"a bad key", with, "Idempotency-Key: a b\r\n", 201},
		{"a key for a bad one", with + "Idempotency-Key: a b\r\n", "Idempotency-Key: good\r\n", 422},
	} {
		t.Run(row.name, func(t *testing.T) {
			if status, _, body := speak(t, address).ask(chunked(row.headers, leadOf(len(row.name)), row.trailers)); status != row.want {
				t.Errorf("%d %s, want %d", status, body, row.want)
			}
		})
	}
}

// TestOneCredential: a request that says twice who it is from is nobody's.
func TestOneCredential(t *testing.T) {
	address := public(t, 100)
	for _, twice := range []string{"X-Api-Key: " + key + "\r\n", "Idempotency-Key: a\r\n"} {
		head := headOf(leadOf(1), twice, strings.ToLower(twice[:9])+twice[9:])
		k := speak(t, address)
		if status, _, body := k.ask(head + leadOf(1)); status != 400 || !strings.Contains(body, "malformed_request") || !k.ends() {
			t.Errorf("%q: %d %s", twice, status, body)
		}
	}
	for _, line := range []string{"//api/v1/ingest", "/api/v1/%69ngest", "/a/../api/v1/ingest", "http://y/api/v1/ingest"} {
		head := strings.Replace(headOf(leadOf(1)), "/api/v1/ingest", line, 1)
		if status, _, body := speak(t, address).ask(head + leadOf(1)); status != 404 {
			t.Errorf("%s: %d %s", line, status, body)
		}
	}
	for _, version := range []string{"HTTP/2.0", "HTTP/1.7"} {
		head := strings.Replace(headOf(leadOf(1)), "HTTP/1.1", version, 1)
		k := speak(t, address)
		if status, _, body := k.ask(head + leadOf(1)); status != 505 || !k.ends() {
			t.Errorf("%s: %d %s", version, status, body)
		}
	}
}

// TestStrangersCannotShutTheHouse: whoever fills every place is parted with at
// the next refusal, and gives way to those who come; a supplier keeps its place.
func TestStrangersCannotShutTheHouse(t *testing.T) {
	address := public(t, 4)
	good, bad := headOf(leadOf(1))+leadOf(1), say("GET /none", "", "")
	supplier := speak(t, address)
	if status, _, body := supplier.ask(good); status != 201 {
		t.Fatalf("%d %s", status, body)
	}
	k := speak(t, address)
	for range 2 {
		if status, header, _ := k.ask(bad); status != 404 || header.Get("Connection") == "close" {
			t.Errorf("a stranger in a house half empty: %d, Connection %q", status, header.Get("Connection"))
		}
	}
	idle := []*talk{speak(t, address), speak(t, address)}
	if status, header, _ := idle[1].ask(bad); status != 404 || header.Get("Connection") != "close" {
		t.Errorf("the last one in: %d, Connection %q", status, header.Get("Connection"))
	}
	if status, header, _ := k.ask(bad); status != 404 || header.Get("Connection") != "close" || !k.ends() {
		t.Errorf("a stranger in a house that fills: %d, Connection %q", status, header.Get("Connection"))
	}
	for i := range 6 {
		newcomer := speak(t, address)
		if status, _, body := newcomer.ask(bad); status != 404 {
			t.Errorf("newcomer %d: %d %s", i, status, body)
		}
		idle = append(idle, speak(t, address), speak(t, address), speak(t, address))
	}
	if status, header, body := supplier.ask(strings.Replace(bad, "\r\n\r\n", "\r\nX-Api-Key: "+key+"\r\n\r\n", 1)); status != 404 || header.Get("Connection") == "close" {
		t.Errorf("a supplier's mistake: %d %s, Connection %q", status, body, header.Get("Connection"))
	}
	if status, _, body := supplier.ask(good); status != 201 {
		t.Errorf("the supplier: %d %s", status, body)
	}
	for _, one := range idle {
		one.Close()
	}
}
