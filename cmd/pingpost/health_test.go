package main

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
)

// TestHealth checks an exchange that serves, and one that has stopped.
func TestHealth(t *testing.T) {
	t.Parallel()
	s := startServe(t, "-c", writeConfig(t, testConfig))
	_, admin := s.addresses("production")
	mustPrint(t, admin+" is ready\n", "health", "--admin", admin)
	s.stop()
	mustFail(t, "is it running", "health", "--admin", admin, "--wait", "300ms")
	mustFail(t, "begin it with http://", "health", "--admin", "127.0.0.1:9090")
}

// TestHealthWaits: with --wait, the command waits until the log is replayed. Without it, the
// command prints the exchange's answer.
func TestHealthWaits(t *testing.T) {
	t.Parallel()
	var requests atomic.Int32
	starting := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/readyz" || r.Header.Get("Authorization") != "" {
			w.WriteHeader(http.StatusTeapot)
		} else if requests.Add(1) < 4 {
			http.Error(w, "starting: the log is being replayed", http.StatusServiceUnavailable)
		}
	}))
	defer starting.Close()
	once := run(t, "health", "--admin", starting.URL)
	if once.code != 1 || !strings.Contains(once.err, "is not ready: 503 Service Unavailable: starting") || requests.Load() != 1 {
		t.Errorf("exit %d after %d requests: %s", once.code, requests.Load(), once.err)
	}
	mustRun(t, "health", "--admin", starting.URL, "--wait", "1m")
	if n := requests.Load(); n != 4 {
		t.Errorf("%d requests, want 4", n)
	}
}

// TestHealthOfSeveralExchanges: one exchange that is not ready makes the command fail.
func TestHealthOfSeveralExchanges(t *testing.T) {
	t.Parallel()
	ready := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	defer ready.Close()
	notReady := httptest.NewServer(http.NotFoundHandler())
	defer notReady.Close()
	both := run(t, "health", "--admin", ready.URL, "--admin", notReady.URL)
	if both.code != 1 || both.out != ready.URL+" is ready\n" || !strings.Contains(both.err, "404") {
		t.Errorf("exit %d: %s%s", both.code, both.out, both.err)
	}
}
