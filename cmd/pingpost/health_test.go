package main

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
)

// TestHealth: of an exchange that serves, that stands still, and that is gone.
func TestHealth(t *testing.T) {
	s := serve(t, "-c", configuration(t, served))
	_, admin := s.addresses("production")
	mustPrint(t, admin+" is ready\n", "health", "--admin", admin)
	s.stops()
	mustFail(t, "is it running", "health", "--admin", admin, "--wait", "300ms")
	mustFail(t, "begin it with http://", "health", "--admin", "127.0.0.1:9090")
}

// TestHealthWaits until the log has been replayed, and says what it waited for where
// that took too long.
func TestHealthWaits(t *testing.T) {
	var asked atomic.Int32
	starting := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/readyz" || r.Header.Get("Authorization") != "" {
			w.WriteHeader(http.StatusTeapot)
		} else if asked.Add(1) < 4 {
			http.Error(w, "starting: the log is being replayed", http.StatusServiceUnavailable)
		}
	}))
	defer starting.Close()
	once := run(t, "health", "--admin", starting.URL)
	if once.code != 1 || !strings.Contains(once.err, "is not ready: 503 Service Unavailable: starting") || asked.Load() != 1 {
		t.Errorf("exit %d after %d requests: %s", once.code, asked.Load(), once.err)
	}
	mustRun(t, "health", "--admin", starting.URL, "--wait", "1m")
	if n := asked.Load(); n != 4 {
		t.Errorf("asked %d times", n)
	}
}

// TestHealthOfAll: one exchange that is not ready is enough.
func TestHealthOfAll(t *testing.T) {
	well := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	defer well.Close()
	ill := httptest.NewServer(http.NotFoundHandler())
	defer ill.Close()
	both := run(t, "health", "--admin", well.URL, "--admin", ill.URL)
	if both.code != 1 || both.out != well.URL+" is ready\n" || !strings.Contains(both.err, "404") {
		t.Errorf("exit %d: %s%s", both.code, both.out, both.err)
	}
}
